"""The journal of one run of a study: what each step gave, and the weights after the last one. A run that was
killed reads it and continues.

It is a folder that belongs to no table: `<step>.json` for each step in order, and `weights`, the state after
the last. A step is there once its file is; its weights are written before it and name it, so that a kill
between the two makes the step again from the weights before. The weights before are removed afterwards.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.lake.disk import make_folder, write_atomic


@dataclass(frozen=True)
class Journal:
    """The journal in `folder`, which need not be there. key: what the steps depend on; a journal of another
    key is not read, and is written over."""

    folder: Path
    key: str

    def read(self) -> tuple[list[dict[str, Any]], bytes | None]:
        """Return what each noted step gave, the first one first, and the state after the last of them; None
        if there is none."""
        entries: list[dict[str, Any]] = []
        last: dict[str, Any] = {}
        while (result := self._entry(len(entries) + 1)) is not None:
            entries.append(result["gave"])
            last = result
        while entries:
            if last["state"] is None:
                return entries, None
            path = self._state(len(entries))
            state = path.read_bytes() if path.is_file() else b""
            if hashlib.sha256(state).hexdigest() == last["state"]:
                return entries, state
            entries.pop()
            last = self._entry(len(entries)) or {} if entries else {}
        return [], None

    def note(self, step: int, gave: Mapping[str, Any], state: bytes | None) -> None:
        """Note step number `step`, counted from 1, with the state after it; None if nothing has one."""
        make_folder(self.folder)
        if state is not None:
            write_atomic(self._state(step), state, tag="journal")
        entry = {
            "key": self.key,
            "gave": dict(gave),
            "state": None if state is None else hashlib.sha256(state).hexdigest(),
        }
        write_atomic(
            self.folder / f"{step:05d}.json", json.dumps(entry, ensure_ascii=False).encode(), tag="journal"
        )
        for old in self.folder.glob("*.weights"):
            if old != self._state(step):
                old.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _state(self, step: int) -> Path:
        return self.folder / f"{step:05d}.weights"

    def _entry(self, step: int) -> dict[str, Any] | None:
        """Return the entry of a step; None where it is not there, cannot be read, or is of another key."""
        try:
            result = json.loads((self.folder / f"{step:05d}.json").read_bytes())
        except (OSError, ValueError):
            return None
        return result if isinstance(result, dict) and result.get("key") == self.key else None
