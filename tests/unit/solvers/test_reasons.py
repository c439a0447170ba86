"""Why a plan is made: what the parent's counters say, in words and as odds among edits that were not
tried."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from solver_runs import run_row

from evolake.solvers.edits.subjects import meaning_of, subject_of
from evolake.solvers.evolution.savings import counters_of
from evolake.solvers.roles.bandit import MoveResult, draw_arm
from evolake.solvers.roles.models import Credit, FamilyCounters
from evolake.solvers.roles.reasons import Observed, observe, reason_for, saved_in_words
from evolake.solvers.tables import CLOCK, RUNS

TEXTS = {
    "restartint": "restart interval",
    "var-decay": "The variable activity decay factor",
    "quiet": "no messages",
}
COUNTERS = [
    FamilyCounters(
        family="factoring", share=0.6, restarts=0.01, decisions=2.0, propagations=300.0, proof_bytes=90.0
    ),
    FamilyCounters(family="random-3", share=0.3, restarts=0.02, decisions=1.0, propagations=50.0),
    FamilyCounters(family="tseitin", share=0.1, restarts=0.02, decisions=1.5, propagations=75.0),
]
OBSERVED = Observed(
    "factoring",
    0.6,
    {"restarts": 100.0, "propagations": 300.0},
    {"restarts": 50.0, "propagations": 75.0},
    {"propagations": 280.0},
)


@pytest.mark.parametrize(
    ("key", "subject"),
    [
        ("patch:restart-ema", "restarts"),
        ("patch:reduce-glue-tiers", "propagations"),
        ("patch:phase-rephase", "decisions"),
        ("patch:minimise-binary", "proof_bytes"),
        ("tunable:restartint", "restarts"),
        ("tunable:var-decay", "decisions"),
        ("tunable:quiet", None),
        ("patch:unknown", None),
    ],
)
def test_an_edit_is_known_by_its_slot_or_by_the_words_of_its_option(key: str, subject: str | None) -> None:
    assert subject_of(key, TEXTS) == subject


def test_the_meaning_of_an_edit_is_what_its_author_declared() -> None:
    assert meaning_of("tunable:var-decay", TEXTS) == "The variable activity decay factor"
    assert meaning_of("patch:restart-ema", TEXTS).startswith("Restarting when the recent glue is above")
    assert meaning_of("patch:unknown", TEXTS) == meaning_of("tunable:unknown", TEXTS) == ""


def test_counters_are_for_each_conflict_of_the_runs_that_report_them() -> None:
    rows = [
        run_row("v", "x-1", "sat", 1.0)
        | {"conflicts": 100, "restarts": 2, "propagations": 5000, "proof_bytes": None},
        run_row("v", "x-2", "sat", 1.0)
        | {"conflicts": 300, "restarts": None, "propagations": 7000, "proof_bytes": 6000},
        run_row("v", "x-3", "sat", 1.0)
        | {"conflicts": 0, "restarts": 9, "propagations": 9, "proof_bytes": 9},
        run_row("v", "x-4", CLOCK, 1.0)
        | {"conflicts": 100, "restarts": 9, "propagations": 9, "proof_bytes": 9},
        run_row("v", "y-1", "sat", 1.0)
        | {"conflicts": 10, "restarts": 1, "propagations": 100, "proof_bytes": 50},
    ]
    frame = RUNS.frame([row | {"decisions": None} for row in rows])
    first, second = counters_of(frame, {"v": {"y": 0.7, "x": 0.3}})["v"]
    assert first == FamilyCounters(family="y", share=0.7, restarts=0.1, propagations=10.0, proof_bytes=5.0)
    assert second == FamilyCounters(family="x", share=0.3, restarts=0.02, propagations=30.0, proof_bytes=20.0)
    assert counters_of(frame, {}) == {} and counters_of(frame.filter(pl.lit(False)), {"v": {"y": 1.0}}) == {}


def test_a_family_is_drawn_by_its_share_and_set_against_the_median_of_all() -> None:
    random = np.random.default_rng(1)
    drawn = [observe(COUNTERS, COUNTERS[:1], random) for _ in range(300)]
    families = Counter(item.family for item in drawn if item)
    assert families["factoring"] > families["random-3"] > families["tseitin"] > 0
    factoring = next(item for item in drawn if item and item.family == "factoring")
    assert factoring.usual == {"restarts": 50.0, "decisions": 1.5, "propagations": 75.0}, (
        "of proof bytes there is one family only"
    )
    assert (
        factoring.of_seed == factoring.values
        and next(item for item in drawn if item and item.family == "tseitin").of_seed == {}
    )
    assert factoring.strength("propagations") == 1.0 and factoring.strength("restarts") == pytest.approx(0.5)
    assert factoring.strength("proof_bytes") == factoring.strength(None) == 0.0


def test_where_nothing_was_counted_nothing_is_drawn() -> None:
    random = np.random.default_rng(1)
    assert observe([], [], random) is None and random.random() == np.random.default_rng(1).random()


def test_a_reason_names_family_counter_median_and_seed() -> None:
    assert reason_for("tunable:restartint", OBSERVED, TEXTS) == (
        "factoring takes 60% of its PAR-2 on the training formulas; there it makes 100 conflicts between "
        "two restarts, 2 times its median over families (50). The edit acts on restarts. The option: "
        "restart interval."
    )
    assert "300 propagations a conflict, 4 times its median over families (75), its seed 280." in reason_for(
        "patch:reduce-glue-tiers", OBSERVED, TEXTS
    )
    assert "no counter shows what this edit acts on" in reason_for("tunable:quiet", OBSERVED, TEXTS)
    assert reason_for("tunable:restartint", None, TEXTS) == "The option: restart interval."


def test_what_each_half_of_a_combination_saved_is_in_words() -> None:
    credits = [
        Credit(
            variant_id="a",
            base="b",
            operator="patch",
            changed=[],
            blocked=False,
            savings={"x": 0.12, "y": -0.03, "z": 0.4, "w": 0.0},
        )
    ]
    assert (
        saved_in_words("a", credits) == "+40% on z, +12% on x, +0% on w"
        and saved_in_words("c", credits) == ""
    )


def test_counters_decide_among_untried_edits_only() -> None:
    keys, strengths = ["tunable:a", "tunable:b"], {"tunable:a": 1.0}
    random = np.random.default_rng(2)
    drawn = Counter(draw_arm(keys, [], {}, random, strengths) for _ in range(1000))
    assert 2.2 < drawn["tunable:a"] / drawn["tunable:b"] < 3.4, "e times as likely"
    lost = [
        MoveResult("tunable", (key,), worth)
        for key, worth in (("tunable:a", -0.4), ("tunable:b", 0.4))
        for _ in range(9)
    ]
    drawn = Counter(draw_arm(keys, lost, {}, random, strengths) for _ in range(100))
    assert drawn["tunable:b"] > 95, "a move that never helped is drawn less, whatever the counters say"
