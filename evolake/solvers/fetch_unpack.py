"""Archives from elsewhere, laid out: tar (plain, gz, bz2, xz) and zip. Nothing in them is trusted: only files and folders, only below the target.

Links are left out: no solver needs one to be built, and a source tree that had one would fail its layout.
"""

from __future__ import annotations

import io
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO

from evolake.errors import InputError

MOST_BYTES = 1 << 30
MOST_FILES = 100_000


def unpack_archive(data: bytes, into: Path) -> None:
    """Lays the archive out as the folder `into`, which must not exist; all of it appears, or none.

    Raises:
        InputError: it is no archive, is damaged, names a path outside, or is too large.
    """
    into.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".tmp-unpack-", dir=into.parent))
    try:
        used = 0
        for count, (name, file, executable) in enumerate(_entries(data), start=1):
            target = temporary / _inside(name)
            with file:
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as out:
                    while block := file.read(1 << 20):
                        used += len(block)
                        if used > MOST_BYTES or count > MOST_FILES:
                            raise _refused(f"more than {MOST_FILES} files or {MOST_BYTES} bytes")
                        out.write(block)
            target.chmod(0o755 if executable else 0o644)
        temporary.chmod(0o755)
        if not into.exists():  # another process may have been faster
            temporary.replace(into)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, LZMAError, EOFError, FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise _refused(str(error) or type(error).__name__) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def member(data: bytes, name: str) -> bytes:
    """The file `name`, below the archive's one top folder. Raises InputError where there is none."""
    try:
        for path, file, _ in _entries(data):
            with file:
                if path.partition("/")[2] == name:
                    return file.read()
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, LZMAError, EOFError) as error:
        raise _refused(str(error) or type(error).__name__) from None
    raise InputError(f"the archive has no file {name!r}", wanted="the path below its top folder", do="mend `member` of the seed")


def _entries(data: bytes) -> Iterator[tuple[str, IO[bytes], bool]]:
    """(path, contents, executable) of each regular file."""
    if data[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist():
                mode = info.external_attr >> 16
                if not info.is_dir() and stat.S_IFMT(mode) in (0, stat.S_IFREG):
                    yield info.filename, archive.open(info), bool(mode & 0o100)
        return
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
        for entry in archive:
            file = archive.extractfile(entry) if entry.isreg() else None
            if file is not None:
                yield entry.name, file, bool(entry.mode & 0o100)


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name or "\\" in name:
        raise _refused(f"an entry named {name!r}")
    return path


def _refused(why: str) -> InputError:
    return InputError("the archive cannot be unpacked", wanted="a tar or zip archive of files below it", got=why, do="name another archive")
