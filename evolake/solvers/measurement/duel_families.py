"""The trials of a duel by family of formulas: how many each side solves, at what cost, and how likely the
challenger helps on a new formula.

A mean hides a change that halves some formulas and doubles others. So formulas on which a side costs less are
counted, too, by family and in all: the share of them estimates the probability that the change helps on a new
formula drawn like them, and its interval shows how uncertain that is after a few formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from evolake.solvers.measurement.duel import CHALLENGER, CHAMPION, LEAST_COST_S
from evolake.solvers.measurement.metrics import cost
from evolake.solvers.tables import CLOCK, DUELS
from evolake.stats import Interval, wilson_interval

EQUAL = 1.02
"""Costs of one formula within this factor count as neither side's gain."""
EVEN = 0.5


@dataclass(frozen=True)
class Helped:
    """On how many formulas the challenger costs less, and so how likely it does on a formula like them.
    share: with its 95% interval (Wilson)."""

    gained: int
    lost: int
    formulas: int
    share: Interval

    @property
    def words(self) -> str:
        """Return the counts and the probability, without whose they are."""
        return (
            f"costs less on {self.gained} of {self.formulas} formulas and more on {self.lost}; on a new "
            f"formula like these it helps with probability {self.share.estimate:.2f} "
            f"({self.share.low:.2f} to {self.share.high:.2f})"
        )


def family_rows(trials: Sequence[Mapping[str, Any]], family_of: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return rows of CONTEST_FAMILIES.

    Args:
        trials: rows of DUELS. family_of: name of an instance -> its family; the trials of others are left
            out.
    """
    if not trials:
        return []
    frame = DUELS.frame(trials).filter(pl.col("status") != CLOCK)
    frame = frame.with_columns(
        family=pl.col("instance").replace_strict(dict(family_of), default=None, return_dtype=pl.String),
        cost=cost(),
    )
    known = frame.drop_nulls("family")
    grouped = known.group_by("cycle", "champion_id", "challenger_id", "family").agg(
        pl.col("formula").n_unique().alias("formulas"),
        *(_mean("solved", part) * pl.col("instance").n_unique() for part in (CHAMPION, CHALLENGER)),
        *(_mean(column, part) for column in ("cost", "conflicts") for part in (CHAMPION, CHALLENGER)),
    )
    keys = ("cycle", "champion_id", "challenger_id", "family")
    counted = (
        _sides(known, keys)
        .group_by(keys)
        .agg(
            (pl.col("ratio") > EQUAL).sum().cast(pl.Int64).alias("gained"),
            (pl.col("ratio") < 1 / EQUAL).sum().cast(pl.Int64).alias("lost"),
        )
    )
    grouped = grouped.join(counted, on=keys, how="left")
    return (
        grouped.rename({f"cost_{part}": f"par2_{part}" for part in (CHAMPION, CHALLENGER)})
        .sort("challenger_id", "family")
        .to_dicts()
    )


def helped(trials: pl.DataFrame) -> Helped | None:
    """Return on how many formulas the challenger costs less than the champion, of rows of DUELS of one duel.
    None without a pair that counts."""
    ratios = _sides(trials.filter(pl.col("status") != CLOCK).with_columns(cost=cost()), ())["ratio"]
    return _helped(int((ratios > EQUAL).sum()), int((ratios < 1 / EQUAL).sum()), len(ratios))


def helped_in(row: Mapping[str, Any]) -> Helped | None:
    """Return the same of one family. row: of CONTEST_FAMILIES; None of one without a pair that counts."""
    if row["gained"] is None:
        return None
    return _helped(row["gained"], row["lost"], row["formulas"])


def family_lines(families: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each family in which runs of both sides count: solved formulas and PAR-2 of both, and
    where the challenger helps; and a last one if it helps on most formulas of some families and costs more on
    most of others."""
    rows = [
        row for row in families if row["par2_champion"] is not None and row["par2_challenger"] is not None
    ]
    lines = []
    for row in rows:
        found = helped_in(row)
        lines.append(
            f"{row['family']}: {row['formulas']} formulas, solved {row['solved_champion']:g} and "
            f"{row['solved_challenger']:g}, PAR-2 {row['par2_champion']:.3g} s and "
            f"{row['par2_challenger']:.3g} s" + (f"; {found.words}" if found else "")
        )
    counts = [(row["family"], found) for row in rows if (found := helped_in(row))]
    better = [family for family, found in counts if found.gained > EVEN * found.formulas]
    worse = [family for family, found in counts if found.lost > EVEN * found.formulas]
    if better and worse:
        sides = (
            f"it costs less on most formulas of {', '.join(better)}, and more on most of {', '.join(worse)}"
        )
        lines.append(f"the mean hides opposite effects: {sides}")
    return lines


def _helped(gained: int, lost: int, formulas: int) -> Helped | None:
    return Helped(gained, lost, formulas, wilson_interval(gained, formulas)) if formulas else None


def _sides(frame: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return a row for each formula that counts on both sides: `keys`, formula, and the champion's cost over
    the challenger's, copies and passes averaged.

    frame: rows of DUELS with the column `cost`.
    """
    parts = [
        frame.filter(pl.col("part") == part)
        .group_by(*keys, "formula")
        .agg(pl.col("cost").mean().clip(lower_bound=LEAST_COST_S).alias(part))
        for part in (CHAMPION, CHALLENGER)
    ]
    return (
        parts[0]
        .join(parts[1], on=[*keys, "formula"])
        .with_columns(ratio=pl.col(CHAMPION) / pl.col(CHALLENGER))
    )


def _mean(column: str, part: str) -> pl.Expr:
    return pl.col(column).filter(pl.col("part") == part).mean().alias(f"{column}_{part}")
