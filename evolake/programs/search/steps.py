"""Steps of a program's numbers whose size and place follow from what steps did before, and of many such steps
the most promising one.

The size grows after a success and shrinks after a failure, so that one in five succeeds (Rechenberg, 1973);
it grows a little after a step that changed nothing. Some steps have any size, to leave a local optimum. A
number whose changes failed is changed less often. From some trials on a Gaussian process (`surrogate`)
chooses among many steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evolake.programs.search.numbers import Number, stepped, with_numbers
from evolake.programs.search.trials import Trials, points_of, values_of

Array = np.ndarray
FIRST, LEAST, MOST = 0.3, 1e-4, 1.0
"""Relative size of a step: at the beginning, at least and at most."""
GROWTH = 1.5
"""Factor of the size after a success; its fourth root is what a failure divides by."""
ANY_SIZE = 0.3
"""Share of steps that do not keep to the current size."""
FEWEST, NEAREST, DRAWN = 5, 70, 160
"""Trials without which a step is drawn blindly, nearest trials that the process sees, steps that it chooses
from."""
ROUNDS, REFINING = 3, 4
"""Rounds in which the best of the steps, so many, are stepped from again before one is chosen."""
WIDEST = 80
"""Numbers of a program that are compared by the process at most."""
STEPPING = ("step_few", "step_all", "step_one", "surrogate")


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


def number_weights(trials: Trials, own: str, count: int) -> Array:
    """Return how likely each number of a skeleton is to be changed: less if earlier changes of it were
    blocked or had no effect. Sums to 1."""
    good, all_ = np.full(count, 1.0), np.full(count, 1.0)
    for place, item in enumerate(trials.items):
        if trials.skeletons[place] != own or item.parent is None or trials.skeletons[item.parent] != own:
            continue
        now, before = (values_of(tuple(trials.items[one].texts.items())) for one in (place, item.parent))
        changed = np.array([one.value != other.value for one, other in zip(now, before, strict=True)])
        if not changed.any():
            continue
        share = changed / changed.sum()
        all_ += share
        merit, earlier = trials.merits[place], trials.merits[item.parent]
        if merit is not None:
            good += share * (2.0 if earlier is not None and merit > earlier else 0.7)
    weights = np.maximum(good / all_, 0.05)
    return weights / weights.sum()


def step_few(trials: Trials, parent: int, random: np.random.Generator) -> dict[str, str] | None:
    """Return the texts of a trial with one to three numbers changed by steps of the current size; None
    without numbers."""
    texts, own = trials.items[parent].texts, trials.skeletons[parent]
    numbers = values_of(tuple(texts.items()))
    if not numbers or not own:
        return None
    scale = scales_of(numbers, points_of(trials, own)[1])
    moved = _few_moved(
        numbers,
        _any_size(step_size(trials, own), random),
        number_weights(trials, own, len(numbers)),
        scale,
        random,
    )
    return with_numbers(texts, list(zip(numbers, moved, strict=True)))


def promising_step(trials: Trials, parent: int, random: np.random.Generator) -> dict[str, str] | None:
    """Return the texts of a trial after the step, of many, that a Gaussian process of its skeleton expects
    most of; None with too few trials."""
    from evolake.programs.search.surrogate import fit, normal_ranks

    texts, own = trials.items[parent].texts, trials.skeletons[parent]
    numbers = values_of(tuple(texts.items()))
    if not own or not 0 < len(numbers) <= WIDEST:
        return None
    places, points = points_of(trials, own)
    if len(places) < FEWEST:
        return None
    center = points[places.index(parent)]
    scale = scales_of(numbers, points)
    scaled = _coordinates(numbers, points, scale)
    near = np.argsort(np.sum((scaled - scaled[places.index(parent)]) ** 2, axis=1), kind="stable")[:NEAREST]
    merits = _filled([trials.known_merits[place] for place in places])
    process = fit(scaled[near], normal_ranks([merits[place] for place in near]), random)
    size, weights = step_size(trials, own), number_weights(trials, own, len(numbers))
    known = {tuple(row) for row in points.tolist()}
    daring = abs(float(random.normal()))
    good = points[np.argsort(-np.array(merits), kind="stable")[: max(4, len(points) // 4)]]
    drawn, chosen = _steps(numbers, center, good, size, weights, scale, random), list[list[float]]()
    for _ in range(ROUNDS):
        drawn = [row for row in [*chosen, *drawn] if tuple(row) not in known]
        if not drawn:
            return None
        mean, spread = process.predict(_coordinates(numbers, np.array(drawn), scale))
        chosen = [
            drawn[place] for place in np.argsort(-(mean + daring * spread), kind="stable")[:REFINING].tolist()
        ]
        drawn = [
            _few_moved(numbers, size / 2, weights, scale, random, row)
            for row in chosen
            for _ in range(DRAWN // REFINING // 2)
        ]
    return with_numbers(texts, list(zip(numbers, chosen[0], strict=True)))


def scales_of(numbers: Sequence[Number], points: Array) -> Array:
    """Return the unit in which each number is compared: its range if it is marked, else its size or how far
    trials have spread it."""
    result = np.maximum(np.abs([number.value for number in numbers]), points.std(axis=0))
    result = np.where(result > 0, result, 1.0)
    for place, number in enumerate(numbers):
        if number.marked:
            result[place] = (
                np.log(number.marked.high / number.marked.low)
                if number.marked.log
                else number.marked.high - number.marked.low
            ) / 4
        elif number.whole:
            result[place] = max(result[place], 2.0)
    return result


def _coordinates(numbers: Sequence[Number], points: Array, scale: Array) -> Array:
    result = points.copy()
    for place, number in enumerate(numbers):
        if number.marked and number.marked.log:
            result[:, place] = np.log(np.maximum(points[:, place], number.marked.low))
    return np.clip(result / scale, -1e3, 1e3)


def _filled(merits: Sequence[float | None]) -> list[float]:
    """Merits, with the worst one for trials that have none."""
    worst = min((merit for merit in merits if merit is not None), default=0.0)
    return [worst - 1.0 if merit is None else merit for merit in merits]


def _few_moved(
    numbers: Sequence[Number],
    size: float,
    weights: Array,
    scale: Array,
    random: np.random.Generator,
    start: Sequence[float] | None = None,
) -> list[float]:
    """Values after a step of one to three numbers from `start`; None: from their own values."""
    moved = [number.value for number in numbers] if start is None else list(start)
    for place in random.choice(
        len(numbers), min(len(numbers), int(random.integers(1, 4))), replace=False, p=weights
    ).tolist():
        moved[place] = _moved(
            replace(numbers[place], value=moved[place]),
            size * float(random.choice([0.25, 1.0, 3.0])),
            float(scale[place]),
            random,
        )
    return moved


def _moved(number: Number, size: float, unit: float, random: np.random.Generator) -> float:
    """Return a value near the number's: times a factor, or plus a share of its unit; now and then one of
    another order or sign."""
    if not number.marked:
        way = random.random()
        if way < 0.05:
            return read_back(number, number.value * float(random.choice([-1.0, 0.1, 10.0, 0.5, 2.0, 0.0])))
        if way < 0.5:
            step = float(random.normal()) * size * unit
            return read_back(
                number, number.value + (np.sign(step) * max(1.0, abs(step)) if number.whole else step)
            )
    return read_back(number, stepped(number, random, size))


def _any_size(size: float, random: np.random.Generator) -> float:
    """Return the size, or now and then any between a hundredth and one."""
    return size if random.random() >= ANY_SIZE else float(10 ** random.uniform(-2, 0))


def read_back(number: Number, value: float) -> float:
    """Return a value as the text will have it: rounded and within bounds."""
    return float(number.written(value).strip("()"))


def _steps(
    numbers: Sequence[Number],
    center: Array,
    good: Array,
    size: float,
    weights: Array,
    scale: Array,
    random: np.random.Generator,
) -> list[list[float]]:
    """Many steps from the parent: of few numbers, of all, and along the differences of good trials."""
    result: list[list[float]] = []
    for _ in range(DRAWN):
        way = random.random()
        if way < 0.6:
            result.append(_few_moved(numbers, _any_size(size, random), weights, scale, random))
        elif way < 0.8:
            result.append(
                [
                    _moved(number, size * 0.4, unit, random)
                    if random.random() < len(numbers) * weight
                    else number.value
                    for number, unit, weight in zip(numbers, scale.tolist(), weights.tolist(), strict=True)
                ]
            )
        else:
            first, second = good[int(random.integers(len(good)))], good[int(random.integers(len(good)))]
            moved = (
                center + random.uniform(0.3, 1.5) * (first - second)
                if way < 0.9
                else first + random.uniform(0.2, 1.5) * (center - first)
            )
            result.append(
                [read_back(number, float(value)) for number, value in zip(numbers, moved, strict=True)]
            )
    return result
