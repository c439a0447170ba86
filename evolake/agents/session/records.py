"""What a session leaves next to its turns in the call cache: what each command said, and how the session
ended.

A command is run once. Builds and runs take minutes and say times, so what one said is kept as soon as it has
said it, and read when the session is replayed or continues after a kill: the next turn is asked with the same
bytes. How a session ended decides whether a later run asks again.

A record is at `<lake>/tape/sessions/ab/cdef....json`, is written whole and never replaced.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from uuid import uuid4

from evolake.canonical_json import key_of, text_sha
from evolake.errors import CorruptPart
from evolake.lake import disk


class SessionRecords:
    """The records next to a call cache. Safe for any number of threads and processes on one machine."""

    def __init__(self, call_cache: Path):
        self.root = call_cache / "sessions"

    def path(self, name: str) -> Path:
        """Return where a record is."""
        sha = text_sha(name)
        return self.root / sha[:2] / f"{sha[2:]}.json"

    def read(self, name: str) -> dict[str, Any] | None:
        """Return a record, None if there is none.

        Raises:
            CorruptPart: it is damaged, or another's.
            LakeError: it cannot be read.
        """
        path = self.path(name)
        with disk.as_lake_error(
            "a record of a session cannot be read", f"a file {path} that this user may read"
        ):
            if not path.exists():
                return None
            data = disk.read(path)
        try:
            stored = json.loads(data)
            if stored["sha"] != key_of([name, stored["record"]]):
                raise ValueError("its own hash does not match")
            return stored["record"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise CorruptPart(
                f"a record of a session is damaged: {error}",
                wanted="the bytes that were written",
                got=str(path),
                do="restore the file from a backup, or delete it: the command is run again",
            ) from None

    def damage(self, path: Path) -> str:
        """Return what is wrong with the record that is at `path`, "" for nothing."""
        try:
            stored = json.loads(disk.read(path))
            if not isinstance(stored["record"], dict) or not isinstance(stored["sha"], str):
                return "it is no record of a session"
            if stored["sha"] != key_of([stored["name"], stored["record"]]):
                return "its own hash does not match"
            return "it lies where another belongs" if self.path(stored["name"]) != path else ""
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            return str(error) or type(error).__name__

    def write(self, name: str, record: dict[str, Any]) -> dict[str, Any]:
        """Keep a record, and return what is kept: the other one if another was first.

        Raises:
            LakeError: it cannot be kept.
        """
        path = self.path(name)
        data = json.dumps({"name": name, "sha": key_of([name, record]), "record": record}).encode()
        with disk.as_lake_error(
            "a record of a session cannot be kept", f"room and the right to write below {self.root}"
        ):
            disk.make_folder(path.parent)
            temporary = path.with_name(f".tmp-{os.getpid()}-{uuid4().hex}")
            try:
                disk.write_new(temporary, data)
                disk.link(temporary, path)
                disk.sync_folder(path.parent)
            finally:
                disk.discard(temporary)
        return self.read(name) or record
