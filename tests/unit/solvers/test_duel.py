"""Duels: a gain beyond the noise wins, everything else does not."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from evolake.solvers.measurement.duel import decide_duel, decision_rng, repeat_noise_floor
from evolake.solvers.tables import DECISIONS, DUELS


def trials(
    champion: np.ndarray, challenger: np.ndarray, *, timeout_s: float = 10.0, **other: Any
) -> pl.DataFrame:
    """Trials from costs (formulas, passes); a cost at or above the timeout is unsolved. other: (part,
    formula, pass) text -> changed columns."""
    rows = []
    for part, costs in (("champion", champion), ("challenger", challenger)):
        for formula, passes in enumerate(costs):
            for place, cost in enumerate(passes):
                solved = bool(cost < timeout_s)
                rows.append(
                    {
                        "cycle": "0002",
                        "champion_id": "old",
                        "challenger_id": "new",
                        "instance": f"i{formula:02d}",
                        "formula": f"i{formula:02d}",
                        "pair": place,
                        "part": part,
                        "place": 0,
                        "variant_id": "old" if part == "champion" else "new",
                        "status": "sat" if solved else "timeout",
                        "solved": solved,
                        "certificate": "model" if solved else None,
                        "proof_status": None,
                        "cpu_s": float(cost),
                        "conflicts": 5,
                        "timeout_s": timeout_s,
                        "host": "here",
                    }
                    | other.get(f"{part}_{formula}_{place}", {})
                )
    return DUELS.frame(rows)


def noisy(base: np.ndarray, factor: float, seed: int, passes: int = 3, spread: float = 0.02) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return factor * base[:, None] * np.exp(rng.normal(0, spread, size=(len(base), passes)))


BASE = np.random.default_rng(1).uniform(0.2, 3.0, size=24)


def rng() -> np.random.Generator:
    return decision_rng(0, "0002", "new")


def test_a_uniform_gain_beyond_the_noise_wins():
    result = decide_duel(trials(noisy(BASE, 1.0, 1), noisy(BASE, 0.8, 2)), rng())
    assert result.wins
    assert result.ratio == pytest.approx(1.25, rel=0.03)
    assert 1.0 < result.noise_floor < result.ratio_low <= result.ratio <= result.ratio_high
    assert result.reason.startswith("a gain beyond the noise; worst case 1.")
    assert result.reason.endswith("a loss in fewer than 1 of 8 cases could go unseen")
    assert (result.instances, result.formulas, result.pairs, result.left_out, result.verdict) == (
        24,
        24,
        3,
        0,
        "better",
    )
    assert (result.solved_champion, result.solved_challenger) == (24.0, 24.0)
    assert DECISIONS.frame([result.row("0002")]).height == 1


def test_the_same_solver_never_wins_against_itself():
    wins = [
        decide_duel(trials(noisy(BASE, 1.0, seed), noisy(BASE, 1.0, 1000 + seed)), rng()).wins
        for seed in range(30)
    ]
    assert not any(wins)


def test_a_gain_within_the_noise_does_not_win():
    result = decide_duel(trials(noisy(BASE, 1.0, 1, spread=0.3), noisy(BASE, 0.98, 2, spread=0.3)), rng())
    assert (result.wins, result.verdict) == (False, "undecided")
    assert result.reason.startswith("no gain beyond the noise")


def test_a_gain_on_one_formula_alone_does_not_win():
    champion = noisy(BASE, 1.0, 1, spread=0.001)
    challenger = noisy(BASE, 1.0, 2, spread=0.001)
    challenger[3] *= 0.05
    result = decide_duel(trials(champion, challenger), rng())
    assert (result.wins, result.verdict) == (False, "undecided")
    assert result.reason.startswith("no gain beyond the noise: 9") and result.reason.endswith(
        "% of the differences are on the formula i03"
    )


def test_a_gain_of_milliseconds_gives_no_champion_and_says_so():
    short = BASE / 40
    result = decide_duel(trials(noisy(short, 1.0, 1), noisy(short, 0.5, 2)), rng())
    assert (result.wins, result.verdict) == (False, "undecided") and result.ratio_low > 1
    assert (
        result.reason.startswith("no formula takes more than 7")
        and "below 100 ms the start of a program decides" in result.reason
    )
    one_long = np.append(short, 0.2)
    assert decide_duel(trials(noisy(one_long, 1.0, 1), noisy(one_long, 0.5, 2)), rng()).wins, (
        "one formula that takes longer is enough"
    )
    assert decide_duel(trials(noisy(short, 1.0, 1), noisy(short, 0.5, 2), timeout_s=1.0), rng()).wins, (
        "beyond 1 % of a shorter limit"
    )
    refuted = decide_duel(
        trials(noisy(short, 1.0, 1), noisy(short, 0.5, 2), challenger_4_1={"status": "wrong"}), rng()
    )
    assert refuted.reason.startswith("1 answers of the challenger are refuted")


def test_fewer_solved_formulas_never_win():
    challenger = noisy(BASE, 0.1, 2)
    challenger[0, 0] = 11.0
    result = decide_duel(trials(noisy(BASE, 1.0, 1), challenger), rng())
    assert not result.wins
    assert result.ratio > 1.0
    assert (result.solved_champion, result.solved_challenger) == (24.0, round(24 - 1 / 3, 9))
    assert result.reason.startswith("solves 23.6667 formulas against 24")


@pytest.mark.parametrize(
    "change", [{"status": "wrong", "solved": True}, {"proof_status": "refuted", "solved": True}]
)
def test_one_refuted_answer_never_wins(change):
    result = decide_duel(trials(noisy(BASE, 1.0, 1), noisy(BASE, 0.5, 2), challenger_4_1=change), rng())
    assert not result.wins
    assert result.reason.startswith("1 answers of the challenger are refuted or have no proof")


def test_more_solved_formulas_win():
    champion = noisy(BASE, 1.0, 1)
    champion[:8] = 11.0
    result = decide_duel(trials(champion, noisy(BASE, 1.0, 2)), rng())
    assert result.wins
    assert (result.solved_champion, result.solved_challenger) == (16.0, 24.0)


def test_copies_of_one_formula_are_one_piece_of_evidence():
    """A gain on one formula of eight, measured on 17 shuffled copies of it: most instances are won, and
    nothing is known of other formulas."""
    formulas = {f"i{place:02d}": "f0" if place < 17 else f"f{place}" for place in range(24)}
    champion, challenger = noisy(np.ones(24), 1.0, 1), noisy(np.ones(24), 1.0, 2)
    challenger[:17] *= 0.5
    alone = trials(champion, challenger)
    copies = alone.with_columns(formula=pl.col("instance").replace(formulas))
    assert decide_duel(alone, rng()).wins and not decide_duel(copies, rng()).wins
    result = decide_duel(copies, rng())
    assert (result.instances, result.formulas) == (
        24,
        8,
    ) and result.test == "sign flips of 8 pairs, of log costs"
    assert result.ratio == pytest.approx(2 ** (1 / 8), rel=0.02), (
        "each formula counts once, however many copies it has"
    )


def heavy(seed: int, formulas: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Costs of champion and challenger as one lake measures them: equally good on all formulas but one, whose
    cost a shuffle moves by up to 30."""
    random = np.random.default_rng(seed)
    sides = [np.exp(random.normal(0, 0.05, size=(formulas, 2))) * 0.2 for _ in range(2)]
    for side in sides:
        side[0] *= random.pareto(1.0) + 1
    return np.minimum(sides[0], 9.9), np.minimum(sides[1], 9.9)


def test_one_heavy_tailed_formula_does_not_decide_in_any_lake():
    """The same two solvers in 200 lakes: in some the ratio of PAR-2 is far below 1, in some far above, and no
    lake crowns the challenger for it."""
    results = [decide_duel(trials(*heavy(seed)), rng()) for seed in range(200)]
    ratios = [result.ratio for result in results]
    means = [(result.par2_champion or 0) / (result.par2_challenger or 1) for result in results]
    assert min(means) < 0.4 and max(means) > 2.5 and 0.65 < min(ratios) < max(ratios) < 1.5
    assert [result.verdict for result in results].count("better") <= 5, "2.5 % of 200"
    assert all(abs(result.ratio - 1) < 0.3 for result in results if result.verdict != "undecided")
    told = [
        result.reason
        for result, mean in zip(results, means, strict=True)
        if mean > 2 and result.verdict == "undecided"
    ]
    assert told and all("% of the differences are on the formula i00" in reason for reason in told)


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_a_real_difference_gets_one_verdict_or_none_in_all_lakes(factor):
    verdicts = set()
    for seed in range(60):
        champion, challenger = heavy(seed)
        verdicts.add(decide_duel(trials(champion, challenger * factor), rng()).verdict)
    assert verdicts <= {"undecided", "better" if factor < 1 else "worse"}


def test_without_the_others_no_formula_promotes_a_challenger():
    """Where all others together speak against it, one formula cannot win the duel, however large its gain and
    whatever the others' spread."""
    random = np.random.default_rng(5)
    for _ in range(300):
        count = int(random.integers(8, 30))
        champion, challenger = np.exp(random.normal(0, 1, size=(2, count, 1)))
        challenger[1:] *= max(1.0, champion[1:].sum() / challenger[1:].sum())
        challenger[0] = champion[0] / 10 ** random.uniform(0, 3)
        assert not decide_duel(trials(champion, challenger, timeout_s=1e9), rng()).wins


CUT = {"status": "clock", "solved": False, "cpu_s": 0.1}


def test_a_pair_that_the_clock_cut_short_counts_for_neither_side():
    champion, challenger = noisy(BASE, 1.0, 1), noisy(BASE, 0.8, 2)
    whole = decide_duel(trials(champion, challenger), rng())
    cut = decide_duel(trials(champion, challenger, challenger_4_1=CUT, champion_7_0=CUT), rng())
    assert cut.wins and (cut.instances, cut.left_out, cut.solved_challenger) == (24, 2, 24.0)
    assert cut.reason.endswith("; 2 of 72 pairs do not count, as the clock cut them short")
    assert cut.ratio == pytest.approx(whole.ratio, rel=0.01)
    gone: dict[str, Any] = {f"challenger_4_{place}": CUT for place in range(3)}
    assert decide_duel(trials(champion, challenger, **gone), rng()).instances == 23


def test_a_few_losses_outweigh_a_little_gain_on_most_formulas():
    """Helps most formulas a little and hurts two so much that the mean is the same: an interval by signs or
    medians would promote it."""
    champion, challenger = noisy(np.ones(24), 1.0, 1, spread=0.001), noisy(np.ones(24), 0.9, 2, spread=0.001)
    challenger[:2] *= 2.1 / 0.9
    result = decide_duel(trials(champion, challenger), rng())
    assert not result.wins and result.ratio == pytest.approx(1.035, abs=0.01)
    assert result.par2_challenger == pytest.approx(result.par2_champion, rel=0.01)


def test_formulas_of_one_family_count_as_one():
    """Families that change alike: a gain on half of the families is no gain, however many formulas they
    have."""
    champion = noisy(BASE, 1.0, 1)
    challenger = noisy(BASE, 1.0, 2)
    family = {f"i{place:02d}": f"k{place // 4}" if place < 16 else f"k{place // 2}" for place in range(24)}
    challenger[:16] *= 0.8
    challenger[16:] *= 1.1
    alone = trials(champion, challenger)
    related = alone.with_columns(family=pl.col("instance").replace(family))
    by_formula, by_family = decide_duel(alone, rng()), decide_duel(related, rng())
    assert by_family.test == "sign flips of 8 groups, of log costs" and not by_family.wins
    assert by_formula.test == "sign flips of 24 pairs, of log costs" and by_formula.wins
    assert by_family.ratio == pytest.approx(by_formula.ratio)


def test_the_noise_floor_comes_from_repeated_passes_of_each_side():
    quiet, loud = np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([[1.0, 1.2], [2.0, 2.4]])
    assert repeat_noise_floor([quiet, quiet]) == pytest.approx(1.0)
    assert repeat_noise_floor([loud, loud]) == pytest.approx(1.2)
    assert repeat_noise_floor([quiet[:, :1]]) == 1.0
