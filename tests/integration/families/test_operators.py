"""The operators on the shipped seeds, through the real gates: children pass, and a fault of a parent
stays a fault of the child."""

from dataclasses import replace

import numpy as np
import pytest
from families_fixtures import SEEDS, SETTINGS, operators, seed_family
from families_fixtures import judged_but_for_guesses as judged

from evolake.families.gates.blind import blind_review
from evolake.families.model.contract import Family, from_record, to_record
from evolake.families.model.family_files import read_families
from evolake.families.model.source_code import NotComposable, switch
from evolake.families.operators.common import named
from evolake.families.operators.of_families import (
    aggregate,
    constrain,
    guard,
    invert,
    pipe,
    raised,
    series,
    switch_rule,
)
from evolake.families.operators.registry import COMPOSING, OF_MANY, child_of
from evolake.families.sandbox.running import check, generate, read, solve
from evolake.families.worlds.puzzle_world import PUZZLES, puzzle_of

CLINIC, CARDS, LIARS = (seed_family(name) for name in ("clinic-queue", "remainder-subsets", "truth-tellers"))
COLOURS = seed_family("border-colours")
PARKING, EXPENSES = seed_family("parking-fees"), seed_family("shared-expenses")
PAIRS = [(1, 3), (4, 9), (10, 5)]


def made(name: str, *parents: Family, seed: int = 1) -> Family:
    return (
        child_of(name, parents, np.random.default_rng(seed))
        if len(parents) == 1
        else COMPOSING[name](parents, np.random.default_rng(seed))
    )


def drawn(engine: str) -> Family:
    """A puzzle of that engine, which has many correct answers."""
    puzzle = next(item for item in PUZZLES if item.name == engine)
    return named(puzzle_of(puzzle, puzzle.themes[0], puzzle.rules, puzzle.questions[0]))


def under(family: Family, point: str, alternative: str) -> Family:
    """The family with that alternative in force."""
    return (
        family
        if {item.name: item.chosen for item in family.points}[point] == alternative
        else switch(family, point, alternative)
    )


CHILDREN = {
    "switch": lambda: made("switch", CLINIC),
    "pipe": lambda: made("pipe", CLINIC, CARDS),
    "guard": lambda: made("guard", CARDS, LIARS),
    "aggregate": lambda: made("aggregate", CLINIC),
    "series": lambda: made("series", LIARS),
    "series of many correct answers": lambda: made("series", COLOURS),
    "one rule more": lambda: made("extend", drawn("signs"), seed=2),
    "another objective": lambda: made("aim", drawn("signs"), seed=2),
    "one rule more, and another objective": lambda: made("aim", made("extend", drawn("chain")), seed=2),
    "raised levels": lambda: raised(made("switch", CLINIC)),
    "invert": lambda: under(made("invert", CLINIC), "ask", "largest"),
    "filter": lambda: made("filter", CARDS),
    "filter by a bound": lambda: constrain([CARDS], Drawn(0.1)),
    "aggregate of a pipe": lambda: made("aggregate", made("pipe", CLINIC, CARDS)),
    "pipe of an aggregate": lambda: made("pipe", made("aggregate", CARDS), CLINIC),
    "guard of a pipe by a filter": lambda: made("guard", made("filter", CARDS), made("pipe", CLINIC, CARDS)),
    "filter of a pipe": lambda: made("filter", made("pipe", CLINIC, CARDS)),
    "Chinese pipe": lambda: made("pipe", PARKING, EXPENSES),
    "Chinese guard": lambda: made("guard", PARKING, EXPENSES),
    "Chinese aggregate": lambda: made("aggregate", PARKING),
    "Chinese inverse": lambda: under(made("invert", EXPENSES), "ask", "largest"),
    "Chinese inverse for the smallest": lambda: under(made("invert", EXPENSES), "ask", "smallest"),
    "Chinese filter": lambda: constrain([PARKING], Drawn(0.1)),
    "switch of a guard": lambda: made("switch", made("guard", CARDS, LIARS), seed=3),
}


IDLE = {"Chinese inverse for the smallest": "families-idle"}
"""Right children with a rule that decides none of their answers: the last gate blocks them for it, and no
other does."""


class Drawn(np.random.Generator):
    """A generator whose shares are fixed, to reach one branch."""

    def __init__(self, share: float):
        super().__init__(np.random.PCG64(1))
        self.share = share

    def random(self, *_: object) -> float:
        return self.share


@pytest.mark.parametrize("name", CHILDREN)
def test_a_child_passes_every_gate_but_what_is_idle_in_it_and_is_read_back_from_its_text(name, pool):
    child = CHILDREN[name]()
    examined = judged(child, pool)
    blocked = examined.blocked_by
    assert (blocked and (blocked.gate, blocked.rule_id)) == (
        ("sentences", IDLE[name]) if name in IDLE else None
    ), blocked
    assert all(len(vote.for_label) == len(child.voters()) for vote in examined.sample_votes)
    assert all(review.matched for review in examined.reviews)
    instances = generate(child, PAIRS, pool=pool)
    assert child.reader is not None
    assert [item.inputs for item in read(child.reader, [item.text for item in instances], pool=pool)] == [
        item.inputs for item in instances
    ]


def answers(family: Family, pool, pairs=PAIRS):
    instances = generate(family, pairs, pool=pool)
    return [item.inputs for item in instances], [
        item.answer for item in solve(family.validator, [item.inputs for item in instances], pool=pool)
    ]


def test_a_pipe_gives_the_second_parents_answer_at_the_piped_number(pool):
    inputs, result = answers(pipe([CLINIC, CARDS], np.random.default_rng(0)), pool)
    first = [item.answer for item in solve(CLINIC.validator, [item["a"] for item in inputs], pool=pool)]
    second = [
        item["b"] | {"remainder": value % item["b"]["modulus"]}
        for item, value in zip(inputs, first, strict=True)
    ]
    assert result == [item.answer for item in solve(CARDS.validator, second, pool=pool)]


def test_a_guard_gives_the_answer_under_the_rule_that_the_condition_selects(pool):
    child = under(guard([CARDS, LIARS], np.random.default_rng(0)), "when", "even")
    chosen = {point.name: point.chosen for point in child.points}
    inputs, result = answers(
        child, pool, [(difficulty, seed) for difficulty in (2, 5, 9) for seed in range(6)]
    )
    first = [item.answer for item in solve(CARDS.validator, [item["a"] for item in inputs], pool=pool)]
    assert {value % 2 for value in first} == {0, 1}
    expected = []
    for item, value in zip(inputs, first, strict=True):
        rule = chosen["b_wanted_then"] if value % 2 == 0 else chosen["b_wanted_else"]
        family = LIARS if rule == "liars" else switch(LIARS, "wanted", rule)
        expected.append(solve(family.validator, [item["b"]], pool=pool)[0].answer)
    assert result == expected


FOLDS = {
    "sum": sum,
    "largest": max,
    "spread": lambda values: max(values) - min(values),
    "argmax": lambda values: 1 + values.index(max(values)),
    "even": lambda values: sum(value % 2 == 0 for value in values),
    "alternating": lambda values: sum(values[0::2]) - sum(values[1::2]),
}


@pytest.mark.parametrize("name", FOLDS)
def test_an_aggregate_folds_the_answers_of_its_cases(name, pool):
    child = under(aggregate([CLINIC], np.random.default_rng(0)), "fold", name)
    inputs, result = answers(child, pool)
    assert [len(item["items"]) for item in inputs] == [3, 4, 5]
    assert all(len(item["items"][0]["patients"]) < len(item["items"][-1]["patients"]) for item in inputs[1:])
    values = [
        [element.answer for element in solve(CLINIC.validator, item["items"], pool=pool)] for item in inputs
    ]
    assert result == [FOLDS[name](row) for row in values]
    for source in child.validators.values():
        assert [item.answer for item in solve(source, inputs, pool=pool)] == result


def test_a_series_asks_for_the_answers_of_its_cases_whatever_they_are(pool):
    child = series([LIARS], np.random.default_rng(0))
    inputs, result = answers(child, pool)
    assert [len(item["items"]) for item in inputs] == [4, 5, 6]
    single = [solve(LIARS.validator, row["items"], pool=pool) for row in inputs]
    assert result == [[item.answer for item in row] for row in single]
    for source in child.validators.values():
        assert [item.answer for item in solve(source, inputs, pool=pool)] == result


def test_the_checkers_of_a_series_ask_those_of_its_parent_about_each_answer(pool):
    inputs, result = answers(series([COLOURS], np.random.default_rng(0)), pool)
    child = series([COLOURS], np.random.default_rng(0))
    tasks = [
        (item, [right, right[:-1], [*right[1:], right[0]], right[0]])
        for item, right in zip(inputs, result, strict=True)
    ]
    for source in child.checkers.values():
        assert [item.answer for item in check(source, tasks, pool=pool)] == [[True, False, False, False]] * 3


def test_raised_levels_start_where_the_middle_was():
    child = raised(CLINIC)
    assert child.generator.endswith("return easier(4 + 6 * difficulty // 10)\n")
    assert child.sources() | {"generator.py": ""} == CLINIC.sources() | {"generator.py": ""}
    with pytest.raises(NotComposable, match="levels are raised"):
        raised(child)


ASKS = {
    "largest": lambda values: min(number for number in values if values[number] == max(values.values())),
    "smallest": lambda values: max(number for number in values if values[number] == min(values.values())),
    "first": lambda values: next((number for number in values if values[number] % 2 == 0), 0),
    "third": lambda values: next((number for number in values if values[number] % 3 == 1), 0),
    "distinct": lambda values: len(set(values.values())),
    "total": lambda values: sum(values.values()),
    "spread": lambda values: max(values.values()) - min(values.values()),
}


@pytest.mark.parametrize("name", ASKS)
def test_an_inverted_question_looks_at_every_value_of_the_port(name, pool):
    child = under(invert([CLINIC], np.random.default_rng(0)), "ask", name)
    inputs, result = answers(child, pool)
    expected = []
    for item in inputs:
        numbers = range(item["bottom"], item["top"] + 1)
        solved = solve(CLINIC.validator, [item["a"] | {"asked": number} for number in numbers], pool=pool)
        expected.append(
            ASKS[name]({number: element.answer for number, element in zip(numbers, solved, strict=True)})
        )
    assert result == expected
    for source in child.validators.values():
        assert [item.answer for item in solve(source, inputs, pool=pool)] == result


KEEPS = {
    "odd": lambda cards: [card for card in cards if card % 2],
    "even": lambda cards: [card for card in cards if card % 2 == 0],
    "third": lambda cards: [card for card in cards if card % 3],
    "place": lambda cards: cards[::2],
}


@pytest.mark.parametrize("name", KEEPS)
def test_a_filter_drops_some_elements_of_every_instance_and_leaves_enough(name, pool):
    child = under(constrain([CARDS], Drawn(0.9)), "keep", name)
    inputs, result = answers(
        child, pool, [(difficulty, seed) for difficulty in (1, 5, 10) for seed in range(4)]
    )
    kept = [KEEPS[name](item["a"]["cards"]) for item in inputs]
    assert all(3 <= len(cards) < len(item["a"]["cards"]) for item, cards in zip(inputs, kept, strict=True))
    cut = [item["a"] | {"cards": cards} for item, cards in zip(inputs, kept, strict=True)]
    assert result == [item.answer for item in solve(CARDS.validator, cut, pool=pool)]
    for source in child.validators.values():
        assert [item.answer for item in solve(source, inputs, pool=pool)] == result


def test_parallel_lists_lose_the_same_elements(pool):
    body = "{'numbers': [3, 4, 6, 9, 5], 'names': ['a', 'b', 'c', 'd', 'e']}, ['3 4 6 9 5', 'a b c d e']"
    [declared] = CARDS.filterables
    solution = "def solution(inputs):\n    return ''.join(inputs['names']) + str(sum(inputs['numbers']))\n"
    parent = replace(
        CARDS,
        generator=f"def input(difficulty):\n    return {body}\n",
        template="Numbers [Input Slot 1], names [Input Slot 2]?\n",
        points=(),
        ports=(),
        validator=solution,
        validators={"other": solution},
        filterables=(replace(declared, key=("numbers",), together=(("names",),), min_length=2),),
    )
    child = under(constrain([parent], Drawn(0.9)), "keep", "third")
    inputs = generate(child, [(5, 5)], pool=pool)[0].inputs
    assert [solve(source, [inputs], pool=pool)[0].answer for source in child.voters().values()] == [
        "be9",
        "be9",
    ]


def test_a_wrong_validator_of_a_parent_is_outvoted_in_every_child(pool):
    bad = {**CLINIC.validators, "sorting": CLINIC.validators["sorting"].replace("ends.get(", "1 + ends.get(")}
    parent = replace(CLINIC, validators=bad)
    children = (
        under(made("aggregate", parent), "fold", "sum"),
        made("pipe", parent, CARDS),
        under(made("invert", parent), "ask", "first"),
    )
    for child in children:
        examined = judged(child, pool)
        wrong = "sorting" if "sorting" in child.validators else "pair1"
        assert examined.sample_votes, examined.blocked_by
        assert all(vote.decided and vote.primary_agrees for vote in examined.sample_votes)
        assert sum(wrong in vote.for_label for vote in examined.sample_votes) < len(examined.sample_votes)


def test_a_filter_whose_condition_decides_no_answer_is_blocked(pool):
    """The parent asks for the largest number alone, which a bound from below never takes away."""
    generator = (
        "import random\n\n\ndef input(difficulty):\n    cards = random.sample(range(3, 90 + difficulty), "
        "5 + difficulty)\n"
    )
    generator += "    return {'cards': cards}, [', '.join(map(str, cards))]\n"
    item = (
        "def solution(inputs):\n    return max(inputs['cards']) if isinstance(inputs, dict) else "
        "{'status': 'schema_error'}\n"
    )
    other = "def solution(inputs):\n    return sorted(inputs['cards'])[-1]\n"
    third = (
        "def solution(inputs):\n    best = 0\n    for card in inputs['cards']:\n        best = card if "
        "card > best else best\n    return best\n"
    )
    reader = (
        "import re\n\n\ndef read(text):\n    return {'cards': [int(one) for one in re.search('numbers: "
        "(.*?)[.]', text)[1].split(', ')]}\n"
    )
    parent = replace(
        CARDS,
        generator=generator,
        template="Cards have these numbers: [Input Slot 1].\n\n<!-- question -->\nWhat is the largest number?\n",  # noqa: E501
        points=(),
        ports=(),
        validator=item,
        validators={"sorted": other, "loop": third},
        reader=reader,
    )
    blocked = judged(under(constrain([parent], Drawn(0.1)), "side", "least"), pool).blocked_by
    assert blocked is not None and (blocked.gate, blocked.rule_id) == ("sentences", "families-idle"), blocked


def test_blind_reviewers_of_a_guard_follow_the_text_alone(pool):
    """The sources follow the two rules the other way round than the text says: the voters agree and the
    reviewers do not."""
    child = guard([CARDS, LIARS], np.random.default_rng(0))
    chosen = {point.name: point.chosen for point in child.points}
    swapped = switch(
        switch(child, "b_wanted_then", chosen["b_wanted_else"]), "b_wanted_else", chosen["b_wanted_then"]
    )
    reviews, votes = blind_review(
        replace(swapped, points=child.points), pool=pool, agents=operators(), settings=SETTINGS, root_seed=0
    )
    assert all(vote.decided for vote in votes)
    assert sum(review.matched for review in reviews) < 3


@pytest.mark.parametrize(
    ("operator", "parents", "reason"),
    [
        (switch_rule, [replace(CLINIC, points=())], "without a rule"),
        (pipe, [CLINIC, LIARS], "without a port"),
        (
            lambda parents, random: child_of("pipe", parents, random),
            [CLINIC, PARKING],
            "no second parent of the same language",
        ),
        (
            pipe,
            [replace(CLINIC, answer=replace(CLINIC.answer, type="any")), CARDS],
            "no quantity of another statement",
        ),
        (guard, [CLINIC, replace(CARDS, points=())], "without a rule"),
        (aggregate, [LIARS], "an answer of type list is no quantity"),
        (aggregate, [replace(CLINIC, reader=None)], "without a reader"),
        (invert, [replace(CARDS, validators={})], "without independent validators"),
        (invert, [LIARS], "without a port"),
        (constrain, [CLINIC], "without a list"),
        (aggregate, [replace(CLINIC, checkers=COLOURS.checkers)], "with many correct answers"),
        (aggregate, [replace(CLINIC, generator="global x\n" + CLINIC.generator)], "global"),
        (invert, [replace(CARDS, template=CARDS.template + "x" * 6000)], "a template of more than"),
    ],
)
def test_parents_that_do_not_allow_an_operator_are_told_why(operator, parents, reason):
    with pytest.raises(NotComposable, match=reason):
        operator(parents, np.random.default_rng(0))


def test_a_parent_without_a_quantity_leaves_an_aggregate_to_another_parent():
    children = [child_of("aggregate", [LIARS, CARDS], np.random.default_rng(seed)) for seed in range(6)]
    assert {child.parents for child in children} == {(CARDS.family_id,)}


@pytest.mark.parametrize("name", COMPOSING)
def test_the_same_random_numbers_give_the_same_child_with_its_ancestry(name):
    seeds = [drawn("signs")] if name in OF_MANY else read_families(SEEDS / "families")
    child, again = (child_of(name, seeds, np.random.default_rng(3)) for _ in range(2))
    assert to_record(child) == to_record(again)
    assert from_record(to_record(child)) == child
    assert child.operator == name
    assert set(child.parents) <= {seed.family_id for seed in seeds}
    assert 1 <= len(child.parents) <= (2 if name in ("pipe", "guard") else 1)
    assert child.family_id not in {seed.family_id for seed in seeds}
