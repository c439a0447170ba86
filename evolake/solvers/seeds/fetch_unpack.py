"""Archives from elsewhere, laid out: tar (plain, gz, bz2, xz) and zip. Nothing in them is trusted: only files and folders, only below the target.

Every quantity has its bound before it is used: entries of any kind, bytes after decompression (what is skipped counts), bytes of a header, lengths
and depths of names, memory of a decompressor. Two names that are one on some file systems are refused. Links are left out: no solver needs one to be
built, and a source tree that had one would fail its layout.
"""

from __future__ import annotations

import bz2
import io
import lzma
import shutil
import stat
import struct
import tarfile
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from evolake.errors import InputError

MOST_BYTES = 1 << 30
MOST_FILES = 100_000
"""Entries of every kind: folders, links and empty files count."""
LONGEST_PART, LONGEST_NAME, DEEPEST = 200, 1000, 32
"""Bytes of one part of a path and of all of it, and how many parts it may have."""
LARGEST_HEADER = 1 << 20
LARGEST_MEMBER = 256 << 20
DECOMPRESSOR_BYTES = 256 << 20
BLOCK, FED = 1 << 20, 1 << 16
_DAMAGED = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, FileExistsError, NotADirectoryError, IsADirectoryError,
    ValueError, OverflowError, RuntimeError, IndexError, KeyError,
)
"""What the readers of the standard library raise of archives that are no such, cut, changed, encrypted, or of a kind that they do not know."""


def unpack_archive(data: bytes, into: Path) -> None:
    """Lays the archive out as the folder `into`, which must not exist; all of it appears, or none.

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
    except _DAMAGED as error:
        raise _refused(str(error) or type(error).__name__) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def member(data: bytes, name: str) -> bytes:
    """The file `name`, below the archive's one top folder.

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
    except _DAMAGED as error:
        raise _refused(str(error) or type(error).__name__) from None
    raise InputError(f"the archive has no file {name!r}", wanted="the path below its top folder", do="mend `member` of the seed")


def _entries(data: bytes) -> Iterator[tuple[str, IO[bytes], bool]]:
    """(path, contents, executable) of each regular file."""
    if data[:2] == b"PK":
        yield from _zipped(data)
        return
    with tempfile.TemporaryFile() as plain:
        _decompress(data, plain)
        with tarfile.open(fileobj=cast(IO[bytes], _Careful(plain)), mode="r:") as archive:
            total = 0
            for count, entry in enumerate(archive, start=1):
                archive.members = []  # type: ignore[attr-defined]  # the reader would keep every entry
                total += max(entry.size, 0)
                if count > MOST_FILES or total > MOST_BYTES:
                    raise _too_large()
                if entry.issparse():
                    raise _refused(f"a sparse file {entry.name[:80]!r}")
                file = archive.extractfile(entry) if entry.isreg() else None
                if file is not None:
                    yield entry.name, file, bool(entry.mode & 0o100)


def _zipped(data: bytes) -> Iterator[tuple[str, IO[bytes], bool]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if len(entries) > MOST_FILES or sum(info.file_size for info in entries) > MOST_BYTES:
            raise _too_large()
        for info in entries:
            mode = info.external_attr >> 16
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2):
                raise _refused(f"an entry of compression {info.compress_type}")
            if not info.is_dir() and stat.S_IFMT(mode) in (0, stat.S_IFREG):
                yield info.filename, archive.open(info), bool(mode & 0o100)


def _decompress(data: bytes, into: IO[bytes]) -> None:
    """Writes what a tar archive is when decompressed; streams one after another are one, as their tools have it."""
    used, place = 0, 0
    if _decompressor(data) is None:
        into.write(data)
    while make := _decompressor(data[place : place + 8]):
        reader, rest = make(), b""
        while not reader.eof:
            if not rest and getattr(reader, "needs_input", True):
                rest = data[place : place + FED]
                place += len(rest)
                if not rest:
                    raise EOFError("the archive ends before its end")
            try:
                out = reader.decompress(rest, BLOCK)
            except OSError as error:  # bz2's word for damaged data
                raise EOFError(str(error)) from None
            rest = getattr(reader, "unconsumed_tail", b"")
            used += len(out)
            if used > MOST_BYTES:
                raise _too_large()
            into.write(out)
        place -= len(reader.unused_data)
    into.seek(0)


def _decompressor(data: bytes) -> Any:
    """What makes a decompressor for data that begin so; None for none."""
    if data[:2] == b"\x1f\x8b":
        return lambda: zlib.decompressobj(31)
    if data[:3] == b"BZh":
        return bz2.BZ2Decompressor
    return (lambda: lzma.LZMADecompressor(memlimit=DECOMPRESSOR_BYTES)) if data[:6] == b"\xfd7zXZ\0" else None


class _Careful:
    """A file whose single reads are bounded: headers say themselves how long they are."""

    def __init__(self, file: IO[bytes]):
        self._file = file
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= LARGEST_HEADER:
            raise tarfile.ReadError(f"a header of {size} bytes")
        return self._file.read(size)


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    parts = [len(part.encode("utf-8", "surrogateescape")) for part in path.parts]
    if path.is_absolute() or ".." in path.parts or not parts or "\\" in name or any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        raise _refused(f"an entry named {name[:80]!r}")
    if max(parts) > LONGEST_PART or sum(parts) > LONGEST_NAME or len(parts) > DEEPEST:
        raise _refused(f"an entry named {name[:80]!r}, of {sum(parts)} bytes in {len(parts)} parts")
    return path


def _folded(path: PurePosixPath) -> str:
    """A path as a file system reads it that knows no case and composes letters."""
    return unicodedata.normalize("NFC", str(path)).casefold()


def _too_large() -> InputError:
    return _refused(f"more than {MOST_FILES} entries or {MOST_BYTES} bytes")


def _refused(why: str) -> InputError:
    return InputError("the archive cannot be unpacked", wanted="a tar or zip archive of files below it", got=why, do="name another archive")
