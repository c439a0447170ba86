"""Blobs: bytes named by their sha256. Source trees, proofs, transcripts and binaries are here; tables hold
only their names.

A blob is written next to its place and renamed, so a name that exists holds all of its bytes; it is verified
each time it is read, and a damaged one is put aside so that writing it again repairs it. Putting the same
bytes twice writes once.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from pathlib import Path

from evolake.errors import CorruptPart, InputError
from evolake.lake import disk, lake_format
from evolake.lake.verify import Shas

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
        return Path(f"{self._root}/blobs/{sha[:2]}/{sha[2:]}")

    def has(self, sha: str) -> bool:
        """Return whether the blob is there and whole."""
        return self._holds(self.path(sha), sha)

    def _holds(self, path: Path, sha: str) -> bool:
        try:
            return self._shas.of(path) == sha
        except (FileNotFoundError, NotADirectoryError):
            return False

    def put(self, data: bytes) -> str:
        """Store `data` and return its sha256 in hex."""
        sha = hashlib.sha256(data).hexdigest()
        path = self.path(sha)
        with disk.as_lake_error(f"blob {sha} could not be stored", f"to write {len(data)} bytes to {path}"):
            if self._holds(path, sha):
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
        from evolake.lake.trees import pack

        return self.put(pack(folder))

    def get_tree(self, sha: str, into: Path) -> None:
        """Unpack the stored folder as `into`, which must be missing or empty; all of it appears or none."""
        from evolake.lake.trees import unpack

        unpack(self.get(sha), into)
