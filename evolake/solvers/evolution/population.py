"""The archive of the solvers line: what enters a cycle and what leaves it.

Rows of `variants` are added and their `state` changes; none is removed, so the blocked and the retired stay,
with their ancestors. Runs are carried for the variants that live on, and for the holdout of those that have
been champion; older ones stay in the partitions of the cycles that made them.

    state      accepted (lives: may be used as a parent, is ranked), champion, blocked (a gate objected, or it
               was found unsound later), retired
    (passed,
               and was overtaken)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from evolake.lake.population import Archive
from evolake.solvers.edits import Edit, read_edits
from evolake.solvers.roles.models import SHORT_ID, Attempt
from evolake.solvers.tables import ARCHIVE, LATE_GATES

LIVE = ("accepted", "champion")


@dataclass(frozen=True)
class Population(Archive):
    """The tables of the archive, each a frame of its schema in `ARCHIVE`."""

    schemas = ARCHIVE

    variants: pl.DataFrame
    runs: pl.DataFrame
    holdout: pl.DataFrame
    objectives: pl.DataFrame
    ranking: pl.DataFrame
    rule_proposals: pl.DataFrame
    findings: pl.DataFrame
    history: pl.DataFrame

    def live_ids(self) -> list[str]:
        """Return variants that are ranked and may be used as parents."""
        return [row["variant_id"] for row in self.rows(*LIVE)]

    def seeds(self) -> list[dict[str, Any]]:
        """Return the seeds that passed their gates, and so are what variants descend from; also one that was
        found unsound later and does not live."""
        return [
            row
            for row in self.rows()
            if row["operator"] == "seed" and (row["state"] != "blocked" or row["gate"] in LATE_GATES)
        ]

    def seed_of(self, base: str) -> dict[str, Any]:
        """Return the seed called `base`. Raises KeyError when there is none."""
        for row in self.seeds():
            if row["base"] == base:
                return row
        raise KeyError(base)

    def attempts(self) -> list[Attempt]:
        """Return the history as the planner reads it, with short ids, oldest first."""
        names = ("base", "changed", "outcome", "gate", "gain", "solved_gain")
        return [
            Attempt.model_validate(
                {name: row[name] for name in names}
                | {"variant_id": row["variant_id"][:SHORT_ID], "gate": row["gate"] or ""}
            )
            for row in self.history.to_dicts()
        ]

    def with_states(self, states: Mapping[str, str]) -> Population:
        """Return the archive with variants whose state changes: id -> state."""
        return self.with_tables(
            variants=[row | {"state": states.get(row["variant_id"], row["state"])} for row in self.rows()]
        )

    def keep_runs(self, ids: Sequence[str]) -> Population:
        """Without the runs of variants other than `ids`."""
        return replace(self, runs=self.runs.filter(pl.col("variant_id").is_in(list(ids))))


@dataclass(frozen=True)
class RankedCycle:
    """What a cycle has before its champion is decided: the population that entered, this cycle's rows of
    VARIANTS, and rows of RANKING."""

    population: Population
    variants: Sequence[Mapping[str, Any]]
    ranking: Sequence[Mapping[str, Any]]

    @property
    def rows(self) -> dict[str, Mapping[str, Any]]:
        """Return id -> row of VARIANTS, of all that entered or were made."""
        return {row["variant_id"]: row for row in [*self.population.rows(), *self.variants]}

    @property
    def order(self) -> list[str]:
        """Return the ids of the ranked, best first."""
        return [row["variant_id"] for row in sorted(self.ranking, key=lambda row: row["rank"])]


def empty_population() -> Population:
    """Return an archive without rows."""
    return Population.empty()


def population_of(tables: Mapping[str, pl.DataFrame]) -> Population:
    """Return the population from its published tables.

    Raises:
        InputError: a table does not fit its schema.
    """
    return Population.of(tables)


def edits_of_row(row: Mapping[str, Any]) -> tuple[Edit, ...] | None:
    """Return a variant's edits as values; None for one that was written as a diff."""
    return None if row["edits"] is None else tuple(read_edits(row["edits"]))
