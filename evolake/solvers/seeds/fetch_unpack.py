"""Archives from elsewhere, laid out: tar (plain, gz, bz2, xz) and zip. Nothing in them is trusted: only files
and folders, only below the target.

Every quantity has its bound before it is used: entries of any kind, bytes after decompression (what is
skipped counts), bytes of a header, lengths and depths of names, memory of a decompressor. Two names that are
one on some file systems are refused. Links are left out: no solver needs one to be built, and a source tree
that had one would fail its layout.
"""

from __future__ import annotations

import shutil
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from evolake.errors import InputError
from evolake.reading import Unreadable
from evolake.reading.archives import DAMAGE, Limits, tar_entries, zip_entries

MOST_BYTES = 1 << 30
MOST_FILES = 100_000
"""Entries of every kind: folders, links and empty files count."""
LONGEST_PART, LONGEST_NAME, DEEPEST = 200, 1000, 32
"""Bytes of one part of a path and of all of it, and how many parts it may have."""
LARGEST_MEMBER = 256 << 20
BLOCK = 1 << 20
_DAMAGED = (*DAMAGE, FileExistsError, NotADirectoryError, IsADirectoryError)
"""Errors of reading contents, and of two entries that cannot be laid out together."""


def unpack_archive(data: bytes, into: Path) -> None:
    """Unpack the archive as the folder `into`, which must not exist; all of it appears, or none.

    Raises:
        InputError: it is no archive, is damaged, names a path outside or one twice, or is too large.
    """
    into.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".tmp-unpack-", dir=into.parent))
    try:
        used = 0
        seen: set[str] = set()
        for name, file, executable in _entries(data):
            path = _inside(name)
            if (known := _folded(path)) in seen:
                raise _refused(f"two entries named {name[:80]!r}, or alike but for case")
            seen.add(known)
            target = temporary / path
            with file:
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as out:
                    while block := file.read(BLOCK):
                        used += len(block)
                        if used > MOST_BYTES:
                            raise _too_large()
                        out.write(block)
            target.chmod(0o755 if executable else 0o644)
        temporary.chmod(0o755)
        if not into.exists():  # another process may have been faster
            temporary.replace(into)
    except Unreadable as error:
        raise _refused(_why(error)) from None
    except _DAMAGED as error:
        raise _refused(str(error) or type(error).__name__) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def member(data: bytes, name: str) -> bytes:
    """Return the file `name`, below the archive's one top folder.

    Raises:
        InputError: there is none, it has more than LARGEST_MEMBER bytes, or the archive cannot be read.
    """
    try:
        for path, file, _ in _entries(data):
            with file:
                if path.partition("/")[2] == name:
                    result = file.read(LARGEST_MEMBER + 1)
                    if len(result) > LARGEST_MEMBER:
                        raise _refused(f"the file {name!r} has more than {LARGEST_MEMBER} bytes")
                    return result
    except Unreadable as error:
        raise _refused(_why(error)) from None
    except _DAMAGED as error:
        raise _refused(str(error) or type(error).__name__) from None
    raise InputError(
        f"the archive has no file {name!r}",
        wanted="the path below its top folder",
        do="fix `member` of the seed",
    )


def _entries(data: bytes) -> Iterator[tuple[str, IO[bytes], bool]]:
    """(path, contents, executable) of each regular file."""
    limits = Limits(MOST_BYTES, MOST_FILES)
    if data[:2] == b"PK":
        for info, file in zip_entries(data, name="the archive", limits=limits):
            yield info.filename, file, bool((info.external_attr >> 16) & 0o100)
        return
    for entry, file in tar_entries(data, name="the archive", limits=limits):
        if file is not None:
            yield entry.name, file, bool(entry.mode & 0o100)


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    parts = [len(part.encode("utf-8", "surrogateescape")) for part in path.parts]
    if (
        path.is_absolute()
        or ".." in path.parts
        or not parts
        or "\\" in name
        or any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name)
    ):
        raise _refused(f"an entry named {name[:80]!r}")
    if max(parts) > LONGEST_PART or sum(parts) > LONGEST_NAME or len(parts) > DEEPEST:
        raise _refused(f"an entry named {name[:80]!r}, of {sum(parts)} bytes in {len(parts)} parts")
    return path


def _folded(path: PurePosixPath) -> str:
    """Return a path as a file system reads it that knows no case and composes letters."""
    return unicodedata.normalize("NFC", str(path)).casefold()


def _why(error: Unreadable) -> str:
    return error.what if error.got in (None, "more") else str(error.got)


def _too_large() -> InputError:
    return _refused(f"more than {MOST_FILES} entries or {MOST_BYTES} bytes")


def _refused(why: str) -> InputError:
    return InputError(
        "the archive cannot be unpacked",
        wanted="a tar or zip archive of files below it",
        got=why,
        do="name another archive",
    )
