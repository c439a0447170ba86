"""Folders for a while, below the temporary directory: gone when their block ends, and swept by a later
process when theirs was killed.

Each is locked (flock on the folder itself) for as long as a process has it open. The lock dies with its
process, so a process that gets the lock of a folder of this host and user knows that no process works in it
any more. Where folders cannot be locked (some network file systems), nothing is swept.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import socket
import tempfile
import time
import weakref
from hashlib import sha256
from pathlib import Path

HOST = sha256(socket.gethostname().encode()).hexdigest()[:6]
YOUNG_S = 60
"""Nothing younger is swept: its process may not have locked it yet."""
_NAME = re.compile(rf"evolake-[a-z]+-{HOST}-\w+")
_swept: set[str] = set()


class Scratch(tempfile.TemporaryDirectory[str]):
    """A `tempfile.TemporaryDirectory` named for its purpose, a word of small letters. dir: where, by default
    in the temporary directory, of which what killed processes left is removed once per process."""

    def __init__(self, purpose: str, *, dir: Path | None = None, ignore_cleanup_errors: bool = False):
        if dir is None and (place := tempfile.gettempdir()) not in _swept:
            _swept.add(place)
            sweep(Path(place))
        super().__init__(
            prefix=f"evolake-{purpose}-{HOST}-", dir=dir, ignore_cleanup_errors=ignore_cleanup_errors
        )
        held = _locked(self.name)
        self._unlock = weakref.finalize(self, os.close, held) if held is not None else None

    def cleanup(self) -> None:
        """Remove the folder."""
        super().cleanup()
        if self._unlock is not None:
            self._unlock()


def sweep(place: Path) -> list[Path]:
    """Remove the folders in `place` that this user's processes on this host made and no process holds any
    more. Return them."""
    gone: list[Path] = []
    for path in [path for path in place.iterdir() if _NAME.fullmatch(path.name)]:
        try:
            facts = path.lstat()
            ours = facts.st_uid == os.getuid() and time.time() - facts.st_ctime > YOUNG_S
            held = _locked(str(path)) if ours else None
        except OSError:  # removed meanwhile
            continue
        if held is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(held)
            gone.append(path)
    return gone


def _locked(folder: str) -> int | None:
    """Return a descriptor that holds the lock of a folder; None where another has it, or where folders cannot
    be locked."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        return None
    return held
