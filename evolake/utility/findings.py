"""Arms at equal steps, equal instances and equal tokens: of each cell the last evaluation within the budget
that the least of the trained ones spent.

An arm that spends more for a step (longer replies, more problems) is taken at an earlier step; one without
any evaluation within the budget is taken as the model it began with. The arm `base` is the same at any
budget. Sources: SSLogic, section 4.3 (equal steps), 4.4 and 4.5 (equal sizes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from evolake.seeds import generator
from evolake.stats.bootstrap import grid_interval, sign_flip_p
from evolake.stats.proportions import holm, pass_at_k, reported_k
from evolake.utility.tables import ARMS, BASE, COMPARISONS, CURVES, LINE, MATCHINGS, SUMMARY

PAIRS = (
    ("seeds", BASE),
    ("evolved", BASE),
    ("mixed", BASE),
    ("parents", BASE),
    ("evolved", "seeds"),
    ("mixed", "seeds"),
    ("evolved", "parents"),
)
"""Which arms are compared; the paper's claim is the fifth."""
TRAINING = ("reward", "length", "reflections", "entropy")
COLUMN = {"steps": "step", "instances": "instances", "tokens": "tokens"}


@dataclass(frozen=True)
class Findings:
    """Tables SUMMARY, COMPARISONS and CURVES of one study."""

    summary: pl.DataFrame
    comparisons: pl.DataFrame
    curves: pl.DataFrame


def findings_of(steps: pl.DataFrame, replies: pl.DataFrame, root_seed: int) -> Findings:
    """Return what is found over the cells that are there: rows of STEPS and REPLIES of one study."""
    taken = {matching: taken_at(steps, replies, matching) for matching in MATCHINGS}
    summary = [
        row
        for matching, (budget, chosen) in taken.items()
        for row in _summary(matching, budget, chosen, root_seed)
    ]
    comparisons = [
        row for matching, (_, chosen) in taken.items() for row in _comparisons(matching, chosen, root_seed)
    ]
    return Findings(
        SUMMARY.frame(summary),
        COMPARISONS.frame(comparisons),
        CURVES.frame(_curves(steps, replies, root_seed)),
    )


def taken_at(steps: pl.DataFrame, replies: pl.DataFrame, matching: str) -> tuple[float, pl.DataFrame]:
    """Return (budget, replies with columns `spent_instances` and `spent_tokens`): of each cell, those of its
    last evaluation within the budget."""
    column = COLUMN[matching]
    spent = steps.select(
        "arm",
        "seed",
        "step",
        spent_instances="instances",
        spent_tokens="tokens",
        spent=pl.col(column).cast(pl.Float64),
    )
    budget = float(spent.group_by("arm", "seed").agg(pl.col("spent").max())["spent"].min() or 0.0)  # pyright: ignore[reportArgumentType]
    report = replies.join(spent, on=["arm", "seed", "step"], how="left").with_columns(
        pl.col("spent", "spent_instances", "spent_tokens").fill_null(0)
    )
    within = report.filter(pl.col("spent") <= budget)
    last = within.filter(pl.col("step") == pl.col("step").max().over("arm", "seed"))
    lost = (
        steps.select("arm", "seed")
        .unique()
        .join(last.select("arm", "seed").unique(), on=["arm", "seed"], how="anti")
    )
    start = report.filter(pl.col("arm") == BASE)
    as_before = [
        start.filter(pl.col("seed") == seed).with_columns(arm=pl.lit(arm)) for arm, seed in lost.iter_rows()
    ]
    return budget, pl.concat([last, *as_before])


def grid_of(rows: pl.DataFrame, column: str = "correct") -> tuple[list[int], list[str], np.ndarray]:
    """Return (seeds, problems, values): the means over the replies to each problem, (seeds, problems), of the
    problems that every seed has."""
    means = rows.group_by("seed", "problem_id").agg(pl.col(column).cast(pl.Float64).mean())
    table = {(seed, problem): value for seed, problem, value in means.iter_rows()}
    seeds = sorted({seed for seed, _ in table})
    problems = sorted(
        problem
        for problem in {problem for _, problem in table}
        if all((seed, problem) in table for seed in seeds)
    )
    return (
        seeds,
        problems,
        np.array([[table[seed, problem] for problem in problems] for seed in seeds], dtype=np.float64),
    )


def _parts(frame: pl.DataFrame) -> list[tuple[str, str, pl.DataFrame]]:
    """(suite, arm, rows), in the order of arms."""
    return [
        (suite, arm, part)
        for suite in frame["suite"].unique(maintain_order=True)
        for arm in ARMS
        if (part := frame.filter((pl.col("suite") == suite) & (pl.col("arm") == arm))).height
    ]


def _summary(matching: str, budget: float, taken: pl.DataFrame, root_seed: int) -> list[dict[str, Any]]:
    rows = []
    for suite, arm, part in _parts(taken):
        seeds, problems, values = grid_of(part)
        spread = grid_interval(values, generator(root_seed, LINE, suite, f"{matching} {arm}"))
        cells = part.group_by("seed").agg(pl.col("step", "spent_instances", "spent_tokens").first())
        means = part.select(
            pl.col("formatted", "truncated", "tokens", "reflections").cast(pl.Float64).mean()
        ).row(0, named=True)
        rows.append(
            {
                "matching": matching,
                "suite": suite,
                "arm": arm,
                "budget": budget,
                "seeds": len(seeds),
                "problems": len(problems),
                "step": cells["step"].mean(),
                "instances": cells["spent_instances"].mean(),
                "tokens": cells["spent_tokens"].mean(),
                "correct": spread.estimate,
                "low": spread.low,
                "high": spread.high,
                "formatted": means["formatted"],
                "length": means["tokens"],
                "reflections": means["reflections"],
                "truncated": means["truncated"],
            }
        )
    return rows


def _comparisons(matching: str, taken: pl.DataFrame, root_seed: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for suite in taken["suite"].unique(maintain_order=True):
        grids = {arm: grid_of(part) for of, arm, part in _parts(taken) if of == suite}
        of_suite = []
        for first, second in PAIRS:
            if (
                first in grids
                and second in grids
                and (paired := _paired(grids[first], grids[second])) is not None
            ):
                rng = generator(root_seed, LINE, suite, f"{matching} {first} {second}")
                spread = grid_interval(paired, rng)
                of_suite.append(
                    {
                        "matching": matching,
                        "suite": suite,
                        "first": first,
                        "second": second,
                        "problems": paired.shape[1],
                        "seeds": paired.shape[0],
                        "difference": spread.estimate,
                        "low": spread.low,
                        "high": spread.high,
                        "p_value": sign_flip_p(paired.mean(axis=0), rng),
                    }
                )
        adjusted = holm([row["p_value"] for row in of_suite])
        rows += [row | {"p_holm": value} for row, value in zip(of_suite, adjusted, strict=True)]
    return rows


def _paired(
    first: tuple[list[int], list[str], np.ndarray], second: tuple[list[int], list[str], np.ndarray]
) -> np.ndarray | None:
    """Differences (seeds, problems) over what both have; None where that is nothing."""
    seeds = [seed for seed in first[0] if seed in second[0]]
    problems = [problem for problem in first[1] if problem in set(second[1])]
    if not seeds or not problems:
        return None
    ours, theirs = (
        values[np.ix_([held.index(seed) for seed in seeds], [places[problem] for problem in problems])]
        for held, result, values in (first, second)
        for places in ({problem: place for place, problem in enumerate(result)},)
    )
    return ours - theirs


def _pass_at(rows: pl.DataFrame, purpose: str, step: int, root_seed: int) -> list[dict[str, Any]]:
    """Return a measure `pass@k` with its interval for each k that is reported of so many replies; none for
    one reply a problem."""
    counts = rows.group_by("seed", "problem_id").agg(replies=pl.len(), right=pl.col("correct").sum())
    result = []
    for k in reported_k(int(counts["replies"].min() or 0)):  # pyright: ignore[reportArgumentType]
        estimates = [
            pass_at_k(replies, right, k) for replies, right in counts.select("replies", "right").iter_rows()
        ]
        grid = grid_of(counts.with_columns(pass_at=pl.Series(estimates, dtype=pl.Float64)), "pass_at")[2]
        spread = grid_interval(grid, generator(root_seed, LINE, purpose, f"pass@{k}", step))
        result.append(
            {"measure": f"pass@{k}", "value": spread.estimate, "low": spread.low, "high": spread.high}
        )
    return result


def _curves(steps: pl.DataFrame, replies: pl.DataFrame, root_seed: int) -> list[dict[str, Any]]:
    """Accuracy of every evaluation, the model as it is as step 0 of every arm; and what the training says of
    itself."""
    rows = []
    start = replies.filter(pl.col("arm") == BASE)
    arms = [arm for arm in ARMS if arm != BASE and replies.filter(pl.col("arm") == arm).height]
    whole = pl.concat(
        [replies.filter(pl.col("arm") != BASE), *(start.with_columns(arm=pl.lit(arm)) for arm in arms)]
    )
    for suite, arm, part in _parts(whole):
        for (step,), at in sorted(part.group_by("step"), key=lambda item: item[0]):
            spread = grid_interval(
                grid_of(at)[2], generator(root_seed, LINE, suite, f"curve {arm}", int(step))
            )  # pyright: ignore[reportArgumentType]
            ends = {"value": spread.estimate, "low": spread.low, "high": spread.high}
            rows.append({"arm": arm, "step": step, "measure": "correct", "suite": suite} | ends)
            rows += [
                {"arm": arm, "step": step, "suite": suite} | row
                for row in _pass_at(at, f"{suite} {arm}", int(step), root_seed)
            ]  # pyright: ignore[reportArgumentType]
    for (arm, step), at in sorted(steps.group_by("arm", "step"), key=lambda item: item[0]):
        for measure in TRAINING:
            if (value := at[measure].mean()) is not None:
                rows.append({"arm": arm, "step": step, "measure": measure, "suite": "train", "value": value})
    return rows
