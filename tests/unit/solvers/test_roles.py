"""The roles: prompts that fit, seeded classical answers, and rules that spare what was
accepted."""

from collections import Counter
from typing import Literal

import numpy as np
import pytest
from agent_backend_fixtures import assert_served

from evolake.solvers.objectives.portfolio import FAMILIES, initial_portfolio
from evolake.solvers.roles import models, review_models
from evolake.solvers.roles.analyst import ANALYST, RULE_WRITER
from evolake.solvers.roles.coder import CODER, CODER_REPAIR, LOOKUP
from evolake.solvers.roles.objective import OBJECTIVE_WRITER
from evolake.solvers.roles.planner import PLANNER, asked_for

SECRET = "operators-only-secret"
DECAY = models.EditModel(kind="tunable", name="var-decay", parameters={"value": 0.9})
GEOMETRIC = models.EditModel(kind="patch", name="restart-geometric", parameters={"first": 100, "factor": 1.5})
OPTIONS = [
    models.Option(name="var-decay", kind="float", default=0.95, low=1e-9, high=1 - 1e-9),
    models.Option(name="luby", kind="bool", default=True, low=0, high=1),
    models.Option(name="rfirst", kind="int", default=100, low=1, high=None),
]
NAMES = ["restart-geometric", "restart-ema", "vsids-ramp"]


def standing(number: int, base: str = "minisat22", rank: int | None = None) -> models.Standing:
    return models.Standing(
        variant_id=f"{number:012d}",
        title=f"variant {number}",
        base=base,
        operator="patch",
        rank=number if rank is None else rank,
        consensus=0.1,
        ucb=1 - number / 20,
        visits=1,
        instances=20,
        solved=15,
        solved_sat=8,
        solved_unsat=7,
    )


def material(number: int, edits: list[models.EditModel] | None, base: str = "minisat22") -> models.Material:
    return models.Material(
        variant_id=f"{number:012d}",
        base=base,
        edits=edits,
        options=[item.name for item in OPTIONS],
        patches=NAMES,
    )


def attempt(
    changed: list[str], gain: float | None, outcome: Literal["accepted", "blocked"] = "accepted"
) -> models.Attempt:
    return models.Attempt(variant_id="9" * 12, base="minisat22", changed=changed, outcome=outcome, gain=gain)


PLAN_REQUEST = models.PlanRequest(
    cycle="0003",
    plans_wanted=4,
    standings=[standing(1), standing(2), standing(3)],
    history=[attempt(["patch:restart-ema"], 0.2)],
    guidance=["be bold"],
    materials=[material(1, [GEOMETRIC]), material(2, [DECAY]), material(3, [])],
)
PLAN = models.Plan(
    parent_id="0" * 12, kind="patch", hypothesis="h", instructions="i", target="patch:vsids-ramp"
)
MATERIAL = models.CoderMaterial(
    base="minisat22", edits=[DECAY], options=OPTIONS, patches=NAMES, taken=[SECRET]
)
CODE_REQUEST = models.CodeRequest(
    hypothesis="h",
    instructions="i",
    base="minisat22",
    parent=standing(1),
    parent_diff="",
    excerpts=[],
    rules=["no threads"],
    plan=PLAN,
    material=MATERIAL,
)
REPAIR_REQUEST = models.RepairRequest(
    hypothesis="h",
    instructions="i",
    diff="d",
    error="build: boom",
    excerpts=[],
    rules=[],
    plan=PLAN,
    edits=[DECAY, GEOMETRIC],
    material=MATERIAL,
)
LOOKUP_REQUEST = models.LookupRequest(
    hypothesis="h",
    instructions="i",
    base="minisat22",
    files=[models.SourceFile(path="src/a.cc", lines=300, functions=["f:1"])],
    parent_diff="",
    max_regions=3,
    max_lines=100,
)


def incident(
    number: int, edit: models.EditModel, kind: models.IncidentKind = "blocked", lost: list[str] | None = None
) -> review_models.Incident:
    return review_models.Incident(
        variant_id=f"{number:012d}",
        base="minisat22",
        kind=kind,
        gate="smoke",
        cause="solvers-answers",
        detail="wrong",
        hypothesis="h",
        diff="d",
        edits=[edit],
        changed=[f"{edit.kind}:{edit.name}"],
        lost=lost or [],
    )


def decay(value: float) -> models.EditModel:
    return models.EditModel(kind="tunable", name="var-decay", parameters={"value": value})


INCIDENTS = [incident(1, decay(0.99)), incident(2, decay(0.995)), incident(3, GEOMETRIC)]
ANALYSIS = review_models.AnalysisRequest(cycle="0003", incidents=INCIDENTS, accepted=2)
FINDING = review_models.Finding(
    title="t",
    lesson="failure",
    subject="tunable:var-decay",
    explanation="e",
    evidence=["000000000001", "000000000002"],
)
RULE_REQUEST = review_models.RuleRequest(
    finding=FINDING,
    incidents=ANALYSIS.incidents,
    checkers=[review_models.CheckerSpec(name="solvers.forbidden_edit", meaning="m")],
    rules=[],
    accepted=[[decay(0.9)], [GEOMETRIC]],
)
OBJECTIVE_REQUEST = review_models.ObjectiveRequest(
    cycle="0003",
    guidance=["look at memory"],
    existing=[
        review_models.ObjectiveSummary(
            description=spec.description,
            family=spec.family,
            parameters=dict(spec.parameters),
            source=spec.source,
            created=1,
            weight=0.2,
            multiplier=1.0,
            median_tau=0.5,
        )
        for spec in initial_portfolio(np.random.default_rng(4), 5)
    ],
    blocked=[
        review_models.BlockedObjective(
            description="d", family="tail", reason="the same score for all variants"
        )
    ],
    formulas=[review_models.FormulaGroup(family="f", expected="SAT", formulas=4, solved_share=0.5)],
)
REQUESTS = {
    OBJECTIVE_WRITER: OBJECTIVE_REQUEST,
    PLANNER: PLAN_REQUEST,
    LOOKUP: LOOKUP_REQUEST,
    CODER: CODE_REQUEST,
    CODER_REPAIR: REPAIR_REQUEST,
    ANALYST: ANALYSIS,
    RULE_WRITER: RULE_REQUEST,
}


def answer(role, request=None, seed: int = 0):
    return role.operators(request or REQUESTS[role], np.random.default_rng(seed))


def edits_in(reply: models.CodeReply) -> list[models.EditModel]:
    assert reply.edits is not None
    return reply.edits


@pytest.mark.parametrize("role", REQUESTS, ids=lambda role: role.name)
def test_every_role_has_a_prompt_that_fits_it_and_a_seeded_classical_answer(role):
    assert_served(role, REQUESTS[role], "# The change to make" if role is LOOKUP else models.RESEARCH_GOAL)


def test_plans_build_on_known_variants_and_name_what_they_change():
    result = answer(PLANNER).plans
    assert len(result) == 4
    ids = {item.variant_id for item in PLAN_REQUEST.standings}
    assert all({plan.parent_id, plan.second_parent_id or plan.parent_id} <= ids for plan in result)
    assert all(plan.target or plan.kind == "crossover" for plan in result)


def test_operator_edit_and_parent_are_drawn_with_even_odds():
    one = PLAN_REQUEST.model_copy(update={"plans_wanted": 1, "guidance": []})
    plans = [answer(PLANNER, one, seed).plans[0] for seed in range(1200)]
    parents = Counter(plan.parent_id for plan in plans)
    assert len(parents) == 3 and all(330 < count < 470 for count in parents.values())
    of_third = [plan for plan in plans if plan.parent_id == "000000000003"]
    assert set(Counter(plan.kind for plan in of_third)) == {"patch", "tunable", "crossover"}
    patches = Counter(plan.target for plan in of_third if plan.kind == "patch")
    assert set(patches) == {f"patch:{name}" for name in NAMES} and min(patches.values()) > 20
    options = Counter(plan.target for plan in of_third if plan.kind == "tunable")
    assert set(options) == {f"tunable:{item.name}" for item in OPTIONS} and min(options.values()) > 20
    kinds = Counter(plan.kind for plan in plans if plan.parent_id == "000000000002")
    assert set(kinds) == {"patch", "tunable", "mutate", "crossover"}
    assert all(60 < count < 150 for count in kinds.values())


def test_forbidden_arms_are_not_planned():
    request = PLAN_REQUEST.model_copy(
        update={"forbidden": [models.Forbidden(edit=name) for name in [*NAMES, "luby", "rfirst"]]}
    )
    targets = {
        plan.target
        for seed in range(30)
        for plan in answer(PLANNER, request, seed).plans
        if plan.kind in ("patch", "tunable")
    }
    assert targets == {"tunable:var-decay"}


def test_nothing_is_built_on_what_a_learned_rule_blocks():
    rule = models.Forbidden(edit="var-decay", base="minisat22", parameters={"value": [0.85, 0.92]})
    request = PLAN_REQUEST.model_copy(update={"forbidden": [rule]})
    plans = [plan for seed in range(30) for plan in answer(PLANNER, request, seed).plans]
    assert {name for plan in plans for name in (plan.parent_id, plan.second_parent_id) if name} == {
        "000000000001",
        "000000000003",
    }
    alone = request.model_copy(update={"standings": [standing(2)]})
    assert {plan.parent_id for plan in answer(PLANNER, alone).plans} == {"000000000002"}


def test_guidance_puts_named_edits_first():
    request = PLAN_REQUEST.model_copy(update={"guidance": ["please look at restart-ema"], "plans_wanted": 1})
    plans = [answer(PLANNER, request, seed).plans[0] for seed in range(30)]
    assert {plan.target for plan in plans if plan.kind in ("patch", "tunable")} == {"patch:restart-ema"}
    assert asked_for(["try other restarts"], ["patch:restart-ema", "patch:vsids-ramp"]) == [
        "patch:restart-ema"
    ]


def test_a_forbidden_range_is_left_alone():
    plan = PLAN.model_copy(update={"kind": "tunable", "target": "tunable:rfirst"})
    rule = models.Forbidden(edit="rfirst", parameters={"value": [None, 100.0]})
    request = CODE_REQUEST.model_copy(
        update={"plan": plan, "material": MATERIAL.model_copy(update={"forbidden": [rule]})}
    )
    values = [
        edit.parameters["value"]
        for seed in range(30)
        for edit in edits_in(answer(CODER, request, seed))
        if edit.name == "rfirst"
    ]
    assert len(values) > 20 and min(values) > 100


def test_a_rule_covers_the_values_that_failed_and_no_accepted_one():
    result = answer(RULE_WRITER)
    assert result.check == "solvers.forbidden_edit"
    low, high = result.parameters["parameters"]["value"]
    assert 0.9 < low <= 0.99 and high >= 0.995
    assert (result.parameters["edit"], result.parameters["base"]) == ("var-decay", "minisat22")


def test_a_champions_edit_becomes_a_rule_only_when_a_child_that_dropped_it_failed():
    champion = FINDING.model_copy(
        update={"lesson": "champion", "subject": "patch:restart-geometric", "evidence": ["000000000003"]}
    )
    request = RULE_REQUEST.model_copy(update={"finding": champion})
    assert answer(RULE_WRITER, request).check == ""
    dropped = [*ANALYSIS.incidents, incident(4, decay(0.9), "regressed", ["patch:restart-geometric"])]
    result = answer(RULE_WRITER, request.model_copy(update={"incidents": dropped}))
    assert (result.check, result.evidence) == ("solvers.kept_edit", ["000000000004"])
    assert result.parameters == {"edit": "restart-geometric", "base": "minisat22"}


def test_objectives_are_drawn_and_mutated_and_none_that_votes_comes_again():
    votes = {item.source for item in OBJECTIVE_REQUEST.existing}
    result = [answer(OBJECTIVE_WRITER, seed=seed) for seed in range(60)]
    assert not votes & {reply.source for reply in result}
    assert len({reply.source for reply in result}) == 60
    voting = {item.family for item in OBJECTIVE_REQUEST.existing}
    families = Counter(reply.family for reply in result)
    assert set(families) > voting
    assert (
        sum(families[name] for name in voting) > 20
    )  # mutants keep their family; rare families are what is drawn
    for reply in result:
        known = FAMILIES[reply.family]
        assert all(
            reply.parameters[name] in values
            for name, values in known.choices.items()
            if name in reply.parameters
        )
        assert all(
            low <= reply.parameters[name] <= high
            for name, (low, high) in known.ranges.items()
            if name in reply.parameters
        )
