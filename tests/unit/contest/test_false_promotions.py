"""The stated error rate, by the benchmark's own simulation with the lines' own functions: short here, longer
in `benchmarks/false_promotions.py`."""

import importlib.util
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from evolake.contest import ERROR

FILE = Path(__file__).parents[3] / "benchmarks" / "false_promotions.py"
SURE = 0.001
"""p-value below which a cell is above the stated rate: there are some hundred cells."""


@pytest.fixture(scope="module")
def benchmark() -> Any:
    spec = importlib.util.spec_from_file_location("false_promotions", FILE)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("line", "contests"), [("designs", 40), ("programs", 30), ("solvers", 20), ("prompts", 30)]
)
def test_equal_rivals_are_promoted_no_more_often_than_stated(benchmark, line, contests):
    cells = list(benchmark.LINES[line][0](contests, 1))
    assert {cell[2] for cell in cells} >= (
        {"helps some, hurts others"}
        if line in ("solvers", "prompts")
        else {"heavy tails", "ties", "censored"}
    )
    for _, repeats, model, held, won in cells:
        stated = benchmark.stated(repeats, model)
        assert binomtest(won, held, stated, alternative="greater").pvalue > SURE, (repeats, model, won)
    lawful = [cell for cell in cells if cell[2] not in benchmark.NO_LAW]
    held, won = sum(cell[3] for cell in lawful), sum(cell[4] for cell in lawful)
    assert binomtest(won, held, ERROR, alternative="greater").pvalue > 0.01


@pytest.mark.parametrize(
    ("line", "contests"), [("designs", 20), ("programs", 20), ("solvers", 15), ("prompts", 20)]
)
def test_skewed_rivals_are_promoted_no_more_often_than_stated(benchmark, line, contests):
    """Before, up to 48 % of contests of such rivals promoted the challenger."""
    cells = list(benchmark.SKEWED_LINES[line](contests, 2))
    models = {cell[2] for cell in cells}
    assert models >= set(benchmark.SKEWED) - {benchmark.RELATED_GROUPS}
    assert (benchmark.RELATED_GROUPS in models) == (line in ("solvers", "prompts"))
    for _, repeats, model, held, won in cells:
        stated = benchmark.stated(repeats, model)
        assert binomtest(won, held, stated, alternative="greater").pvalue > SURE, (repeats, model, won)
    seen = [cell for cell in cells if benchmark.stated(*cell[1:3]) == ERROR]
    held, won = sum(cell[3] for cell in seen), sum(cell[4] for cell in seen)
    assert seen and binomtest(won, held, ERROR, alternative="greater").pvalue > 0.01


def test_the_models_of_rivals_that_are_no_better_have_no_gain(benchmark):
    for model, gains in benchmark.SKEWED.items():
        drawn = np.array([gains(np.random.default_rng([4, number]), 40) for number in range(2000)])
        assert abs(drawn.mean()) < 5 * drawn.mean(axis=1).std() / math.sqrt(2000), model


def test_other_rates_are_stated_only_where_a_loss_cannot_be_seen(benchmark):
    assert (
        benchmark.stated("40 seeds", "exponential losses") == benchmark.stated("22 formulas", "ties") == ERROR
    )
    assert benchmark.stated("8 seeds", "exponential losses") > ERROR
    assert benchmark.stated("64 problems, 8 replies", benchmark.RARER) == pytest.approx(math.exp(-1.5))


def test_the_cells_of_a_seed_are_always_the_same(benchmark):
    assert list(benchmark.of_designs(20, 5)) == list(benchmark.of_designs(20, 5))


@pytest.mark.parametrize("line", ["designs", "programs"])
def test_a_planted_gain_wins_at_the_default_repeats(benchmark, line):
    won = 0
    for number in range(60):
        rng = benchmark.rng_of(2, line, number)
        if line == "designs":
            gains, noise = benchmark.even(math.log(1.5)), benchmark.over_sizes(benchmark.across_seeds, rng, 8)
            won += benchmark.designs(noise, gains, benchmark.designs_settings(8), number)
        else:
            won += benchmark.programs([benchmark.across_seeds(rng, 8)], [2.5], rng)
    assert won >= 48


def test_the_command_prints_both_tables_and_fails_if_a_cell_is_above(benchmark, capsys, monkeypatch):
    assert benchmark.main(["--line", "prompts", "--contests", "40", "--skewed", "10", "--power", "2"]) == 0
    shown = capsys.readouterr().out
    assert (
        "how often the challenger becomes champion (stated: at most 2.5 %)" in shown
        and "gain that is seen 8 times in 10" in shown
    )
    monkeypatch.setitem(
        benchmark.LINES,
        "prompts",
        (lambda contests, seed: iter([("prompts", "64 problems", "seeds", 400, 40)]), 4),
    )
    assert benchmark.main(["--line", "prompts", "--skewed", "0", "--power", "0"]) == 1
    assert "above what is stated: prompts, 64 problems, seeds" in capsys.readouterr().err


def test_a_design_that_is_better_at_small_sizes_alone_is_promoted_no_more_often_than_stated(
    benchmark, monkeypatch
):
    """The duel at the largest solved size alone promotes it in a quarter to two thirds of contests."""

    def promoted(model: str) -> int:
        gains, settings = benchmark.NO_BETTER[model], benchmark.designs_settings(8)
        drawn = (
            benchmark.over_sizes(benchmark.across_seeds, benchmark.rng_of(9, model, number), 8)
            for number in range(60)
        )
        return sum(benchmark.designs(noise, gains, settings, number) for number, noise in enumerate(drawn))

    for model in ("power laws, not reached", "exponential laws, not reached"):
        assert binomtest(promoted(model), 60, ERROR, alternative="greater").pvalue > SURE
    monkeypatch.setattr("evolake.designs.evolution.extrapolation.MOST_SIZES", 1)
    assert promoted("exponential laws, not reached") > 20
