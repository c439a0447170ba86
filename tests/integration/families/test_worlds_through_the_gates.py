"""Drawn worlds through the real gates: they pass as they are, and a fault in one engine, in the text or in
the question is blocked."""

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from families_fixtures import RULES, operators, seed_family
from families_fixtures import judged as judged_by_all_rules
from families_fixtures import judged_but_for_guesses as judged

from evolake.families.evolution.draft_feedback import measure_draft
from evolake.families.gates.judging import FamilyGates
from evolake.families.model.contract import Family
from evolake.families.model.source_code import switch
from evolake.families.operators.registry import child_of
from evolake.families.settings import FamiliesSettings
from evolake.families.worlds.constraint_world import QUESTIONS, STRUCTURES, world_of
from evolake.families.worlds.process_world import BOARDS, QUEUES, RUNS, drawn_world
from evolake.families.worlds.process_world import world_of as process_of


def queue() -> Family:
    """How many arrangements of a queue fit, with constraints that are used in nearly every instance."""
    kinds = [
        kind
        for kind in STRUCTURES["row"].kinds
        if kind.name in ("before", "next_to", "far", "first_of", "odd", "ahead_of_one")
    ]
    row = STRUCTURES["row"]
    theme = next(item for item in row.themes if item["title"] == "Customers in a queue")
    return world_of(row, theme, kinds, row.laws[:2], QUESTIONS[0])


def test_a_drawn_world_passes_every_gate_and_makes_children(pool):
    family = queue()
    examined = judged(family, pool)
    assert examined.accepted, examined.blocked_by
    assert all(len(vote.for_label) == 3 for vote in examined.sample_votes)
    assert all(review.matched for review in examined.reviews)
    child = child_of("pipe", [family, seed_family("clinic-queue")], np.random.default_rng(1))
    assert judged(child, pool).accepted


@pytest.mark.parametrize(
    ("draw", "seed", "old", "new"),
    [
        (
            partial(child_of, "process_world", []),
            513,
            "trace.append(dict(w))",
            'w["a"] = max(w["a"], 1)\n        trace.append(dict(w))',
        ),
        (
            partial(drawn_world, process=QUEUES),
            4,
            "if taken[desk] < t and waiting:",
            "if taken[desk] <= t and waiting:",
        ),
        (partial(drawn_world, process=BOARDS), 0, ' and cell not in w["things"]', ""),
    ],
)
def test_a_process_world_passes_every_gate_and_a_wrong_rule_in_its_simulation_blocks(
    pool, draw, seed, old, new
):
    family = draw(np.random.default_rng(seed))
    assert family is not None
    examined = judged_by_all_rules(family, pool)
    assert examined.accepted, examined.blocked_by
    assert all(len(vote.for_label) == 3 for vote in examined.sample_votes)
    wrong = family.validator.replace(old, new)
    assert wrong != family.validator
    blocked = judged(replace(family, validator=wrong), pool).blocked_by
    assert blocked is not None and blocked.rule_id == "families-primary-agrees"


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("return x[a] < x[b]", "return x[a] <= x[b] + 1", "families-primary-agrees"),
        ("return abs(x[a] - x[b]) >= k", "return abs(x[a] - x[b]) > k", "families-primary-agrees"),
    ],
)
def test_an_engine_with_a_wrong_constraint_is_outvoted_and_blocks(old, new, rule, pool):
    family = queue()
    assert old in family.validator
    blocked = judged(replace(family, validator=family.validator.replace(old, new)), pool).blocked_by
    assert blocked is not None and blocked.rule_id == rule


def test_a_sentence_that_says_another_thing_than_the_clue_is_blocked(pool):
    family = queue()
    changed = family.generator.replace(
        "(names[e] for e in args[:things])", "(names[e] for e in reversed(args[:things]))"
    )
    assert changed != family.generator
    blocked = judged(replace(family, generator=changed), pool).blocked_by
    assert blocked is not None and (blocked.gate == "blind" or "hands on other inputs" in blocked.reason)


def test_a_law_that_the_text_says_and_no_program_follows_is_blocked(pool):
    """Looked up in a table by every engine, alike in all: the text solver sees it, and a trial without."""
    family = queue()
    (held,) = [point for point in family.points if point.name == "law"]

    def without(source: str) -> str:
        match = re.search(rf"(def law_{held.chosen}\(.*\):\n    return )(.*)\n", source)
        assert match is not None
        return source.replace(match[0], match[1] + ("[]\n" if "(X, V, S" in match[1] else "True\n"))

    sources = {name: without(source) for name, source in family.validators.items()}
    silent = replace(
        family, generator=without(family.generator), validator=without(family.validator), validators=sources
    )
    blocked = judged(silent, pool).blocked_by
    assert blocked is not None
    assert blocked.rule_id == "families-text-agrees", blocked
    assert held.alternative().text in blocked.reason
    gates = FamilyGates(pool, operators(), RULES, FamiliesSettings(), "0001", "test")
    faults = measure_draft(silent, gates, []).faults
    assert any(f"law_{held.chosen} is said to hold a rule" in fault for fault in faults)


def test_a_world_that_a_switched_rule_leaves_dead_is_blocked(pool):
    """Stores that are filled up once and stay so; as it was drawn, the same world passes."""
    known = {action.name: action for action in RUNS.alternatives}
    keys = {
        "one": ("put_a_4", "fill_a"),
        "two": ("take_a_2", "fill_b"),
        "three": ("swap_ab", "shift_ba"),
        "close": ("halve_b", "clear_b"),
    }
    rules = {point: [known[key] for key in pair] for point, pair in keys.items()}
    course = next(question for question in RUNS.questions if question.name == "course")
    family = process_of(RUNS, RUNS.themes[0], rules, course, "a")
    assert judged(family, pool).accepted
    dead = switch(switch(family, "two", "fill_b"), "one", "fill_a")
    dead = replace(switch(switch(dead, "three", "shift_ba"), "close", "clear_b"), operator="switch")
    blocked = judged(dead, pool).blocked_by
    assert blocked is not None and blocked.rule_id == "families-steps-alive", blocked
