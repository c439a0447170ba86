"""A family without one of its rules, and what its answers without them are worth."""

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from families_fixtures import seed_family

from evolake.families.evolution.records import bite_rows
from evolake.families.gates.checkers import rules_bite
from evolake.families.model.contract import Family, from_record, to_record
from evolake.families.model.source_code import NotComposable, constants
from evolake.families.model.without_rules import NOTHING, says_something, ways_without
from evolake.families.operators.of_families import RAISED, deciding
from evolake.families.roles.evolution_agent import FamilyRequest, evolve
from evolake.families.roles.models import Draft
from evolake.families.worlds.engine import Engine
from evolake.families.worlds.engine_files import one_of, some_of
from evolake.families.worlds.liveliness import entry, generating, is_alive
from evolake.families.worlds.process_world import BOARDS, drawn_world
from evolake.families.worlds.puzzle_world import PUZZLES, puzzle_of


def puzzle(name: str) -> Engine:
    return next(item for item in PUZZLES if item.name == name)


def family_of(name: str, question: int = 0, **chosen: str):
    engine = puzzle(name)
    rules = {
        point: sorted(alike, key=lambda item: item.name != chosen.get(point))[:2]
        for point, alike in engine.rules.items()
    }
    return puzzle_of(engine, engine.themes[0], rules, engine.questions[question])


@pytest.mark.parametrize("engine", PUZZLES, ids=lambda engine: engine.name)
def test_some_draws_of_every_engine_are_alive(engine):
    """Rules of rewriting once decided too few answers in every draw, and no family came of it."""
    drawn = (
        puzzle_of(
            engine,
            one_of(numbers, engine.themes),
            {point: some_of(numbers, alike) for point, alike in engine.rules.items()},
            one_of(numbers, engine.questions),
        )
        for numbers in map(np.random.default_rng, range(24))
    )
    assert any(map(is_alive, drawn))


def test_a_rule_can_be_another_or_nothing():
    family = seed_family("clinic-queue")
    ways = list(ways_without(family))
    for point in family.points:
        own = [way for way in ways if way.point == point.name]
        others = [item.name for item in point.alternatives if item.name != point.chosen]
        assert [way.way for way in own if way.way != NOTHING] == others and own[len(others)].way == NOTHING
        assert all(way.source != family.validator for way in own)


def test_a_board_is_left_without_the_function_of_its_rule():
    family = drawn_world(np.random.default_rng(3), BOARDS)
    assert family is not None
    mark = next(point for point in family.points if point.name == "mark")
    emptied = [way for way in ways_without(family) if way.point == "mark" and way.way == NOTHING]
    assert any(f"def {mark.chosen}(w, j, came, began):\n    return None\n" in way.source for way in emptied)


@pytest.mark.parametrize(
    ("way", "answered", "changed", "says"),
    [("other", 0, 0, True), (NOTHING, 20, 0, False), (NOTHING, 10, 10, False), (NOTHING, 15, 1, True)],
)
def test_nothing_says_something_where_there_are_answers_and_some_are_others(way, answered, changed, says):
    assert says_something(way, 20, answered, changed) is says


BITES = [["law", "No two.", "ends", 1, 40, 0], ["law", "No two.", NOTHING, 3, 40, 7]]


def test_a_rule_that_few_answers_need_is_named_from_its_level_on():
    evidence: dict[str, Any] = {"bites": BITES}
    finding = rules_bite(evidence, least_share=0.2, from_difficulty=3, distractors=[])
    assert (
        finding is not None
        and "with nothing for the rule law, 7 of 40 answers at difficulty 3" in finding.reason
    )
    assert rules_bite(evidence, least_share=0.15, from_difficulty=3, distractors=[]) is None
    assert rules_bite(evidence, least_share=0.2, from_difficulty=3, distractors=["No two."]) is None
    assert (
        bite_rows("f", "0001", BITES)[1] | {"share": 7 / 40, "way": NOTHING}
        == bite_rows("f", "0001", BITES)[1]
    )


def test_a_world_with_a_rule_that_decides_nothing_is_not_drawn():
    family = family_of("routes", cost="plain")
    assert is_alive(family)
    other = family.points[0].alternatives[1].name
    idle = family.validator.replace(f'COST == "{other}"', 'COST == "neither"')
    assert idle != family.validator and not is_alive(replace(family, validator=idle))


@pytest.mark.parametrize("cost", ["plain", "stops", "twice"])
def test_cheapest_journeys_pass_more_than_one_place(cost):
    """Who looks at journeys with at most one stop is wrong."""
    family = family_of("routes", cost=cost)
    make, solution = generating(family.generator), entry(family.validator, "solution")
    for level in (1, 5, 10):
        for seed in range(10):
            inputs = make(level, Random(seed))
            assert with_one_stop(inputs, cost) != solution(inputs)


def with_one_stop(inputs: Any, cost: str) -> dict[str, int]:
    start, best = inputs["start"], dict[str, int]()
    both = [*inputs["roads"], *([other, one, amount] for one, other, amount in inputs["roads"])]
    for one, other, amount in both:
        if one == start:
            first = amount * (1 + (cost == "twice"))
            best[other] = min(best.get(other, 10**9), first)
            for here, there, more in both:
                if here == other and there != start:
                    total = first + more + 3 * (cost == "stops")
                    best[there] = min(best.get(there, 10**9), total)
    return best


@pytest.mark.parametrize("question", [0, 1, 2])
def test_repeated_moves_of_the_game_always_count(question):
    family = family_of("game", question, again="other", end="loses")
    make, solution = generating(family.generator), entry(family.validator, "solution")
    free = entry(family.validator.replace('AGAIN = "other"', 'AGAIN = "free"'), "solution")
    same = 0
    for level in (1, 5, 10):
        instances = [make(level, Random(seed)) for seed in range(20)]
        same += sum(solution(inputs) == free(inputs) for inputs in instances)
    assert same <= (0, 0, 12)[question]


def drawn_by(family: Family, level: int, seed: int) -> Any:
    space: dict[str, Any] = {}
    exec(family.generator, space)
    random.seed(seed)
    return space["input"](level)[0]


def shares_needing(family: Family, rule: str) -> float:
    """How many of 60 answers are others by another alternative of the rule."""
    solution = entry(family.validator, "solution")
    others = [
        entry(way.source, "solution")
        for way in ways_without(family)
        if (way.point, way.way != NOTHING) == (rule, True)
    ]
    instances = [drawn_by(family, 5, seed) for seed in range(60)]
    return min(sum(other(item) != solution(item) for item in instances) / 60 for other in others)


def test_instances_are_drawn_until_they_need_a_rule_that_few_need():
    clinic = seed_family("clinic-queue")
    rule, other = "tie", "high"
    child = deciding(clinic, {(rule, other)})
    assert shares_needing(clinic, rule) < 0.4 and shares_needing(child, rule) > 0.6
    assert (child.validator, child.points) == (clinic.validator, clinic.points)
    assert not {point.constant for point in child.points} & set(constants(child.generator))
    for family, weak in ((child, {(rule, other)}), (clinic, {(rule, "neither")})):
        with pytest.raises(NotComposable, match="such rules"):
            deciding(family, weak)


def corrected(rule_id: str, *traces: Mapping[str, Any], deepest: int = 2, parents: Any = ("p",)) -> Family:
    family = replace(seed_family("clinic-queue"), operator="switch", parents=parents)
    draft = Draft(
        generator=family.generator,
        template=family.template,
        validator=family.validator,
        kind="implementation bug",
        gate="static",
        reason="",
        rule_id=rule_id,
        traces=[json.dumps(trace) for trace in traces],
    )
    request = FamilyRequest(
        operator="switch", idea="", parents=[], draft=draft, draft_record=to_record(family), deepest=deepest
    )
    reply = evolve(request, np.random.default_rng(0))
    assert reply.record is not None
    return from_record(json.loads(reply.record))


def test_a_child_is_mended_by_what_it_was_blocked_for():
    guesses = [
        {"difficulty": 1, "constant": 0.5, "pair": 0.5},
        {"difficulty": 5, "constant": 0.1, "pair": 0.1},
    ]
    dull = [guesses[0], {"difficulty": 5, "constant": 0.4, "pair": 0.4}]
    bites = {"rule": "tie", "way": "high", "difficulty": 5, "instances": 48, "changed": 9}
    assert RAISED in corrected("families-guessable", *guesses).generator
    made = corrected("families-guessable", *dull)
    assert (made.operator, made.parents, made.answer.type) == ("series", ("p",), "list")
    assert "as_it_comes" in corrected("families-vital-rules", bites).generator
    for other in (
        corrected("families-guessable", *dull, deepest=0),
        corrected("families-guessable", *dull, parents=()),
        corrected("families-ties", bites),
    ):
        assert (other.operator, other.generator) == ("switch", seed_family("clinic-queue").generator)
