"""Folders as deterministic tar.zst: the same tree gives the same bytes, and unpacking never leaves its
folder.

Entries are sorted by path; times and owners are zero; of the mode only "executable by the owner" is kept.
Symbolic links are kept when they stay inside the tree. An archive may come from anywhere, so unpacking trusts
nothing in it: each path is checked, links are made last, and the result is renamed into place only when it is
complete.
"""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
from pathlib import Path, PurePosixPath
from typing import IO

import zstandard

from evolake.errors import InputError, LakeError
from evolake.reading import Unreadable
from evolake.reading.archives import Limits, tar_entries

LEVEL = 10
MAX_BYTES = 4 << 30


def pack(folder: Path) -> bytes:
    """Return the folder as tar.zst bytes.

    Raises:
        InputError: no such folder, a link that leads out of it, or an entry that is neither file, folder nor
            link.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(
            f"{folder} is not a folder", wanted="a folder to store", do="name a folder that exists"
        )
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(_walk(folder), key=lambda path: path.relative_to(folder).as_posix().encode()):
            _add(archive, folder, path)
    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(buffer.getvalue())


def _walk(folder: Path) -> list[Path]:
    result = []
    for entry in os.scandir(folder):
        result.append(Path(entry.path))
        if entry.is_dir(follow_symlinks=False):
            result += _walk(Path(entry.path))
    return result


def _add(archive: tarfile.TarFile, folder: Path, path: Path) -> None:
    name = path.relative_to(folder).as_posix()
    info = tarfile.TarInfo(name)
    if path.is_symlink():
        info.type, info.linkname = tarfile.SYMTYPE, str(path.readlink())
        if not _stays_inside(name, info.linkname):
            do = "remove the link or copy what it names"
            raise InputError(
                f"{path} is a link out of {folder}",
                wanted="links that stay inside the folder",
                got=info.linkname,
                do=do,
            )
        archive.addfile(info)
    elif path.is_dir():
        info.type, info.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(info)
    elif path.is_file():
        data = path.read_bytes()
        info.size, info.mode = len(data), 0o755 if path.stat().st_mode & 0o100 else 0o644
        archive.addfile(info, io.BytesIO(data))
    else:
        raise InputError(
            f"{path} cannot be stored",
            wanted="files, folders and links",
            got="a device, pipe or socket",
            do="remove it",
        )


def _stays_inside(name: str, target: str) -> bool:
    """Return whether a link at `name` with `target` leads to something inside the tree, by its text alone."""
    if PurePosixPath(target).is_absolute():
        return False
    depth = len(PurePosixPath(name).parts) - 1
    for step in PurePosixPath(target).parts:
        depth += -1 if step == ".." else 1
        if depth < 0:
            return False
    return True


def unpack(data: bytes, into: Path, max_bytes: int = MAX_BYTES) -> None:
    """Unpack a packed folder as `into`, which must be missing or empty.

    Raises:
        InputError: `into` holds something. LakeError: the archive is not one of ours or tries to leave its
            folder; nothing is laid out.
    """
    into = Path(into)
    if into.exists() and (not into.is_dir() or any(into.iterdir())):
        raise InputError(f"{into} is not empty", wanted="a missing or empty folder", do="name another folder")
    into.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=".tmp-tree-", dir=into.parent))
    try:
        _extract(data, temporary, max_bytes)
        temporary.chmod(0o755)
        if into.exists():
            into.rmdir()
        temporary.replace(into)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _extract(data: bytes, folder: Path, max_bytes: int) -> None:
    links: list[tarfile.TarInfo] = []
    try:
        for info, source in tar_entries(data, name="the stored tree", limits=Limits(bytes=max_bytes)):
            parts = PurePosixPath(info.name).parts
            if PurePosixPath(info.name).is_absolute() or ".." in parts or not parts:
                raise _refused(f"an entry named {info.name!r}")
            path = folder.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            if info.isdir():
                path.mkdir(exist_ok=True)
            elif source is not None:
                _write(path, source, info)
            elif info.issym() and _stays_inside(info.name, info.linkname):
                links.append(info)
            else:
                raise _refused(
                    f"an entry {info.name!r} that is a device, a hard link or a link to {info.linkname!r}"
                )
        for info in links:
            _link(folder, info)
    except Unreadable as error:
        raise _refused(error.got or error.what) from None
    except (tarfile.TarError, FileExistsError, NotADirectoryError, EOFError) as error:
        raise _refused(str(error)) from None


def _write(path: Path, source: IO[bytes], info: tarfile.TarInfo) -> None:
    with path.open("xb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
    path.chmod(0o755 if info.mode & 0o100 else 0o644)


def _link(folder: Path, info: tarfile.TarInfo) -> None:
    path = folder.joinpath(*PurePosixPath(info.name).parts)
    path.symlink_to(info.linkname)
    if not path.resolve(strict=False).is_relative_to(folder.resolve()):
        raise _refused(f"a link {info.name!r} that leads out through another link")


def _refused(why: str) -> LakeError:
    do = "materialize the asset that made it again"
    return LakeError(
        "the stored tree cannot be unpacked", wanted="an archive made by evolake", got=why, do=do
    )
