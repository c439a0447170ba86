"""Difficulty across families: what their levels cost in executed work, and how far one level means the same
in all of them.

A family's difficulties are its generator's own. The gate `static` counts the source lines that the primary
validator executes at some of them; this puts the families side by side by it. Work is not what a solver finds
hard: if a policy was asked, its pass rate is shown, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from evolake.families.evolution.records import load_evidence
from evolake.families.worlds import NAMES
from evolake.lake import BlobStore

SEEDS, WORLDS, CHILDREN = "seeds", "drawn worlds", "children of families"
GROUPS = (SEEDS, WORLDS, CHILDREN)
WORK = {"family_id": pl.String, "group": pl.String, "difficulty": pl.Int64, "work": pl.Float64}
"""Columns of work: of one family at one difficulty, mean executed lines of its primary validator."""


def group_of(operator: str) -> str:
    """Return which of `GROUPS` a family belongs to."""
    if operator == "seed":
        return SEEDS
    if operator in NAMES:
        return WORLDS
    return CHILDREN


def work_of(families: Iterable[tuple[str, str, Iterable[tuple[int, float]]]]) -> pl.DataFrame:
    """Return a frame of `WORK` from (family_id, operator, (difficulty, executed lines) pairs)."""
    rows = [
        (family, group_of(operator), level, float(lines))
        for family, operator, pairs in families
        for level, lines in pairs
    ]
    return pl.DataFrame(rows, schema=WORK, orient="row")


def work_in(rows: Iterable[Mapping[str, Any]], blobs: BlobStore) -> pl.DataFrame:
    """Return a frame of `WORK` from rows of FAMILIES, by the stored evidence of the gate `static`; a family
    that did not come there has no row.

    Raises CorruptPart.
    """
    seen = (
        (row["family_id"], row["operator"], json.loads(row["evidence"] or "{}").get("static")) for row in rows
    )
    return work_of(
        (family, operator, load_evidence(sha, blobs)["evidence"].get("work", ()))
        for family, operator, sha in seen
        if sha
    )


def curve(work: pl.DataFrame) -> pl.DataFrame:
    """Return group, difficulty, families, and the quartiles of their work: lower, median, upper. In the order
    of `GROUPS`, then by difficulty."""
    return (
        work.group_by("group", "difficulty")
        .agg(
            families=pl.len(),
            lower=pl.col("work").quantile(0.25, "linear"),
            median=pl.col("work").median(),
            upper=pl.col("work").quantile(0.75, "linear"),
        )
        .sort(
            pl.col("group").replace_strict(
                {name: place for place, name in enumerate(GROUPS)}, return_dtype=pl.Int64
            ),
            "difficulty",
        )
    )


def agreement(work: pl.DataFrame) -> float:
    """Return how often the higher difficulty takes more work, of all pairs of two families at two
    difficulties; a tie counts half.

    1: a level says the same in every family. 0.5: across families it says nothing. NaN if there is no such
    pair.
    """
    table = _table(work)
    won = pairs = 0.0
    for place, low in enumerate(table):
        for high in table[place + 1 :]:
            seen = np.sort(low[~np.isnan(low)])
            met = high[~np.isnan(high)]
            won += (np.searchsorted(seen, met, "left") + np.searchsorted(seen, met, "right")).sum() / 2
            own = ~np.isnan(low) & ~np.isnan(high)
            won -= (low[own] < high[own]).sum() + (low[own] == high[own]).sum() / 2
            pairs += len(seen) * len(met) - own.sum()
    return float(won / pairs) if pairs else float("nan")


def common_levels(work: pl.DataFrame) -> pl.DataFrame:
    """Return every row with its level on one scale for all families, column `common`: the difficulty at which
    the median family does as much work.

    Between the measured difficulties the logarithm of work is interpolated; less or more work than the median
    family ever does is the first or the last of them.
    """
    if work.is_empty():
        return work.with_columns(common=pl.lit(None, pl.Float64))
    middle = work.group_by("difficulty").agg(pl.col("work").median()).sort("difficulty")
    rising = np.maximum.accumulate(np.log1p(middle["work"].to_numpy()))
    kept = np.concatenate([[True], np.diff(rising) > 0])
    levels = middle["difficulty"].to_numpy().astype(float)[kept]
    return work.with_columns(
        common=pl.Series(np.interp(np.log1p(work["work"].to_numpy()), rising[kept], levels))
    )


def _table(work: pl.DataFrame) -> np.ndarray:
    """(difficulties, families), NaN where a family has none."""
    if work.is_empty():
        return np.empty((0, 0))
    wide = work.pivot("difficulty", index="family_id", values="work")
    columns = sorted((name for name in wide.columns if name != "family_id"), key=int)
    return wide.select(pl.col(columns).cast(pl.Float64)).to_numpy().T
