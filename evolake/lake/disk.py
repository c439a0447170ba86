"""Every touch of the file system that the lake's protocols make, one small function each.

Two reasons for the narrow door. Durability: a folder entry is only safe after its folder has been synced, and
it is easy to forget one. Tests: `hook`, when set, is called before every operation with its name and path and
may raise or end the process, so that a test can fail the Nth operation for N = 1, 2, ... until a run comes
through clean. With a hook set, each write is made in two halves with a call between them, so that torn files
and torn manifest lines are among what is tried.

A folder that a user named is written so that it is there whole or not at all.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evolake.errors import InputError, LakeError

Hook = Callable[[str, Path], None]

hook: Hook | None = None


def _step(operation: str, path: Path) -> None:
    if hook is not None:
        hook(operation, path)


def _write_all(descriptor: int, data: bytes | memoryview, path: Path) -> None:
    view = memoryview(data)
    if hook is not None and len(view) > 1:
        half = len(view) // 2
        _write_rest(descriptor, view[:half])
        _step("write second half", path)
        view = view[half:]
    _write_rest(descriptor, view)


def _write_rest(descriptor: int, view: memoryview) -> None:
    while view:
        view = view[os.write(descriptor, view) :]


def make_folder(path: Path) -> None:
    """Create `path` and what is missing above it; every new entry is synced into its parent."""
    if path.is_dir():
        return
    make_folder(path.parent)
    _step("make folder", path)
    path.mkdir(exist_ok=True)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the entries of a folder durable."""
    _step("sync folder", path)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_new(path: Path, data: bytes | memoryview) -> None:
    """Write a file that no other process reads yet and sync its bytes. An old file of that name is
    overwritten."""
    _step("create", path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    try:
        _step("write", path)
        _write_all(descriptor, data, path)
        _step("sync", path)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append(path: Path, data: bytes) -> None:
    """Append to a log in one write and sync it; create the log, durably, when it is new."""
    new = not path.exists()
    _step("append", path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        _write_all(descriptor, data, path)
        _step("sync", path)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if new:
        sync_folder(path.parent)


def read(path: Path, start: int = 0) -> bytes:
    """Return the bytes of a file, from `start` on."""
    _step("read", path)
    with path.open("rb") as file:
        file.seek(start)
        return file.read()


def names(path: Path) -> list[str]:
    """Return the names in a folder, sorted; none if there is no such folder. A folder that may not be read is
    an OSError, never an empty one."""
    _step("list", path)
    try:
        return sorted(os.listdir(path))  # noqa: PTH208  a Path per entry takes longer
    except FileNotFoundError:
        return []


def replace(source: Path, target: Path) -> None:
    """Put `source` in the place of `target` in one step. Sync the folder afterwards."""
    _step("replace", target)
    source.replace(target)


def link(source: Path, target: Path) -> None:
    """Give a file a second name; a name that is already there is left alone."""
    _step("link", target)
    try:
        target.hardlink_to(source)
    except FileExistsError:
        return


def touch(path: Path) -> None:
    """Set the times of a file to now."""
    _step("touch", path)
    os.utime(path)


def remove(path: Path) -> None:
    """Remove a file; one that is gone already is fine."""
    _step("remove", path)
    path.unlink(missing_ok=True)


@contextmanager
def as_lake_error(what: str, wanted: str) -> Iterator[None]:
    """Turn a failure of the file system inside the block into a LakeError that says what could not be
    done."""
    try:
        yield
    except OSError as error:
        raise LakeError(
            what,
            wanted=wanted,
            got=f"{error.strerror or error} ({error.filename or 'no file named'})",
            do="nothing is lost: fix the disk (space, permissions) and run again",
        ) from error


def discard(path: Path) -> None:
    """Remove our own unfinished file after a failure. No step of a protocol: a dead writer's are swept by the
    next one."""
    with suppress(OSError):
        path.unlink()


def write_atomic(path: Path, data: bytes, *, tag: str) -> None:
    """Replace a small file whole: readers see the old bytes or the new. `tag` says whose the temporary name
    is; two hosts may have equal ones."""
    make_folder(path.parent)
    temporary = _temporary(path, tag)
    try:
        write_new(temporary, data)
        replace(temporary, path)
    except OSError:
        discard(temporary)
        raise
    sync_folder(path.parent)


def write_unsynced(path: Path, data: bytes, *, tag: str) -> None:
    """As `write_atomic`, without waiting for the disk: for what is derived and carries a check sum, in a
    folder that is there."""
    temporary = _temporary(path, tag)
    try:
        _step("create", temporary)
        with temporary.open("wb") as file:
            _write_all(file.fileno(), data, temporary)
        replace(temporary, path)
    except OSError:
        discard(temporary)
        raise


def _temporary(path: Path, tag: str) -> Path:
    return path.with_name(f".tmp-{tag}-{secrets.token_hex(4)}-{path.name}")


A_FOLDER = "a folder"
"""What `file_sha` returns, which is no file's sum, where a folder lies in place of the file."""


def file_sha(path: Path) -> str:
    """Return sha256 hex of a file's bytes; A_FOLDER for a folder, so that it is damage as other bytes are."""
    try:
        with path.open("rb", buffering=0) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except IsADirectoryError:
        return A_FOLDER


def as_found(sha: str) -> str:
    """Return what `file_sha` returned, in words."""
    return sha if sha == A_FOLDER else f"sha256 {sha}"


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
