"""What operators learn from the trials of a search: which operator, which parent, how large a step, which of
many steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs_fixtures import OWN, imports

from evolake.lake import BlobStore
from evolake.programs.evolution.population import Islands
from evolake.programs.evolution.search_memory import tried_programs
from evolake.programs.gates import no_duplicate
from evolake.programs.model.program_text import parameters_in
from evolake.programs.roles import WRITER, Measured, WriterRequest, write
from evolake.programs.search.proposing import Background, child_of
from evolake.programs.search.steps import FEWEST, FIRST, number_weights, promising_step, step_few, step_size
from evolake.programs.search.surrogate import fitted
from evolake.programs.search.trials import (
    NUMBERS_ONLY,
    PATIENCE,
    POLISH,
    TUNING,
    UNLIFTED,
    Group,
    Trial,
    Trials,
    choose_parent,
    credits_of,
    draw_operator,
    untuned,
    values_of,
)

TEXT = "# EVOLVE-BLOCK-START\ndef f():\n    return {a!r}, {b!r}\n# EVOLVE-BLOCK-END\n"
MARKED = (
    "# EVOLVE-BLOCK-START\nA = {a}  # EVOLVE-PARAM 1 64 int log\nB = {b}  # EVOLVE-PARAM -2.0 2.0\n# "
    "EVOLVE-BLOCK-END\n"
)


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def text(a: float, b: float = 1.0) -> dict[str, str]:
    return {"p.py": TEXT.format(a=a, b=b)}


def chain(outcomes: Sequence[float | None], operator: str = "step_few") -> Trials:
    """Trials that are each made of the first one, with these scores after its 0."""
    return Trials(
        [
            Trial(text(1.0), 0.0, "initial"),
            *(Trial(text(2.0 + place), score, operator, 0) for place, score in enumerate(outcomes)),
        ]
    )


def test_the_operator_that_gains_is_drawn_most_often():
    gain, items = 0.0, [Trial(text(1.0), 0.0, "initial")]
    for place in range(40):
        name = ("planted", "idle", "broken")[place % 3]
        gain += name == "planted"
        items.append(
            Trial(text(2.0 + place), {"planted": gain, "idle": gain - 0.5, "broken": None}[name], name, 0)
        )
    groups = [
        Group((1.0, 4.0), {"idle": (1.0, 4.0), "broken": (1.0, 4.0)}),
        Group((1.0, 4.0), {"planted": (1.0, 4.0)}),
    ]
    drawn = [draw_operator(groups, Trials(items), random(seed)) for seed in range(200)]
    assert drawn.count("planted") > 120 > drawn.count("idle") + drawn.count("broken")
    assert {
        draw_operator(groups, Trials(items), random(seed), barred=("planted",)) for seed in range(50)
    } == {"idle", "broken"}


@pytest.mark.parametrize("maximize", [True, False])
def test_credit_is_the_gain_in_relation_to_all_gains_and_lower_scores_gain_where_lower_is_better(maximize):
    sign = 1 if maximize else -1
    items = [
        Trial(text(1.0), 0.0, "initial"),
        Trial(text(2.0), 10.0 * sign, "large", 0),
        Trial(text(3.0), 10.01 * sign, "small", 1),
    ]
    trials = Trials(items, maximize)
    won, lost = credits_of(trials)
    assert won["large"] > 0.9 > 0.1 > won["small"] > 0 and lost["small"] > 0.9 and trials.best == 2


def test_a_step_grows_after_a_success_and_shrinks_after_a_failure():
    own = chain([]).skeletons[0]
    assert step_size(chain([]), own) == FIRST
    assert (
        step_size(chain([1.0]), own)
        > FIRST
        > step_size(chain([-1.0]), own)
        > step_size(chain([-1.0, None]), own)
    )
    assert step_size(chain([-1.0] * 4 + [1.0]), own) == pytest.approx(FIRST)
    assert step_size(chain([1.0], operator="term"), own) == FIRST
    plateau = Trials([*chain([]).items, Trial(text(2.0), None, "step_few", 0, twin_score=0.0)])
    assert FIRST < step_size(plateau, own) < step_size(chain([1.0]), own)
    failed = Trials([*chain([]).items, Trial(text(2.0), None, "step_few", 0, twin_score=-5.0)])
    assert (
        step_size(failed, own) < FIRST
        and failed.known_merits[1] == pytest.approx(-5.0)
        and (plateau.known_merits[1] or 0.0) < 0.0
    )


def test_a_new_skeleton_begins_with_the_size_of_its_parent():
    before = chain([-1.0] * 6)
    other = {"p.py": text(1.0)["p.py"].replace("1.0", "1.0 + 3.0", 1)}
    trials = Trials([*before.items, Trial(other, 0.5, "term", 0)])
    own, new = trials.skeletons[0], trials.skeletons[-1]
    assert new not in ("", own)
    assert step_size(trials, new) == step_size(before, own) < FIRST
    further = Trials([*trials.items, Trial(other, None, "step_few", len(before.items))])
    assert step_size(further, own) == step_size(before, own) > step_size(further, new)


def test_a_number_whose_changes_fail_is_changed_less_often():
    items = [Trial(text(1.0, 1.0), 0.0, "initial")]
    items += [Trial(text(2.0 + place, 1.0), None, "step_few", 0) for place in range(5)]
    items += [Trial(text(1.0, 2.0 + place), 1.0, "step_few", 0) for place in range(5)]
    trials = Trials(items)
    fatal, good = number_weights(trials, trials.skeletons[0], 2)
    assert fatal < 0.3 * good and fatal + good == pytest.approx(1.0)


def test_a_fatal_number_is_found_among_many_that_change_together():
    def of(numbers: Sequence[float]) -> dict[str, str]:
        return {"p.py": f"# EVOLVE-BLOCK-START\nx = {[*map(float, numbers)]}\n# EVOLVE-BLOCK-END\n"}

    draws, items = random(3), [Trial(of([1.0] * 6), 0.0, "initial")]
    for _ in range(30):
        changed = draws.permutation(6)[:4]
        numbers = np.where(np.isin(np.arange(6), changed), draws.uniform(2, 9, 6), 1.0)
        items.append(Trial(of(numbers.tolist()), None if 0 in changed else -1.0, "surrogate", 0))
    trials = Trials(items)
    weights = number_weights(trials, trials.skeletons[0], 6)
    assert weights[0] < 0.6 * weights[1:].min() and weights.sum() == pytest.approx(1.0)


@settings(max_examples=15, deadline=None)
@given(
    held=st.lists(
        st.tuples(st.integers(1, 64), st.floats(-2, 2).map(lambda value: round(value, 3))),
        min_size=FEWEST,
        max_size=9,
        unique=True,
    ),
    seed=st.integers(0, 99),
)
def test_marked_numbers_stay_within_their_bounds(held, seed):
    trials = Trials(
        [
            Trial({"p.py": MARKED.format(a=a, b=b)}, a - b, "step_few", 0 if place else None)
            for place, (a, b) in enumerate(held)
        ]
    )
    for made in (promising_step(trials, 0, random(seed)), step_few(trials, 0, random(seed))):
        assert made is not None
        a, b = (parameter.value for parameter in parameters_in(made["p.py"], "p.py"))
        assert 1 <= a <= 64 and a == int(a) and -2 <= b <= 2


@pytest.mark.parametrize("maximize", [True, False])
def test_a_promising_step_lies_nearer_to_the_best_than_what_is_known(maximize):
    def loss(a: float, b: float) -> float:
        return (a - 3) ** 2 + ((b - 12) / 4) ** 2

    points = random(5).uniform([0.1, 1.0], [9.0, 30.0], size=(30, 2)).tolist()
    sign = -1.0 if maximize else 1.0
    items = [
        Trial(text(round(a, 3), round(b, 3)), sign * loss(a, b), "step_few", 0 if place else None)
        for place, (a, b) in enumerate(points)
    ]
    trials = Trials(items, maximize)
    made = [promising_step(trials, trials.best or 0, random(seed)) for seed in range(20)]
    found = [
        loss(*(number.value for number in values_of(tuple(one.items())))) for one in made if one is not None
    ]
    known = sorted(loss(*point) for point in points)
    assert len(found) == 20 and np.median(found) < known[1]


def test_a_shape_is_fitted_once_for_the_same_points():
    points = random(1).normal(size=(12, 3))
    first = fitted(points, points[:, 0])
    assert fitted(points.copy(), points[:, 0].copy()) is first
    # the number that decides has the shortest length
    assert first.lengths[0] == first.lengths.min()


def test_the_best_is_the_usual_parent_and_other_programs_come_oftener_when_nothing_improves():
    moving, idle = chain([1.0, 0.5]), chain([1.0] + [0.5] * (PATIENCE + 1))
    drawn, later = (
        [choose_parent(trials, random(seed)).place for seed in range(200)] for trials in (moving, idle)
    )
    assert drawn.count(1) > 160 and set(drawn) == {1, None}
    assert later.count(1) > 100 and later.count(None) > 2 * drawn.count(None)
    assert choose_parent(Trials(()), random()).place is None


def test_a_new_structure_gets_its_tuning_before_it_is_dropped():
    other = {"p.py": TEXT.format(a=1.0, b=2.0).replace("return", "return 3,")}
    trials = [*chain([1.0, -1.0]).items, Trial(other, 0.5, "term", 1)]
    assert untuned(Trials(trials)) == [3]
    picked = [
        choice for seed in range(100) if (choice := choose_parent(Trials(trials), random(seed))).place == 3
    ]
    assert len(picked) > 10 and all(choice.only == NUMBERS_ONLY for choice in picked)
    tuned = [
        Trial({"p.py": other["p.py"].replace("1.0", f"1.{digit}")}, 0.1, "step_few", 3)
        for digit in range(1, TUNING + 1)
    ]
    assert untuned(Trials([*trials, *tuned])) == []
    assert untuned(Trials([*trials[:3], Trial(other, None, "term", 1)])) == []
    assert untuned(Trials([*trials[:3], Trial(other, -9.0, "term", 1)])) == []


def test_a_program_that_behaves_as_another_is_known_by_that_one_s_score(tmp_path):
    blobs = BlobStore(tmp_path)
    sha = blobs.put(b'{"p.py": "x = 1"}')
    twin, child = "e" * 64, "f" * 64
    reason = no_duplicate({"behaves_as": twin})
    assert reason is not None
    shared = {"files_sha": sha, "operator": "step_few", "size": 1}
    rows = [
        {"program_id": twin, "score": 0.25, "reason": None, "parents": [], "number": 0, **shared},
        {
            "program_id": child,
            "score": None,
            "reason": f"novel: {reason.reason}",
            "parents": [twin],
            "number": 1,
            **shared,
        },
        {
            "program_id": "0" * 64,
            "score": None,
            "reason": "form: it says the same",
            "parents": [twin],
            "number": 2,
            **shared,
        },
    ]
    tried = tried_programs(rows, Islands(imports(), OWN), blobs)
    assert [(item.score, item.twin_score, item.parent) for item in tried.trials.items] == [
        (0.25, None, None),
        (None, 0.25, 0),
    ]


def test_a_writer_s_child_follows_from_request_and_seed_and_no_model_sees_the_trials():
    tried = [
        Trial(text(1.0 + place / 10), float(place), "step_few", 0 if place else None) for place in range(9)
    ]
    request = WriterRequest(
        project="p",
        goal="g",
        parent=Measured(score=8.0, files=dict(tried[8].texts)),
        trials=Trials(tried),
        tried="nine",
        place=8,
    )
    assert write(request, random(3)) == write(request.model_copy(deep=True), random(3))
    assert all(
        write(request, random(seed)).whole["p.py"] not in {item.texts["p.py"] for item in tried}
        for seed in range(10)
    )
    # the call's name has the trials by name, not by their texts
    assert "trials" not in request.model_dump() and request.model_dump()["tried"] == "nine"
    # no model is shown what operators learn from
    assert WRITER.prompt_values(request) == WRITER.prompt_values(
        request.model_copy(update={"trials": Trials(()), "place": None})
    )
    numbers = request.model_copy(update={"only": NUMBERS_ONLY})
    assert {write(numbers, random(seed)).operator for seed in range(20)} == {"surrogate", "step_few"}


def lifted(number: float) -> dict[str, str]:
    return {"p.py": f"# EVOLVE-BLOCK-START\ndef f():\n    return [{number!r}, 2.0]\n# EVOLVE-BLOCK-END\n"}


POLISHED = Trials(
    [
        *chain([0.5]).items,
        Trial(lifted(1.0), 9.0, POLISH, 1),
        Trial(lifted(1.5), 8.0, "step_few", 2),
        Trial(text(7.0), 0.75, "step_few", 1),
    ]
)


def test_after_a_lift_the_search_goes_on_from_the_best_of_the_others_or_polishes_again():
    assert [POLISHED.lifted(place) for place in range(5)] == [False, False, True, True, False]
    assert (POLISHED.best, POLISHED.best_unlifted) == (2, 4)
    others = [choose_parent(POLISHED, random(seed), lambda: False) for seed in range(60)]
    assert {choice.place for choice in others} == {4, None}
    assert {choice.only for choice in others} == {UNLIFTED}
    again = [choose_parent(POLISHED, random(seed), lambda: True) for seed in range(60)]
    assert {(choice.place, choice.only) for choice in again} == {(2, POLISH), (4, POLISH)}
    tried = Trials([*POLISHED.items, Trial(lifted(2.5), 7.0, POLISH, 4)])
    assert {choose_parent(tried, random(seed), lambda: True).place for seed in range(20)} == {2}
    # where no polish is offered, the best is the parent as ever
    assert 2 in {choose_parent(POLISHED, random(seed)).place for seed in range(20)}


def test_what_programs_gain_that_are_not_lifted_counts_among_themselves():
    assert POLISHED.gains == [0.0, 0.5, 8.5, 0.0, 0.25]


def test_a_child_of_what_is_not_lifted_is_no_polish_and_one_to_be_polished_is_nothing_else():
    parent, cost = POLISHED.items[4], 1.0
    made = [
        child_of(parent, Background(POLISHED, 4, None, only, cost), random(seed))
        for only in (UNLIFTED, POLISH)
        for seed in range(20)
    ]
    names = [child.operator for child in made if child is not None]
    assert POLISH not in names[:-20] and set(names[-20:]) == {POLISH}
