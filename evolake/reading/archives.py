"""Read tar and zip archives entry by entry, each quantity bounded before it is used: entries, bytes after
decompression, bytes of one header.

Nothing is laid out here: what a path or a link may be is asked by the code that writes files.
"""

from __future__ import annotations

import io
import lzma
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, cast

from evolake.reading.compressed import decompressed, kind_of
from evolake.reading.files import Bomb, Damaged

MOST_BYTES = 1 << 30
MOST_ENTRIES = 100_000
"""Entries of every kind: folders, links and empty files count."""
LARGEST_HEADER = 1 << 20
DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    ValueError,
    OverflowError,
    RuntimeError,
    IndexError,
    KeyError,
)
"""Errors of the standard library's readers for data that is no archive, is cut, changed, encrypted, or of a
kind that they do not know."""


@dataclass(frozen=True)
class Limits:
    """Most bytes after decompression, headers and skipped entries included, and most entries."""

    bytes: int = MOST_BYTES
    entries: int = MOST_ENTRIES


def tar_entries(
    data: bytes, *, name: str, limits: Limits | None = None
) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
    """Yield each entry of a tar archive, plain or compressed by gzip, bzip2, xz or Zstandard, with its
    contents if it is a regular file.

    Args:
        name: what an error calls the archive.

    Raises:
        Bomb: it is larger than a limit. Damaged: it is no archive, is cut off or changed, or has a sparse
            file.
    """
    most = limits or Limits()
    with tempfile.TemporaryFile() as plain, _as_damage(name):
        _unpack_into(data, plain, most, name)
        with tarfile.open(fileobj=cast(IO[bytes], _Careful(plain)), mode="r:") as archive:
            total = 0
            for count, entry in enumerate(archive, start=1):
                archive.members = []  # type: ignore[attr-defined]  # the reader would keep every entry
                total += max(entry.size, 0)
                if count > most.entries or total > most.bytes:
                    raise too_large(name, most)
                if entry.issparse():
                    raise Damaged(
                        f"{name} cannot be unpacked",
                        wanted="whole files",
                        got=f"a sparse file {entry.name[:80]!r}",
                    )
                yield entry, archive.extractfile(entry) if entry.isreg() else None


def tar_comment(data: bytes, *, name: str) -> str | None:
    """Return the comment of a tar archive's global header, into which git writes the commit; None if there is
    none. Raises as `tar_entries`."""
    most = Limits()
    with tempfile.TemporaryFile() as plain, _as_damage(name):
        _unpack_into(data, plain, most, name)
        with tarfile.open(fileobj=cast(IO[bytes], _Careful(plain)), mode="r:") as archive:
            archive.next()
            return archive.pax_headers.get("comment")


def zip_entries(
    data: bytes, *, name: str, limits: Limits | None = None
) -> Iterator[tuple[zipfile.ZipInfo, IO[bytes]]]:
    """Yield each regular file of a zip archive, stored or compressed by deflate or bzip2, with its contents.
    Arguments and errors as of `tar_entries`.

    The sizes in a zip's list are claims, so the reader of the contents counts them.
    """
    most = limits or Limits()
    with _as_damage(name), zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        if len(entries) > most.entries or sum(info.file_size for info in entries) > most.bytes:
            raise too_large(name, most)
        for info in entries:
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2):
                raise Damaged(
                    f"{name} cannot be unpacked",
                    wanted="deflate or bzip2",
                    got=f"an entry of compression {info.compress_type}",
                )
            if not info.is_dir() and stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG):
                yield info, archive.open(info)


def too_large(name: str, limits: Limits) -> Bomb:
    """Return the error for an archive beyond its limits."""
    wanted = f"at most {limits.entries:,} entries and {limits.bytes:,} bytes"
    return Bomb(f"{name} is too large when it is unpacked", wanted=wanted, got="more", do="use a smaller one")


def _unpack_into(data: bytes, plain: IO[bytes], most: Limits, name: str) -> None:
    kind = kind_of(data)
    if kind is None:
        plain.write(data)
    else:
        for piece in decompressed(
            [data], most.bytes + most.entries * 1024, name=name, kind=kind, ratio=most.bytes
        ):
            plain.write(piece)
    plain.seek(0)


@contextmanager
def _as_damage(name: str) -> Iterator[None]:
    try:
        yield
    except (Bomb, Damaged):
        raise
    except DAMAGE as error:
        got = str(error) or type(error).__name__
        raise Damaged(
            f"{name} cannot be unpacked", wanted="a whole archive", got=got, do="get it again"
        ) from None


class _Careful:
    """A file whose single reads are bounded: headers say themselves how long they are."""

    def __init__(self, file: IO[bytes]):
        self._file = file
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= LARGEST_HEADER:
            raise tarfile.ReadError(f"a header of {size} bytes")
        return self._file.read(size)
