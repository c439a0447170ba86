"""Polish the numbers of a lifted value. Runs inside the jail, in the evaluator's process, where no code of a
program is: a lifted program returns a value, so it is the value that is scored, thousands of times.

All numbers of the value are one vector. If they are real and the evaluator has `smooth`, a start is improved
by linear programs over its terms and limits; without it by cutting planes: what the score's slopes around
the points so far promise together is maximized within a box (a bundle method with a trust region: Makela,
Optimization Methods and Software 17, 2002), which suits scores that are the smallest or largest of many
terms. Whole numbers, truth values and orders of things are moved one or two at a time. Starts are drawn from
the best vector so far: shaken, with one row elsewhere, with two exchanged; or others within its bounds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import types

    import numpy as np

    Array = np.ndarray
    Smooth = Callable[[Any], Any]

MOST = 4000
"""Numbers of a value."""
DEEPEST = 20
LARGEST = 1e12
REAL, WHOLE, ORDER = "real", "whole", "order"
REFUSAL = 200
"""Characters that say why `smooth` is not asked."""


def leaves(value: Any, depth: int = 0) -> Iterator[Any]:
    """Yield what is in nested lists and dicts, in order. Raises ValueError if they are nested too deep."""
    if depth > DEEPEST:
        raise ValueError("nested too deep")
    if isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item, depth + 1)
    else:
        yield value


def numbers_of(value: Any) -> list[float | int | bool] | None:
    """Return the numbers of a value; None if it holds anything else, none, too many, or one that is no finite
    number of a usual size."""
    found: list[float | int | bool] = []
    try:
        for leaf in leaves(value):
            if type(leaf) not in (int, float, bool) or not abs(leaf) <= LARGEST or len(found) == MOST:
                return None
            found.append(leaf)
    except ValueError:
        return None
    return found or None


def kind_of(numbers: list[float | int | bool]) -> str:
    """Return what the numbers are: real if one of them is; an order, if they are whole numbers that follow
    each other, each once; else whole."""
    if any(type(number) is float for number in numbers):
        return REAL
    low, high = min(numbers), max(numbers)
    each_once = len(numbers) > 2 and high - low == len(numbers) - 1 and len(set(numbers)) == len(numbers)
    return ORDER if each_once else WHOLE


def sound_state(state: dict[str, Any]) -> bool:
    """Return whether a state that came out of a jail can be continued."""
    figures = [state.get(name) for name in ("start", "seconds", "evaluations", "parts")]
    found, score = state.get("numbers"), state.get("score")
    vectors = [item for item in (found, state.get("now")) if item is not None]
    return (
        all(type(figure) in (int, float) for figure in figures)
        and type(by := state.get("by")) is str
        and len(by) <= 2 * REFUSAL
        and all(is_flat(item) and numbers_of(item) is not None for item in vectors)
        and (score is None if found is None else type(score) is float)
    )


def refilled(value: Any, numbers: Iterator[Any]) -> Any:
    """Return a value of the same form with other numbers in it."""
    if isinstance(value, dict):
        return {key: refilled(item, numbers) for key, item in value.items()}
    if isinstance(value, list):
        return [refilled(item, numbers) for item in value]
    return next(numbers)


def is_flat(value: Any) -> bool:
    """Return whether a value is a list without lists in it."""
    return isinstance(value, list) and not any(isinstance(item, list | dict) for item in value)


def with_numbers(value: Any, numbers: list[Any]) -> Any:
    """Return the value with these numbers in it. A flat list takes as many as there are."""
    if is_flat(value):
        return list(numbers)
    return refilled(value, iter(numbers))


def polish(
    module: types.ModuleType, request: dict[str, Any], score_of: Callable[[Any, list[Any]], float]
) -> dict[str, Any]:
    """Return the state of a polish after so many processor seconds more.

    request: value, cases (a list for each seed), seconds, seed, state (of the part before; empty at first).
    score_of: of cases and results, higher is better.
    """
    import numpy as np

    state: dict[str, Any] = request["state"]
    random = np.random.default_rng([request["seed"], state.get("parts", 0)])
    values = Values(request["value"], request["cases"], score_of, request["seconds"], state)
    try:
        if values.kind == REAL:
            _real(values, getattr(module, "smooth", None), random)
        else:
            _whole(values, random)
    except Over:
        values.settle()
    return values.state | {"parts": state.get("parts", 0) + 1}


class Over(Exception):
    """The processor seconds of a part are spent."""


class Values:
    """The scores of vectors, and the best ones.

    state: start (its score), score and numbers of the best other vector, now (the vector that a search has
    come to; None between two), evaluations, seconds, by (what is climbed: its terms, or its score, with the
    reason if the evaluator has terms).
    """

    def __init__(
        self,
        value: Any,
        cases: list[Any],
        score_of: Callable[[Any, list[Any]], float],
        seconds: float,
        state: dict[str, Any],
    ):
        self.value, self._cases, self._score_of = value, cases, score_of
        self._begun, self._most = time.process_time(), seconds
        given = numbers_of(value)
        assert given is not None
        self.kind, self.switches = kind_of(given), all(type(number) is bool for number in given)
        nothing = {"score": None, "numbers": None, "now": given, "evaluations": 0, "seconds": 0.0}
        lengths = {len(item) if is_flat(item) else 0 for item in value} if isinstance(value, list) else {0}
        self.width: int = lengths.pop() if len(lengths) == 1 else 0
        self.state: dict[str, Any] = nothing | {"by": "its score"} | state
        self._spent = self.state["seconds"]
        self.top, self.best = given, -math.inf
        if "start" not in self.state:
            self.state["start"] = self.score(given)
        self.start, self.best = given, self.state["start"]
        if self.state["score"] is not None and self.state["score"] > self.best:
            self.top, self.best = self.state["numbers"], self.state["score"]

    def filled(self, vector: Any) -> Any:
        """Return the value with a vector's numbers, as they are written."""
        if not isinstance(vector, list):
            return self.rows(vector).tolist() if self.width else with_numbers(self.value, vector.tolist())
        return with_numbers(self.value, [bool(number) for number in vector] if self.switches else vector)

    def rows(self, vector: Array) -> Array:
        """Return the vector as rows that belong together: a list of lists of one length as it is, else a
        number a row."""
        return vector.reshape(-1, self.width or 1)

    def score(self, vector: Any) -> float:
        """Return the score of a vector; -inf if it has none. Raises Over."""
        self.look()
        value = self.filled(vector)
        self.state["evaluations"] += 1
        try:
            scores = []
            for cases in self._cases:
                result = {"status": "ok", "output": value, "cpu_s": 0.0, "peak_mb": 0.0, "reason": ""}
                scores.append(float(self._score_of(cases, [dict(result) for _ in cases])))
            mean = math.fsum(scores) / len(scores)
        except Exception:
            return -math.inf
        return mean if math.isfinite(mean) else -math.inf

    def settle(self) -> None:
        """Keep what a search had come to when the time was over."""
        if (now := self.state["now"]) is not None and now != self.start:
            self._most = math.inf
            self.keep(now, self.score(now))

    def look(self) -> None:
        """Raise Over if the time is spent."""
        used = time.process_time() - self._begun
        self.state["seconds"] = self._spent + used
        if used >= self._most:
            raise Over

    def keep(self, vector: Any, score: float) -> None:
        """Keep a vector that a search has come to, if it is the best other than the start."""
        numbers = vector if isinstance(vector, list) else vector.tolist()
        if (
            math.isfinite(score)
            and numbers != self.start
            and (self.state["score"] is None or score > self.state["score"])
        ):
            self.state |= {"score": score, "numbers": numbers}
        if score > self.best:
            self.top, self.best = numbers, score


SHARE_DRAWN, SHARE_GROWN, SHARE_SHAKEN = 0.3, 0.1, 0.4
"""Of the starts: those that are drawn, of flat lists those with each number twice, and of the others those
that are shaken."""
SHARE_ELSEWHERE = (0.6, 0.3, 0.1)
"""Of the starts with rows elsewhere: those with one, two and three."""
SLIGHTLY = 1e-9


def _real(values: Values, smooth: Smooth | None, random: np.random.Generator) -> None:
    import numpy as np

    refused = "" if smooth is None else _refused(smooth, values.value)
    if smooth is not None and not refused:
        values.state["by"] = "its terms"
        _by_terms(values, smooth, random)
        return
    values.state["by"] = f"its score ({refused})" if refused else "its score"
    while True:
        if values.state["now"] is None:
            values.state["now"] = _moved(
                values, np.array(values.top, float), random, drawn=SHARE_DRAWN
            ).tolist()
        vector = np.array(values.state["now"], float)
        _by_cuts(values, vector, _units(values, vector), random)
        values.state["now"] = None


def _refused(smooth: Smooth, value: Any) -> str:
    """Return why terms and limits of a value are of no use; "" if they are. The value is a program's: it may
    have another form than the evaluator wants."""
    import numpy as np

    try:
        terms, limits = (np.asarray(items, float) for items in smooth(value))
    except Exception as error:
        return f"smooth: {type(error).__name__}: {error}"[:REFUSAL]
    if terms.size > 0 and np.isfinite(terms).all() and np.isfinite(limits).all():
        return ""
    return "smooth gives no finite terms and limits"


def _units(values: Values, vector: Array) -> Array:
    """Return a natural step of each number: how far its column is spread; of a column of zeros, how far the
    widest is."""
    import numpy as np

    rows = values.rows(vector)
    size = np.maximum(rows.std(axis=0), 0.1 * np.abs(rows).mean(axis=0))
    return np.broadcast_to(np.where(size > 0, size, size.max() or 0.1), rows.shape).ravel().copy()


def _moved(values: Values, vector: Array, random: np.random.Generator, *, drawn: float) -> Array:
    """Return another start. drawn: share of those that have only the bounds of the vector."""
    import numpy as np

    rows = values.rows(vector.copy())
    low, high = rows.min(axis=0), rows.max(axis=0)
    spread = _units(values, vector).reshape(rows.shape)
    if random.random() < drawn:
        flat = high - low < 1e-9 * np.maximum(1, np.abs(high))
        return random.uniform(low - flat * spread[0], high + flat * spread[0], rows.shape).ravel()
    if is_flat(values.value) and random.random() < SHARE_GROWN and 2 * len(vector) <= MOST:
        return np.repeat(vector, 2)
    if random.random() < SHARE_SHAKEN:
        rows = rows + random.normal(size=rows.shape) * spread * 10 ** random.uniform(-2, -0.3)
    elif not is_flat(values.value):
        for place in random.integers(len(rows), size=1 + random.choice(3, p=SHARE_ELSEWHERE)):
            rows[place] = random.uniform(low, high)
    else:
        one, other = random.integers(len(rows), size=2)
        rows[[one, other]] = rows[[other, one]]
        rows = rows + random.normal(size=rows.shape) * spread * 0.01
    return rows.ravel()


STUCK, DRAWN_WHILE = 5, 0.1
"""After so many starts, times the rows, that led to nothing better, hops continue from a drawn vector; and
the share of drawn starts before."""


def _by_terms(values: Values, smooth: Smooth, random: np.random.Generator) -> None:
    """Improve vectors by `smooth` until the time is over. Each start is a change of the vector that the last
    gain led to (basin hopping: Wales and Doye, Journal of Physical Chemistry A 101, 1997)."""
    import numpy as np

    climber = Climber(values, smooth)
    home, idle = np.array(values.top, float), 0
    level = climber.best = climber.merit(*climber.terms(home))
    while True:
        if values.state["now"] is None:
            if idle > STUCK * len(values.rows(home)):
                level, idle = -math.inf, 0
            drawn = DRAWN_WHILE if level > -math.inf else 1.0
            values.state["now"] = _moved(values, home, random, drawn=drawn).tolist()
        vector, merit = climber.improved(np.array(values.state["now"], float), level)
        values.state["now"] = None
        idle += 1
        if merit > level and not math.isclose(merit, level, rel_tol=TINY, abs_tol=TINY):
            home, level, idle = vector, merit, 0


APART, NEAREST = 1e-7, 1e-9
"""Differences by which slopes of terms are measured, in units; and the reach at which a search ends."""
STEPS = 150
"""Steps of a search at most."""
EARLY, AHEAD = 3, 2
"""After so many steps a search ends that would be behind even if so many further ones gave what the next one
promises."""
TINY, SLOW = 1e-8, 5
"""A search ends after so many steps, one after another, whose gain is that small."""
WORTH = 0.01
"""A vector is scored whose merit is behind the best by at most that share."""
PENALTY = 10.0
"""What a limit that is not kept costs, by its size and that of the terms."""
LOOKS = 50
"""Calls of `smooth` after which the time is looked at."""
LOWEST = 2
"""Terms that a step looks at, times the numbers."""


class Climber:
    """Takes steps by the slopes of terms and limits.

    Each step is the best one within a box, which grows and shrinks (sequential linear programs with a trust
    region: Fletcher and Sainz de la Maza, Mathematical Programming 43, 1989). best: merit of what was scored.
    """

    def __init__(self, values: Values, smooth: Smooth):
        self._values, self._smooth = values, smooth
        self.best, self._cost, self._spare = -math.inf, PENALTY, 0.0

    def terms(self, point: Array) -> tuple[Array, Array]:
        """Return terms and limits."""
        import numpy as np

        found, limits = self._smooth(self._values.filled(point))
        return np.asarray(found, float).ravel(), np.asarray(limits, float).ravel() - self._spare

    def merit(self, found: Array, limits: Array) -> float:
        """Return the smallest term, less what limits cost that are not kept."""
        import numpy as np

        return float(found.min() - self._cost * np.maximum(0.0, -limits).sum())

    def improved(self, vector: Array, level: float) -> tuple[Array, float]:
        """Return where steps from a vector lead to, with its merit, and let the score say what it is worth if
        that is a gain. Limits that are just missed are asked for with a little room.

        level: merit of the vector to be better than.
        """
        values, merit, self._spare = self._values, -math.inf, 0.0
        try:
            for _ in range(3):
                vector, merit = self._climbed(vector, level)
                same = math.isclose(merit, level, rel_tol=TINY, abs_tol=TINY)
                if same or merit < self.best - WORTH * abs(self.best):
                    break
                self.best = max(self.best, merit)
                values.keep(vector, values.score(vector))
                worst = float(min(self.terms(vector)[1], default=0.0)) + self._spare
                if worst >= 0 or worst < -1e-3:
                    break
                self._spare += 2 * abs(worst) + 1e-13
        except (ArithmeticError, ValueError, IndexError, TypeError):
            return vector, -math.inf
        return vector, merit

    def _slopes(self, point: Array, here: Array, unit: Array) -> Array:
        import numpy as np

        own = np.empty((len(here), len(point)))
        for place, step in enumerate(APART * unit):
            if place % LOOKS == 0:
                self._values.look()
            other = point.copy()
            other[place] += step
            own[:, place] = (np.concatenate(self.terms(other)) - here) / APART
        return own

    def _climbed(self, point: Array, level: float) -> tuple[Array, float]:
        import numpy as np
        from scipy.optimize import milp

        size, unit = len(point), _units(self._values, point)
        found, limits = self.terms(point)
        self._cost = PENALTY * max(1.0, abs(float(found.min())))
        reach, fresh, now, slow = 0.2, True, self.merit(found, limits), 0
        own = np.empty((0, size))
        for step in range(STEPS):
            self._values.look()
            if reach <= NEAREST or slow >= SLOW:
                break
            if fresh:
                own = self._slopes(point, np.concatenate([found, limits]), unit)
            far, count = np.abs(own).sum(axis=1) * reach, len(found)
            low = np.argsort(found)[: LOWEST * size]
            low = low[found[low] - far[low] <= found[low[0]] + far[low[0]]]
            tight = np.flatnonzero(limits <= far[count:])
            rows = np.zeros((len(low) + len(tight), size + 1 + len(tight)))
            rows[:, :size] = -own[np.concatenate([low, count + tight])]
            rows[: len(low), size] = 1.0
            rows[len(low) :, size + 1 :] = -np.eye(len(tight))
            height = np.concatenate([found[low] - found.min(), limits[tight]]) / reach
            most = np.concatenate([np.ones(size), np.full(1 + len(tight), np.inf)])
            least = np.concatenate([-np.ones(size), [-np.inf], np.zeros(len(tight))])
            done = milp(
                np.concatenate([np.zeros(size), [-1.0], np.full(len(tight), self._cost)]),
                constraints=(rows, -np.inf, height),
                bounds=(least, most),
                options={"presolve": False},
            )
            if done.x is None:
                break
            promised = float(found.min() - reach * done.fun) - now
            if promised <= 1e-14 * max(1.0, abs(now)) or (step >= EARLY and now + AHEAD * promised < level):
                break
            moved = point + reach * done.x[:size] * unit
            there, further = self.terms(moved)
            gained = self.merit(there, further) - now
            fresh = gained > 0
            if fresh:
                slow = slow + 1 if gained < TINY * max(1.0, abs(now)) else 0
                point, found, limits, now = moved, there, further, now + gained
                self._values.state["now"] = point.tolist()
            if gained > 0.6 * promised:
                reach = min(1.7 * reach, 1.0)
            elif not gained >= 0.2 * promised:
                reach *= 0.4
        return point, now


CUTS = 3
"""Points with slopes that are kept: so many times the numbers."""
NEARBY, WIDTH = 1e-2, 1e-5
"""How far from a point its slopes are measured, and by which differences, as shares of the reach."""
BREAK, BROKEN_SHARE = 1e-3, 0.5
"""Relative loss over such a difference, and over a step, that is no slope: the score breaks off."""
LEAST_ROOM, LEAST_GAIN = 1e-6, 1e-14
"""Share of the reach below which a number has no room at all; relative gain below which a step is none."""


def _by_cuts(values: Values, vector: Array, unit: Array, random: np.random.Generator) -> None:
    """Improve a vector by its score alone.

    Slopes are measured close to a point: where terms are equal, as in most constructions, differences
    of their smallest would be no slopes of any. Where the score breaks off, the numbers that lead there get
    less room.
    """
    import numpy as np
    from scipy.optimize import linprog

    size, reach, idle = len(vector), 0.1, 0
    room = np.ones((2, size))
    score = values.score(vector)

    def cut(point: Array, known: float) -> tuple[Array, float, Array]:
        """Return a point close to this one with its score and slopes by unit."""
        shift = random.normal(size=size)
        shift = np.where(room[0] < 1, np.abs(shift), np.where(room[1] < 1, -np.abs(shift), shift))
        near = point + shift * unit * reach * NEARBY
        got = values.score(near)
        if broken(got, known):
            near, got = point, known
        slopes, width = np.zeros(size), reach * WIDTH
        for place in range(size):
            for sign in (1.0, -1.0):
                other = near.copy()
                other[place] += sign * width * unit[place]
                if not broken(there := values.score(other), got):
                    slopes[place] = sign * (there - got) / width
                    break
        return near, got, slopes

    def broken(got: float, known: float) -> bool:
        return not known - got <= BREAK * max(abs(known), SLIGHTLY)

    def narrow(step: Array) -> bool:
        """Halve the room of the numbers whose part of a step breaks the score off; return whether any
        does."""
        found = False
        for place in np.flatnonzero(step).tolist():
            other = vector.copy()
            other[place] += step[place]
            if broken(values.score(other), score):
                side = int(step[place] > 0)
                now = abs(step[place]) / (reach * unit[place]) / 2
                room[side, place], found = (now if now > LEAST_ROOM else 0.0), True
        return found

    if not math.isfinite(score):
        return
    cuts = [cut(vector, score)]
    while reach > NEAREST and any(item[2].any() for item in cuts):
        near = [item for item in cuts if np.max(np.abs(item[0] - vector) / unit) <= 3 * reach] or cuts[-1:]
        own = np.array([item[2] for item in near])
        height = np.array([item[1] + item[2] @ ((vector - item[0]) / unit) - score for item in near])
        steep = float(np.abs(own).max()) or 1.0
        done = linprog(
            np.append(np.zeros(size), -1.0),
            A_ub=np.hstack([-own / steep, np.ones((len(own), 1))]),
            b_ub=height / steep,
            bounds=[*((-reach * low, reach * high) for low, high in room.T), (None, None)],
            method="highs",
        )
        values.look()
        promised = 0.0 if done.x is None else -done.fun * steep
        if promised <= LEAST_GAIN * max(abs(score), SLIGHTLY):
            reach /= 4
            cuts = [cut(vector, score)]
            continue
        step = np.asarray(done.x)[:size] * unit
        moved = vector + step
        got = values.score(moved)
        if broken(got, score) and got < score - BROKEN_SHARE * abs(score):
            if not narrow(step):
                reach /= 2
            continue
        if got - score > 0.5 * promised:
            reach = min(1.5 * reach, 0.5)
            room = np.minimum(1.5 * room, 1.0)
        idle = 0 if got - score > 0.1 * promised else idle + 1
        if got > score:
            vector, score = moved, got
            values.keep(vector, score)
            values.state["now"] = vector.tolist()
        cuts = [*cuts, cut(moved, got)][-CUTS * size :]
        if idle > max(10, size // 2):
            reach, idle = reach / 2, 0
    values.keep(vector, score)


def _whole(values: Values, random: np.random.Generator) -> None:
    """Move whole numbers one or two at a time, and accept what is as good; from time to time go on from the
    best, shaken."""
    now, score, idle = list(values.top), values.best, 0
    low, high = min(now), max(now)
    while True:
        other = list(now)
        shaken = idle > 20 * len(now)
        if shaken:
            other = list(values.top)
        for _ in range(int(random.integers(2, 6)) if shaken else 1):
            _move_whole(values, other, int(low), int(high), random)
        if other == now:
            idle += 1
            values.look()
            continue
        got = values.score(other)
        idle = 0 if got > score or shaken else idle + 1
        if got >= score or shaken:
            now, score = other, got
            values.keep(now, score)


def _move_whole(values: Values, numbers: list[Any], low: int, high: int, random: np.random.Generator) -> None:
    """Exchange two numbers, turn a part around, move one elsewhere; if they are no order, change one."""
    one, other = sorted(random.integers(len(numbers), size=2).tolist())
    way = random.random()
    if values.kind == ORDER or way < 0.3:
        if way < 0.1:
            numbers[one : other + 1] = numbers[one : other + 1][::-1]
        elif way < 0.2:
            numbers.insert(other, numbers.pop(one))
        else:
            numbers[one], numbers[other] = numbers[other], numbers[one]
    elif values.switches or (low, high) == (0, 1):
        numbers[one] = type(numbers[one])(1 - numbers[one])
    elif way < 0.7:
        numbers[one] += 1 if random.random() < 0.5 else -1
    else:
        numbers[one] = int(random.integers(low, high + 1))
