"""Mirror a lake in an object store: content-addressed, incremental, verified on both sides, and resumable
after any cut.

    objects/ab/cdef...         bytes by their sha256, written once
    snapshots/00000007.json.zst    which files the lake had, with size and sha256, at its seventh push

A push sends the objects that the store lacks while cycles may run, what has changed meanwhile once more under
the locks of all lines, and then creates the next snapshot; the store refuses a number that is there, so of
two concurrent pushes one wins. A pull makes a lake what the newest snapshot says; until it is intact, no
process opens it. Neither overwrites what it does not know: a push wants the newest snapshot to be the one
that this lake was last pushed or pulled as, a pull wants the lake as it was then. What cannot be done again
is mirrored, the private key too: a person who reads the store reads the lake. Caches, locks, quarantine and
seeds are left out.

A check reads the store without pulling it. A listing shows which objects are missing or of another size, in
one request per thousand; bytes that changed without a change of size are found only by reading them: of a
sample, or of all with `full`.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from evolake.errors import InputError, LakeError
from evolake.lake import disk
from evolake.lake.chained import VERIFY
from evolake.lake.inventory import take_inventory
from evolake.lake.layout import MIRRORED, PULLING
from evolake.lake.object_store import Remote, Snapshot, place_of, way_out
from evolake.lake.store import Lake
from evolake.lake.verify import Shas
from evolake.project import IN_LAKE

AT_ONCE = 8
SAMPLE = 64
"""Objects whose bytes are read."""


@dataclass(frozen=True)
class Damaged:
    """An object that a snapshot names and that is not as it should be. path: one file of the lake with it.
    wanted, got: in words."""

    place: str
    path: str
    wanted: str
    got: str


@dataclass(frozen=True)
class Checked:
    """What a check found. number: of the snapshot. objects: contents that it names. read: of which the bytes
    were read. damaged: by place."""

    number: int
    files: int
    objects: int
    read: int
    damaged: tuple[Damaged, ...]


def check(url: str, *, full: bool = False, seed: int | None = None) -> Checked:
    """Check the newest snapshot of the mirror at `url`.

    Args:
        full: read the bytes of all objects, not of a sample. seed: of the sample; None draws another each
            time.

    Raises:
        InputError: the address names no mirror, or there is nothing in it. LakeError: the store fails, or the
            snapshot itself is damaged.
    """
    remote = Remote(url)
    newest = remote.newest()
    if newest is None:
        raise InputError(
            f"there is no snapshot in {remote.url}",
            wanted="a mirror that was pushed to",
            do=f"evolake lake push {url}",
        )
    there = remote.objects()
    return compare(remote, newest, there, None if full else SAMPLE, seed)


def compare(
    remote: Remote,
    snapshot: Snapshot,
    there: Mapping[str, int],
    sample: int | None,
    seed: int | None = None,
    but: Sequence[str] = (),
) -> Checked:
    """Hold a snapshot to the objects that are there (sha -> bytes). sample: how many to read; None: all. but:
    shas that need no reading."""
    named = {sha: (path, size) for path, (sha, size) in snapshot.files.items()}
    bad: dict[str, Damaged] = {}
    for sha, (path, size) in named.items():
        if there.get(sha) != size:
            got = f"{there[sha]} bytes" if sha in there else "no such object"
            bad[sha] = Damaged(place_of(sha), path, f"{size} bytes", got)
    readable = sorted(named.keys() - bad.keys() - set(but))
    chosen = readable if sample is None else random.Random(seed).sample(readable, min(sample, len(readable)))

    def read(sha: str) -> tuple[str, Damaged | None]:
        path, size = named[sha]
        try:
            remote.get(sha, size)
        except LakeError as error:
            if not error.what.startswith("an object of the mirror"):
                raise
            return sha, Damaged(place_of(sha), path, str(error.wanted or ""), str(error.got or ""))
        return sha, None

    with ThreadPoolExecutor(AT_ONCE) as pool:
        bad |= {sha: damage for sha, damage in pool.map(read, chosen) if damage is not None}
    return Checked(
        snapshot.number,
        len(snapshot.files),
        len(named),
        len(chosen),
        tuple(sorted(bad.values(), key=lambda item: item.place)),
    )


def way_to_repair(url: str) -> str:
    """Return what repairs damaged objects of a mirror."""
    return (
        f"remove the damaged objects from the store (evolake lake verify --mirror {url} names them), then "
        f"evolake lake push {url} sends them again"
    )


LEFT_OUT = frozenset(
    {"locks", "quarantine", "cache", "work", "seeds", "README.md", IN_LAKE, MIRRORED, PULLING}
)
"""Entries of a lake's root that are no part of a mirror: what is made again, what is of one machine, and what
comes with the project."""


def files(root: Path) -> Iterator[str]:
    """Yield every file that a mirror holds, by its path below the root. Raises LakeError where a folder
    cannot be read."""
    with disk.as_lake_error(f"the lake {root} cannot be listed", "its files"):
        for name in disk.names(root):
            if name not in LEFT_OUT and not name.startswith("."):
                path = root / name
                yield from _below(root, path) if path.is_dir() else (name,)


def _below(root: Path, folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                yield from _below(root, Path(entry.path))
            elif not entry.name.startswith(".tmp-") and entry.is_file(follow_symlinks=False):
                yield os.path.relpath(entry.path, root)


def noted(root: Path, url: str) -> int | None:
    """Return the number of the snapshot of `url` that this lake was last pushed or pulled as; None where it
    never was."""
    number = _notes(root).get(url)
    return number if isinstance(number, int) else None


def note(root: Path, url: str, number: int) -> None:
    """Remember that the lake is what the snapshot `number` of `url` says."""
    disk.write_atomic(
        root / MIRRORED,
        json.dumps(_notes(root) | {url: number}, indent=1).encode() + b"\n",
        tag=str(os.getpid()),
    )


def _notes(root: Path) -> dict[str, object]:
    path = root / MIRRORED
    try:
        return dict(json.loads(disk.read(path)))
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError) as error:
        do = "remove the file; a push or pull then wants lake and mirror to be the same"
        raise LakeError(
            f"{path} is damaged", wanted="one JSON object: address -> number", got=str(error), do=do
        ) from None


def checked(root: Path, path: str) -> Path:
    """Return where a file of a snapshot belongs. Raises InputError for a path that leads elsewhere: a mirror
    is not to be trusted with that."""
    steps = path.split("/")
    if (
        path.startswith("/")
        or any(step in ("", ".", "..") for step in steps)
        or steps[0] in LEFT_OUT
        or "\0" in path
    ):
        raise InputError(
            f"the mirror names a file {path!r} that no lake has",
            wanted="a path inside of the lake",
            do="pull from a mirror of a lake",
        )
    return root / path


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
        note(lake.root, remote.url, newest.number)
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
            result = pool.map(self._one, list(files(self._root)))
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
    number = noted(root, url)
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


Files = Mapping[str, tuple[str, int]]


@dataclass(frozen=True)
class Pulled:
    """What a pull did. number: the snapshot that the lake is now. fetched, fetched_bytes: files written.
    removed: files that the snapshot has not."""

    number: int
    files: int
    fetched: int
    fetched_bytes: int
    removed: int


def pull(root: Path, url: str) -> Pulled:
    """Make the lake at `root` (missing, empty, or a mirror's lake of earlier) what the newest snapshot of
    `url` says.

    Raises:
        InputError: the address names no mirror, there is nothing in it, or the lake holds what the mirror
            does not know.
        PartitionBusy: a line of the lake is running. LakeError: the store fails, or an object in it is
            damaged.
    """
    remote = Remote(url)
    newest = remote.newest()
    if newest is None:
        raise InputError(
            f"there is no snapshot in {remote.url}",
            wanted="a mirror that was pushed to",
            do=f"evolake lake push {url}",
        )
    with ExitStack() as stack:
        if not (root / PULLING).exists() and root.exists():
            stack.enter_context(Lake(root).all_lines_lock(run_id="pull"))
        there = _there(root)
        wanted = {path: summary for path, summary in newest.files.items() if there.get(path) != summary}
        strays = [path for path in there if path not in newest.files]
        number = noted(root, remote.url)
        if wanted or strays:
            if not (root / PULLING).exists():
                _refuse_changed(
                    root, remote.url, there, newest.files, remote.snapshot(number).files if number else {}
                )
            _begin(root, remote.url)
            fetched = _fetch(root, remote, wanted)
            for path in strays:
                disk.remove(root / path)
        else:
            fetched = 0
        note(root, remote.url, newest.number)
        disk.remove(root / PULLING)
    return Pulled(newest.number, len(newest.files), len(wanted), fetched, len(strays))


def _there(root: Path) -> dict[str, tuple[str, int]]:
    shas = Shas()
    with (
        disk.as_lake_error(f"the lake {root} cannot be read", "its files"),
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        names = list(files(root))
        return dict(
            zip(
                names,
                pool.map(lambda name: (shas.of(root / name), (root / name).stat().st_size), names),
                strict=True,
            )
        )


def _refuse_changed(root: Path, url: str, there: Files, wanted: Files, base: Files) -> None:
    """Raise if a pull would replace what was made here. It puts nothing in the place of what was made here:
    each file is as the lake was last mirrored, or as the snapshot has it."""
    for path, summary in there.items():
        if summary not in (base.get(path), wanted.get(path)):
            raise InputError(
                f"the lake {root} has changed since it was mirrored, or is another",
                wanted=f"{path} as the mirror has it",
                got=f"sha256 {summary[0][:16]}",
                do=way_out(url),
            )


def _begin(root: Path, url: str) -> None:
    """From here to the end every process that opens the lake refuses it."""
    with disk.as_lake_error(f"{root} cannot be written to", "a folder for the lake"):
        disk.make_folder(root)
        disk.write_atomic(root / PULLING, json.dumps({"url": url}).encode() + b"\n", tag=str(os.getpid()))


def _fetch(root: Path, remote: Remote, wanted: Files) -> int:
    """Write each file whole, and return their size in bytes."""

    def fetch_file(path: str) -> int:
        sha, size = wanted[path]
        data = remote.get(sha, size)
        if len(data) != size:
            raise LakeError(
                f"the snapshot of {remote.url} does not fit its objects",
                wanted=f"{size} bytes of {path}",
                got=str(len(data)),
            )
        target = checked(root, path)
        with disk.as_lake_error(f"{target} cannot be written", f"{size} bytes of the mirror"):
            disk.write_atomic(target, data, tag=f"pull-{os.getpid()}")
        return size

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return sum(pool.map(fetch_file, wanted))


__all__ = ["Checked", "Pulled", "Pushed", "check", "pull", "push"]
