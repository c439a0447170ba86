"""Constraint worlds: every kind of constraint and law against a table of its own, three engines against each
other, and text against inputs."""

import random
import re
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from worlds_fixtures import TYPES, entries, statements, unbound

from evolake.families.model.statement import fill, stated
from evolake.families.worlds.constraint_world import (
    QUESTIONS,
    STRUCTURES,
    Kind,
    Law,
    constraint_world,
    world_of,
)

WORLDS = range(36)
WEIGHTS = [3, 1, 4, 2, 5]


def steps(x: dict[int, int], a: int, b: int) -> int:
    """Seats to go clockwise from a to b."""
    seat, count = x[a], 0
    while seat != x[b]:
        seat, count = (1 if seat == len(x) else seat + 1), count + 1
    return count


def others(x: dict[int, int], a: int) -> list[int]:
    return [e for e in x if e != a and x[e] == x[a]]


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


MEANING: dict[tuple[str, str], Any] = {
    ("row", "before"): lambda x, a, b: sign(x[b] - x[a]) == 1,
    ("row", "exactly_behind"): lambda x, a, b, k: x[b] == x[a] + k,
    ("row", "next_to"): lambda x, a, b: x[b] in {x[a] - 1, x[a] + 1},
    ("row", "not_next_to"): lambda x, a, b: x[b] not in {x[a] - 1, x[a] + 1},
    ("row", "far"): lambda x, a, b, k: all(x[a] + gap != x[b] != x[a] - gap for gap in range(k)),
    ("row", "inside"): lambda x, a, b, c: sign(x[a] - x[b]) == sign(x[c] - x[a]),
    ("row", "outside"): lambda x, a, b, c: sign(x[a] - x[b]) != sign(x[c] - x[a]),
    ("row", "at"): lambda x, a, k: x[a] == k,
    ("row", "not_at"): lambda x, a, k: x[a] != k,
    ("row", "one_of"): lambda x, a, k, m: x[a] in {k, m},
    ("row", "end"): lambda x, a: x[a] in {min(x.values()), max(x.values())},
    ("row", "inner"): lambda x, a: min(x.values()) != x[a] != max(x.values()),
    ("row", "first_of"): lambda x, a, b, c: x[a] < x[b] and x[a] < x[c],
    ("row", "ahead_of_one"): lambda x, a, b, c: x[a] < x[b] or x[a] < x[c],
    ("row", "even"): lambda x, a: x[a] in {2, 4, 6},
    ("row", "odd"): lambda x, a: x[a] in {1, 3, 5},
    ("row", "same_parity"): lambda x, a, b: (x[a] in {1, 3, 5}) is (x[b] in {1, 3, 5}),
    ("row", "between_them"): lambda x, a, b, k: (
        sum(min(x[a], x[b]) < place < max(x[a], x[b]) for place in x.values()) == k
    ),
    ("row", "total"): lambda x, a, b, k: k - x[a] == x[b],
    ("row", "among_first"): lambda x, a, k: x[a] < k + 1,
    ("row", "one_among"): lambda x, a, b, k: sum(x[e] <= k for e in (a, b)) == 1,
    ("row", "if_at"): lambda x, a, b, k, m: x[b] == m if x[a] == k else True,
    ("row", "if_ahead"): lambda x, a, b, c: x[b] < x[c] if x[a] < x[b] else True,
    ("ring", "clockwise"): lambda x, a, b: steps(x, a, b) == 1,
    ("ring", "beside"): lambda x, a, b: 1 in {steps(x, a, b), steps(x, b, a)},
    ("ring", "not_beside"): lambda x, a, b: 1 not in {steps(x, a, b), steps(x, b, a)},
    ("ring", "steps"): lambda x, a, b, k: steps(x, a, b) == k,
    ("ring", "at_most_steps"): lambda x, a, b, k: steps(x, a, b) <= k,
    ("ring", "flanked"): lambda x, a, b, c: (
        (steps(x, b, a), steps(x, a, c)) == (1, 1) or (steps(x, c, a), steps(x, a, b)) == (1, 1)
    ),
    ("ring", "turn"): lambda x, a, b, c: steps(x, a, b) < steps(x, a, c),
    ("ring", "not_at"): lambda x, a, k: x[a] != k,
    ("ring", "one_of"): lambda x, a, k, m: x[a] in {k, m},
    ("ring", "even"): lambda x, a: x[a] in {2, 4, 6},
    ("ring", "smaller_number"): lambda x, a, b: sign(x[b] - x[a]) == 1,
    ("groups", "together"): lambda x, a, b: b in others(x, a),
    ("groups", "parted"): lambda x, a, b: b not in others(x, a),
    ("groups", "placed"): lambda x, a, k: x[a] == k,
    ("groups", "not_placed"): lambda x, a, k: x[a] != k,
    ("groups", "alone"): lambda x, a: not others(x, a),
    ("groups", "not_alone"): lambda x, a: bool(others(x, a)),
    ("groups", "lower"): lambda x, a, b: sign(x[b] - x[a]) == 1,
    ("groups", "neighbours"): lambda x, a, b: x[b] in {x[a] - 1, x[a] + 1},
    ("groups", "not_all_three"): lambda x, a, b, c: not {b, c} <= set(others(x, a)),
    ("groups", "with_one"): lambda x, a, b, c: not {b, c}.isdisjoint(others(x, a)),
    ("groups", "if_together"): lambda x, a, b, c: c in others(x, a) if b in others(x, a) else True,
    ("groups", "if_in"): lambda x, a, b, k, m: x[b] == m if x[a] == k else True,
    ("groups", "at_least"): lambda x, k, m: len([e for e in x if x[e] == k]) >= m,
    ("groups", "exactly"): lambda x, k, m: len([e for e in x if x[e] == k]) == m,
    ("groups", "empty"): lambda x, k: all(place != k for place in x.values()),
    ("groups", "more_in"): lambda x, k, m: (
        len([e for e in x if x[e] == k]) > len([e for e in x if x[e] == m])
    ),
    ("selection", "needs"): lambda x, a, b: bool(x[b]) if x[a] else True,
    ("selection", "not_both"): lambda x, a, b: not (x[a] and x[b]),
    ("selection", "one_at_least"): lambda x, a, b: bool(x[a] or x[b]),
    ("selection", "exactly_one"): lambda x, a, b: x[a] != x[b],
    ("selection", "both_or_none"): lambda x, a, b: x[a] == x[b],
    ("selection", "needs_one"): lambda x, a, b, c: bool(x[b] or x[c]) if x[a] else True,
    ("selection", "needs_both"): lambda x, a, b, c: bool(x[b] and x[c]) if x[a] else True,
    ("selection", "both_bar"): lambda x, a, b, c: not x[c] if x[a] and x[b] else True,
    ("selection", "two_of_three"): lambda x, a, b, c: [x[a], x[b], x[c]].count(0) == 1,
    ("selection", "one_of_three"): lambda x, a, b, c: [x[a], x[b], x[c]].count(0) < 3,
    ("selection", "at_most"): lambda x, k: len(x) - list(x.values()).count(0) <= k,
    ("selection", "at_least"): lambda x, k: len(x) - list(x.values()).count(0) >= k,
    ("selection", "even_number"): lambda x: list(x.values()).count(1) in {0, 2, 4},
    ("selection", "budget"): lambda x, k: sum(x[e] * WEIGHTS[e] for e in x) <= k,
    ("selection", "floor"): lambda x, k: sum(x[e] * WEIGHTS[e] for e in x) >= k,
}
"""(structure, kind) -> what its sentence says, of values by thing."""


def near(x: dict[int, int], some: tuple[int, ...], a: int) -> bool:
    return any(1 in {steps(x, a, b), steps(x, b, a)} for b in some if b != a)


LAWFUL: dict[tuple[str, str], Any] = (
    {
        ("row", "apart"): lambda x, some: all(x[a] + 1 != x[b] for a, b in permutations(some, 2)),
        ("row", "block"): lambda x, some: (
            not any(x[a] < x[e] < x[b] for a, b in permutations(some, 2) for e in x if e not in some)
        ),
        ("row", "end"): lambda x, some: 1 in map(x.get, some) or len(x) in map(x.get, some),
        ("row", "inside"): lambda x, some: 1 not in map(x.get, some) and len(x) not in map(x.get, some),
        ("row", "lower"): lambda x, some: sorted(map(x.__getitem__, some))[0] in {1, 3, 5},
        ("ring", "apart"): lambda x, some: not any(near(x, some, a) for a in some),
        ("ring", "linked"): lambda x, some: all(near(x, some, a) for a in some),
        ("ring", "first_seat"): lambda x, some: 1 in map(x.get, some),
        ("groups", "parted"): lambda x, some: all(x[a] != x[b] for a, b in combinations(some, 2)),
        ("groups", "spread"): lambda x, some: any(x[a] != x[b] for a, b in combinations(some, 2)),
        ("groups", "company"): lambda x, some: all(set(others(x, a)) & set(some) for a in some),
        ("groups", "never_last"): lambda x, some: any(x[e] == 1 for e in some),
        ("groups", "no_first"): lambda x, some: all(x[e] > 1 for e in some),
        ("selection", "any"): lambda x, some: any(x[e] for e in some),
        ("selection", "most_one"): lambda x, some: [x[e] for e in some].count(1) <= 1,
        ("selection", "exactly_one"): lambda x, some: [x[e] for e in some].count(1) == 1,
        ("selection", "not_all"): lambda x, some: not all(x[e] for e in some),
        ("selection", "all_or_none"): lambda x, some: all(x[e] for e in some) or not any(x[e] for e in some),
        ("selection", "outnumber"): lambda x, some: (
            [x[e] for e in some].count(1) < [x[e] for e in some].count(0)
        ),
    }
    | {
        (item, "mixed"): lambda x, some: {x[e] in {1, 3, 5} for e in some} == {True, False}
        for item in ("row", "ring")
    }
    | {(item, "not_low"): lambda x, some: all(x[e] != 1 for e in some) for item in ("row", "ring")}
)


def arrangements(structure: str) -> list[tuple[dict[int, int], Any, dict[str, Any]]]:
    """(values by thing, the same as a view, names that meanings use) of every arrangement of five things, of
    four on a ring and a row."""
    if structure in ("row", "ring"):
        count = 5
        return [
            (dict(enumerate(places)), tuple(sorted(range(count), key=places.__getitem__)), {"n": count})
            for places in permutations(range(1, count + 1))
        ]
    if structure == "groups":
        dealt = [places for places in product((1, 2, 3), repeat=5) if max(map(places.count, places)) <= 3]
        return [
            (
                dict(enumerate(places)),
                tuple(frozenset(e for e in range(5) if places[e] == g) for g in (1, 2, 3)),
                {"n": 3, "room": 3},
            )
            for places in dealt
        ]
    return [
        (dict(enumerate(taken)), frozenset(e for e in range(5) if taken[e]), {"n": 5, "weights": WEIGHTS})
        for taken in product((0, 1), repeat=5)
    ]


def satisfied(clauses: list[list[int]], x: dict[int, int], values: list[int]) -> bool:
    true = {1 + e * len(values) + values.index(v) for e, v in x.items()}
    return all(any((literal > 0) == (abs(literal) in true) for literal in clause) for clause in clauses)


TOOLS = {"combinations": combinations, "permutations": permutations}
VIEWED = {"row": "order", "ring": "order", "groups": "rooms", "selection": "team"}


def meanings(
    structure: str, kind: Kind | Law, named: dict[str, Any]
) -> list[tuple[bool, bool, bool, dict[int, int]]]:
    """What the three forms say of every arrangement."""
    check, clauses, view = (compile(text, "kind", "eval") for text in (kind.check, kind.clauses, kind.view))
    values = [0, 1] if structure == "selection" else list(range(1, 6 if structure in ("row", "ring") else 4))
    result = []
    for x, seen, extra in arrangements(structure):
        space = {**TOOLS, **extra, **named, "x": x, VIEWED[structure]: seen, "V": values, "S": sorted(x)}
        space["X"] = lambda e, v: 1 + e * len(values) + values.index(v)
        result.append(
            (bool(eval(check, space)), satisfied(eval(clauses, space), x, values), bool(eval(view, space)), x)
        )
    return result


@pytest.mark.parametrize(
    ("structure", "kind"),
    [
        pytest.param(structure, kind, id=f"{structure} {kind.name}")
        for structure, arranged in STRUCTURES.items()
        for kind in arranged.kinds
    ],
)
def test_a_kind_means_in_every_engine_what_its_sentence_says(structure, kind):
    extra = arrangements(structure)[0][2]
    spans = [eval(span, dict(extra)) for span in kind.spans]
    both = set()
    for numbers in list(product(*spans))[:12]:
        args = [*range(1, kind.things + 1), *numbers]
        for in_search, in_sat, in_view, x in meanings(
            structure, kind, dict(zip(kind.args, args, strict=True))
        ):
            wanted = MEANING[structure, kind.name](x, *args)
            assert (in_search, in_sat, in_view) == (wanted, wanted, wanted), (x, args)
            both.add(wanted)
    assert both == {True, False}


@pytest.mark.parametrize(
    ("structure", "law"),
    [
        pytest.param(structure, law, id=f"{structure} {law.name}")
        for structure, arranged in STRUCTURES.items()
        for law in arranged.laws
    ],
)
def test_a_law_means_in_every_engine_what_its_sentence_says(structure, law):
    both = set()
    for some in ((0, 3), (1, 2, 4)):
        for in_search, in_sat, in_view, x in meanings(structure, law, {"some": some}):
            wanted = LAWFUL[structure, law.name](x, some)
            assert (in_search, in_sat, in_view) == (wanted, wanted, wanted), (x, some)
            both.add(wanted)
    assert both == {True, False}


def test_there_are_enough_kinds_questions_and_sentences():
    named = {(structure, kind.name) for structure, arranged in STRUCTURES.items() for kind in arranged.kinds}
    assert named == set(MEANING)
    assert {
        (structure, law.name) for structure, arranged in STRUCTURES.items() for law in arranged.laws
    } == set(LAWFUL)
    assert len({name for _, name in named}) >= 50
    assert len(QUESTIONS) >= 10
    for structure in STRUCTURES.values():
        kinds = structure.kinds
        for theme in structure.themes:
            names = theme["names"].split()
            assert len({name[0] for name in names}) == len(names) >= 7
            said = [sentence for kind in kinds for sentence in kind.sentences(theme)]
            assert len(set(said)) == len(said)


@pytest.mark.slow
def test_three_engines_agree_on_drawn_instances_and_the_reader_finds_the_inputs_again():
    instances = 0
    for number in WORLDS:
        family = constraint_world(np.random.default_rng(number))
        made = entries(family)
        for difficulty, seed in ((1, 1), (3, 2), (5, 3), (7, 4), (9, 5), (10, 6)):
            random.seed(seed)
            inputs, texts = made["generator.py"](difficulty)
            answers = [
                made[name](inputs) for name in ("validator.py", "validators/listing.py", "validators/sat.py")
            ]
            assert answers == [answers[0]] * 3, (family.title, inputs, answers)
            assert type(answers[0]) is TYPES[family.answer.type]
            assert made["reader.py"](fill(stated(family), texts)) == inputs
            instances += 1
    assert instances >= 200


@pytest.mark.parametrize("structure", STRUCTURES)
def test_every_sentence_of_a_structure_is_that_of_one_pattern(structure):
    """A world of all kinds at once: no sentence of one could be read as another's."""
    question = next(item for item in QUESTIONS if item.name == "count")
    arranged = STRUCTURES[structure]
    for theme in arranged.themes:
        family = world_of(arranged, theme, arranged.kinds, arranged.laws[:2], question)
        made = entries(family)
        seen = set()
        for seed in range(6):
            random.seed(seed)
            inputs, texts = made["generator.py"](7)
            assert made["reader.py"](fill(stated(family), texts)) == inputs
            seen |= {kind for kind, *_ in inputs["clues"]}
        assert len(seen) > 8 or structure == "ring"


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_no_program_uses_a_name_that_nothing_binds(question):
    for name in question.structures:
        arranged = STRUCTURES[name]
        family = world_of(arranged, arranged.themes[0], arranged.kinds, arranged.laws, question)
        for part, source in family.sources().items():
            assert unbound(source) == set(), (name, part)


def test_a_changed_or_foreign_sentence_is_not_read():
    family = constraint_world(np.random.default_rng(3))
    read = entries(family)["reader.py"]
    text = statements(family, [(5, 1)])[0]
    first = re.search(r"^- .*$", text, re.MULTILINE)
    assert first is not None and read(text)
    for changed in (
        text.replace(first[0], first[0] + " Or not."),
        text.replace(first[0], "- The sun shines."),
        text + " Or is it?",
        text.replace("This is known", "This is unknown"),
    ):
        with pytest.raises(ValueError, match=r"patterns fit|not a statement"):
            read(changed)


@pytest.mark.parametrize("number", range(12))
def test_no_answer_of_a_drawn_world_is_a_good_guess(number):
    """By another engine, on other instances than those that the drawing tries."""
    family = constraint_world(np.random.default_rng(number))
    made, answers = entries(family), []
    for difficulty, seed in product((6, 8), range(100, 108)):
        random.seed(seed)
        answers.append(made["validators/listing.py"](made["generator.py"](difficulty)[0]))
    assert max(map(answers.count, answers)) <= 0.8 * len(answers), answers


def test_a_generator_for_which_no_clue_fits_gives_up():
    """In a world whose hidden choice no clue is true of, such a generator once drew clues for ever."""
    scope: dict[str, Any] = {}
    exec(constraint_world(np.random.default_rng(0)).generator, scope)
    scope["KINDS"] = {"never": (lambda view, *more: False, 0, [], False, ["nothing"])}
    with pytest.raises(ValueError, match="no instance was found"):
        scope["input"](1)
