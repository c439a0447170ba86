"""Extrapolate from the sizes that designs were run at to a larger one: a design's work, to choose which
continue to higher fidelity, and a challenger's gain, to decide a duel.

Median work grows about as a power of N, so a line through the logarithms is continued to the largest size of
the next fidelity; the distances of the points from it give the interval (Student's, for one more
measurement). Designs continue by the lower end: a design of which little is known is worth a run if its
interval reaches down to the best. A size that was run and not solved bounds the work from below; if the line
passes below that bound, the bound is a point of the line, too.

In a duel both designs run on the same instances of up to five sizes, each under every seed. If the work of
both grows as a power of N, the log of their ratio is a line in log N; if exponentially, a line in N. So each
seed gives one number per law: what the least-squares line through its gains says at the target size.
`evolake.contest` decides from these as from plain pairs; the interval then holds what noise adds at every
size and what continuing the line costs. The law is the one that the work of both designs follows much more
closely; if there is none, a challenger wins only if it is better by both.

A size that the incumbent did not solve bounds the gain from below, and never counts with a negative weight. A
size that neither solved is left out. If the gains bend away from their line, the smallest sizes are left out
until they do not: right away if the line promises too much, and only on strong evidence if it promises too
little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.contest import Contest, progress, sequential
from evolake.contest.paired import student_ends
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


MOST_SIZES = 5
BENDS_DOWN, BENDS_UP = 0.3, 0.005
"""One-sided levels of the tests by which the gains fall behind their line at large sizes, or rise above it. A
fall that is overlooked promises too much, and so does a rise that is only noise."""
FITS_BETTER = 6.0
"""How many times the sum of squares of the better law the other one must leave to be ruled out."""
LEAST_FREEDOM = 4
"""Points beyond two for each line from which one law can rule out the other."""
ROUNDING = 1e-12
LAWS: Mapping[str, Callable[[float], float]] = {"power law": math.log, "exponential law": float}
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class LawGains:
    """The gain of each seed at the target by one law: log of the ratio of work, above 0 if the challenger
    needs less. sizes: of the line."""

    law: str
    sizes: tuple[int, ...]
    target: int
    gains: tuple[float, ...]


@dataclass(frozen=True)
class LawContest:
    """The contest by the law that speaks less for the challenger."""

    contest: Contest
    gains: LawGains


def law_sizes(ladder: Sequence[int], largest: int) -> tuple[int, ...]:
    """Return sizes that a duel measures: the largest that is reached and those before it."""
    return tuple(n for n in ladder if n <= largest)[-MOST_SIZES:]


def line_weights(sizes: Sequence[int], target: int, law: str) -> np.ndarray:
    """Return the weights by which the least-squares line through values at `sizes` gives its value at
    `target`; they sum to 1."""
    x = np.array([LAWS[law](n) for n in sizes])
    spread = x - x.mean()
    return (
        1 / len(x) + (LAWS[law](target) - x.mean()) * spread / float(spread @ spread)
        if len(x) > 1
        else np.ones(1)
    )


def gains_by_law(
    differences: np.ndarray, bounded: Sequence[bool], sizes: Sequence[int], target: int, law: str
) -> LawGains:
    """Return the gain of each seed at `target` by one law. With one size there is no line, and its gains are
    those at that size.

    Args:
        differences: (seeds, sizes) log of the ratio of work. bounded: at which sizes the incumbent has
            unsolved runs.
    """
    first = 0
    while len(sizes) - first > 1:
        window = slice(first, None)
        weights = line_weights(sizes[window], target, law)
        against_bounds = any(
            bound and weight < 0 for bound, weight in zip(bounded[window], weights, strict=True)
        )
        if not against_bounds and not bends(differences[:, window], sizes[window], law):
            break
        first += 1
    weights = line_weights(sizes[first:], target, law)
    reached = target if len(weights) > 1 else sizes[-1]
    return LawGains(law, tuple(sizes[first:]), reached, tuple((differences[:, first:] @ weights).tolist()))


def bends(differences: np.ndarray, sizes: Sequence[int], law: str) -> bool:
    """Return whether the gains of large sizes are not those of one line with the others; never with two sizes
    or one seed."""
    if len(sizes) < 3 or len(differences) < 2:
        return False
    x = np.array([LAWS[law](n) for n in sizes])
    basis = np.stack([np.ones_like(x), x - x.mean()], axis=1)
    square = (x - x.mean()) ** 2
    contrast = square - basis @ np.linalg.lstsq(basis, square, rcond=None)[0]
    bend = differences @ contrast
    rounding = ROUNDING * float((np.abs(differences) @ np.abs(contrast)).max())
    return student_ends(bend, BENDS_DOWN)[1] < -rounding or student_ends(bend, BENDS_UP)[0] > rounding


def plausible_laws(log_works: Sequence[Mapping[int, float]]) -> list[str]:
    """Return the law that the work of both designs follows, or both laws if neither fits much better.

    Args:
        log_works: for each design, size -> mean log of its work, of the sizes that it solved under every
            seed.
    """
    left = {law: math.fsum(_left_by_line(works, law) for works in log_works) for law in LAWS}
    if sum(max(0, len(works) - 2) for works in log_works) < LEAST_FREEDOM:
        return list(LAWS)
    least = min(left.values())
    return [law for law in LAWS if left[law] <= FITS_BETTER * least + ROUNDING]


def _left_by_line(works: Mapping[int, float], law: str) -> float:
    """Return the sum of squares that a line leaves."""
    if len(works) < 3:
        return 0.0
    x, y = np.array([LAWS[law](n) for n in works]), np.array(list(works.values()))
    basis = np.stack([np.ones_like(x), x - x.mean()], axis=1)
    rest = y - basis @ np.linalg.lstsq(basis, y, rcond=None)[0]
    return float(rest @ rest)


def complete(
    ours: Mapping[int, Rows], theirs: Mapping[int, Rows], paired: Callable[[Any, Any], float | None]
) -> tuple[np.ndarray, list[bool], list[int]]:
    """Return (seeds, sizes) gains of the seeds under which no run was cut, the sizes at which the incumbent
    has unsolved runs, and the sizes.

    Args:
        ours, theirs: size -> rows of DUELS, seed by seed. paired: (our row, their row) -> gain, None for a
            run that a clock cut.
    """
    sizes = [n for n in sorted(ours) if any(map(is_solved, ours[n])) or any(map(is_solved, theirs[n]))] or [
        max(ours)
    ]
    table = [[paired(own, their) for own, their in zip(ours[n], theirs[n], strict=True)] for n in sizes]
    seeds = [list(column) for column in zip(*table, strict=True) if None not in column]
    return (
        np.array(seeds, dtype=np.float64).reshape(-1, len(sizes)),
        [not all(map(is_solved, theirs[n])) for n in sizes],
        sizes,
    )


def law_decided(by_law: Sequence[LawGains], most: int) -> bool:
    """Return whether no further seed can change who wins: by one law the challenger cannot, or it has won by
    both."""
    states = [progress(item.gains, most) for item in by_law if item.gains]
    return bool(states) and ("cannot win" in states or all(state == "wins" for state in states))


def law_contest(
    by_law: Sequence[LawGains], most: int, random: Callable[[str], np.random.Generator]
) -> LawContest:
    """Return the contest by the law whose interval begins lower. random: law -> a generator."""
    done = [LawContest(sequential(item.gains, most, random(item.law)), item) for item in by_law]
    return min(done, key=lambda item: item.contest.low)
