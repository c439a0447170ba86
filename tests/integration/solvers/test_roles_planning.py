"""What operators plan applies to the parent's own tree: seeds of three code bases, children by edits, and
children that were written as diffs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from solver_patch_builds import with_defaults
from solver_seed_builds import seed_folder

from evolake.agents import Agents
from evolake.agents.backends import OperatorsBackend
from evolake.cycle_seeds import CycleSeeds
from evolake.solvers.edits import Edit, apply_edits
from evolake.solvers.edits.anchors import pattern, source_files
from evolake.solvers.evolution.planning import Base, KnownVariant, SearchRecord, parent_pool, plan_variants
from evolake.solvers.evolution.proposing.coder_turn import CoderTurn
from evolake.solvers.evolution.proposing.proposal import Proposals
from evolake.solvers.evolution.proposing.propose import propose_variants
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.variant import source_sha
from evolake.solvers.roles.rules_to_show import ShownRules
from evolake.solvers.settings import SolversSettings

PLANS = 4
SETTINGS = SolversSettings(variants_per_cycle=PLANS)
EDITED = {
    "minisat22": (
        with_defaults("restart-geometric"),
        Edit("tunable", "var-decay", {"value": 0.85}),
        Edit("tunable", "luby", {"value": False}),
    ),
    "mergesat3": (with_defaults("chrono-relative"), Edit("tunable", "chrono", {"value": 50})),
    "cadical195": (
        with_defaults("cadical-bump-reasons"),
        Edit("tunable", "bumpreasondepth", {"value": 2}),
        Edit("tunable", "chrono", {"value": 0}),
    ),
}
"""What a child by edits carries: patches, among them one that leaves an option of the others without effect,
and a switch that was thrown."""
BAKED = {
    "minisat22": ("phase-rephase", "restart-ema"),
    "mergesat3": ("phase-initial",),
    "cadical195": ("cadical-restart-blocked",),
}
"""Patches whose code a child holds that was written as a diff, so that nobody knows of them but by
reading."""
REWRITTEN = {
    "minisat22": (
        ("opt_var_decay (_cat", "opt_var_decay (other"),
        ("conflicts++; conflictC++;", "conflictC++; conflicts++;"),
    ),
    "mergesat3": (("solves++;", "solves += 1;"),),
    "cadical195": (("opts.scorefactor;", "(double) opts.scorefactor;"),),
}
"""What another such child writes otherwise: places where the catalogue has an anchor, and the declaration of
an option."""


@dataclass(frozen=True)
class Passed:
    """A gate that objects to nothing: what is looked at here is what was made."""

    variant_id: str
    blocked_by: None = None
    feedback: str = ""
    output: str = ""


@pytest.fixture(scope="module")
def seed() -> Callable[[str], Base]:
    return cache(lambda name: Base(name, seed_folder(name), load_adapter(name)))


def children(base: Base, place: Path) -> list[KnownVariant]:
    """The seed, a child by edits, and two that were written."""
    result = [KnownVariant(source_sha(base.folder), base.name, "seed", "seed", base.folder, ())]
    for title, edits in (
        ("edited", EDITED[base.name]),
        ("baked", [with_defaults(name) for name in BAKED[base.name]]),
        ("rewritten", ()),
    ):
        folder = place / title
        shutil.copytree(base.folder, folder)
        assert all(outcome.applied for outcome in apply_edits(folder, base.adapter, edits))
        for old, new in REWRITTEN[base.name] if title == "rewritten" else ():
            rewrite(folder, old, new)
        result.append(
            KnownVariant(
                source_sha(folder),
                base.name,
                title,
                title,
                folder,
                tuple(edits) if title == "edited" else None,
            )
        )
    return result


def rewrite(folder: Path, old: str, new: str) -> None:
    """Other text for the one place where the tokens of `old` stand."""
    [(path, text)] = [
        (path, text) for path, text in source_files(folder).items() if len(pattern(old).findall(text)) == 1
    ]
    (folder / path).write_bytes(pattern(old).sub(lambda _: new, text).encode("latin-1"))


def made(known: list[KnownVariant], base: Base, into: Path, cycle: str) -> tuple[list[dict], Proposals]:
    """The plans of a cycle, and what became of them."""
    pool = parent_pool(known, {base.name: base}, ranking=[], metrics=[], settings=SETTINGS, cycle=cycle)
    seeds = CycleSeeds(3, "solvers", cycle)
    with Agents(OperatorsBackend(cycle), line="solvers", cycle=cycle) as agents:
        plans = plan_variants(agents, pool, SearchRecord(), ShownRules(), settings=SETTINGS, seeds=seeds).rows
        turn = CoderTurn(agents, lambda folder: Passed(source_sha(folder)), into, SETTINGS, seeds)
        return plans, propose_variants(turn, plans, pool)


@pytest.mark.parametrize("name", EDITED)
def test_every_plan_applies_to_its_parents_tree_and_gives_a_new_variant(
    name: str, seed: Callable[[str], Base], tmp_path: Path
) -> None:
    base = seed(name)
    known = children(base, tmp_path)
    for number, parents in enumerate([*([item] for item in known), known], start=1):
        plans, proposals = made(parents, base, tmp_path / "made", f"{number:04d}")
        assert len(plans) == PLANS and {plan["parent_ids"][0] for plan in plans} <= {
            item.variant_id for item in parents
        }
        assert [item.reason for item in proposals.failed_proposals] == []
        targets = {plan["plan_id"]: plan["target"] for plan in plans}
        for variant in proposals.variants:
            target = targets[variant.plan_id]
            assert (variant.repairs, [row for row in variant.dropped if row["parent"] == 0]) == (0, []), (
                variant.changelog
            )
            assert target.partition(":")[2] in variant.changelog
            assert variant.edits is None or not target or target in {edit.key for edit in variant.edits}
