"""Seeds' sources, laid out once for all workers of a test run, and their programs, built once and copied
into lakes.

A lake remembers both by content (the pinned archive; sources, scripts and compiler), so a lake with these
copies does what it does in a later cycle.
"""

import shutil
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from filelock import FileLock
from shared_folder import shared_folder

from evolake.lake import BlobStore
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.build import build_variant
from evolake.solvers.repository.seeding import lay_out_seed, seed_named
from evolake.solvers.repository.seeds_file import Seed


def place_of(name: str) -> Path:
    """Return the folder in which the workers of this run share a seed: its lake, sources and repository."""
    return shared_folder() / "seeds" / name


def seed_lake(name: str) -> BlobStore:
    """Return the blobs of a seed's shared lake."""
    return BlobStore(place_of(name) / "lake")


@cache
def seed_folder(name: str, given: Seed | None = None) -> Path:
    """Return the folder of a seed that is laid out as a variant. All tests share it: copy it before a change.

    given: the seed, if the settings do not list it.

    Raises:
        MachineryError: the sources cannot be reached.
    """
    place = place_of(name)
    place.mkdir(parents=True, exist_ok=True)
    with FileLock(place / "turn.lock"):
        return lay_out_seed(given or seed_named(name), seed_lake(name), place, now=datetime.now(UTC))


def bring_seed(name: str, lake: Path) -> None:
    """Put the archive of a seed, where it came from and its build into the lake at `lake`.

    Raises:
        MachineryError: the sources cannot be reached, or there is no compiler.
    """
    folder, place = seed_folder(name), place_of(name)
    with FileLock(place / "turn.lock"):
        build_variant(folder, load_adapter(seed_named(name).adapter), seed_lake(name), seed=True)
    for file in (place / "lake").rglob("*"):
        target = lake / file.relative_to(place / "lake")
        if file.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
