"""The roles: prompts that fit, seeded classical answers, a bandit that learns, and rules that spare what was
accepted."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import numpy as np
import pytest
from agent_backend_fixtures import assert_served
from pydantic import ValidationError

from evolake.agents.prompts import build_messages
from evolake.solvers.edits import PATCHES, write_edits
from evolake.solvers.objectives.portfolio import FAMILIES, initial_portfolio
from evolake.solvers.roles import models, review_models
from evolake.solvers.roles.analyst import ANALYST, RULE_WRITER, free_ranges
from evolake.solvers.roles.coder import CODER, CODER_REPAIR, LOOKUP, edits_of
from evolake.solvers.roles.objective import OBJECTIVE_WRITER
from evolake.solvers.roles.planner import PLANNER, asked_for, movable

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
def test_every_role_has_a_prompt_that_fits_it_and_a_seeded_classical_answer(role) -> None:
    assert_served(role, REQUESTS[role], "# The change to make" if role is LOOKUP else models.RESEARCH_GOAL)


@pytest.mark.parametrize("role", REQUESTS, ids=lambda role: role.name)
def test_what_only_operators_use_is_in_no_prompt(role) -> None:
    user = build_messages(role, REQUESTS[role])[1]["content"]
    assert SECRET not in user and "restart-geometric" not in user


def test_a_crossover_needs_two_parents_and_nothing_else_may_have_them() -> None:
    plan = {"parent_id": "0" * 12, "hypothesis": "h", "instructions": "i"}
    for wrong in ({"kind": "crossover"}, {"kind": "patch", "second_parent_id": "1" * 12}):
        with pytest.raises(ValidationError, match="second_parent_id"):
            models.Plan.model_validate(plan | wrong)


def test_plans_build_on_known_variants_and_name_what_they_change() -> None:
    result = answer(PLANNER).plans
    assert len(result) == 4
    assert result[0].parent_id == "000000000001"
    ids = {item.variant_id for item in PLAN_REQUEST.standings}
    assert all({plan.parent_id, plan.second_parent_id or plan.parent_id} <= ids for plan in result)
    assert all(plan.target or plan.kind == "crossover" for plan in result)


def test_all_kinds_of_change_are_planned_over_time() -> None:
    kinds = Counter(plan.kind for seed in range(40) for plan in answer(PLANNER, seed=seed).plans)
    assert set(kinds) == {"patch", "tunable", "mutate", "crossover"}


def test_forbidden_arms_are_not_planned() -> None:
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


def test_nothing_is_built_on_what_a_learned_rule_blocks() -> None:
    rule = models.Forbidden(edit="var-decay", base="minisat22", parameters={"value": [0.85, 0.92]})
    request = PLAN_REQUEST.model_copy(update={"forbidden": [rule]})
    plans = [plan for seed in range(30) for plan in answer(PLANNER, request, seed).plans]
    assert {name for plan in plans for name in (plan.parent_id, plan.second_parent_id) if name} == {
        "000000000001",
        "000000000003",
    }
    alone = request.model_copy(update={"standings": [standing(2)]})
    assert {plan.parent_id for plan in answer(PLANNER, alone).plans} == {"000000000002"}


def test_a_switch_that_was_thrown_is_not_mutated() -> None:
    thrown = models.EditModel(kind="tunable", name="luby", parameters={"value": False})
    switches = {"standings": [standing(1)], "materials": [material(1, [thrown])]}
    request = PLAN_REQUEST.model_copy(update=switches)
    assert "mutate" not in {plan.kind for seed in range(30) for plan in answer(PLANNER, request, seed).plans}
    both = request.model_copy(update={"materials": [material(1, [thrown, DECAY])]})
    mutated = {
        plan.target
        for seed in range(30)
        for plan in answer(PLANNER, both, seed).plans
        if plan.kind == "mutate"
    }
    assert mutated == {"tunable:var-decay"}


def test_what_a_patch_left_without_effect_or_is_unknown_by_now_is_not_mutated() -> None:
    lone = material(1, [GEOMETRIC, DECAY]).model_copy(
        update={"options": ["rfirst"], "patches": ["restart-ema"]}
    )
    assert movable(lone) == []
    assert movable(lone.model_copy(update={"options": ["var-decay"]})) == [DECAY]


def test_nothing_is_planned_on_a_variant_that_has_nothing_to_change_while_another_has() -> None:
    bare = material(1, None).model_copy(update={"options": [], "patches": []})
    request = PLAN_REQUEST.model_copy(update={"materials": [bare, material(2, [DECAY]), material(3, [])]})
    assert {plan.parent_id for seed in range(20) for plan in answer(PLANNER, request, seed).plans} == {
        "000000000002",
        "000000000003",
    }


def test_two_variants_that_were_written_are_crossed_once_and_only_where_that_gives_a_third() -> None:
    first, second = (
        material(number, None).model_copy(update={"changed": {f"src/{number}.cc": "sha"}})
        for number in (1, 2)
    )
    request = PLAN_REQUEST.model_copy(update={"standings": [standing(1), standing(2)], "plans_wanted": 8})

    def crossed(*materials: models.Material) -> int:
        asked = request.model_copy(update={"materials": list(materials)})
        return max(
            sum(plan.kind == "crossover" for plan in answer(PLANNER, asked, seed).plans) for seed in range(20)
        )

    assert crossed(first, second) == 1
    assert (
        crossed(
            first.model_copy(update={"joined": [second.variant_id]}),
            second.model_copy(update={"joined": [first.variant_id]}),
        )
        == 0
    )
    assert crossed(first, second.model_copy(update={"changed": first.changed})) == 0


def test_two_variants_that_help_alone_and_do_not_conflict_are_combined_once() -> None:
    first = material(1, [DECAY]).model_copy(update={"combines": ["000000000002"]})
    second = material(2, [GEOMETRIC]).model_copy(update={"combines": ["000000000001"]})
    request = PLAN_REQUEST.model_copy(
        update={"standings": [standing(1), standing(2)], "materials": [first, second], "plans_wanted": 8}
    )

    def combined(request: models.PlanRequest) -> list[list[models.Plan]]:
        return [
            [plan for plan in answer(PLANNER, request, seed).plans if plan.target == "combine"]
            for seed in range(20)
        ]

    plans = combined(request)
    assert max(map(len, plans)) == 1
    assert {plan.kind for found in plans for plan in found} == {"crossover"}
    done = [item.model_copy(update={"joined": item.combines}) for item in (first, second)]
    assert not any(combined(request.model_copy(update={"materials": done})))
    assert not any(
        combined(request.model_copy(update={"materials": [material(1, [DECAY]), material(2, [GEOMETRIC])]}))
    )


def test_a_combination_is_the_union_of_both_or_nothing() -> None:
    plan = PLAN.model_copy(update={"kind": "crossover", "second_parent_id": "1" * 12, "target": "combine"})

    def made(**more) -> models.CodeReply:
        return answer(
            CODER,
            CODE_REQUEST.model_copy(update={"plan": plan, "material": MATERIAL.model_copy(update=more)}),
        )

    both = {"joined": [GEOMETRIC, DECAY]}
    reply = made(**both)
    assert (reply.operator, edits_in(reply), reply.dropped) == ("combine", [GEOMETRIC, DECAY], [])
    conflict = made(**both, dropped=["tunable:rfirst of parent 2 (overlap: x)"])
    assert conflict.operator == "repeat" and "conflict: tunable:rfirst" in conflict.changelog
    assert made(**both, taken=[write_edits(edits_of([GEOMETRIC, DECAY]))]).operator == "repeat"
    assert made(**both, forbidden=[models.Forbidden(edit="var-decay")]).operator == "repeat"
    assert made().operator == "repeat", "a parent that was written as a diff has no edits to combine"


def test_guidance_puts_named_edits_first() -> None:
    request = PLAN_REQUEST.model_copy(update={"guidance": ["please look at restart-ema"], "plans_wanted": 1})
    plans = [answer(PLANNER, request, seed).plans[0] for seed in range(30)]
    assert {plan.target for plan in plans if plan.kind in ("patch", "tunable")} == {"patch:restart-ema"}
    assert asked_for(["try other restarts"], ["patch:restart-ema", "patch:vsids-ramp"]) == [
        "patch:restart-ema"
    ]


def test_the_coder_adds_the_planned_edit_to_those_of_the_parent() -> None:
    result = answer(CODER)
    assert [edit.name for edit in edits_in(result)] == ["vsids-ramp", "var-decay"]
    assert edits_in(result)[1] == DECAY
    assert (result.operator, result.diff) == ("patch", "")


def test_a_mutation_moves_one_value_of_the_planned_edit() -> None:
    plan = PLAN.model_copy(update={"kind": "mutate", "target": "tunable:var-decay"})
    result = answer(CODER, CODE_REQUEST.model_copy(update={"plan": plan}))
    assert [edit.name for edit in edits_in(result)] == ["var-decay"]
    assert result.operator == "mutate" and edits_in(result)[0] != DECAY


def test_a_variant_that_exists_is_drawn_again() -> None:
    first = answer(CODER)
    taken = write_edits(edits_of(edits_in(first)))
    second = answer(
        CODER, CODE_REQUEST.model_copy(update={"material": MATERIAL.model_copy(update={"taken": [taken]})})
    )
    assert write_edits(edits_of(edits_in(second))) != taken


def test_an_option_is_not_moved_back_to_what_the_base_declares() -> None:
    thrown = models.EditModel(kind="tunable", name="luby", parameters={"value": False})
    changed = {"edits": [thrown], "options": [OPTIONS[1], OPTIONS[2]], "patches": []}
    plan = PLAN.model_copy(update={"kind": "tunable", "target": "tunable:luby"})
    request = CODE_REQUEST.model_copy(update={"plan": plan, "material": MATERIAL.model_copy(update=changed)})
    for seed in range(20):
        assert {edit.name: edit.parameters["value"] for edit in edits_in(answer(CODER, request, seed))}[
            "luby"
        ] is False


def test_a_forbidden_range_is_left_alone() -> None:
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


def test_nothing_new_repeats_the_parent_and_says_so() -> None:
    empty = models.CoderMaterial(base="minisat22", edits=[DECAY])
    result = answer(CODER, CODE_REQUEST.model_copy(update={"material": empty}))
    assert (result.operator, result.edits) == ("repeat", [DECAY])


def test_a_crossover_is_handed_on_with_what_was_dropped() -> None:
    plan = PLAN.model_copy(update={"kind": "crossover", "second_parent_id": "1" * 12, "target": ""})
    joined = MATERIAL.model_copy(update={"joined": [GEOMETRIC, DECAY], "dropped": ["patch:x of parent 2"]})
    result = answer(CODER, CODE_REQUEST.model_copy(update={"plan": plan, "material": joined}))
    assert (result.operator, result.dropped, len(edits_in(result))) == (
        "crossover",
        ["patch:x of parent 2"],
        2,
    )
    assert "patch:x of parent 2" in result.changelog


def test_repair_goes_back_to_known_values_and_then_gives_the_edit_up() -> None:
    wild = models.EditModel(
        kind="patch", name="restart-geometric", parameters={"first": 1000, "factor": 1.02}
    )
    request = REPAIR_REQUEST.model_copy(update={"edits": [DECAY, wild]})
    result = answer(CODER_REPAIR, request)
    for _ in range(20):
        result = answer(CODER_REPAIR, request)
        if len(edits_in(result)) == 1:
            break
        request = request.model_copy(update={"edits": result.edits})
    assert result.edits == [DECAY] and request.edits is not None
    default = {name: parameter.default for name, parameter in PATCHES["restart-geometric"].parameters.items()}
    assert request.edits[0].parameters == pytest.approx(default, rel=0.05)


def test_incidents_with_the_same_change_are_one_finding() -> None:
    result = answer(ANALYST).findings
    assert [(item.subject, item.lesson, len(item.evidence)) for item in result] == [
        ("tunable:var-decay", "failure", 2),
        ("patch:restart-geometric", "failure", 1),
    ]


def test_what_a_learned_rule_blocked_teaches_nothing_new() -> None:
    known = incident(3, GEOMETRIC).model_copy(
        update={"gate": "compliance", "cause": "solvers-learned-no-decay"}
    )
    result = answer(ANALYST, ANALYSIS.model_copy(update={"incidents": [*ANALYSIS.incidents[:2], known]}))
    assert [item.subject for item in result.findings] == ["tunable:var-decay"]


def test_a_rule_covers_the_values_that_failed_and_no_accepted_one() -> None:
    result = answer(RULE_WRITER)
    assert result.check == "solvers.forbidden_edit"
    low, high = result.parameters["parameters"]["value"]
    assert 0.9 < low <= 0.99 and high >= 0.995
    assert (result.parameters["edit"], result.parameters["base"]) == ("var-decay", "minisat22")


def test_where_accepted_values_lie_between_there_is_advice_and_no_rule() -> None:
    between = RULE_REQUEST.model_copy(update={"accepted": [[decay(0.992)]]})
    assert answer(RULE_WRITER, between).check == ""
    assert free_ranges([decay(0.99)], []) == {}
    assert free_ranges([], [decay(0.99)]) is None


def test_a_champions_edit_becomes_a_rule_only_when_a_child_that_dropped_it_failed() -> None:
    champion = FINDING.model_copy(
        update={"lesson": "champion", "subject": "patch:restart-geometric", "evidence": ["000000000003"]}
    )
    request = RULE_REQUEST.model_copy(update={"finding": champion})
    assert answer(RULE_WRITER, request).check == ""
    dropped = [*ANALYSIS.incidents, incident(4, decay(0.9), "regressed", ["patch:restart-geometric"])]
    result = answer(RULE_WRITER, request.model_copy(update={"incidents": dropped}))
    assert (result.check, result.evidence) == ("solvers.kept_edit", ["000000000004"])
    assert result.parameters == {"edit": "restart-geometric", "base": "minisat22"}


def test_objectives_are_drawn_and_mutated_and_none_that_votes_comes_again() -> None:
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


def test_the_search_for_objectives_leaves_families_that_were_blocked_and_heeds_people() -> None:
    def drawn(**changes) -> Counter:
        request = OBJECTIVE_REQUEST.model_copy(
            update={"existing": [], "blocked": [], "guidance": []} | changes
        )
        return Counter(answer(OBJECTIVE_WRITER, request, seed).family for seed in range(80))

    blocked = [review_models.BlockedObjective(description="d", family="memory", reason="r")] * 5
    assert (
        drawn(blocked=blocked)["memory"] < drawn()["memory"] < drawn(guidance=["mind the memory"])["memory"]
    )
