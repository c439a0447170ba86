"""Who goes on by scaling: what is expected at sizes that were not run, and how sure that is."""

from __future__ import annotations

import math

import polars as pl
import pytest

from evolake.designs.evolution.extrapolation import chosen, extrapolate
from evolake.designs.evolution.schedule import promoted, sizes
from evolake.designs.settings import DesignsSettings, FidelitySettings
from evolake.designs.tables import EXTRAPOLATIONS

SETTINGS = DesignsSettings(
    low=FidelitySettings(max_n=40, max_steps=5000, core_s=1),
    medium=FidelitySettings(max_n=80, max_steps=9000, core_s=1),
)
RUN = (10, 14, 20, 28, 40)


def rows(name: str, steps, failed_at: int | None = None) -> list[dict]:
    return [
        {
            "design_id": name,
            "N": n,
            "max_steps": 1000,
            "median_step": round(steps(n)),
            "unsolved_fraction": 0.9 if n == failed_at else 0.2,
        }
        for n in RUN
        if failed_at is None or n <= failed_at
    ]


def test_a_power_law_is_continued_and_a_scattered_one_is_less_sure():
    result = extrapolate("a", rows("a", lambda n: 3 * n**1.5), 80)
    assert result.work == pytest.approx(3 * 80**1.5, rel=0.02) and result.high / result.low < 1.2
    shaky = extrapolate("a", rows("a", lambda n: 3 * n**1.5 * (1.3 if n in (14, 28) else 0.8)), 80)
    assert shaky.low < result.low < result.high < shaky.high


def test_what_did_not_suffice_at_a_smaller_size_is_a_bound():
    result = extrapolate("a", rows("a", lambda n: n, failed_at=40), 80)
    assert result.low == 1000 <= result.work < result.high and result.levels == 4, (
        "how far beyond the bound it lies is open"
    )


def test_a_bound_above_the_line_bends_it_and_one_below_does_not():
    plain = extrapolate("a", rows("a", lambda n: 3 * n**1.5)[:4], 80)
    near, far = (
        extrapolate(
            "a",
            [
                *rows("a", lambda n: 3 * n**1.5)[:4],
                row | {"N": 40, "unsolved_fraction": 0.9, "max_steps": most},
            ],
            80,
        )
        for row in rows("a", lambda n: 1)[:1]
        for most in (500, 3000)
    )
    assert (near.work, near.low, near.high) == (plain.work, max(500, plain.low), plain.high)
    assert far.work > 1.5 * plain.work and far.high > 2 * plain.high


LAWS = {  # in the order of the consensus
    "first": lambda n: 20 * n**1.4,
    "fast at first": lambda n: 0.02 * n**3.2,
    "fast at the end": lambda n: 8 * n**1.1,
    "slow": lambda n: 60 * n**1.6,
}


def test_scaling_sends_on_who_will_be_fast_and_always_the_first_of_the_consensus():
    measured = [row for name, steps in LAWS.items() for row in rows(name, steps)] + rows(
        "hardly run", lambda n: 1, failed_at=14
    )
    order = [*LAWS, "hardly run"]
    going, report = chosen(
        order,
        measured,
        "medium",
        SETTINGS.model_copy(update={"promotion": "scaling", "medium_share": 0.4}),
        "0003",
    )
    assert going == ["first", "fast at the end"]
    by_consensus, same = chosen(
        order, measured, "medium", SETTINGS.model_copy(update={"medium_share": 0.4}), "0003"
    )
    assert (
        by_consensus
        == ["first", "fast at first"]
        == promoted(order, "medium", SETTINGS.model_copy(update={"medium_share": 0.4}))
    )
    assert [{**row, "goes_on": None} for row in report] == [{**row, "goes_on": None} for row in same], (
        "what is expected does not hang on the setting"
    )
    frame = EXTRAPOLATIONS.frame(report)
    assert frame.filter(pl.col("goes_on"))["design_id"].to_list() == going
    assert frame["N"].unique().to_list() == [sizes(SETTINGS, "medium")[-1]]
    assert frame["place"].to_list() == list(range(5)) and frame["low_work"].null_count() == 1
    assert all(math.isfinite(row["high_work"]) for row in report if row["high_work"] is not None)
