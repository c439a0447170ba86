"""Islands, cells, fronts, and the duel that changes a title beyond the noise alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs_fixtures import OWN, apart, imports

from evolake.contest import WORST_AGAIN
from evolake.programs.evolution.population import Islands, cell_of
from evolake.programs.evolution.program_contest import (
    decide_duel,
    end_of_cycle,
    heldout_repeats,
    noise_of,
    noted_evaluations,
    read_evaluations,
    run_duel,
    sides_of,
)
from evolake.programs.evolution.search_memory import REPEATED, GenerationEntry, failed_rows
from evolake.programs.gates import Candidate
from evolake.programs.model.project import Project
from evolake.programs.sandbox.evaluating import Evaluation
from evolake.programs.settings import ProgramsSettings
from evolake.programs.tables import FAILED_PROPOSALS

OWN_SMALL = OWN.model_copy(update={"elites": 2, "islands": 2})


def row(name: str, score: float, cell: str = "0", **more) -> dict:
    return {
        "program_id": name,
        "score": score,
        "cell": cell,
        "size": 10,
        "number": int(name),
        "state": "accepted",
        "islands": [0],
        "front": False,
        "metrics": json.dumps({"combined_score": score}),
    } | more


def islands(*rows: dict) -> Islands:
    return Islands(imports(), OWN_SMALL, {row["program_id"]: row for row in rows})


def test_an_island_keeps_the_best_of_each_cell_and_the_best_of_all():
    held = islands()
    for number, (score, cell) in enumerate([(1.0, "a"), (5.0, "b"), (4.0, "b"), (3.0, "b"), (0.5, "c")]):
        held.admit(row(str(number), score, cell), 0)
    assert set(held.rows) == {"0", "1", "2", "4"}
    assert held.admit(row("9", 3.5, "b"), 0)["state"] == "retired"
    assert held.admit(row("8", 9.0, "a"), 0) == held.rows["8"] and "0" not in held.rows
    assert held.admit(row("7", 0.1, "b"), 1)["islands"] == [1]


@dataclass
class CountingEvaluator:
    """Builds and evaluates nothing, and counts how often it is asked."""

    project: Project
    asked: list[str] = field(default_factory=list)

    def build(self, texts: object) -> str:
        self.asked.append("build")
        return "built"

    def evaluate_each(self, texts: object, seeds: Sequence[int], built: object) -> list[Evaluation]:
        self.asked.append("evaluate")
        return [Evaluation("ok", metrics={"combined_score": 2.0}, seed=seed) for seed in seeds]


def test_a_candidate_is_evaluated_once_by_its_step_and_by_nothing_that_reads_it():
    evaluator = CountingEvaluator(imports())
    candidate = Candidate({}, "a", evaluator, [1, 2])
    assert (candidate.score, candidate.metrics, list(candidate.evaluations)) == (None, {}, [])
    assert evaluator.asked == []
    done = candidate.evaluate()
    assert candidate.evaluate() is done is candidate.evaluations
    assert (candidate.score, [item.seed for item in done]) == (2.0, [1, 2])
    handed_on = Candidate({}, "a", evaluator, [1, 2], evaluations=done)
    assert handed_on.evaluate() is done and handed_on.score == 2.0
    assert evaluator.asked == ["build", "evaluate"]


def test_the_champion_stays_and_the_best_migrate():
    held = islands(row("1", 5.0), row("2", 4.0, islands=[1]), row("3", 1.0, state="champion"))
    held.admit(row("4", 9.0), 0)
    held.admit(row("5", 8.0), 0)
    assert held.rows["3"]["islands"] == [] and held.rows["3"]["state"] == "champion"
    rows = end_of_cycle(held, "4", most=3)
    assert rows["4"]["state"] == "champion" and rows["4"]["islands"] == [0, 1]
    assert len(rows) == 3


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_front_is_what_nobody_dominates(points):
    toml = '[program]\nentry = "double"\n[evaluator]\nmode = "separate"\n[metrics]\na = "max"\nb = "min"\n'
    held = Islands(
        apart(toml=toml),
        OWN_SMALL,
        {
            str(place): row(str(place), float(a), metrics=json.dumps({"a": a, "b": b}))
            for place, (a, b) in enumerate(points)
        },
    )
    held.with_front()
    for place, (a, b) in enumerate(points):
        beaten = any(c >= a and d <= b and (c, d) != (a, b) for c, d in points)
        assert held.rows[str(place)]["front"] is not beaten


def test_cells_are_bins_of_declared_features_and_else_of_size():
    toml = (
        '[program]\nentry = "double"\n[evaluator]\nmode = "separate"\n[features.size]\nlow = 0\nhigh = '
        "100\n[features.m]\nlow = 0\nhigh = 1\n"
    )
    project = apart(toml=toml)
    assert [cell_of(project, {"m": value}, size) for value, size in ((0.55, 42), (-1.0, 0), (7.0, 1000))] == [
        "4,5",
        "0,0",
        "9,9",
    ]
    assert cell_of(imports(), {}, 64) == "12"
    config = imports(config__yaml="database:\n  feature_dimensions: [gap, diversity]\n  feature_bins: 4\n")
    assert cell_of(config, {"gap": 0.6}, 9) == "2"


SAME = [1.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("champion", "again", "challenger", "wins", "said"),
    [
        (SAME, SAME, [1.1, 1.1, 1.1, 1.1], True, "better by 0.1"),
        (SAME, SAME, SAME, False, "not beyond the noise"),
        ([1.0, 1.2, 0.9, 1.1], [1.2, 1.0, 1.1, 0.9], [1.1, 1.25, 0.95, 1.2], False, "not beyond the noise"),
        ([1.0, 1.2, 0.9, 1.1], [1.2, 1.0, 1.1, 0.9], [2.1, 2.2, 2.0, 2.1], True, "better by"),
        (SAME, SAME, [9.0, 9.0, None, 9.0], False, "the challenger fails under 1 of 4"),
        (
            [1.0, None, 1.0, 1.0],
            [1.0, None, 1.0, 1.0],
            [0.9, 0.9, 0.9, 0.9],
            True,
            "the champion fails twice under 1",
        ),
        ([1.0, None, 1.0, 1.0], SAME, [0.9, 0.9, 0.9, 0.9], False, "not beyond the noise"),
    ],
)
def test_the_title_changes_beyond_the_noise_alone(champion, again, challenger, wins, said):
    result = decide_duel(
        {"champion": champion, "again": again, "challenger": challenger}, np.random.default_rng(0)
    )
    assert (result["wins"], said in result["reason"]) == (wins, True), result


def test_a_better_score_is_better_if_no_score_has_noise_and_the_reason_says_so():
    result = decide_duel(
        {"champion": [1.0] * 3, "again": [1.0] * 3, "challenger": [1.0 + 1e-9] * 3},
        np.random.default_rng(0),
        seedless=True,
    )
    assert (result["wins"], result["test"], result["pairs"]) == (True, "exact comparison", 3)
    assert result["reason"].endswith("scores have no noise, so the comparison is exact")
    for score in (0.9, 1.0 + 1e-15):  # the second is another order of the same sum
        worse = decide_duel(
            {"champion": [1.0] * 3, "again": [1.0] * 3, "challenger": [score] * 3},
            np.random.default_rng(0),
            seedless=True,
        )
        assert (worse["wins"], worse["test"]) == (False, "exact comparison")


@pytest.mark.parametrize(
    ("again", "challenger"),
    [([1.0, 1.0, 1.5], [2.0, 2.0, 2.0]), ([1.0, 1.0], [2.0, 2.0]), ([1.0, 1.0, 1.0], [2.0, 2.0, 3.0])],
)
def test_nothing_is_exact_with_noise_or_with_two_seeds(again, challenger):
    result = decide_duel(
        {"champion": [1.0] * len(challenger), "again": again, "challenger": challenger},
        np.random.default_rng(0),
        seedless=True,
    )
    assert result["test"] != "exact comparison"


def test_programs_that_differ_across_seeds_alone_are_compared_over_seeds():
    """No noise within a seed: a floor from repeats would be 0, and the better mean of three seeds would
    do."""
    champion, challenger = [1.0, 3.0, 2.0, 5.0, 4.0, 2.0], [2.0, 2.9, 2.8, 4.9, 4.8, 2.2]
    result = decide_duel(
        {"champion": champion, "again": champion[:3], "challenger": challenger}, np.random.default_rng(0)
    )
    assert (result["wins"], result["noise"], result["difference"] > 0) == (False, 0.0, True)
    assert decide_duel(
        {"champion": champion, "again": champion[:3], "challenger": [8.0] * 6}, np.random.default_rng(0)
    )["wins"]


def evaluations(
    scores: dict[str, list[float | None]], seeds: int, *, seedless: bool = False
) -> tuple[dict[str, int], dict]:
    """How often each side was evaluated, and the decision."""
    sides = {side: side for side in scores}
    kept = {side: iter(result) for side, result in scores.items()}

    def evaluate(side: str, seed: int) -> Evaluation:
        value = next(kept[side])
        return Evaluation(
            "ok" if value is not None else "raised", metrics={} if value is None else {"x": value}, seed=seed
        )

    def score(item: Evaluation) -> float | None:
        return item.metrics.get("x")

    result = run_duel(sides, range(seeds), evaluate, scores=[score], seedless=seedless)
    known = {side: [score(item) for item in items] for side, items in result.items()}
    decision = decide_duel(known, np.random.default_rng(0), seedless=seedless)
    return {side: len(items) for side, items in result.items()}, decision


def test_a_challenger_is_evaluated_until_it_cannot_win_and_the_others_to_the_end():
    rising, flat = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [4.0] * 8
    behind, decision = evaluations(
        {"champion": rising, "again": rising, "challenger": [0.0] * 8, "initial": flat}, 8
    )
    assert behind == {"champion": 8, "again": 3, "challenger": 3, "initial": 8}
    assert not decision["wins"] and "given up after 3 of 8 seeds" in decision["reason"]
    ahead, decision = evaluations(
        {"champion": rising, "again": rising, "challenger": [value + 1 for value in rising], "initial": flat},
        8,
    )
    assert (
        ahead == {"champion": 8, "again": 3, "challenger": 8, "initial": 8}
        and decision["wins"]
        and decision["pairs"] == 8
    )
    failed, decision = evaluations(
        {"champion": rising, "again": rising, "challenger": [9.0, None, 9.0, 9.0], "initial": flat}, 8
    )
    assert failed["challenger"] == 3 and not decision["wins"]


def test_an_evaluator_that_has_nothing_to_draw_by_is_asked_under_three_seeds():
    sides = {"champion": [1.0] * 8, "again": [1.0] * 8, "challenger": [1.5] * 8, "initial": [0.5] * 8}
    counts, decision = evaluations(sides, 8, seedless=True)
    assert counts == dict.fromkeys(counts, 3) and decision["wins"] and decision["test"] == "exact comparison"
    alone, _ = evaluations({"champion": [1.0] * 8, "again": [1.0] * 8}, 8, seedless=True)
    assert alone == {"champion": 3, "again": 3}
    all_seeds, decision = evaluations(sides, 8)
    assert all_seeds == {"champion": 8, "again": 3, "challenger": 8, "initial": 8} and decision["wins"]


@pytest.mark.parametrize("place", [3, 9, 39])
def test_a_loss_under_one_seed_of_ten_is_met_though_the_first_three_scores_are_equal(place):
    """0.5 better under nine seeds of ten and 4.5 worse under the tenth: no better, and promoted before."""
    challenger = [-3.5 if seed % 10 == place % 10 else 1.5 for seed in range(40)]
    sides = {"champion": [1.0] * 40, "again": [1.0] * 40, "challenger": challenger}
    _, decision = evaluations(sides, 40)
    assert not decision["wins"]
    believed, wrong = evaluations(sides, 40, seedless=True)
    assert believed["challenger"] == 3 and wrong["wins"]


def test_without_a_challenger_nothing_changes_and_the_noise_is_told():
    result = decide_duel({"champion": [1.0, 2.0], "again": [1.5, 2.0]}, np.random.default_rng(0))
    assert (result["wins"], result["pairs"], result["noise"] > 0.4) == (False, 0, True)
    assert noise_of({"champion": [None], "again": [1.0]}) == 0.0


def test_proposals_that_made_no_program_are_rows_numbered_through_the_cycle():
    noted = [
        {"cycle": "0002", "project": name, "generation": generation}
        for name in ("a", "b")
        for generation in (1, 2)
    ]
    more = {"idea": "a line", "operator": "model", "parent_id": "p"}
    entries = [
        GenerationEntry(unmade=[more | {"reason": "no reply"}]),
        GenerationEntry(),
        GenerationEntry(unmade=[more | {"reason": "edit 1 fits nowhere"}, more | {"reason": REPEATED}]),
        GenerationEntry(unmade=[more | {"reason": REPEATED}]),
    ]
    found = [("a", 1, "no reply"), ("b", 1, "edit 1 fits nowhere"), ("b", 1, REPEATED), ("b", 2, REPEATED)]
    rows = [(number, *row, *more.values()) for number, row in enumerate(found)]
    assert FAILED_PROPOSALS.frame(failed_rows(noted, entries)).rows() == [
        (number, "0002", *row) for number, *row in rows
    ]


def test_a_duel_that_was_cut_goes_on_with_the_seeds_that_it_had_noted():
    sides, seeds = sides_of("c", "n", "i"), [7, 8, 9]
    asked: list[tuple[str, int]] = []
    noted: dict[int, dict[str, Evaluation]] = {}

    def evaluate(program: str, seed: int) -> Evaluation:
        if len(asked) == 10:
            raise KeyboardInterrupt
        asked.append((program, seed))
        return Evaluation("ok", metrics={"x": float(seed)}, odd=("y",), seed=seed)

    def note(seed: int, done: dict[str, Evaluation]) -> None:
        noted[seed] = read_evaluations(noted_evaluations(done))

    with pytest.raises(KeyboardInterrupt):
        run_duel(sides, seeds, evaluate, note=note)
    assert sorted(noted) == [7, 8]
    asked.clear()
    result = run_duel(sides, seeds, evaluate, held=noted, note=note)
    assert {seed for _, seed in asked} == {9} and len(asked) == 4
    assert [item.seed for item in result["challenger"]] == seeds
    assert (
        noted[7]["champion"]
        == result["champion"][0]
        == Evaluation("ok", metrics={"x": 7.0}, odd=("y",), seed=7)
    )


@pytest.mark.parametrize(
    ("cpu_s", "asked", "expected"),
    [(0.1, 40, 40), (1.0, 40, 40), (1.01, 40, 8), (None, 40, 8), (60.0, 4, 4), (0.1, 6, 6), (60.0, 400, 8)],
)
def test_cheap_evaluators_are_asked_under_many_held_out_seeds(cpu_s, asked, expected):
    """Three sides, 120 processor seconds: with eight seeds a loss on every tenth is not drawn in 43 %."""
    own = ProgramsSettings(heldout_repeats=asked, heldout_s=120)
    assert heldout_repeats(own, cpu_s, 3) == expected
    assert ProgramsSettings().heldout_repeats == 40


def test_a_promotion_states_its_worst_seed_and_the_rarest_loss_that_it_could_see():
    random = np.random.default_rng(3)
    base = random.normal(size=40).tolist()
    better = [score + 0.5 for score in base]
    won = decide_duel({"champion": base, "again": base[:3], "challenger": better}, np.random.default_rng(0))
    assert won["wins"] and won["reason"].endswith("a loss in fewer than 1 of 13 cases could go unseen")
    worse = [*better[:20], base[20] - 4.5, *better[21:]]
    met = decide_duel({"champion": base, "again": base[:3], "challenger": worse}, np.random.default_rng(0))
    assert not met["wins"] and met["reason"].endswith(WORST_AGAIN)
