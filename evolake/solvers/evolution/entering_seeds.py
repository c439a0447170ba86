"""The seed solvers as what may immigrate: those that the settings name, and the user's own folders in
`solvers/own` of the seeds; and the way from a seed to a judged row of VARIANTS: fetched, laid out by its
adapter, taken through every gate against itself as base.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.gates import Ruleset, Verdict
from evolake.lake import BlobStore
from evolake.lake.added_seeds import SeedItem, SeedSource, text_item
from evolake.lake.trees import pack
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.gates.judging import judge_variant
from evolake.solvers.proof.native_check import SOURCES_IN_CADICAL as SECOND_CHECKERS
from evolake.solvers.proof.native_check import build_tools, find_program
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.seeding import fetch_seed, lay_out_seed
from evolake.solvers.repository.seeds_file import (
    CARD,
    SOURCES,
    Container,
    Seed,
    load_seeds,
    own_seed,
    own_seeds,
    seed_names,
)
from evolake.solvers.repository.variant import archive_variant
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


CHECKERS_COME_WITH = "cadical195"


@dataclass(frozen=True)
class JudgedSeed:
    """A row of VARIANTS, the verdicts on it, and a row of provenance."""

    row: dict[str, Any]
    verdicts: tuple[Verdict, ...]
    provenance: dict[str, Any]


def build_second_checkers(workspace: Workspace) -> list[str]:
    """Return names of the independent proof checkers that cadical's release carries, built once; champions
    are checked by two checkers where two exist.

    Raises:
        InputError: no seed `cadical195`, or no C compiler. MachineryError: its sources cannot be reached, or
            a checker does not compile.
    """
    missing = [name for name in SECOND_CHECKERS if find_program(name) is None]
    if missing:
        build_tools(workspace.trees(CHECKERS_COME_WITH))
    return list(SECOND_CHECKERS)


def judge_seed(workspace: Workspace, seed: Seed, ruleset: Ruleset, *, cycle: str, run_id: str) -> JudgedSeed:
    """Return a seed after its gates.

    Raises:
        InputError: its sources are not the pinned ones, or its adapter does not fit them.
        MachineryError: its sources cannot be reached, or the jail, a checker or the compiler failed.
    """
    now, name = datetime.now(UTC), seed.name
    fetched = fetch_seed(seed, workspace.blobs, now=now)
    folder = lay_out_seed(
        seed, workspace.blobs, workspace.cache, adapters=workspace.seeds / "solvers" / "adapters", now=now
    )
    adapter = workspace.adapter(seed.adapter)
    judged = judge_variant(
        folder,
        adapter=adapter,
        base=folder,
        ruleset=ruleset,
        context=workspace.context(name, cycle),
        cycle=cycle,
        run_id=run_id,
    )
    blocked = judged.blocked_by
    row = {
        "variant_id": judged.variant_id,
        "state": "accepted" if judged.accepted else "blocked",
        "cycle": cycle,
        "title": name,
        "base": name,
        "operator": "seed",
        "origin": "seed",
        "plan_id": None,
        "hypothesis": f"{name} {seed.version}, as it is published.",
        "changed": "",
        "parents": [],
        "edits": "[]",
        "archive_sha": archive_variant(folder, workspace.blobs),
        "diff_sha": workspace.blobs.put(b""),
        "evidence": json.dumps(judged.evidence_shas, sort_keys=True),
        "gate": blocked.gate if blocked else None,
        "rule_id": blocked.rule_id if blocked else None,
        "reason": blocked.reason if blocked else None,
        "repairs": 0,
        "objections": [],
        "dropped": None,
    }
    return JudgedSeed(row, judged.verdicts, asdict(fetched))
