"""From a seed's name to its variant: fetched, unpacked once, laid out by its adapter."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from evolake.errors import InputError
from evolake.file_names import file_name
from evolake.lake.blobs import BlobStore
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.variant import adopt_variant, create_variant, is_laid_out, source_sha
from evolake.solvers.seeds.fetch import fetch_seed
from evolake.solvers.seeds.fetch_unpack import unpack_archive
from evolake.solvers.seeds.seeds_file import Seed, load_seeds, seed_names

_ZSTD = b"\x28\xb5\x2f\xfd"


def seed_named(name: str, seeds: Path | None = None) -> Seed:
    """Return the seed called `name`. seeds: the file, by default that of the settings. Raises InputError if
    there is none."""
    known = load_seeds(seeds)
    return known[seed_names([name], known)[0]]


def upstream_tree(seed: Seed, blobs: BlobStore, cache: Path, *, now: datetime | None = None) -> Path:
    """Return the folder of the seed's upstream sources, unpacked once below `cache`; errors as of
    `fetch_seed` and `unpack_archive`."""
    fetched = fetch_seed(seed, blobs, now=now or datetime.now(UTC))
    folder = cache / "upstream" / fetched.sha256
    if not folder.is_dir():
        data = blobs.get(fetched.sha256)
        if data.startswith(_ZSTD):
            folder.parent.mkdir(parents=True, exist_ok=True)
            blobs.get_tree(fetched.sha256, folder)
        else:
            unpack_archive(data, folder)
    if seed.root is not None:
        root = folder / seed.root
        if not root.is_dir() or not root.resolve().is_relative_to(folder.resolve()):
            raise InputError(
                f"the sources of {seed.name} have no folder {seed.root!r}",
                wanted="where the solver is in them",
                do="fix `root`",
            )
        return root
    entries = list(folder.iterdir())
    return entries[0] if len(entries) == 1 and entries[0].is_dir() else folder


def seed_trees(blobs: BlobStore, cache: Path, *, seeds: Path | None = None) -> Callable[[str], Path]:
    """Return seed's name -> folder of its upstream sources, for suites whose formulas come with a solver."""
    return lambda name: upstream_tree(seed_named(name, seeds), blobs, cache)


def lay_out_seed(
    seed: Seed, blobs: BlobStore, cache: Path, *, adapters: Path | None = None, now: datetime | None = None
) -> Path:
    """Return the seed as a variant, laid out once below `cache`; a tree that is laid out already is taken as
    it is. The folder is named for its sources, our patches included; treat it as read-only."""
    adapter = load_adapter(seed.adapter, adapters)
    tree = upstream_tree(seed, blobs, cache, now=now)
    made = cache / "seeds" / f".{file_name(seed.name)}-{datetime.now(UTC).timestamp():.6f}"
    (adopt_variant if is_laid_out(tree) else create_variant)(tree, adapter, made, base=seed.name)
    final = cache / "seeds" / file_name(f"{seed.name}-{source_sha(made)[:16]}")
    try:
        made.replace(final)
    except OSError:  # it is there already, with the same sources
        shutil.rmtree(made, ignore_errors=True)
    return final
