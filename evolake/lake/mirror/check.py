"""A check of a mirror without pulling it: what its newest snapshot names is there in its size, and a sample
has the bytes that it should.

An object is named by the sha256 of its bytes, so a listing of the store shows which are missing or of another
size, in one request per thousand. Bytes that changed without a change of size are found only by reading them:
of a sample, or of all with `full`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from evolake.errors import InputError, LakeError
from evolake.lake.mirror.remote import Remote, Snapshot, place_of

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
