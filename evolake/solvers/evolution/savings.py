"""What each variant saves against the first of its parents, family by family: computed at the end of a cycle
from derivations and measured runs.

The rows of a variant's runs leave the archive with the variant, and so its savings are kept in the archive's
`state`, under the name SAVED. A lake of before has none: there a move's gain in ranks replaces its savings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from evolake.solvers.evolution.planning import Savings, refuse_holdout
from evolake.solvers.evolution.population import Population
from evolake.solvers.measurement.metrics import cost, proved
from evolake.solvers.roles.models import SHORT_ID, Credit, FamilyCounters
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import counting

SAVED = "savings"
MOST_KEPT = 200
"""Variants whose savings are kept, the newest."""
LEAST_SAVING = 0.01
"""Share of its parent's PAR-2 that a variant must save to help alone."""
LEAST_COST_S = 1e-6
RANK_SAVING = 0.1
"""What a gain over all ranks counts as, in a lake that has no savings of a variant."""
ALL, FAMILIES = "all", "families"
COUNTERS = ("restarts", "decisions", "propagations", "proof_bytes")
"""What is counted for each conflict."""


def with_savings(
    known: Sequence[Mapping[str, Any]],
    runs: pl.DataFrame,
    derived: Sequence[Mapping[str, Any]],
    settings: SolversSettings,
) -> list[Mapping[str, Any]]:
    """Return the entries that are known with those of this cycle's children, the newest `MOST_KEPT`.

    Args:
        known: oldest first, each {"variant_id", "all": share of the parent's PAR-2 that is saved, "families":
            {family: likewise}}.
        runs: rows of RUNS that compare. derived: rows of DERIVATIONS of this cycle; a child's first row is
            its first parent.

    Raises:
        InputError: a run is of `holdout_suite`.
    """
    costs, first = _formula_costs(runs, settings), dict[str, str]()
    for row in derived:
        first.setdefault(row["child_id"], row["parent_id"])
    new = []
    for child, parent in first.items():
        families = _families(costs, parent, child)
        if families:
            new.append(
                {
                    "variant_id": child,
                    ALL: _saving(*map(sum, zip(*families.values(), strict=True))),
                    FAMILIES: {
                        family: _saving(before, after) for family, (before, after) in families.items()
                    },
                }
            )
    again = {entry["variant_id"] for entry in new}
    return [*(entry for entry in known if entry["variant_id"] not in again), *new][-MOST_KEPT:]


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
        if entry:
            families = entry[FAMILIES]
        elif row["gain"] is None:
            families = {}
        else:
            families = {ALL: RANK_SAVING * row["gain"]}
        result.append(
            Credit(
                variant_id=row["variant_id"][:SHORT_ID],
                base=row["base"],
                operator=operators.get(row["variant_id"], ""),
                changed=row["changed"] or [],
                blocked=row["outcome"] == "blocked",
                savings=families,
            )
        )
    helping = frozenset(name for name, entry in saved.items() if entry[ALL] >= LEAST_SAVING)
    costs = _formula_costs(population.runs, settings)
    shares = {
        name: _shares({family: one for family, (one, _) in _families(costs, name, name).items()})
        for name in costs
    }
    return Savings(result, helping, shares, counters_of(population.runs, shares))


def counters_of(
    runs: pl.DataFrame, shares: Mapping[str, Mapping[str, float]]
) -> dict[str, list[FamilyCounters]]:
    """Return variant -> what it counts for each conflict, family by family, the family with the largest share
    of its PAR-2 first.

    Args:
        runs: rows of RUNS. shares: variant -> family -> share of its PAR-2; other families are left out.
    """
    counted = counting(runs).filter(pl.col("conflicts") > 0)
    sums = (
        counted.group_by("variant_id", "family")
        .agg(
            pl.col("conflicts").filter(pl.col(name).is_not_null()).sum().alias(f"{name}_conflicts")
            for name in COUNTERS
        )
        .join(
            counted.group_by("variant_id", "family").agg(pl.col(name).sum() for name in COUNTERS),
            on=["variant_id", "family"],
        )
    )
    result: dict[str, list[FamilyCounters]] = {}
    for row in sums.to_dicts():
        share = shares.get(row["variant_id"], {}).get(row["family"])
        if share is not None:
            rates = {
                name: round(row[name] / row[f"{name}_conflicts"], 6)
                for name in COUNTERS
                if row[f"{name}_conflicts"]
            }
            result.setdefault(row["variant_id"], []).append(
                FamilyCounters(family=row["family"], share=round(share, 6), **rates)
            )
    return {
        name: sorted(found, key=lambda item: (-item.share, item.family)) for name, found in result.items()
    }


def _formula_costs(runs: pl.DataFrame, settings: SolversSettings) -> dict[str, dict[tuple[str, str], float]]:
    """Return variant -> family and formula -> PAR-2 in seconds, a mean over repetitions.

    Raises:
        InputError: a run is of `holdout_suite`.
    """
    refuse_holdout(runs.select("suite").unique().to_dicts(), settings)
    means = (
        proved(counting(runs)).group_by("variant_id", "family", "instance").agg(cost().mean().alias("cost"))
    )
    result: dict[str, dict[tuple[str, str], float]] = {}
    for name, family, formula, seconds in means.sort("variant_id", "family", "instance").iter_rows():
        result.setdefault(name, {})[family, formula] = max(seconds, LEAST_COST_S)
    return result


def _families(
    costs: Mapping[str, Mapping[tuple[str, str], float]], parent: str, child: str
) -> dict[str, tuple[float, float]]:
    """Return family -> seconds of both on the formulas that both ran; a variant that was stopped in a race
    ran some of them."""
    before, after = costs.get(parent, {}), costs.get(child, {})
    result: dict[str, tuple[float, float]] = {}
    for family, formula in [place for place in before if place in after]:
        one, two = result.get(family, (0.0, 0.0))
        result[family] = one + before[family, formula], two + after[family, formula]
    return result


def _shares(seconds: Mapping[str, float]) -> dict[str, float]:
    total = sum(seconds.values())
    return {name: part / total for name, part in seconds.items()}


def _saving(before: float, after: float) -> float:
    return round(1 - after / before, 6)
