"""The trials of a duel by family of formulas: how many each side solves, and at what cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from evolake.solvers.measurement.duel import CHALLENGER, CHAMPION
from evolake.solvers.measurement.metrics import cost
from evolake.solvers.tables import CLOCK, DUELS


def family_rows(trials: Sequence[Mapping[str, Any]], family_of: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return rows of CONTEST_FAMILIES.

    Args:
        trials: rows of DUELS. family_of: name of an instance -> its family; the trials of others are left out.
    """
    if not trials:
        return []
    frame = DUELS.frame(trials).filter(pl.col("status") != CLOCK)
    frame = frame.with_columns(family=pl.col("instance").replace_strict(dict(family_of), default=None, return_dtype=pl.String), cost=cost())
    grouped = frame.drop_nulls("family").group_by("cycle", "champion_id", "challenger_id", "family").agg(
        pl.col("formula").n_unique().alias("formulas"),
        *(_mean("solved", part) * pl.col("instance").n_unique() for part in (CHAMPION, CHALLENGER)),
        *(_mean(column, part) for column in ("cost", "conflicts") for part in (CHAMPION, CHALLENGER)),
    )
    return grouped.rename({f"cost_{part}": f"par2_{part}" for part in (CHAMPION, CHALLENGER)}).sort("challenger_id", "family").to_dicts()


def _mean(column: str, part: str) -> pl.Expr:
    return pl.col(column).filter(pl.col("part") == part).mean().alias(f"{column}_{part}")
