"""What is found over cells: budgets that match, differences that are paired, a planted gain that is seen and
chance that is not."""

import itertools
import json
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.stats.bootstrap import sign_flip_p
from evolake.utility.findings import findings_of, taken_at
from evolake.utility.report.artifacts import answer, shows
from evolake.utility.report.page import study_page
from evolake.utility.running import Stored
from evolake.utility.tables import BASE, LINEAGES, PROBLEMS, REPLIES, STEPS, TRAINED

EVERY, LAST = 2, 4


def step_row(arm: str, seed: int, step: int, tokens: int) -> dict:
    return {
        "arm": arm,
        "seed": seed,
        "step": step,
        "instances": 4 * step,
        "tokens": tokens,
        "rollouts": 8,
        "reward": 0.1 * step,
        "correct": 0.1,
        "formatted": 0.5,
        "length": 7.0,
        "reflections": 0.0,
        "rejected": 0,
        "informative": 1,
        "updated": True,
        "trained_tokens": 5,
        "kl": 0.0,
        "entropy": 1.0,
        "grad_norm": 1.0,
        "study_sha": "s",
    }


def reply_row(arm: str, seed: int, step: int, problem: int, correct: bool) -> dict:
    return {
        "arm": arm,
        "seed": seed,
        "step": step,
        "suite": LINEAGES,
        "problem_id": f"p{problem}",
        "sample": 0,
        "reply": "1",
        "tokens": 3,
        "truncated": False,
        "correct": correct,
        "formatted": True,
        "reflections": 0,
        "study_sha": "s",
    }


def study(
    chance: dict[str, float], *, seeds: int = 3, problems: int = 80, tokens: dict[str, int] | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Cells whose replies are correct by chance; tokens: of one step of an arm."""
    random = np.random.default_rng(5)
    steps, replies = [], []
    for arm, seed in itertools.product((BASE, *TRAINED), range(seeds)):
        at = [0] if arm == BASE else list(range(EVERY, LAST + 1, EVERY))
        steps += (
            [step_row(arm, seed, step, step * (tokens or {}).get(arm, 100)) for step in range(1, LAST + 1)]
            if arm != BASE
            else []
        )
        replies += [
            reply_row(arm, seed, step, n, bool(random.random() < chance.get(arm, 0.3)))
            for step in at
            for n in range(problems)
        ]
    return STEPS.frame(steps), REPLIES.frame(replies)


@cache
def by_chance():
    """What is found over cells that differ by chance alone."""
    return findings_of(*study({}), root_seed=1)


def test_a_planted_gain_is_shown_and_chance_is_not():
    result = findings_of(*study({"evolved": 0.8}), root_seed=1)
    details = {(row["matching"], row["first"], row["second"]): row for row in result.comparisons.to_dicts()}
    assert {key for key, row in details.items() if shows(row) and row["difference"] > 0} == {
        (matching, "evolved", other)
        for matching in ("steps", "instances", "tokens")
        for other in ("base", "seeds", "parents")
    }
    assert "training on evolved families is better than on seeds" in answer(result, "steps")
    none = by_chance()
    assert not any(shows(row) for row in none.comparisons.to_dicts())
    assert "cannot be distinguished" in answer(none, "tokens")


def test_an_arm_that_spends_more_tokens_is_taken_earlier_and_at_equal_steps_it_is_not():
    steps, replies = study({}, tokens={"evolved": 200, "mixed": 900})
    budget, taken = taken_at(steps, replies, "tokens")
    assert budget == 400
    last = dict(taken.group_by("arm").agg(pl.col("step").max()).iter_rows())
    assert last == {"base": 0, "seeds": 4, "evolved": 2, "mixed": 0, "parents": 4}
    assert (
        dict(taken_at(steps, replies, "steps")[1].group_by("arm").agg(pl.col("step").max()).iter_rows())[
            "mixed"
        ]
        == 4
    )
    spent = findings_of(steps, replies, 1).summary.filter(pl.col("matching") == "tokens")
    result, base = (spent.filter(pl.col("arm") == arm).row(0, named=True) for arm in ("mixed", "base"))
    assert result["correct"] == base["correct"] and result["tokens"] == 0


def test_holm_is_over_the_comparisons_of_one_table_and_curves_begin_with_the_model_as_it_is():
    result = by_chance()
    for _, part in result.comparisons.group_by("matching", "suite"):
        assert part.height == 7 and (part["p_holm"] >= part["p_value"]).all()
        assert part["p_holm"].min() == pytest.approx(min(1.0, 7 * part["p_value"].min()))
    accuracy = result.curves.filter(pl.col("measure") == "correct")
    assert dict(accuracy.group_by("arm").agg(pl.col("step").sort()).iter_rows()) == {
        arm: [0, 2, 4] for arm in TRAINED
    }


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=9))
def test_the_sign_flip_test_counts_every_flip(differences):
    values = np.array(differences)
    flips = [abs(float(np.dot(signs, values))) for signs in itertools.product((1, -1), repeat=len(values))]
    expected = np.mean([flip >= abs(values.sum()) - 1e-12 for flip in flips])
    assert sign_flip_p(values, np.random.default_rng(0)) == pytest.approx(expected)


def test_a_study_of_the_base_alone_or_without_it_has_its_tables_and_its_page():
    steps, replies = study({}, seeds=1, problems=5)
    base = findings_of(steps.clear(), replies.filter(pl.col("arm") == BASE), 1)
    assert base.summary["arm"].unique().to_list() == [BASE] and base.comparisons.height == 0
    assert "were not both run" in answer(base, "steps")
    without = findings_of(steps, replies.filter(pl.col("arm") != BASE), 1)
    assert set(without.summary["arm"]) == set(TRAINED)
    assert {(row["first"], row["second"]) for row in without.comparisons.to_dicts()} == {
        ("evolved", "seeds"),
        ("mixed", "seeds"),
        ("evolved", "parents"),
    }
    sizes = {
        "steps": 4,
        "batch_problems": 2,
        "rollouts": 4,
        "max_tokens": 6,
        "recipe": "sslogic",
        "scale_rewards": "none",
        "answer_format": "last",
    }
    record = {
        "study_sha": "s",
        "policy": "tiny",
        "settings": json.dumps(sizes),
        "root_seed": 1,
        "arms": [BASE],
        "seeds": [0],
        "notes": ["<b>t</b>"],
    }
    page = study_page(
        Stored(record, PROBLEMS.empty(), steps.clear(), replies.filter(pl.col("arm") == BASE)), base, {}
    )
    assert "&lt;b&gt;t&lt;/b&gt;" in page and "Held-out lineages, equal tokens" in page
