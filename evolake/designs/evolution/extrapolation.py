"""Extrapolate a design's work from the sizes that it was run at to a larger one, and choose by that which
designs continue to higher fidelity.

Median work grows about as a power of N, so a line through their logarithms is continued to the largest size
of the next fidelity. The distances of the points from the line give the interval (Student's, for one more
measurement). Designs continue by the lower end: a design of which little is known is worth a run if its
interval reaches down to the best, and one that is known to be slow is not. A size that was run and not solved
bounds the work from below: where the line passes below that bound, the bound is a point of the line, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.designs.evolution.schedule import (
    HIGH_SHARE,
    Fidelity,
    is_solved,
    latest_levels,
    promoted,
    promotion_count,
    sizes,
)
from evolake.designs.settings import DesignsSettings
from evolake.designs.work.rows import max_work, median_work
from evolake.stats.power_law import PowerLaw, fit_power_law

LEAST_WORK = 1.0
FITTED_FROM = 0.1
"""Sizes below this share of the largest that was solved say little of large ones, and are left out of the
line."""
LEVEL = 0.95


@dataclass(frozen=True)
class Extrapolation:
    """Median work at `n`, in steps of the baseline: the expected, and the ends of the interval; None where
    fewer than three sizes were solved.

    levels: sizes on the line.
    """

    design_id: str
    n: int
    work: float | None
    low: float | None
    high: float | None
    levels: int


def extrapolate(design_id: str, rows: Sequence[Mapping[str, Any]], n: int) -> Extrapolation:
    """Of a design with these rows of EXPERIMENTS, at `n` variables. Where `n` itself was solved, its median
    work is still one point of the line."""
    levels = latest_levels(rows)
    solved = [level for level in levels if is_solved(level)]
    largest = max((int(level["N"]) for level in solved), default=0)
    fitted = [level for level in solved if level["N"] >= FITTED_FROM * largest]
    law = _fit(
        [(level["N"], median_work(level)) for level in fitted],
        [(level["N"], max_work(level)) for level in levels if not is_solved(level)],
    )
    if law is None:
        return Extrapolation(design_id, n, None, None, None, len(fitted))
    bound = max(
        (max_work(level) for level in levels if not is_solved(level) and level["N"] <= n), default=LEAST_WORK
    )
    work, low, high = (max(result, bound) for result in law.predicted(n, LEVEL))
    return Extrapolation(design_id, n, work, low, high, len(fitted))


def _fit(points: list[tuple[float, float]], bounds: Sequence[tuple[float, float]]) -> PowerLaw | None:
    """Return the line through points (N, work) that passes below no bound of larger sizes, up to the
    distances of the points from it; None if there are too few points.
    """
    open_bounds = [bound for bound in sorted(bounds) if points and bound[0] > max(n for n, _ in points)]
    law = fit_power_law(*zip(*points, strict=True)) if points else None
    for n, least in open_bounds:
        if law is not None and law.predicted(n, LEVEL)[0] < least:
            points = [*points, (n, least)]
            law = fit_power_law(*zip(*points, strict=True))
    return law


def promoted_by_scaling(
    order: Sequence[str],
    results: Mapping[str, Sequence[Mapping[str, Any]]],
    fidelity: Fidelity,
    settings: DesignsSettings,
) -> tuple[list[str], list[Extrapolation]]:
    """Return designs that continue to `fidelity`, as many as by consensus rank, and what each of `order` is
    expected to take at its largest size.

    By the lower ends of the intervals; who has none comes after all who have one. Ties go by `order`, the
    consensus, best first. What comes first by consensus always continues: it may be the next champion, which
    is measured at every fidelity.
    """
    n = sizes(settings, fidelity)[-1]
    result = [extrapolate(name, results.get(name, ()), n) for name in order]
    count = promotion_count(len(order), settings.medium_share if fidelity == "medium" else HIGH_SHARE)
    places = sorted(
        range(len(order)),
        key=lambda place: (place > 0, result[place].low is None, result[place].low or 0.0, place),
    )
    return [order[place] for place in sorted(places[:count])], result


def chosen(
    order: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    fidelity: Fidelity,
    settings: DesignsSettings,
    cycle: str,
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return designs that continue to `fidelity` by the setting `promotion`, in the order of the consensus,
    and rows of EXTRAPOLATIONS of all.

    Args:
        order: live designs by consensus, best first. rows: rows of EXPERIMENTS, of any designs.
    """
    results: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        results.setdefault(str(row["design_id"]), []).append(row)
    going, result = promoted_by_scaling(order, results, fidelity, settings)
    if settings.promotion == "consensus":
        going = promoted(order, fidelity, settings)
    return going, [
        {
            "cycle": cycle,
            "fidelity": fidelity,
            "design_id": item.design_id,
            "N": item.n,
            "expected_work": item.work,
            "low_work": item.low,
            "high_work": item.high,
            "levels": item.levels,
            "place": place,
            "goes_on": item.design_id in going,
        }
        for place, item in enumerate(result)
    ]
