"""Objective programs: typed, canonical, the same as a file and as an expression, and varied without leaving
the grammar."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from objective_results import SIZES, level, random_designs, scheduled

from evolake.objectives.portfolio import (
    BASELINE_FAMILY,
    OBJECTIVE_FAMILIES,
    baseline_objective,
    make,
    new_objective,
)
from evolake.objectives.programs import runtime
from evolake.objectives.programs.compose import COUNTERPARTS, compose, counterpart, of_family, read, words
from evolake.objectives.programs.expression import (
    AGGREGATES,
    FUNCTIONS,
    LEVEL_NAMES,
    NUMBER_NAMES,
    SETTINGS,
    IllTyped,
    canonical,
    from_json,
    is_program,
    kind_of,
    simplified,
    to_json,
    value,
)
from evolake.objectives.programs.genetic import (
    LOG_STEPS,
    MUTATIONS,
    STEEPER,
    Child,
    Drawing,
    Parent,
    chosen_parent,
    made_up_designs,
    preference,
    propose,
    ranking,
    turned,
)
from evolake.objectives.source import objective_id

SEEDS = st.integers(0, 2**32 - 1)
DESIGNS = random_designs(12, np.random.default_rng(5))
PARENTS = [Parent(name, of_family(name), 1 / len(COUNTERPARTS)) for name in sorted(COUNTERPARTS)]
AWKWARD = [
    [],
    [level(10, 20)],
    [level(10, 60, 0.9, 50)],
    [level(n, 10) for n in SIZES],
    [level(10, 20), level(10, 80, 0.7, 50)],
    [{"N": 10, "median_step": 0, "unsolved_fraction": 0.0}],
    [{"N": None, "median_step": 3, "unsolved_fraction": 0}],
    scheduled({10: 20, 14: 44, 20: 1e9}),
]


def drawn(seed: int, depth: int = 3):
    return Drawing(np.random.default_rng(seed)).number(depth)


def run(source: str, rows) -> float:
    namespace: dict = {}
    exec(source, namespace)
    return namespace["objective"](rows)


@settings(max_examples=150, deadline=None)
@given(SEEDS)
def test_what_is_drawn_is_typed_and_its_canonical_form_is_its_own(seed):
    program = drawn(seed)
    assert kind_of(program) == "number"
    form = canonical(program)
    assert kind_of(form) == "number" and canonical(form) == form and simplified(form) == form


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_a_composed_file_gives_the_program_s_value_and_is_read_back(seed):
    program = canonical(drawn(seed))
    source = compose(program)
    for rows in [*DESIGNS.values(), *AWKWARD]:
        result = run(source, rows)
        assert isinstance(result, float) and math.isfinite(result) and result == value(program, rows)
    assert read(source) == (program if is_program(program) else None)
    assert from_json(to_json(program)) == (program if is_program(program) else None)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.sampled_from(sorted(COUNTERPARTS)))
def test_mutation_stays_typed(seed, family):
    rng = np.random.default_rng(seed)
    for name, change in MUTATIONS.items():
        made = change(of_family(family), rng)
        assert made is None or kind_of(made) == "number", name


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_a_child_is_canonical_new_and_prefers_fewer_steps(seed):
    taken = {ranking(parent.program) for parent in PARENTS}
    child = propose(PARENTS, taken, np.random.default_rng(seed))
    assert (
        isinstance(child, Child) and is_program(child.program) and canonical(child.program) == child.program
    )
    assert child.ranking == ranking(child.program) and child.ranking not in taken
    pairs = zip(made_up_designs(), made_up_designs(STEEPER), strict=True)
    worse = [value(child.program, twin) - value(child.program, rows) for rows, twin in pairs]
    assert sum(gap > 0 for gap in worse) > sum(gap < 0 for gap in worse)
    assert sum(weight for _, weight in child.weights) == pytest.approx(
        0.0 if child.operator == "draw" else 1.0
    )
    assert propose(PARENTS, taken, np.random.default_rng(seed)) == child


def test_who_weighs_much_and_is_agreed_with_little_has_most_children():
    heard, echo, silent = (
        Parent(name, LOG_STEPS, weight, tau)
        for name, weight, tau in (("a", 0.5, 0.3), ("b", 0.5, 0.99), ("c", 0.0, -1.0))
    )
    assert preference(heard) > 5 * preference(echo) > 0 and preference(heard) > 5 * preference(silent) > 0
    rng = np.random.default_rng(0)
    counts = [chosen_parent([heard, echo, silent], rng).objective_id for _ in range(300)]
    assert counts.count("a") > 200 and {"b", "c"} < set(counts)


@pytest.mark.parametrize(
    ("written", "form"),
    [
        (("add", ("mean", LOG_STEPS), 3.0), ("mean", LOG_STEPS)),
        (("mul", 2.0, ("mean", LOG_STEPS)), ("mean", LOG_STEPS)),
        (("sub", 1.0, ("neg", ("mean", "n"))), ("mean", "n")),
        (("add", ("top"), ("neg", "reach")), ("sub", "top", "reach")),
        (("mean", ("log", "reach")), ("log", "reach")),
        (("add", "top", ("slope", "reach")), "top"),
        (("min", "reach", ("neg", ("neg", "reach"))), "reach"),
        (("mul", "reach", "reach"), ("square", "reach")),
        (("mean", ("if_solved", ("if_solved", "n", "steps"), "left")), ("mean", ("if_solved", "n", "left"))),
        (("max", "top", ("add", 1.0, 2.0)), ("max", "top", 3.0)),
    ],
)
def test_the_same_meaning_has_one_form(written, form):
    assert canonical(written) == canonical(form) == canonical(canonical(written))


@pytest.mark.parametrize(
    "wrong",
    [
        "steps",
        ("mean", "reach"),
        ("mean",),
        ("tail", 9, "steps"),
        ("tail", 2.0, "steps"),
        ("weighted", 5.0, "steps"),
        ("weighted", True, "steps"),
        ("add", "reach"),
        ("price", "reach"),
        "design_id",
        (),
        ("add", "reach", math.inf),
        ("add", "reach", 10**400),
        True,
        None,
        ["mean", "steps"],
    ],
    ids=repr,
)
def test_what_has_no_kind_or_another_is_no_program(wrong):
    assert not is_program(wrong)
    if wrong != "steps":
        with pytest.raises(IllTyped):
            kind_of(wrong)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing",
        "[" * 5000,
        '"steps"',
        '["mean","reach"]',
        '["mean",["steps"]]',
        "null",
        "1e999",
        '{"a": 1}',
        f'["add","reach",1{"0" * 400}]',
    ],
)
def test_a_stored_text_that_is_no_program_is_none(text):
    assert from_json(text) is None


@given(st.floats(-1e300, 1e300), st.floats(1e-6, 1e6))
def test_a_bounded_score_keeps_the_order_and_stays_better_than_no_results(value, more):
    larger = value + abs(value) * more + more
    assert -runtime.WORST < runtime.bounded(value) < runtime.bounded(larger) < runtime.WORST
    assert runtime.bounded(-value) == -runtime.bounded(value) and (
        abs(value) > 1e7 or runtime.bounded(value) == value
    )


def test_a_score_without_bounds_of_its_own_is_bounded():
    assert [runtime.bounded(value) for value in (math.inf, 10**400)] == [runtime.bounded(runtime.MOST)] * 2
    assert runtime.bounded(-math.inf) > -runtime.WORST and runtime.bounded(math.nan) == runtime.WORST


def test_designs_with_many_steps_are_told_apart_and_a_positive_factor_changes_no_order():
    slow = [[level(1280, steps, 0.4, 1e6)] for steps in (20_000, 90_000, 400_000, 900_000)]
    for program in (
        ("mean", ("square", "steps")),
        ("mul", 1e-6, ("mean", ("square", "steps"))),
        ("mul", 1e6, ("mean", ("square", "steps"))),
    ):
        scores = [value(program, rows) for rows in slow]
        assert scores == sorted(set(scores)) and scores[-1] < value(program, [])


def test_the_order_of_rows_does_not_matter():
    for seed in range(20):
        program, rows = canonical(drawn(seed)), list(DESIGNS["d003"])
        shuffled = random.Random(seed).sample(rows, len(rows))
        assert value(program, shuffled) == value(program, rows)


def test_a_file_that_does_more_than_its_program_is_not_read_as_one():
    source = compose(of_family("tail"))
    assert read(source) == of_family("tail")
    for other in (
        source.replace("levels = read", "import time\n    levels = read"),
        source.replace("return WORST", "return 0.0"),
        "x = 1",
        "",
        "(",
    ):
        assert read(other) is None
    assert read(make("tail", {}, "").source) is None
    assert read(compose(("add", "reach", 1.0)).replace("1.0", "1" + "0" * 400)) is None


def test_the_same_program_is_the_same_objective_and_words_say_what_it_is():
    first, second = ("add", "top", ("mean", LOG_STEPS)), ("add", ("mean", LOG_STEPS), "top")
    assert objective_id(compose(canonical(first))) == objective_id(compose(canonical(second)))
    assert words(
        ("sub", ("weighted", 0.5, ("if_solved", "steps", "limit")), ("mul", 0.3, ("log", "reach")))
    ) == ("weighted(if_solved(steps, limit), 0.5) - (0.3 * log(reach))")


def test_what_is_stored_is_read_by_every_later_version():
    """The text of a file is its identity: a change of a helper would give every program in a lake another
    one, and take it its genome."""
    every = 0.5
    for name in LEVEL_NAMES:
        every = ("add", every, ("mean", name))
    for name in AGGREGATES:
        every = ("sub", every, (name, ("if_solved", "n", "steps")))
    for name, setting in SETTINGS.items():
        every = ("max", every, (name, int(setting.low) if setting.whole else 0.5, "steps"))
    for name in (*FUNCTIONS, *NUMBER_NAMES):
        every = ("div", every, (name, ("neg", "top")) if name in FUNCTIONS else name)
    assert objective_id(compose(("min", ("mul", -2.0, every), 1e6)))[:16] == "02a081dbca504e02"


def test_templates_have_counterparts_where_the_file_is_theirs_and_a_family_may_have_none():
    parents = set(COUNTERPARTS)
    assert parents - {BASELINE_FAMILY} <= set(OBJECTIVE_FAMILIES)
    assert len(parents) >= 8
    specs = [baseline_objective(), *(new_objective(np.random.default_rng(seed), []) for seed in range(60))]
    assert {spec.family for spec in specs} >= set(OBJECTIVE_FAMILIES)
    for spec in specs:
        program = counterpart(spec.family, spec.parameters, spec.source)
        assert (program is not None) is (spec.family in parents), spec.family
        assert program is None or (is_program(program) and turned(program) is not None), spec.family
        assert counterpart(spec.family, spec.parameters, spec.source + "# by hand\n") is None
    assert counterpart("written", {}, "x = 1") is None
    assert counterpart("reach", {"HEIGHT": 1}, "x = 1") is None
