"""Blobs: bytes named by their sha256. Source trees, proofs, transcripts and binaries are here; tables hold
only their names.

A blob is written next to its place and renamed, so a name that exists holds all of its bytes; it is verified
each time it is read, and a damaged one is put aside so that writing it again repairs it. Putting the same
bytes twice writes once.

Folders as deterministic tar.zst: the same tree gives the same bytes, and unpacking never leaves its
folder.

Entries are sorted by path; times and owners are zero; of the mode only "executable by the owner" is kept.
Symbolic links are kept when they stay inside the tree. An archive may come from anywhere, so unpacking trusts
nothing in it: each path is checked, links are made last, and the result is renamed into place only when it is
complete.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import tarfile
import tempfile
import threading
import time
from pathlib import Path, PurePosixPath
from typing import IO

import zstandard

from evolake.errors import CorruptPart, InputError, LakeError
from evolake.lake import disk, lake_format
from evolake.lake.verify import Shas
from evolake.reading import Unreadable
from evolake.reading.archives import Limits, tar_entries

_SHA = re.compile(r"[0-9a-f]{64}")
RENEWED_AFTER_S = 3600.0


class BlobStore:
    """The blobs of one lake."""

    def __init__(self, root: Path):
        self._root = root
        self._shas = Shas()

    def __reduce__(self) -> tuple[type[BlobStore], tuple[Path]]:
        """To another process goes where the blobs are; what is known of files is of this one."""
        return BlobStore, (self._root,)

    def path(self, sha: str) -> Path:
        """Return where the blob is, or would be."""
        if not isinstance(sha, str) or not _SHA.fullmatch(sha):
            raise InputError(
                f"{sha!r} does not name a blob",
                wanted="64 hexadecimal digits",
                do="use the name that put() gave",
            )
        return self._root / "blobs" / sha[:2] / sha[2:]

    def has(self, sha: str) -> bool:
        """Return whether the blob is there and whole."""
        path = self.path(sha)
        return path.exists() and self._shas.of(path) == sha

    def put(self, data: bytes) -> str:
        """Store `data` and return its sha256 in hex."""
        sha = hashlib.sha256(data).hexdigest()
        path = self.path(sha)
        with disk.as_lake_error(f"blob {sha} could not be stored", f"to write {len(data)} bytes to {path}"):
            if self.has(sha):
                self._renew(path)
                return sha
            lake_format.mark(self._root)
            if path.exists():
                self.put_aside(path, self._shas.of(path))
            disk.write_atomic(path, data, tag=f"{os.getpid()}-{threading.get_ident()}")
        return sha

    def _renew(self, path: Path) -> None:
        """Make an old blob young again: who puts it is about to name it, and the collection of garbage takes
        no young ones."""
        if time.time() - path.stat().st_mtime > RENEWED_AFTER_S:
            disk.touch(path)

    def get(self, sha: str) -> bytes:
        """Return the bytes named `sha`, verified.

        Raises:
            InputError: there is no such blob. CorruptPart: its bytes are not what its name says; they are in
                quarantine.
        """
        path = self.path(sha)
        try:
            data = disk.read(path)
        except FileNotFoundError:
            raise InputError(
                f"there is no blob {sha}",
                wanted=f"a file {path}",
                do="materialize the asset that made it again",
            ) from None
        got = hashlib.sha256(data).hexdigest()
        if got != sha:
            aside = self.put_aside(path, got)
            raise CorruptPart(
                f"the blob {path} is damaged",
                wanted=f"sha256 {sha}",
                got=f"sha256 {got}; it has been moved to {aside}",
                do="materialize the asset that made it again",
            )
        return data

    def put_aside(self, path: Path, got: str) -> Path:
        """Move a damaged blob, whose bytes have the sha `got`, to quarantine, and return where it is now."""
        folder = self._root / "quarantine" / "blobs"
        disk.make_folder(folder)
        target = folder / f"{path.parent.name}{path.name}-{got[:16]}"
        disk.replace(path, target)
        disk.sync_folder(path.parent)
        return target

    def put_tree(self, folder: Path) -> str:
        """Store a folder as one tar.zst, the same bytes for the same tree, and return its name; see
        `trees`."""
        return self.put(pack(folder))

    def get_tree(self, sha: str, into: Path) -> None:
        """Unpack the stored folder as `into`, which must be missing or empty; all of it appears or none."""
        unpack(self.get(sha), into)


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
