"""A child of two code bases, the way a cycle makes it: planned by a model on one, with an idea of the other
carried over, through all gates.

Glucose strengthens the decay of scores at first and weakens it every so many conflicts; MiniSat's child gets
that ramp."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from loopback_model import KEY, Asked, LoopbackModel, serve
from pydantic import SecretStr
from solver_gates import RULES, SEEDS, GatesProject, open_project
from solver_patch_builds import with_defaults
from solver_seed_builds import seed_folder

from evolake.agents import Agents, open_agents
from evolake.agents.roles import OperatorsBackend
from evolake.lake import DERIVATIONS
from evolake.seeds import CycleSeeds
from evolake.settings import BudgetSettings, Settings
from evolake.solvers.edits import Edit, apply_edits
from evolake.solvers.edits.anchors import pattern, source_files
from evolake.solvers.evolution.coder_turn import CoderTurn
from evolake.solvers.evolution.drafts import Proposals
from evolake.solvers.evolution.planning import (
    Base,
    KnownVariant,
    Planned,
    SearchRecord,
    parent_pool,
    plan_variants,
)
from evolake.solvers.evolution.population import empty_population
from evolake.solvers.evolution.proposing import propose_variants
from evolake.solvers.evolution.variant_making import MadeVariants, make_variants, plan_cycle
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.gates.judging import VariantResults
from evolake.solvers.gates.specs import GATES
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.variant import archive_variant, diff_sources, source_sha
from evolake.solvers.roles.shown import ShownRules, shown_rules
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import PLANS, VARIANTS

OWN, OTHER = "minisat22", "glucose421"
LENT = f"reference/{OTHER}/core/Solver.cc"
RAMP = "if(conflicts % 5000 == 0 && var_decay < max_var_decay)"


@dataclass(frozen=True)
class Carried:
    """What the turns of planner and coder gave. seeds: base -> id. prompts: what the model was asked, in
    order. judged: what the gates said."""

    seeds: dict[str, str]
    prompts: list[str]
    planned: Planned
    made: MadeVariants
    judged: list[VariantResults]


@pytest.fixture(scope="module")
def project(tmp_path_factory, requires) -> GatesProject:
    requires("c++")
    return open_project(tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="module")
def carried(project) -> Carried:
    blobs, root = project.context.blobs, project.root
    folders = {base: project.seed(base) for base in (OWN, OTHER)}
    rows = [
        dict.fromkeys(VARIANTS.columns)
        | {
            "variant_id": source_sha(folder),
            "state": "accepted",
            "cycle": "0000",
            "title": base,
            "base": base,
            "operator": "seed",
            "origin": "seed",
            "parents": [],
            "edits": "[]",
            "archive_sha": archive_variant(folder, blobs),
            "evidence": "{}",
            "changed": "",
        }
        for base, folder in folders.items()
    ]
    seeds = {str(row["base"]): str(row["variant_id"]) for row in rows}
    workspace = Workspace(
        blobs,
        root / "work",
        SEEDS,
        SolversSettings(variants_per_cycle=1, trial_formulas=0),
        0,
        {str(row["base"]): row for row in rows},
        lambda name: pytest.fail(f"{name} is not needed"),
    )
    place = Lender(seeds, ramp_diff(project, root / "ramp"), line_of(folders[OTHER], RAMP))
    judged: list[VariantResults] = []

    def judge(folder: Path) -> VariantResults:
        judged.append(project.quick.judge(folder, OWN))
        return judged[-1]

    seeds_of_cycle = CycleSeeds(1, "solvers", "0001")
    population = empty_population().with_tables(variants=rows)
    with LoopbackModel(serve(place)) as server:
        settings = Settings(
            backend="model",
            model_base_url=server.base_url,
            model_api_key=SecretStr(KEY),
            models={"default": "scripted"},
            budget=BudgetSettings(tokens_per_run=10_000_000),
        )
        with open_agents(settings, root / "tape", "0001", "run", line="solvers") as agents:
            planned = plan_cycle(agents, population, workspace, RULES, seeds=seeds_of_cycle)
            turn = CoderTurn(
                agents, judge, root / "made", workspace.settings, seeds_of_cycle, shown_rules(RULES)
            )
            made = make_variants(turn, population, planned.rows, workspace)
    return Carried(seeds, place.prompts, planned, made, judged)


class Lender:
    """A script of planner and coder: names both parents, reads the other's code at one line, and writes the
    diff."""

    def __init__(self, seeds: dict[str, str], diff: str, line: int) -> None:
        self.seeds, self.diff, self.line = seeds, diff, line
        self.prompts: list[str] = []

    def __call__(self, asked: Asked) -> dict[str, Any]:
        self.prompts.append(asked.messages[1]["content"])
        wanted = (asked.response_format or {})["json_schema"]["schema"]["properties"]
        if "plans" in wanted:
            plan = {
                "parent_id": self.seeds[OWN][:12],
                "second_parent_id": self.seeds[OTHER][:12],
                "kind": "crossover",
                "target": "",
                "hypothesis": "A decay that weakens keeps long-run structure.",
                "instructions": "Carry the ramp of the decay over.",
            }
            return {"assessment": "Two code bases, nothing joined yet.", "plans": [plan]}
        if "regions" in wanted:
            return {
                "regions": [{"path": LENT, "first_line": self.line - 2, "last_line": self.line + 2}],
                "rationale": "The ramp of the decay.",
            }
        return {
            "title": "decay ramp",
            "changelog": "The decay begins at 0.8 and weakens as conflicts go by, as in Glucose.",
            "diff": self.diff,
        }


def ramp_diff(project: GatesProject, folder: Path) -> str:
    """The ramp as MiniSat's code has to be changed for it, against the seed."""
    shutil.copytree(project.seed(OWN), folder)
    [outcome] = apply_edits(folder, project.adapter(OWN), [with_defaults("vsids-ramp")])
    assert outcome.applied
    return diff_sources(project.seed(OWN), folder)


def line_of(folder: Path, text: str) -> int:
    """Where a line with that text stands, from 1."""
    lines = (folder / "src/core/Solver.cc").read_text(encoding="latin-1").splitlines()
    return 1 + next(number for number, line in enumerate(lines) if text in line)


def test_a_model_plans_on_one_code_base_and_names_another(carried):
    [plan] = PLANS.frame(carried.planned.rows).to_dicts()
    assert (plan["kind"], plan["parent_ids"], plan["origin"]) == (
        "crossover",
        [carried.seeds[OWN], carried.seeds[OTHER]],
        "model",
    )


def test_the_coder_is_shown_the_code_of_the_other(carried):
    _, lookup, code = carried.prompts
    assert LENT in lookup and RAMP not in lookup
    assert RAMP in code and f"of another code base, {OTHER}: carry its idea over, not its text" in code


def test_the_child_passes_every_gate_on_the_base_that_it_builds_on(carried):
    [row], [judged] = carried.made.rows, carried.judged
    assert (
        carried.made.failures,
        carried.made.failed_proposals,
        row["repairs"],
        row["gate"],
        row["reason"],
    ) == (0, [], 0, None, None), judged.feedback
    assert judged.accepted and list(json.loads(row["evidence"])) == sorted(gate.name for gate in GATES)
    assert (row["base"], row["operator"], row["edits"]) == (OWN, "crossover", None)
    proofs = {
        run["proof_status"]
        for run in carried.made.runs
        if run["gate"] == "correctness" and run["expected"] == "UNSAT"
    }
    assert proofs == {"verified"}


def test_the_rows_of_descent_carry_both_code_bases_with_weights(carried):
    [row] = carried.made.rows
    assert row["parents"] == [carried.seeds[OWN], carried.seeds[OTHER]]
    assert DERIVATIONS.frame(carried.made.derivations).select(
        "child_id", "parent_id", "operator", "weight", "cycle"
    ).rows() == [
        (row["variant_id"], carried.seeds[OWN], "crossover", 0.75, "0001"),
        (row["variant_id"], carried.seeds[OTHER], "crossover", 0.25, "0001"),
    ]


# What operators plan applies to the parent's own tree: seeds of three code bases, children by edits, and
# children that were written as diffs.


PLANNED = 4
SETTINGS = SolversSettings(variants_per_cycle=PLANNED)
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
def test_every_plan_applies_to_its_parents_tree_and_gives_a_new_variant(name, seed, tmp_path):
    base = seed(name)
    known = children(base, tmp_path)
    for number, parents in enumerate([*([item] for item in known), known], start=1):
        plans, proposals = made(parents, base, tmp_path / "made", f"{number:04d}")
        assert len(plans) == PLANNED and {plan["parent_ids"][0] for plan in plans} <= {
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
