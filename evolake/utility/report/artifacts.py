"""What the study says of its artifacts, and its row among the lines: training on evolved families against
training on their seeds, at equal steps."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from evolake.lake import Lake
from evolake.report.artifacts import LineArtifacts
from evolake.report.gain import NONE_YET
from evolake.report.standing import NOT_MEASURED, Ask, Standing
from evolake.utility.findings import findings_of
from evolake.utility.report.narrative import CLAIM, shows
from evolake.utility.running import read_study
from evolake.utility.tables import LINE, LINEAGES


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
