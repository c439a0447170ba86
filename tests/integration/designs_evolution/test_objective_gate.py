"""The gate of objectives in a real jail: planted faults are blocked with a reason, whoever wrote them; what
is sound passes."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from objective_results import level, random_designs
from scripted_agents import scripted

from evolake.designs.evolution.gate_specs import OBJECTIVE
from evolake.designs.evolution.judging_objectives import (
    TrialContext,
    TriedObjective,
    collect_trial,
    objective_judge,
    trial_context,
)
from evolake.designs.evolution.objective_writing import derivation_rows, initial_objectives, write_objectives
from evolake.designs.evolution.population import Population, empty_population
from evolake.designs.roles.models import ObjectiveReply
from evolake.designs.settings import DesignsSettings
from evolake.gates import Ruleset, is_usable, load_rules, replay_gate
from evolake.objectives.portfolio import OBJECTIVE_FAMILIES, baseline_objective, make
from evolake.objectives.programs.compose import COUNTERPARTS, compose, of_family, read
from evolake.objectives.score import Objective
from evolake.objectives.source import objective_id
from evolake.project import BROUGHT
from evolake.seeds import CycleSeeds

RULES = load_rules(BROUGHT / "data_lake" / "seeds" / "rules", "designs")
RESULTS: dict[str, list[dict[str, Any]]] = dict(random_designs(8, np.random.default_rng(11)))
RESULTS = {name: [row | {"design_id": name} for row in rows] for name, rows in RESULTS.items()}
RESULTS["early"] = [level(10, 400, 0.97, 50)]
RESULTS["short"] = [level(10, 20), level(14, 900, 0.8, 100)]
STEPS = "    return sum(row['median_step'] / row['N'] for row in results) / len(results)\n"
FAULTS = {
    "reads the first row alone": (
        "def objective(results):\n    return float(results[0]['median_step'])\n",
        "designs-objective-order",
    ),
    "weighs rows by their place": (
        "def objective(results):\n    return float(sum(place * row['N'] ** 2 for place, row in "
        "enumerate(results)))\n",
        "designs-objective-order",
    ),
    "counts the designs that came before": (
        "import math\ndef objective(results):\n    math.calls = getattr(math, 'calls', 0) + 1\n    return "
        "float(math.calls)\n",
        "designs-objective-order",
    ),
    "scores by the design's name alone": (
        "import hashlib\n\n\ndef objective(results):\n    return "
        "float(int(hashlib.sha256(results[0]['design_id'].encode()).hexdigest()[:8], 16))\n",
        "designs-objective-order",
    ),
    "draws at random": (
        "import random\ndef objective(results):\n    return random.random()\n",
        "designs-objective-order",
    ),
    "reads the clock": (
        "import time\ndef objective(results):\n    return time.time()\n",
        "designs-objective-repeats",
    ),
    "is constant": ("def objective(results):\n    return 1.0\n", "designs-objective-apart"),
    "tells two kinds of designs": (
        "def objective(results):\n    return float(len(results) > 1 and results[0]['N'] < 5)\n",
        "designs-objective-apart",
    ),
    "is no number on one design": (
        "def objective(results):\n    if len(results) == 1:\n        return float('nan')\n" + STEPS,
        "designs-objective-runs",
    ),
    "raises on a short ladder": (
        "def objective(results):\n    return float(sorted(row['median_step'] for row in results)[2])\n",
        "designs-objective-runs",
    ),
    "ranks as the baseline does": (
        baseline_objective().source
        + "\n\n_first = objective\n\n\ndef objective(results):\n    return 3.0 * _first(results) + 7.0\n",
        "designs-objective-new",
    ),
}


@pytest.fixture(scope="module")
def context(pool) -> TrialContext:
    """The baseline and one template vote."""
    voting = [baseline_objective(), make("reach", {}, "")]
    return trial_context(RESULTS, [Objective(spec.objective_id, spec.source) for spec in voting], pool)


def only(rule: str) -> Ruleset:
    """The shipped rules but those of other names."""
    return replace(RULES, rules=tuple(item for item in RULES.rules if item.id == rule))


def judged(source: str, context: TrialContext, pool: Any):
    return objective_judge(context, pool, ruleset=RULES, cycle="0002", run_id="test")(
        Objective(objective_id(source), source)
    )


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_blocked_by_its_rule_with_a_reason(name, context, pool):
    source, rule = FAULTS[name]
    result = judged(source, context, pool)
    assert not result.accepted and result.blocked_by is not None
    assert (result.blocked_by.rule_id, bool(result.blocked_by.reason)) == (rule, True), (
        result.blocked_by.reason
    )
    verdicts = replay_gate(
        OBJECTIVE, result.evidence["objective"], only(rule), artifact_id="a", cycle="0002", run_id="test"
    ).verdicts
    assert [verdict.outcome for verdict in verdicts] == ["block"]


def test_the_templates_and_their_programs_pass(context, pool):
    sources = [make(name, {}, "").source for name in OBJECTIVE_FAMILIES if name != "reach"] + [
        compose(of_family(name)) for name in COUNTERPARTS
    ]
    for source in sources:
        result = judged(source, context, pool)
        assert result.accepted, result.blocked_by
        assert [verdict.outcome for verdict in result.verdicts] == ["pass"] * len(
            RULES.of_gate("objective")
        ) and len(result.verdicts) == 5


def test_what_passed_votes_and_a_second_of_its_kind_is_a_duplicate(context, pool):
    judge = objective_judge(context, pool, ruleset=RULES, cycle="0002", run_id="test")
    first, second = make("tail", {}, "").source, make("tail", {}, "").source + "\n\nSAME = True\n"
    assert judge(Objective(objective_id(first), first)).accepted
    result = judge(Objective(objective_id(second), second))
    assert result.blocked_by is not None and result.blocked_by.reason.startswith(
        f"ranks as objective {objective_id(first)[:12]} does"
    )
    fresh = objective_judge(context, pool, ruleset=RULES, cycle="0002", run_id="test")
    assert all(
        fresh(Objective(objective_id(source), source), starting=True).accepted for source in (first, second)
    )
    third = second + "AGAIN = True\n"
    late = fresh(Objective(objective_id(third), third)).blocked_by
    assert late is not None and late.rule_id == "designs-objective-new", (
        "what starts votes, so what follows is compared with it"
    )


def test_stored_evidence_is_asked_again_without_a_jail(context, pool):
    kept: list[bytes] = []

    def keep(content: bytes) -> str:
        kept.append(content)
        return "e" * 64

    source = make("tail", {}, "").source
    result = objective_judge(context, pool, ruleset=RULES, cycle="0002", run_id="test", keep=keep)(
        Objective(objective_id(source), source)
    )
    evidence = collect_trial(TriedObjective(Objective(objective_id(source), source), context, pool))
    assert is_usable(OBJECTIVE, evidence) and {verdict.evidence_sha for verdict in result.verdicts} == {
        "e" * 64
    }
    assert [score["score"] for score in evidence["scores"]] == [
        score["score"] for score in json.loads(kept[0])["scores"]
    ]
    again = replay_gate(OBJECTIVE, evidence, RULES, artifact_id="a", cycle="0002", run_id="other")
    assert [verdict.outcome for verdict in again.verdicts] == [verdict.outcome for verdict in result.verdicts]


def test_with_nothing_measured_there_is_nothing_to_fail_on(pool):
    empty = trial_context({"a": [], "b": []}, [baseline_objective()], pool)
    assert judged("def objective(results):\n    return 1.0\n", empty, pool).accepted


@dataclass(frozen=True)
class Measured(Population):
    """An archive whose designs have results that no engine made."""

    made_up: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: RESULTS)

    def results(self) -> dict[str, list[dict[str, Any]]]:
        return self.made_up


def archive() -> Measured:
    rows = initial_objectives(DesignsSettings(initial_objectives=5), cycle="0001", root_seed=3)
    return Measured(**empty_population().add(objectives=rows).frames())


def written(population: Population, context: TrialContext, pool: Any, number: int = 6, **answers: Any):
    judge = objective_judge(context, pool, ruleset=RULES, cycle="0002", run_id="test")
    origin = "model" if answers else "operators"
    return write_objectives(
        scripted(**answers),
        population,
        judge,
        settings=DesignsSettings(objectives_per_cycle=number),
        seeds=CycleSeeds(5, "designs", "0002"),
        origin=origin,
    )


def test_a_model_meets_the_same_gate_and_what_is_blocked_stays_as_a_row(context, pool):
    constant, _ = FAULTS["is constant"]
    program = compose(of_family("tail"))
    answers = [
        ObjectiveReply(objective_description=text, objective_code=code)
        for text, code in (("one", constant), ("two", program))
    ]
    done = written(archive(), context, pool, 2, designs_objective_writer=answers)
    assert [(row["state"], row["origin"]) for row in done.rows] == [
        ("blocked", "model"),
        ("accepted", "model"),
        ("accepted", "model"),
    ]
    first, mended, second = done.rows
    assert (first["description"], first["genome"], first["operator"]) == ("one", None, None)
    assert first["reason"].startswith("tells 0 of ")
    assert mended["genome"] is not None and mended["operator"] == "draw", (
        "a file that is no program cannot be varied"
    )
    assert (second["description"], read(second["source"]), second["parents"]) == (
        "two",
        of_family("tail"),
        None,
    )
    assert second["genome"] is not None, "a program is one whoever wrote it"


def test_repair_varies_the_program_that_was_blocked(context, pool):
    blunt = compose(("mean", "n"))
    answers = [
        ObjectiveReply(objective_description="blunt", objective_code=compose(("min", ("mean", "n"), 0.5)))
    ]
    assert blunt != answers[0].objective_code
    done = written(archive(), context, pool, 1, designs_objective_writer=answers)
    first, mended = done.rows
    assert first["state"] == "blocked" and mended["operator"] in (
        "insert",
        "subtree",
        "point",
        "hoist",
        "constants",
    )
    assert derivation_rows([mended]) == [
        {
            "child_id": mended["objective_id"],
            "parent_id": first["objective_id"],
            "operator": mended["operator"],
            "weight": 1.0,
            "cycle": "0002",
        }
    ]
