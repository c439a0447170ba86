"""Create files and folders if nothing is yet: all of them, or none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from evolake.errors import InputError


def write_new(files: Mapping[Path, str]) -> None:
    """Write each text to its path. Nothing is ever overwritten, and after a failure nothing is left behind.

    Raises:
        InputError: one of the paths is taken, or cannot be written; a file that is there is left as it is.
    """
    with new_files(files):
        pass


@contextmanager
def new_files(files: Mapping[Path, str]) -> Iterator[None]:
    """Write each text to its path for the block that follows, and remove all of them again if it fails.
    Raises as `write_new`."""
    check_new(*files)
    with undone(*files):
        for path, text in files.items():
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("x", encoding="utf-8") as file:
                    file.write(text)
            except OSError as error:
                do = "choose a place that you can write to"
                raise InputError(
                    f"{path} cannot be written", got=error.strerror or str(error), do=do
                ) from None
        yield


def check_new(*paths: Path) -> None:
    """Raise InputError if one of the paths is taken."""
    if taken := [path for path in paths if path.exists() or path.is_symlink()]:
        raise InputError(
            f"{taken[0]} is there already",
            wanted="a path that does not exist",
            do="choose another one: nothing is overwritten",
        )


@contextmanager
def undone(*paths: Path) -> Iterator[None]:
    """Remove those of `paths` that are missing now, and their missing parents, if the block fails in whatever
    way."""
    missing = [path for path in paths if not (path.exists() or path.is_symlink())]
    parents = {parent for path in missing for parent in path.absolute().parents if not parent.exists()}
    try:
        yield
    except BaseException:
        for path in missing:
            remove(path)
        for parent in sorted(parents, key=lambda parent: len(parent.parts), reverse=True):
            with suppress(OSError):  # not made, or something of somebody else's is in it
                parent.rmdir()
        raise


def remove(path: Path) -> None:
    """Remove a file, a link or a folder with all that is in it; a missing one is fine."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all. Raises InputError where it cannot be written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(
            f"{path} cannot be written",
            got=error.strerror or str(error),
            do="choose a place that you can write to",
        ) from None
