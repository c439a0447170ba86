"""A folder that a user named, written so that it is there whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from evolake.errors import InputError


@contextmanager
def whole_folder(into: Path) -> Generator[Path]:
    """Yield an empty folder next to `into` that becomes `into` when the block ends well; nothing is left of
    it otherwise.

    Raises:
        InputError: `into` holds something, is no folder, or cannot be written.
    """
    try:
        if into.exists() and (not into.is_dir() or any(into.iterdir())):
            what = "is not empty" if into.is_dir() else "is no folder"
            raise InputError(f"{into} {what}", wanted="a missing or empty folder", do="name another folder")
        into.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".tmp-", dir=into.parent) as parent:
            folder = Path(parent) / "folder"
            folder.mkdir()
            yield folder
            if into.exists():
                into.rmdir()
            folder.replace(into)
    except OSError as error:
        do = "name a folder that you may write to, on a disk with space left"
        raise InputError(
            f"{into} cannot be written", wanted="a folder", got=error.strerror or str(error), do=do
        ) from error
