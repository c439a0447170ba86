"""A push: what the store lacks is sent while cycles may run, what has changed meanwhile once more under the
locks of all lines, then the snapshot."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from evolake.errors import LakeError
from evolake.lake import disk
from evolake.lake.chained import VERIFY
from evolake.lake.inventory import take_inventory
from evolake.lake.mirror import local
from evolake.lake.mirror.check import SAMPLE, compare, way_to_repair
from evolake.lake.mirror.remote import Remote, Snapshot, way_out
from evolake.lake.store import Lake
from evolake.lake.verify import Shas

AT_ONCE = 8


@dataclass(frozen=True)
class Pushed:
    """What a push did. number: of the newest snapshot, which is the lake as it is. sent, sent_bytes: objects
    that the store had not."""

    number: int
    files: int
    sent: int
    sent_bytes: int


def push(lake: Lake, url: str) -> Pushed:
    """Mirror the lake as it is as the newest snapshot at `url`.

    Everything that the snapshot names is then there in its size; of what earlier pushes sent, a sample is
    read.

    Raises:
        InputError: the address names no mirror. PartitionBusy: a line is running.
        LakeError: the lake is damaged, the store fails, an object of the mirror is damaged, or the mirror's
            newest snapshot is not what this lake was last mirrored as.
    """
    remote = Remote(url, create=True)
    sender = _Sender(lake.root, remote)
    sender.send()
    with lake.all_lines_lock(run_id="push"):
        files = sender.send()
        _check_parts(lake, files)
        newest = remote.newest()
        if newest is None or newest.files != files:
            _refuse_strangers(lake.root, remote.url, newest)
            newest = remote.add(newest.number + 1 if newest else 1, files)
        sender.check(newest)
        local.note(lake.root, remote.url, newest.number)
    return Pushed(newest.number, len(files), sender.sent, sender.sent_bytes)


class _Sender:
    def __init__(self, root: Path, remote: Remote):
        self._root, self._remote = root, remote
        self._shas, self._there = Shas(), remote.objects()
        self.sent_bytes = 0
        self._new: list[str] = []

    @property
    def sent(self) -> int:
        """Number of objects that were sent."""
        return len(self._new)

    def check(self, snapshot: Snapshot) -> None:
        """Raise LakeError if an object of an earlier push, which this snapshot names, is not what was
        sent."""
        checked = compare(self._remote, snapshot, self._there, SAMPLE, but=self._new)
        if checked.damaged:
            first, url = checked.damaged[0], self._remote.url
            raise LakeError(
                f"the mirror {url} is damaged: {len(checked.damaged)} of the {checked.read} objects that "
                "were read",
                wanted=f"{first.wanted} in {first.place}",
                got=first.got,
                do=way_to_repair(url),
            )

    def send(self) -> dict[str, tuple[str, int]]:
        """Send what the store lacks, and return path -> (sha, bytes) of every file that is there now. A file
        that goes meanwhile is left out."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            result = pool.map(self._one, list(local.files(self._root)))
            return {path: summary for path, summary in result if summary is not None}

    def _one(self, name: str) -> tuple[str, tuple[str, int] | None]:
        path, steps = self._root / name, name.split("/")
        blob = steps[1] + steps[2] if steps[0] == "blobs" and len(steps) == 3 else None
        with disk.as_lake_error(f"{path} cannot be read", "to send it"):
            try:
                sha, size = blob or self._shas.of(path), path.stat().st_size
                if self._there.get(sha) == size:
                    return name, (sha, size)
                data = path.read_bytes()
            except FileNotFoundError:
                return name, None
        sha = hashlib.sha256(data).hexdigest()
        if blob not in (None, sha):
            raise LakeError(
                f"the blob {path} is damaged", wanted=f"sha256 {blob}", got=f"sha256 {sha}", do=VERIFY
            )
        self._remote.put(sha, data)
        self._there[sha] = len(data)
        self.sent_bytes += len(data)
        self._new.append(sha)
        return name, (sha, len(data))


def _check_parts(lake: Lake, files: dict[str, tuple[str, int]]) -> None:
    """Every part that the manifests name was sent with the bytes that they say."""
    inventory = take_inventory(lake)
    for error in inventory.damaged.values():
        raise error
    for part in inventory.parts:
        sent = files.get(part.path.relative_to(lake.root).as_posix())
        if part.state != "lost" and (sent is None or sent[0] != part.file_sha):
            got = f"sha256 {sent[0]}" if sent else "no file"
            raise LakeError(
                f"the part {part.path} is damaged; nothing was mirrored",
                wanted=f"sha256 {part.file_sha}",
                got=got,
                do=VERIFY,
            )


def _refuse_strangers(root: Path, url: str, newest: Snapshot | None) -> None:
    number = local.noted(root, url)
    if newest is not None and not (
        number and newest.number <= number
    ):  # fewer: a damaged snapshot was removed from the store
        raise LakeError(
            f"the mirror {url} holds what this lake has not",
            wanted="the snapshot that this lake was last mirrored as" if number else "an empty mirror",
            got=f"snapshot {newest.number}, pushed from elsewhere"
            if number
            else f"snapshot {newest.number} of another lake",
            do=way_out(url),
        )
