"""Steps of a program's numbers whose size and place follow from what steps did before, and of many such steps
the most promising one.

Programs that are the same but for their numbers are points of one space. The size of steps grows after a
success and shrinks after a failure, so that one in five succeeds (Rechenberg, 1973); it grows a little after
a step that changed nothing. Some steps have any size, to leave a local optimum. A number whose changes failed
is changed less often. From some trials on a Gaussian process (`surrogate`) chooses among many steps: of few
numbers, of all, and along the difference of two good programs (differential evolution: Storn and Price,
J. Global Optimization 11, 1997). Steps are drawn as arrays, many at a time, since proposing is to cost less
than evaluating.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evolake.programs.search.numbers import LARGEST, Number, with_numbers
from evolake.programs.search.trials import Trials, points_of, values_of

Array = np.ndarray
FIRST, LEAST, MOST = 0.3, 1e-4, 1.0
"""Relative size of a step: at the beginning, at least and at most."""
GROWTH = 1.5
"""Factor of the size after a success; its fourth root is what a failure divides by."""
ANY_SIZE = 0.3
"""Share of steps that do not keep to the current size."""
SPREAD = (0.25, 1.0, 3.0)
"""Factors of the size, one of which each number gets."""
JUMPS = (-1.0, 0.1, 10.0, 0.5, 2.0, 0.0)
"""Factors that lead to another order or sign."""
FEWEST, NEAREST, REFITTED = 5, 40, 10
"""Trials without which a step is drawn blindly, nearest trials that the process sees, trials after which its
shape is fitted again."""
FEW, ALL, ALONG = 48, 16, 16
"""Steps that the process chooses from: of few numbers, of all, and along differences."""
ROUNDS, REFINING, AROUND = 3, 4, 12
"""Rounds in which the best of the steps, so many, are stepped from again so often before one is chosen."""
WIDEST = 80
"""Numbers of a program that are compared by the process at most."""
STEPPING = ("step_few", "surrogate")


@dataclass(frozen=True)
class Space:
    """The numbers of a skeleton as arrays (d,). scale: the unit in which each is compared. span: how far a
    marked one can go, of the logarithm if its steps are factors (`log`)."""

    low: Array
    high: Array
    whole: Array
    marked: Array
    log: Array
    span: Array
    scale: Array

    def coordinates(self, points: Array) -> Array:
        """Return points (n, d) in units."""
        logs = np.log(np.maximum(points, np.where(self.log, self.low, 1.0)))
        return np.clip(np.where(self.log, logs, points) / self.scale, -1e3, 1e3)

    def moved(self, starts: Array, chosen: Array, sizes: Array, random: np.random.Generator) -> Array:
        """Return points (n, d) with the chosen numbers, (n, d) of truth values, changed by steps of relative
        sizes: times a factor, or plus a share of a unit; now and then another order or sign."""
        draw, way, sign = random.normal(size=starts.shape), random.random(starts.shape), np.ones(starts.shape)
        sign[random.random(starts.shape) < 0.02] = -1
        step = draw * sizes
        own = np.abs(starts)
        unit = np.where(self.marked, self.span, np.where((way < 0.5) | (own == 0), self.scale, own))
        added = step * unit
        added = np.where(self.whole, np.sign(draw) * np.maximum(1.0, np.abs(added)), added)
        factor = np.exp(np.clip(np.where(self.log, step * self.span, step), -30, 30))
        by_factor = self.log | (~self.marked & ~self.whole & (way >= 0.5) & (own > 0))
        result = np.where(
            by_factor, np.maximum(starts, np.where(self.log, self.low, starts)) * factor, starts + added
        )
        result = np.where(by_factor & ~self.marked, result * sign, result)
        jumps = starts * random.choice(JUMPS, starts.shape)
        result = np.where(~self.marked & (way < 0.05), jumps, result)
        return self.rounded(np.where(chosen, result, starts))

    def rounded(self, points: Array) -> Array:
        """Return points within the bounds, whole where numbers are whole."""
        held = np.clip(points, self.low, self.high)
        return np.where(self.whole, np.rint(held), held)


def space_of(numbers: Sequence[Number], points: Array) -> Space:
    """Return the space of numbers. points: (n, d), what trials have there."""
    marks = [number.marked for number in numbers]
    low = np.array([mark.low if mark else -LARGEST for mark in marks])
    high = np.array([mark.high if mark else LARGEST for mark in marks])
    marked, log = (
        np.array([mark is not None for mark in marks]),
        np.array([bool(mark and mark.log) for mark in marks]),
    )
    whole = np.array([number.whole for number in numbers])
    span = np.where(log, np.log(np.where(log, high, 1.0) / np.where(log, low, 1.0)), high - low)
    scale = np.maximum(np.median(np.abs(points), axis=0), points.std(axis=0))
    scale = np.where(marked, span / 4, np.maximum(np.where(scale > 0, scale, 1.0), np.where(whole, 2.0, 0.0)))
    return Space(low, high, whole, marked, log, span, np.where(scale > 0, scale, 1.0))


@lru_cache(maxsize=16)
def step_size(trials: Trials, own: str) -> float:
    """Return the relative size of steps of a skeleton, by the one-fifth rule over its trials. A new skeleton
    begins with the size of its parent's, since most of its numbers are as good as they were there."""
    sizes: dict[str, float] = {}
    for place, item in enumerate(trials.items):
        skeleton = trials.skeletons[place]
        if skeleton not in sizes:
            sizes[skeleton] = (
                FIRST if item.parent is None else sizes.get(trials.skeletons[item.parent], FIRST)
            )
        if item.operator not in STEPPING or item.parent is None or trials.changes_structure(place):
            continue
        merit, before = trials.merits[place], trials.merits[item.parent]
        won = merit is not None and before is not None and merit > before
        if won:
            factor = GROWTH
        elif trials.changed_nothing(place):
            factor = GROWTH**0.25
        else:
            factor = GROWTH**-0.25
        sizes[skeleton] = min(max(sizes[skeleton] * factor, LEAST), MOST)
    return sizes.get(own, FIRST)


@lru_cache(maxsize=16)
def number_weights(trials: Trials, own: str, count: int) -> Array:
    """Return how likely each number of a skeleton is to be changed: less if earlier changes of it were
    blocked or had no effect. Sums to 1."""
    places, points = points_of(trials, own)
    rows = {place: row for row, place in enumerate(places)}
    pairs = [(place, parent) for place in places if (parent := trials.items[place].parent) in rows]
    after, before = np.array([(rows[one], rows[other]) for one, other in pairs], int).reshape(-1, 2).T
    changed = points[after] != points[before]
    shares = changed / np.maximum(changed.sum(axis=1, keepdims=True), 1)
    worth = [_worth(trials.merits[place], trials.merits[parent]) for place, parent in pairs]
    one = np.ones((1, count))
    # cumsum adds row by row; sum does so in pairs, with other last bits
    all_ = np.cumsum(np.concatenate([one, shares]), axis=0)[-1]
    good = np.cumsum(np.concatenate([one, shares * np.array(worth).reshape(-1, 1)]), axis=0)[-1]
    weights = np.maximum(good / all_, 0.05)
    return weights / weights.sum()


def _worth(merit: float | None, earlier: float | None) -> float:
    """Successes that a change of numbers counts as."""
    if merit is None:
        return 0.0
    return 2.0 if earlier is not None and merit > earlier else 0.7


def step_few(trials: Trials, parent: int, random: np.random.Generator) -> dict[str, str] | None:
    """Return the texts of a trial with one to three numbers changed by steps of the current size; None
    without numbers."""
    texts, own = trials.items[parent].texts, trials.skeletons[parent]
    numbers = values_of(tuple(texts.items()))
    if not numbers or not own:
        return None
    space = space_of(numbers, points_of(trials, own)[1])
    weights, start = number_weights(trials, own, len(numbers)), np.array([[item.value for item in numbers]])
    moved = _few_moved(space, start, step_size(trials, own), weights, random)
    return with_numbers(texts, list(zip(numbers, moved[0].tolist(), strict=True)))


def promising_step(trials: Trials, parent: int, random: np.random.Generator) -> dict[str, str] | None:
    """Return the texts of a trial after the step, of many, that a Gaussian process of its skeleton expects
    most of; None with too few trials."""
    from evolake.programs.search.surrogate import fitted, normal_ranks, process_of

    texts, own = trials.items[parent].texts, trials.skeletons[parent]
    numbers = values_of(tuple(texts.items()))
    if not own or not 0 < len(numbers) <= WIDEST:
        return None
    places, points = points_of(trials, own)
    if len(places) < FEWEST:
        return None
    merits = _filled([trials.known_merits[place] for place in places])
    seen = max(FEWEST, len(points) - len(points) % REFITTED)
    space, center = space_of(numbers, points[:seen]), points[places.index(parent)]
    at, before = space.coordinates(points), slice(max(0, seen - NEAREST), seen)
    shape = fitted(at[before], normal_ranks(merits[before]))
    near = np.argsort(np.sum((at - at[places.index(parent)]) ** 2, axis=1), kind="stable")[:NEAREST]
    process = process_of(at[near], normal_ranks([merits[place] for place in near]), shape)
    size, weights = step_size(trials, own), number_weights(trials, own, len(numbers))
    good = points[np.argsort(-np.array(merits), kind="stable")[: max(4, len(points) // 4)]]
    drawn, daring = _steps(space, center, good, size, weights, random), abs(float(random.normal()))
    for last in (*[False] * (ROUNDS - 1), True):
        mean, spread = process.predict(space.coordinates(drawn))
        order = np.argsort(-(mean + daring * spread), kind="stable")
        if not last:
            chosen = drawn[order[:REFINING]]
            around = _few_moved(space, np.repeat(chosen, AROUND, axis=0), size / 2, weights, random)
            drawn = np.concatenate([chosen, around])
    known = set(map(tuple, points.tolist()))
    for row in drawn[order].tolist():
        if tuple(number.read_back(value) for number, value in zip(numbers, row, strict=True)) not in known:
            return with_numbers(texts, list(zip(numbers, row, strict=True)))
    return None


def _filled(merits: Sequence[float | None]) -> list[float]:
    """Merits, with the worst one for trials that have none."""
    worst = min((merit for merit in merits if merit is not None), default=0.0)
    return [worst - 1.0 if merit is None else merit for merit in merits]


def _few_moved(
    space: Space, starts: Array, size: float, weights: Array, random: np.random.Generator
) -> Array:
    """Points (n, d) after a step of one to three numbers from each start, drawn by their weights."""
    count = random.integers(1, 4, size=(len(starts), 1))
    keys = np.log(weights) + random.gumbel(size=starts.shape)
    chosen = np.argsort(np.argsort(-keys, axis=1), axis=1) < count
    any_size = 10 ** random.uniform(-2, 0, size=(len(starts), 1))
    sizes = np.where(random.random((len(starts), 1)) < ANY_SIZE, any_size, size)
    return space.moved(starts, chosen, sizes * random.choice(SPREAD, starts.shape), random)


def _steps(
    space: Space, center: Array, good: Array, size: float, weights: Array, random: np.random.Generator
) -> Array:
    """Many steps from the parent: of few numbers, of all, and along the differences of good trials."""
    few = _few_moved(space, np.tile(center, (FEW, 1)), size, weights, random)
    every = np.tile(center, (ALL, 1))
    every = space.moved(
        every, random.random(every.shape) < len(center) * weights, np.full(every.shape, size * 0.4), random
    )
    first, second = (good[random.integers(len(good), size=ALONG)] for _ in range(2))
    far = random.uniform(0.2, 1.5, size=(ALONG, 1))
    away = np.where(
        np.arange(ALONG)[:, None] % 2 == 0, center + far * (first - second), first + far * (center - first)
    )
    return np.concatenate([few, every, space.rounded(away)])
