"""The champion next to the baseline: parameters, terms, lineage, scaling."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from evolake.designs.evolution.line_state import reach
from evolake.designs.evolution.planning import terms_of
from evolake.designs.evolution.population import Population
from evolake.designs.evolution.schedule import is_solved, latest_levels
from evolake.designs.report.material import baseline_of
from evolake.designs.work.rows import median_work
from evolake.plots.genealogy import main_line
from evolake.stats.power_law import fit_power_law

BEST = 5
"""Of the designs by consensus, so many are fitted next to champion and baseline."""


def parameters(population: Population, champion: str) -> pl.DataFrame:
    """Return one row per parameter of champion or baseline, by name; `times` where both have it as a
    number."""
    baseline = baseline_of(population)
    own, other = _values(population, champion), _values(population, baseline) if baseline else {}
    rows = [
        {
            "parameter": name,
            "baseline": _value_text(other.get(name)),
            "champion": _value_text(own.get(name)),
            "times": _times(own.get(name), other.get(name)),
        }
        for name in sorted({*own, *other}, key=lambda name: (name not in other, name))
    ]
    return _frame(rows, parameter=pl.String, baseline=pl.String, champion=pl.String, times=pl.Float64)


def terms(population: Population, champion: str) -> pl.DataFrame:
    """Return one row per term of the champion, in its order; none for a design that came as a file."""
    line = [population.row(name) for name in reversed(_line(population, champion))]
    rows = []
    for term in terms_of(population.row(champion)):
        first = next((row for row in line if term in terms_of(row)), None)
        if first is not None:
            rows.append(
                {
                    "term": term,
                    "first_in": first["title"],
                    "cycle": first["cycle"],
                    "by": first["operator"],
                    "design": first["design_id"],
                }
            )
    return _frame(rows, term=pl.String, first_in=pl.String, cycle=pl.String, by=pl.String, design=pl.String)


def lineage(population: Population, champion: str) -> pl.DataFrame:
    """Return one row per design from the seed to the champion."""
    ids = list(reversed(_line(population, champion)))
    weights = {(child, parent): weight for child, parent, weight in population.edges()}
    consensus = {row["design_id"]: row["consensus"] for row in population.ranking.to_dicts()}
    rows, before = [], None
    for name in ids:
        row, reached = population.row(name), reach(population.experiment_rows([name]))
        had = set(terms_of(population.row(before))) if before else set()
        rows.append(
            {
                "cycle": row["cycle"],
                "title": row["title"],
                "by": row["operator"],
                "share_of_parent": weights.get((name, before)) if before else None,
                "new_terms": ", ".join(term for term in terms_of(row) if term not in had),
                "largest_n": reached["largest_solved"],
                "work_there": reached["median_work"],
                "steps_there": reached["median_step"],
                "consensus": consensus.get(name),
                "design": name,
            }
        )
        before = name
    return _frame(
        rows,
        cycle=pl.String,
        title=pl.String,
        by=pl.String,
        share_of_parent=pl.Float64,
        new_terms=pl.String,
        largest_n=pl.Int64,
        work_there=pl.Float64,
        steps_there=pl.Int64,
        consensus=pl.Float64,
        design=pl.String,
    )


def fits(population: Population, champion: str) -> pl.DataFrame:
    """Return champion, baseline and the best by consensus, with a power law through the solved sizes where
    three or more are."""
    baseline = baseline_of(population)
    best = population.ranking.sort("rank")["design_id"].head(BEST).to_list()
    names: list[str] = list(dict.fromkeys([champion, *filter(None, [baseline]), *map(str, best)]))
    solved = {
        name: [level for level in latest_levels(population.experiment_rows([name])) if is_solved(level)]
        for name in names
    }
    largest = max((int(level["N"]) for levels in solved.values() for level in levels), default=0)
    rows = []
    for name in names:
        role = " and ".join(
            summary for summary, whose in (("champion", champion), ("baseline", baseline)) if whose == name
        )
        law = fit_power_law(
            [level["N"] for level in solved[name]], [median_work(level) for level in solved[name]]
        )
        work, low, high = law.predicted(largest) if law else (None, None, None)
        rows.append(
            {
                "role": role or "ranked",
                "title": population.row(name)["title"],
                "exponent": law.b if law else None,
                "error": law.b_error if law else None,
                "sizes": len(solved[name]),
                "largest_n": max((int(level["N"]) for level in solved[name]), default=0),
                "at_n": largest,
                "work": work,
                "low": low,
                "high": high,
                "design": name,
            }
        )
    return _frame(
        rows,
        role=pl.String,
        title=pl.String,
        exponent=pl.Float64,
        error=pl.Float64,
        sizes=pl.Int64,
        largest_n=pl.Int64,
        at_n=pl.Int64,
        work=pl.Float64,
        low=pl.Float64,
        high=pl.Float64,
        design=pl.String,
    )


def by_size(population: Population, champion: str) -> pl.DataFrame:
    """Return one row per size that both were run at; none where the baseline itself is champion."""
    baseline = baseline_of(population)
    if baseline is None or baseline == champion:
        return _by_size([])
    own, other = (
        {int(level["N"]): level for level in latest_levels(population.experiment_rows([name]))}
        for name in (champion, baseline)
    )
    return _by_size(
        [
            {
                "N": n,
                "baseline_work": median_work(other[n]),
                "baseline_solved": is_solved(other[n]),
                "champion_work": median_work(own[n]),
                "champion_solved": is_solved(own[n]),
                "times_less": _times(median_work(other[n]), median_work(own[n])),
                "baseline_steps": other[n]["median_step"],
                "champion_steps": own[n]["median_step"],
                "baseline_together": other[n].get("together_step"),
                "champion_together": own[n].get("together_step"),
            }
            for n in sorted(own.keys() & other.keys())
        ]
    )


def _by_size(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    return _frame(
        rows,
        N=pl.Int64,
        baseline_work=pl.Float64,
        baseline_solved=pl.Boolean,
        champion_work=pl.Float64,
        champion_solved=pl.Boolean,
        times_less=pl.Float64,
        baseline_steps=pl.Int64,
        champion_steps=pl.Int64,
        baseline_together=pl.Int64,
        champion_together=pl.Int64,
    )


def _line(population: Population, champion: str) -> list[str]:
    known = set(population.designs["design_id"].to_list())
    return [
        name
        for name in main_line(
            champion, [(parent, child, weight) for child, parent, weight in population.edges()]
        )
        if name in known
    ]


def _values(population: Population, design: str) -> dict[str, Any]:
    return json.loads(population.row(design)["hyper_values"] or "{}")


def _value_text(value: Any) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:.4g}"
    if value is None:
        return None
    return str(value)


def _times(own: Any, other: Any) -> float | None:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (own, other))
    return own / other if numbers and other else None


def _frame(rows: Sequence[dict[str, Any]], **columns: Any) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=columns)
