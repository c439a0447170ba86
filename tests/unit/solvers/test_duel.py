"""Duels: a gain beyond the noise wins, everything else does not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from evolake.solvers.measurement.duel import decide, decision_rng, formulas_of, repeat_noise_floor
from evolake.solvers.tables import DECISIONS, DUELS


def trials(champion: np.ndarray, challenger: np.ndarray, *, timeout_s: float = 10.0, **other: dict) -> pl.DataFrame:
    """Trials from costs (formulas, passes); a cost at or above the timeout is unsolved. other: (part, formula, pass) text -> changed columns."""
    rows = []
    for part, costs in (("champion", champion), ("challenger", challenger)):
        for formula, passes in enumerate(costs):
            for place, cost in enumerate(passes):
                solved = bool(cost < timeout_s)
                rows.append({
                    "cycle": "0002", "champion_id": "old", "challenger_id": "new", "instance": f"i{formula:02d}", "pair": place, "part": part,
                    "place": 0, "variant_id": "old" if part == "champion" else "new", "status": "sat" if solved else "timeout", "solved": solved,
                    "certificate": "model" if solved else None, "proof_status": None, "cpu_s": float(cost), "conflicts": 5,
                    "timeout_s": timeout_s, "host": "here",
                } | other.get(f"{part}_{formula}_{place}", {}))
    return DUELS.frame(rows)


def noisy(base: np.ndarray, factor: float, seed: int, passes: int = 3, spread: float = 0.02) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return factor * base[:, None] * np.exp(rng.normal(0, spread, size=(len(base), passes)))


BASE = np.random.default_rng(1).uniform(0.2, 3.0, size=24)


def rng() -> np.random.Generator:
    return decision_rng(0, "0002", "new")


def test_a_uniform_gain_beyond_the_noise_wins() -> None:
    result = decide(trials(noisy(BASE, 1.0, 1), noisy(BASE, 0.8, 2)), rng())
    assert result.wins
    assert result.ratio == pytest.approx(1.25, rel=0.03)
    assert 1.0 < result.noise_floor < result.ratio_low <= result.ratio <= result.ratio_high
    assert result.reason.endswith("a gain beyond the noise")
    assert (result.instances, result.pairs, result.solved_champion, result.solved_challenger) == (24, 3, 24.0, 24.0)
    assert DECISIONS.frame([result.row("0002")]).height == 1


def test_the_same_solver_never_wins_against_itself() -> None:
    wins = [decide(trials(noisy(BASE, 1.0, seed), noisy(BASE, 1.0, 1000 + seed)), rng()).wins for seed in range(30)]
    assert not any(wins)


def test_a_gain_within_the_noise_does_not_win() -> None:
    result = decide(trials(noisy(BASE, 1.0, 1, spread=0.3), noisy(BASE, 0.98, 2, spread=0.3)), rng())
    assert not result.wins


def test_a_gain_on_one_formula_alone_does_not_win() -> None:
    champion = noisy(BASE, 1.0, 1, spread=0.001)
    challenger = noisy(BASE, 1.0, 2, spread=0.001)
    challenger[3] *= 0.05
    result = decide(trials(champion, challenger), rng())
    assert not result.wins
    assert result.reason.endswith("the gain rests on too few formulas")


def test_fewer_solved_formulas_never_win() -> None:
    challenger = noisy(BASE, 0.1, 2)
    challenger[0, 0] = 11.0
    result = decide(trials(noisy(BASE, 1.0, 1), challenger), rng())
    assert not result.wins
    assert result.ratio > 1.0
    assert (result.solved_champion, result.solved_challenger) == (24.0, round(24 - 1 / 3, 9))
    assert result.reason.startswith("solves 23.6667 formulas against 24")


@pytest.mark.parametrize("change", [{"status": "wrong", "solved": True}, {"proof_status": "refuted", "solved": True}])
def test_one_refuted_answer_never_wins(change: dict) -> None:
    result = decide(trials(noisy(BASE, 1.0, 1), noisy(BASE, 0.5, 2), challenger_4_1=change), rng())
    assert not result.wins
    assert result.reason.startswith("1 answers of the challenger are refuted or have no proof")


def test_the_champions_own_refuted_answers_do_not_bar_the_challenger() -> None:
    change = {"status": "wrong", "solved": False}
    assert decide(trials(noisy(BASE, 1.0, 1), noisy(BASE, 0.5, 2), champion_4_1=change), rng()).wins


def test_more_solved_formulas_win() -> None:
    champion = noisy(BASE, 1.0, 1)
    champion[:8] = 11.0
    result = decide(trials(champion, noisy(BASE, 1.0, 2)), rng())
    assert result.wins
    assert (result.solved_champion, result.solved_challenger) == (16.0, 24.0)


def test_the_noise_floor_comes_from_repeated_passes_of_each_side() -> None:
    quiet, loud = np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([[1.0, 1.2], [2.0, 2.4]])
    assert repeat_noise_floor([quiet, quiet]) == pytest.approx(1.0)
    assert repeat_noise_floor([loud, loud]) == pytest.approx(1.2)
    assert repeat_noise_floor([quiet[:, :1]]) == 1.0


def test_shuffled_copies_are_of_their_formula_and_formulas_drawn_anew_are_their_own() -> None:
    assert formulas_of(["a", "a~1", "a~12", "b", "b~x", "a@0002", "a~1@0002", "a~2@0002"]).tolist() == [0, 0, 0, 1, 2, 3, 4, 5]


def test_copies_of_one_formula_are_one_piece_of_evidence() -> None:
    """A gain on one formula of eight, measured on 17 shuffled copies of it: most instances are won, and nothing is known of other formulas."""
    names = {f"i{place:02d}": f"f0~{place}" if place < 17 else f"f{place}" for place in range(24)}
    champion, challenger = noisy(np.ones(24), 1.0, 1), noisy(np.ones(24), 1.0, 2)
    challenger[:17] *= 0.5
    alone = trials(champion, challenger)
    copies = alone.with_columns(pl.col("instance").replace(names))
    assert decide(alone, rng()).wins and not decide(copies, rng()).wins
    assert decide(copies, rng()).test.endswith("over 8")


def test_the_mean_decides_also_if_most_formulas_gain() -> None:
    """Helps most formulas a little and hurts two so much that the mean is the same: an interval by signs or medians would promote it."""
    champion, challenger = noisy(np.ones(24), 1.0, 1, spread=0.001), noisy(np.ones(24), 0.9, 2, spread=0.001)
    challenger[:2] *= 2.1 / 0.9
    result = decide(trials(champion, challenger), rng())
    assert not result.wins and result.ratio == pytest.approx(1.0, abs=0.01)


def test_the_same_trials_give_the_same_decision() -> None:
    table = trials(noisy(BASE, 1.0, 1), noisy(BASE, 0.9, 2))
    assert decide(table, rng()) == decide(table.sample(fraction=1.0, shuffle=True, seed=3), rng())


def test_trials_of_two_duels_are_refused() -> None:
    table = trials(noisy(BASE, 1.0, 1), noisy(BASE, 0.9, 2))
    with pytest.raises(ValueError, match="one duel"):
        decide(pl.concat([table, table.with_columns(challenger_id=pl.lit("other"))]), rng())
    with pytest.raises(ValueError, match="as many trials"):
        decide(table.head(table.height - 1), rng())
