"""A seed's sources and its program, fetched and built once for all workers of a test run, and brought into each lake that would make them anew.

A lake remembers both by content (the pinned archive; sources, scripts and compiler), so one that was brought them does what it does in a later cycle.
"""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock
from shared_folder import shared_folder

from evolake.lake import BlobStore
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.build import build_variant
from evolake.solvers.seeds.seeding import lay_out_seed, seed_named


def bring_seed(name: str, lake: Path) -> None:
    """Puts the archive of a seed, where it came from and its build into the lake at `lake`.

    Raises:
        MachineryError: the sources cannot be reached, or there is no compiler.
    """
    shared = shared_folder() / "seeds"
    shared.mkdir(exist_ok=True)
    with FileLock(shared / f"{name}.lock"):
        if not (made := shared / name).exists():
            making, seed = shared / f"{name}.making", seed_named(name)
            shutil.rmtree(making, ignore_errors=True)
            folder = lay_out_seed(seed, BlobStore(making / "lake"), making, now=datetime.now(UTC))
            build_variant(folder, load_adapter(seed.adapter), BlobStore(making / "lake"), seed=True)
            making.rename(made)
    for file in (made / "lake").rglob("*"):
        target = lake / file.relative_to(made / "lake")
        if file.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
