"""The object store of a mirror, through obstore: objects by content, snapshots by number."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import zstandard

from evolake.errors import InputError, LakeError
from evolake.reading import Unparsable, Unreadable, decompress, parse_json, whole_number

_FORMAT = 1
_INSTALL = "pip install 'evolake[s3]'"
SNAPSHOT_BYTES, SNAPSHOT_VALUES = 512 << 20, 10_000_000
"""Limits of a snapshot as it is stored and as JSON: about two million files."""
_SHA = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Snapshot:
    """The files of a lake at one push: path below its root -> (sha256 hex, bytes). sha: of the snapshot's own
    content."""

    number: int
    files: Mapping[str, tuple[str, int]]
    sha: str


class Remote:
    """One mirror.

    Args:
        create: make the folder of a `file:` address where it is missing.
        url: `s3://BUCKET/PREFIX` (credentials, region and endpoint from the AWS_* variables) or
            `file:///FOLDER`.

    Raises:
        InputError: another kind of URL, or obstore is not installed. Methods raise LakeError where the store
            fails.
    """

    def __init__(self, url: str, *, create: bool = False):
        steps = urlsplit(url)
        whole = {"s3": bool(steps.netloc), "file": bool(steps.path) and not steps.netloc}
        if not whole.get(steps.scheme):
            raise InputError(
                f"{url} names no mirror",
                wanted="s3://BUCKET/PREFIX or file:///FOLDER",
                got=repr(url),
                do="write it in full",
            )
        try:
            import obstore
            from obstore.store import from_url
        except ImportError:
            raise InputError(
                "a mirror needs the package obstore", got="it is not installed", do=_INSTALL
            ) from None
        self.url, self._obstore = url.rstrip("/"), obstore
        options: dict[str, Any] = {"mkdir": create} if steps.scheme == "file" else {}
        if steps.scheme == "s3" and any(
            os.environ.get(name, "").startswith("http://") for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT")
        ):
            options["client_options"] = {"allow_http": True}
        with self._as_lake_error():
            self._store = from_url(self.url, **options)

    @contextmanager
    def _as_lake_error(self) -> Iterator[None]:
        from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError

        try:
            yield
        except (AlreadyExistsError, NotFoundError):
            raise
        except (BaseError, OSError, ValueError) as error:
            raise LakeError(
                f"the mirror {self.url} cannot be used",
                wanted="a store that answers",
                got=" ".join(str(error).split())[:300],
                do=(
                    "check the address, the AWS_* variables and the network, and run it again: it "
                    "continues where it was"
                ),
            ) from None

    def objects(self) -> dict[str, int]:
        """Return sha -> bytes of every object that is there."""
        with self._as_lake_error():
            return {
                item["path"].removeprefix("objects/").replace("/", ""): item["size"]
                for chunk in self._obstore.list(self._store, prefix="objects", chunk_size=1000)
                for item in chunk
            }

    def put(self, sha: str, data: bytes) -> None:
        """Store an object; one that is there is replaced by the same bytes."""
        with self._as_lake_error():
            self._obstore.put(self._store, place_of(sha), data)

    def get(self, sha: str, size: int) -> bytes:
        """Return the bytes named `sha`, verified. Raises LakeError if they are missing, changed, or more than
        `size`."""
        data = self._bytes(place_of(sha), size)
        if data is None:
            raise LakeError(
                f"the mirror {self.url} lacks an object",
                wanted=place_of(sha),
                got="no such object",
                do="push from a lake that is whole",
            )
        if (got := hashlib.sha256(data).hexdigest()) != sha:
            do = (
                f"remove {place_of(sha)} from the store, then push again from a lake that has it: evolake "
                f"lake push {self.url}"
            )
            raise LakeError(
                f"an object of the mirror {self.url} is damaged",
                wanted=f"sha256 {sha}",
                got=f"sha256 {got}",
                do=do,
            )
        return data

    def newest(self) -> Snapshot | None:
        """Return the snapshot with the highest number; None in an empty store."""
        with self._as_lake_error():
            names = [
                item["path"]
                for chunk in self._obstore.list(self._store, prefix="snapshots", chunk_size=1000)
                for item in chunk
            ]
        numbers = [number for name in names if (number := whole_number(name[10:18])) is not None]
        return self.snapshot(max(numbers)) if numbers else None

    def snapshot(self, number: int) -> Snapshot:
        """Return one snapshot. Raises LakeError where it is missing or damaged."""
        name = f"the snapshot {_numbered(number)} of {self.url}"
        do = "remove it from the store; the one before it is taken then, and the next push makes it again"
        data = self._bytes(_numbered(number), SNAPSHOT_BYTES)
        try:
            text = decompress(data or b"", SNAPSHOT_BYTES, name=name, kind="zstd")
            summary = parse_json(text, name=name, characters=SNAPSHOT_BYTES, values=SNAPSHOT_VALUES)
            if summary["format"] != _FORMAT or summary["number"] != number:
                raise ValueError(f"format {summary['format']}, number {summary['number']}")
            return _snapshot(number, dict(_file(*entry) for entry in summary["files"]))
        except (Unreadable, Unparsable) as error:
            raise LakeError(error.what, wanted=error.wanted, got=error.got, do=do) from None
        except (ValueError, KeyError, TypeError) as error:
            raise LakeError(f"{name} is damaged", got=str(error) or "no such object", do=do) from None

    def add(self, number: int, files: Mapping[str, tuple[str, int]]) -> Snapshot:
        """Create the snapshot `number`. Raises LakeError where another push has created it meanwhile."""
        from obstore.exceptions import AlreadyExistsError

        details = {
            "format": _FORMAT,
            "number": number,
            "files": [[path, *files[path]] for path in sorted(files)],
        }
        data = zstandard.ZstdCompressor(write_checksum=True).compress(
            json.dumps(details, ensure_ascii=False).encode("utf-8", "surrogateescape")
        )
        try:
            with self._as_lake_error():
                self._obstore.put(self._store, _numbered(number), data, mode="create", use_multipart=False)
        except AlreadyExistsError:
            raise LakeError(
                f"another push to {self.url} was faster",
                got=f"snapshot {number} is there",
                do=way_out(self.url),
            ) from None
        return _snapshot(number, files)

    def _bytes(self, place: str, limit: int) -> bytes | None:
        from obstore.exceptions import NotFoundError

        try:
            with self._as_lake_error():
                found = self._obstore.get(self._store, place)
                if found.meta["size"] <= limit:
                    return bytes(found.bytes())
        except (NotFoundError, FileNotFoundError):
            return None
        got, do = f"{found.meta['size']:,} bytes", "pull from a mirror that evolake pushed to"
        raise LakeError(
            f"an object of the mirror {self.url} is too large",
            wanted=f"at most {limit:,} bytes of {place}",
            got=got,
            do=do,
        )


def way_out(url: str) -> str:
    """Return what to do if a lake and its mirror have both changed: neither is merged into the other."""
    return (
        f"evolake lake pull {url} --lake NEW_FOLDER, and continue there (EVOLAKE_LAKE=NEW_FOLDER); this "
        "lake stays as it is, and "
        "evolake lake push ANOTHER_URL mirrors it"
    )


def _file(path: Any, sha: Any, size: Any) -> tuple[str, tuple[str, int]]:
    """Return one entry of a snapshot. Raises ValueError if it is none."""
    if (
        isinstance(path, str)
        and isinstance(sha, str)
        and _SHA.fullmatch(sha)
        and type(size) is int
        and size >= 0
    ):
        return path, (sha, size)
    raise ValueError(f"an entry that names no file: {repr((path, sha, size))[:200]}")


def _snapshot(number: int, files: Mapping[str, tuple[str, int]]) -> Snapshot:
    content = json.dumps([[path, *files[path]] for path in sorted(files)]).encode()
    return Snapshot(number, files, hashlib.sha256(content).hexdigest())


def place_of(sha: str) -> str:
    """Return where the store has the bytes that are named `sha`."""
    return f"objects/{sha[:2]}/{sha[2:]}"


def _numbered(number: int) -> str:
    return f"snapshots/{number:08d}.json.zst"
