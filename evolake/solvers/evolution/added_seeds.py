"""The seed solvers as what may immigrate: those that the settings name, and the user's own folders in
`solvers/own` of the seeds."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.lake import BlobStore
from evolake.lake.added_seeds import SeedItem, SeedSource, text_item
from evolake.lake.blobs import pack
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.seeds.seeds_file import (
    CARD,
    SOURCES,
    Container,
    Seed,
    load_seeds,
    own_seed,
    own_seeds,
    seed_names,
)
from evolake.solvers.settings import SolversSettings

WANTED = (
    f'a folder with {CARD} (adapter = "minisat22", licence = "MIT", version = "1") and the upstream '
    f"sources in {SOURCES}/"
)


def items(seeds: Path, settings: Any) -> list[SeedItem]:
    """In the order of `seed_names`. Each is known by its entry and, if its sources are on this machine, by
    their content. A folder of added seeds alone needs no `solvers.toml`."""
    file = seeds / "solvers.toml"
    if not file.exists() and seeds != settings.seeds:
        return [_item(seed, file) for seed in own_seeds(seeds)]
    known = load_seeds(file)
    return [_item(known[name], file) for name in seed_names(settings.of(SolversSettings).seeds, known)]


def known_seeds(settings: Any) -> dict[str, Seed]:
    """Return the seeds by name that `items` of all folders of these settings come from; one that was added
    replaces one that is brought along."""
    first, *further = settings.seed_folders
    return load_seeds(first / "solvers.toml") | {
        seed.name: seed for folder in further for seed in own_seeds(folder)
    }


def check(path: Path) -> str:
    """Raise InputError where the folder is no solver that could be laid out; whether it builds and answers is
    for the gates."""
    if not accepts(path):
        raise InputError(
            f"{path} is no solver of your own",
            wanted=WANTED,
            do="write the card; evolake solvers verify tries a tree before",
        )
    seed = own_seed(path)
    source = path / SOURCES / load_adapter(seed.adapter).layout.source
    if not source.is_dir():
        raise InputError(
            f"{path} is not what the adapter {seed.adapter} expects",
            wanted=f"a folder {source}",
            do="name another adapter",
        )
    return seed.name


def accepts(path: Path) -> bool:
    """Return whether it looks like one."""
    return (path / CARD).is_file()


def seed_of(kept: str, blobs: BlobStore, cache: Path) -> Seed:
    """Return the seed that an item's bytes stand for; the sources of a folder of this machine as they were
    when it was kept."""
    values = json.loads(kept)
    tree, container = values.pop("tree"), values.pop("container")
    if container is not None:
        container = Container(**container | {"path": Path(container["path"]) if container["path"] else None})
    seed = Seed(**values | {"container": container, "path": Path(values["path"]) if values["path"] else None})
    if tree is None:
        return seed
    folder = cache / "own" / tree[:24]
    if not folder.is_dir():
        blobs.get_tree(tree, folder)
    return replace(seed, path=folder)


def _item(seed: Seed, file: Path) -> SeedItem:
    """Its entry; the sources of a folder of this machine are kept as well, and the entry names them. file:
    that holds the entries of others."""
    path = seed.path if seed.path is not None and seed.path.is_dir() else None
    tree = hashlib.sha256(pack(path)).hexdigest() if path else None
    file = path.parent if path and accepts(path.parent) else file
    kept = text_item(
        seed.name, json.dumps(asdict(seed) | {"tree": tree}, sort_keys=True, default=str).encode(), file
    )
    return replace(kept, also=lambda: pack(path)) if path else kept


SEEDS = SeedSource("solvers/own", items, accepts, check)
