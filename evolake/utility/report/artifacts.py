"""The study's sentences (what was asked, what was found, and how far it goes), what it says of its artifacts,
and its row among the lines: training on evolved families against training on their seeds, at equal steps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from evolake.lake import Lake
from evolake.report.artifacts import LineArtifacts
from evolake.report.gain import NONE_YET
from evolake.report.standing import NOT_MEASURED, Ask, Standing
from evolake.utility.findings import Findings, findings_of
from evolake.utility.running import Stored, read_study
from evolake.utility.tables import LINE, LINEAGES

QUESTION = "Does a model that trains on evolved families become better than one that trains on their seeds?"
LEVEL = 0.05
CLAIM = ("evolved", "seeds")


def findings(root: Path) -> list[str]:
    """Return the sentences for the report's first page; none before every cell is there."""
    lake = Lake(root)
    if lake.record(LINE, "study") is None or (stored := read_study(lake)).missing:
        return []
    result = findings_of(stored.steps, stored.replies, stored.study["root_seed"])
    return [
        headline(result),
        caution(stored, result),
        "Its tables and figures: evolake families utility --out DIR",
    ]


def headline(result: Findings) -> str:
    """Return accuracies at equal steps, and whether the claim holds."""
    rows = result.summary.filter((pl.col("matching") == "steps") & (pl.col("suite") == LINEAGES)).to_dicts()
    rates = ", ".join(f"{row['arm']} {row['correct']:.1%}" for row in rows)
    return f"Problems of held-out lineages solved: {rates}. {answer(result, 'steps')}"


def answer(result: Findings, matching: str) -> str:
    """Return the paper's claim at one matching, in a sentence."""
    first, second = CLAIM
    rows = result.comparisons.filter(
        (pl.col("matching") == matching)
        & (pl.col("suite") == LINEAGES)
        & (pl.col("first") == first)
        & (pl.col("second") == second)
    ).to_dicts()
    if not rows:
        return f"Arms {first} and {second} were not both run."
    row = rows[0]
    spread = (
        f"{100 * row['difference']:+.1f} points ({100 * row['low']:+.1f} to {100 * row['high']:+.1f}, p "
        f"{row['p_holm']:.2g} after Holm)"
    )
    word = "better" if row["difference"] > 0 else "worse"
    verdict = (
        f"training on {first} families is {word} than on {second}"
        if shows(row)
        else f"{first} and {second} cannot be distinguished"
    )
    return f"At equal {matching}, {verdict}: {spread}."


def shows(row: Mapping[str, Any]) -> bool:
    """Return whether a comparison shows a difference: its interval is on one side of 0, and the corrected
    p-value is small."""
    return row["p_holm"] < LEVEL and (row["low"] > 0 or row["high"] < 0)


def caution(stored: Stored, result: Findings) -> str:
    """Return how far the result goes."""
    rows = result.summary.filter(pl.col("suite") == LINEAGES)
    seeds, problems, steps = (int(rows[name].max() or 0) for name in ("seeds", "problems", "step"))  # pyright: ignore[reportArgumentType]
    said = (
        f"{stored.study['policy']}, {steps} steps, {problems} held-out problems, {seeds} "
        f"{'seed' if seeds == 1 else 'seeds'} per arm."
    )
    if seeds < 5:
        said += " With so few seeds the intervals miss much of what chance in training does."
    if lost := stored.replies["unverified"].count():
        said += (
            f" On {lost} of {stored.replies.height} replies their dataset's own verifier failed; they are "
            "worth 0."
        )
    return said


def setting(stored: Stored) -> list[str]:
    """Return what was run."""
    sizes = json.loads(stored.study["settings"])
    trained = (
        f"{sizes['steps']} steps of {sizes['batch_problems']} problems with {sizes['rollouts']} replies "
        f"each, at most {sizes['max_tokens']} tokens; recipe {sizes['recipe']}, advantages scaled by "
        f"{'nothing' if sizes['scale_rewards'] == 'none' else 'their group'}; answers "
        f"{sizes['answer_format']}"
    )
    counts = (
        stored.problems.filter(pl.col("suite") == "train")
        .explode("arms")
        .group_by("arms")
        .len()
        .sort("arms")
        .rows()
    )
    return [
        trained,
        "training problems: " + ", ".join(f"{arm} {count}" for arm, count in counts),
        *stored.study["notes"],
    ]


def standing(shared: Standing, lake: Lake, _ask: Ask) -> Standing | None:
    """Return the row; None before every cell is there. Its evaluations are replies that were judged."""
    if lake.record(LINE, "study") is None or (stored := read_study(lake)).missing:
        return None
    found = findings_of(stored.steps, stored.replies, stored.study["root_seed"])
    at_steps = (pl.col("matching") == "steps") & (pl.col("suite") == LINEAGES)
    rates = {
        row["arm"]: f"training on {row['arm']} ({row['correct']:.1%} correct)"
        for row in found.summary.filter(at_steps).to_dicts()
    }
    first, second = CLAIM
    shared = replace(
        shared, best=rates.get(first, "-"), start=rates.get(second, ""), evaluations=stored.replies.height
    )
    rows = found.comparisons.filter(
        at_steps & (pl.col("first") == first) & (pl.col("second") == second)
    ).to_dicts()
    if not rows:
        return replace(shared, gain=f"{NOT_MEASURED}: arms {first} and {second} were not both run")
    row = rows[0]
    ends = f"95% interval {100 * row['low']:+.1f} to {100 * row['high']:+.1f}"
    measured, is_gain = (
        f"{100 * row['difference']:+.1f} percentage points",
        shows(row) and row["difference"] > 0,
    )
    return replace(
        shared,
        gain=f"{measured} ({ends})" if is_gain else f"{NONE_YET} ({measured}, {ends}; not significant)",
        is_gain=is_gain,
        estimate=row["difference"],
        low=row["low"],
        high=row["high"],
        level=0.95,
    )


ARTIFACTS = LineArtifacts(
    standing=standing,
    crowns_none=(
        "it is a study that compares arms: `evolake families utility --out DIR` says what training on "
        "each is worth"
    ),
)
