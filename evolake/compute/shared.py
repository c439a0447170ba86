"""What many tasks of one kind have in common, written once where every worker sees it instead of travelling
with each of them.

It is below the lake's `work`, which is no data, and goes when the tasks are done. A worker reads it once.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from evolake.errors import MachineryError
from evolake.lake import disk

KEPT = 2
"""Values that a worker keeps: a run has few kinds of tasks at one time."""


@dataclass(frozen=True)
class Shared:
    """Where the value is, and the sha256 (hex) of its bytes."""

    path: Path
    sha: str

    def value(self) -> Any:
        """Read once per process; not to be changed. Raises MachineryError where this host sees other bytes,
        or none."""
        return _read(self)


@contextmanager
def shared(value: Any, folder: Path) -> Generator[Shared]:
    """`value`, pickled, for as long as the tasks need it. folder: seen by all workers under the same path."""
    data = pickle.dumps(value)
    sha = hashlib.sha256(data).hexdigest()
    disk.make_folder(folder)
    path = folder / f"{sha[:24]}.pickle"
    disk.write_atomic(path, data, tag=sha[:8])
    try:
        yield Shared(path, sha)
    finally:
        disk.discard(path)


@lru_cache(maxsize=KEPT)
def _read(where: Shared) -> Any:
    try:
        data = where.path.read_bytes()
    except OSError as error:
        raise MachineryError(
            "a worker does not see what its tasks share", wanted=str(where.path), got=str(error.strerror)
        ) from None
    if hashlib.sha256(data).hexdigest() != where.sha:
        raise MachineryError(
            "what tasks share is not what was written", wanted=where.sha[:12], got=str(where.path)
        )
    return pickle.loads(data)
