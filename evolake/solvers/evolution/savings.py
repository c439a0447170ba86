"""What each variant saves against the first of its parents, family by family: computed at the end of a cycle from derivations and measured runs.

The rows of a variant's runs leave the archive with the variant, and so its savings are kept in the archive's `state`, under the name SAVED. A lake of
before has none: there a move's gain in ranks stands in for its savings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from evolake.solvers.evolution.planning import Savings, refuse_holdout
from evolake.solvers.evolution.population import Population
from evolake.solvers.measurement.metrics import cost, proved
from evolake.solvers.roles.models import SHORT_ID, Credit
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import counting

SAVED = "savings"
MOST_KEPT = 200
"""Variants whose savings are kept, the newest."""
LEAST_SAVING = 0.01
"""Share of its parent's PAR-2 that a variant must save to help alone."""
RANK_SAVING = 0.1
"""What a gain over all ranks counts as, in a lake that has no savings of a variant."""
ALL, FAMILIES = "all", "families"


def with_savings(
    known: Sequence[Mapping[str, Any]], runs: pl.DataFrame, derived: Sequence[Mapping[str, Any]], settings: SolversSettings,
) -> list[Mapping[str, Any]]:
    """Return the entries that are known with those of this cycle's children, the newest `MOST_KEPT`.

    Args:
        known: oldest first, each {"variant_id", "all": share of the parent's PAR-2 that is saved, "families": {family: likewise}}.
        runs: rows of RUNS that compare. derived: rows of DERIVATIONS of this cycle; a child's first row is its first parent.

    Raises:
        InputError: a run is of `holdout_suite`.
    """
    costs, first = family_costs(runs, settings), {}
    for row in derived:
        first.setdefault(row["child_id"], row["parent_id"])
    new = [
        {"variant_id": child, **saved} for child, parent in first.items() if (saved := _saving(costs.get(parent, {}), costs.get(child, {})))
    ]
    again = {entry["variant_id"] for entry in new}
    return [*(entry for entry in known if entry["variant_id"] not in again), *new][-MOST_KEPT:]


def family_costs(runs: pl.DataFrame, settings: SolversSettings) -> dict[str, dict[str, float]]:
    """Return variant -> family -> PAR-2 over the family times its number of formulas, in seconds.

    Raises:
        InputError: a run is of `holdout_suite`.
    """
    refuse_holdout(runs.select("suite").unique().to_dicts(), settings)
    means = proved(counting(runs)).group_by("variant_id", "family", "instance").agg(cost().mean().alias("cost"))
    result: dict[str, dict[str, float]] = {}
    for name, family, total in means.group_by("variant_id", "family").agg(pl.col("cost").sum()).sort("variant_id", "family").iter_rows():
        result.setdefault(name, {})[family] = total
    return result


def savings_of(population: Population, settings: SolversSettings) -> Savings:
    """Return what the operators' bandit learns from: rows of the archive, and nothing else.

    Raises:
        InputError: a run is of `holdout_suite`.
    """
    saved = {entry["variant_id"]: entry for entry in population.value(SAVED, [])}
    operators = {row["child_id"]: row["operator"] for row in population.derivations.to_dicts()}
    result = []
    for row in population.history.to_dicts():
        entry = saved.get(row["variant_id"])
        families = entry[FAMILIES] if entry else {} if row["gain"] is None else {ALL: RANK_SAVING * row["gain"]}
        result.append(Credit(
            variant_id=row["variant_id"][:SHORT_ID], base=row["base"], operator=operators.get(row["variant_id"], ""), changed=row["changed"] or [],
            blocked=row["outcome"] == "blocked", savings=families,
        ))
    helping = frozenset(name for name, entry in saved.items() if entry[ALL] >= LEAST_SAVING)
    costs = {
        name: {family: seconds / sum(families.values()) for family, seconds in families.items()}
        for name, families in family_costs(population.runs, settings).items() if sum(families.values()) > 0
    }
    return Savings(result, helping, costs)


def _saving(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, Any] | None:
    """Return the entry of a variant; None unless both were measured on the same families."""
    if not before or set(before) != set(after):
        return None
    families = {family: round(1 - after[family] / seconds, 6) for family, seconds in before.items() if seconds > 0}
    if not families:
        return None
    return {ALL: round(1 - sum(after.values()) / sum(before.values()), 6), FAMILIES: families}
