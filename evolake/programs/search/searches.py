"""Searches over the literals of a program behind one interface, and those that are registered.

A search asks for candidates, gets their merits, and knows nothing of the budget: the caller stops it
(`budgeted_search.searching`). It sees values and merits, never a program, an evaluator or a jail. An
installed package registers one, a callable as `MakeSearch`, under its own name:

    [project.entry-points."evolake.searches"]
    annealing = "my_package:Annealing"

Such code runs in the process of the line, unlike a candidate: it is trusted as any installed package. What it
returns is checked, and the candidates are judged by the same gates, in the jail.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from numbers import Real
from typing import Any, Protocol

import numpy as np

from evolake.errors import InputError, MachineryError
from evolake.programs.model.program_text import Places, Unreadable, cut, parameters_in, parse

GROUP = "evolake.searches"
LARGEST = 1e12
"""Numbers beyond it are left as they are."""
POINTS = 15
"""Vectors of differential evolution."""
Values = Sequence[Any]
"""A value for each literal, in their order."""


@dataclass(frozen=True)
class Space:
    """What a search may change. values: int, float, bool or str, as they are in the program that it begins
    with; a candidate has the same types. bounds: (low, high) of a marked number, else None."""

    values: tuple[Any, ...]
    bounds: tuple[tuple[float, float] | None, ...]


class Search(Protocol):
    """A search over a `Space`."""

    def ask(self) -> Sequence[Values]:
        """Return the next candidates; none if the search has ended."""
        ...

    def tell(self, candidates: Sequence[Values], merits: Sequence[float]) -> None:
        """Take the merits of the candidates that were asked for: higher is better, -inf if a candidate failed
        or a gate blocked it."""
        ...


class MakeSearch(Protocol):
    """What makes a search: (what it may change, merit of these values, its random numbers, how many
    candidates are evaluated at the same time) -> the search.

    If it has the attribute `from_initial` and that is true, `values` are those of the initial program, else
    those of the best program that the search had found in the cycle before.
    """

    def __call__(self, space: Space, merit: float, random: np.random.Generator, batch: int) -> Search:
        """Return a search at its beginning."""
        ...


def search_names() -> list[str]:
    """Return the names of all searches, the built-in ones first."""
    return list(BUILT_IN) + sorted({item.name for item in metadata.entry_points(group=GROUP)} - {*BUILT_IN})


def search_named(name: str) -> MakeSearch:
    """Return a search. A built-in name cannot be taken.

    Raises:
        InputError: there is no such search, or its package cannot be imported.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    for entry in metadata.entry_points(group=GROUP, name=name):
        try:
            return entry.load()
        except Exception as error:  # an import may raise anything
            raise InputError(
                f"the search {name!r} cannot be loaded",
                wanted=f"{entry.value} can be imported",
                got=f"{type(error).__name__}: {error}",
                do="repair the package that registers it, or leave it out of EVOLAKE_PROGRAMS__SEARCHES",
            ) from None
    raise InputError(f"there is no search {name!r}", wanted=f"some of: {', '.join(search_names())}")


class Climber:
    """Hill climbing: change one to three literals of the best candidate so far, and keep what is better."""

    def __init__(self, space: Space, merit: float, random: np.random.Generator, batch: int):
        self._values, self._merit, self._random, self._batch = list(space.values), merit, random, batch
        self._bounds = space.bounds
        self._strings = sorted({item for item in space.values if isinstance(item, str)})

    def ask(self) -> list[list[Any]]:
        """Return a batch of changed values; none if there are no literals."""
        return [self._changed() for _ in range(self._batch)] if self._values else []

    def tell(self, candidates: Sequence[Values], merits: Sequence[float]) -> None:
        """Continue with the best candidate if it is better."""
        best = int(np.argmax(merits))
        if merits[best] > self._merit:
            self._values, self._merit = list(candidates[best]), merits[best]

    def _changed(self) -> list[Any]:
        count = min(len(self._values), int(self._random.integers(1, 4)))
        result = list(self._values)
        for place in self._random.choice(len(result), count, replace=False):
            value = changed_value(result[place], self._strings, self._random)
            low, high = self._bounds[place] or (value, value)
            result[place] = min(max(value, low), high)
        return result


class Restarts(Climber):
    """Restarts: change one to three literals of the initial program, always of that one."""

    from_initial = True

    def tell(self, candidates: Sequence[Values], merits: Sequence[float]) -> None:
        """Learn nothing."""


class Numbers:
    """The numbers of a space as one vector; 0 is what they are, and 1 is as much more."""

    def __init__(self, space: Space):
        self._values = space.values
        self._places = [place for place, item in enumerate(space.values) if type(item) in (int, float)]
        self._start = np.array([space.values[place] for place in self._places], float)
        self._unit = np.where(self._start == 0, 1.0, np.abs(self._start))
        self.count = len(self._places)

    def values(self, vector: np.ndarray) -> list[Any]:
        """Return the values with a vector's numbers."""
        result = list(self._values)
        moved = np.clip(self._start + vector * self._unit, -LARGEST, LARGEST)
        for place, value in zip(self._places, moved.tolist(), strict=True):
            result[place] = round(value) if isinstance(result[place], int) else value
        return result


class CmaEs:
    """Adapt a normal distribution over all numbers (Hansen, The CMA Evolution Strategy: A Tutorial, 2016),
    with a step of a fifth of each."""

    def __init__(self, space: Space, merit: float, random: np.random.Generator, batch: int):
        self._numbers, self._random = Numbers(space), random
        self._n = n = self._numbers.count
        if not n:
            return
        self._size = 4 + int(3 * math.log(n))
        raw = math.log(self._size / 2 + 0.5) - np.log(np.arange(1, self._size // 2 + 1))
        self._weights = raw / raw.sum()
        self._mass = mass = float(1 / np.sum(self._weights**2))
        self._c_step, self._c_path = (mass + 2) / (n + mass + 5), (4 + mass / n) / (n + 4 + 2 * mass / n)
        self._c_one = 2 / ((n + 1.3) ** 2 + mass)
        self._c_many = min(1 - self._c_one, 2 * (mass - 2 + 1 / mass) / ((n + 2) ** 2 + mass))
        self._damping = 1 + 2 * max(0, math.sqrt((mass - 1) / (n + 1)) - 1) + self._c_step
        self._usual = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
        self._mean, self._step, self._covariance = np.zeros(n), 0.2, np.eye(n)
        self._path, self._path_step = np.zeros(n), np.zeros(n)

    def ask(self) -> list[list[Any]]:
        """Return a generation."""
        if not self._n:
            return []
        found, self._axes = np.linalg.eigh(self._covariance)
        self._spread = np.sqrt(np.maximum(found, 1e-20))
        self._drawn = self._random.normal(size=(self._size, self._n)) @ (self._axes * self._spread).T
        return [self._numbers.values(self._mean + self._step * one) for one in self._drawn]

    def tell(self, candidates: Sequence[Values], merits: Sequence[float]) -> None:
        """Move mean, step and covariance towards the better half."""
        mass, c_step, c_path = self._mass, self._c_step, self._c_path
        best = self._drawn[np.argsort([-merit for merit in merits])[: len(self._weights)]]
        moved = self._weights @ best
        self._mean = self._mean + self._step * moved
        self._path_step = (1 - c_step) * self._path_step + math.sqrt(c_step * (2 - c_step) * mass) * (
            self._axes @ (self._axes.T @ moved / self._spread)
        )
        length = float(np.linalg.norm(self._path_step))
        share = (length < 1.5 * self._usual) * math.sqrt(c_path * (2 - c_path) * mass)
        self._path = (1 - c_path) * self._path + share * moved
        kept = (1 - self._c_one - self._c_many) * self._covariance
        self._covariance = kept + self._c_one * np.outer(self._path, self._path)
        self._covariance += self._c_many * (best.T * self._weights) @ best
        step = self._step * math.exp(c_step / self._damping * (length / self._usual - 1))
        self._step = float(np.clip(step, 1e-9, 10.0))


class DifferentialEvolution:
    """Move 15 vectors, the first of them what is there, along differences of others (Storn and Price, 1997:
    best/1/bin, factors of 0.5 to 1, 0.7 of the numbers)."""

    def __init__(self, space: Space, merit: float, random: np.random.Generator, batch: int):
        self._numbers, self._random = Numbers(space), random
        n = self._numbers.count
        around = random.uniform(-1, 1, size=(POINTS - 1, n)) * 0.5
        self._tried = np.concatenate([np.zeros((1, n)), around])
        self._points, self._merits = self._tried, np.full(POINTS, -math.inf)
        self._begun = False

    def ask(self) -> list[list[Any]]:
        """Return a trial for each vector; at first the vectors themselves."""
        n, random = self._numbers.count, self._random
        if self._begun:
            first, second = (self._points[random.permutation(POINTS)] for _ in range(2))
            best = self._points[int(np.argmax(self._merits))]
            moved = best + random.uniform(0.5, 1.0) * (first - second)
            taken = random.random((POINTS, n)) < 0.7
            taken[np.arange(POINTS), random.integers(n, size=POINTS)] = True
            self._tried = np.where(taken, moved, self._points)
        self._begun = True
        return [self._numbers.values(one) for one in self._tried] if n else []

    def tell(self, candidates: Sequence[Values], merits: Sequence[float]) -> None:
        """Keep each trial that is no worse than its vector."""
        new = np.array(merits)
        self._points = np.where((new >= self._merits)[:, None], self._tried, self._points)
        self._merits = np.maximum(new, self._merits)


BUILT_IN: Mapping[str, MakeSearch] = {
    "hill": Climber,
    "restart": Restarts,
    "cma": CmaEs,
    "de": DifferentialEvolution,
}


@dataclass(frozen=True)
class Literal:
    """A literal in one of the files: its place, its value, and of a marked parameter how a value is written
    and its bounds."""

    file: str
    start: int
    end: int
    value: Any
    write: Any = None
    bounds: tuple[float, float] | None = None


class Literals:
    """The literals of a program, and the program with other values in their places."""

    def __init__(self, texts: Mapping[str, str]):
        self._texts, self._items = dict(texts), literals_in(texts)

    @property
    def space(self) -> Space:
        """What a search sees of them."""
        return Space(tuple(item.value for item in self._items), tuple(item.bounds for item in self._items))

    def program(self, values: Values, name: str = "") -> dict[str, str]:
        """Return the program with these values; as it is if the result cannot be read. name: of the search.

        Raises:
            MachineryError: these are no values of the space.
        """
        if len(values) != len(self._items):
            raise _unfit(name, f"{len(self._items)} values", f"{len(values)}")
        changed = dict(self._texts)
        for item, value in reversed(list(zip(self._items, values, strict=True))):
            new = _fitting(item.value, value, name)
            if new != item.value:
                text = changed[item.file]
                changed[item.file] = text[: item.start] + written(item, new) + text[item.end :]
        try:
            for file, text in changed.items():
                if file.endswith(".py"):
                    parse(text)
        except Unreadable:  # a string that is part of an f-string, say
            return dict(self._texts)
        return changed


def _fitting(old: Any, value: Any, name: str) -> Any:
    """Return a value of a search as one of the literal's type."""
    if isinstance(old, bool | str):
        if type(value) is not type(old):
            raise _unfit(name, f"a {type(old).__name__}", repr(value)[:100])
        return value
    if not isinstance(value, Real) or not math.isfinite(value):
        raise _unfit(name, "a finite number", repr(value)[:100])
    held = min(max(float(value), -LARGEST), LARGEST)
    return round(held) if isinstance(old, int) else float(f"{held:.9g}")


def _unfit(name: str, wanted: str, got: str) -> MachineryError:
    do = f"repair the package that registers {name!r} under {GROUP}"
    return MachineryError(
        f"the search {name!r} asked for what is no candidate", wanted=wanted, got=got, do=do
    )


def literals_in(texts: Mapping[str, str]) -> list[Literal]:
    """Return the marked parameters of the blocks; of Python files without marks, all numbers, truth values
    and strings but docstrings."""
    result: list[Literal] = []
    for name, text in texts.items():
        spans = cut(text, name).spans()
        marked = parameters_in(text, name)
        found = [
            Literal(
                name,
                item.start,
                item.end,
                round(item.value) if item.whole else item.value,
                item.written,
                (item.low, item.high),
            )
            for item in marked
        ]
        if name.endswith(".py") and not marked:
            places, tree = Places(text), parse(text)
            docstrings = {places.span(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            found = [
                Literal(name, *places.span(node), node.value)
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant)
                and changeable(node.value)
                and places.span(node) not in docstrings
            ]
        result += [
            item for item in found if any(low <= item.start and item.end <= high for low, high in spans)
        ]
    return sorted(result, key=lambda item: (item.file, item.start))


def written(item: Literal, value: Any) -> str:
    """Return a value as it is written in the place of a literal."""
    if item.write:
        return item.write(value)
    return f"({value!r})" if isinstance(value, int | float) and value < 0 else repr(value)


def changeable(value: Any) -> bool:
    """Return whether a literal is a string, a truth value or a number of a usual size."""
    return isinstance(value, str) or (isinstance(value, bool | int | float) and abs(value) <= LARGEST)


def changed_value(value: Any, strings: list[str], random: np.random.Generator) -> Any:
    """Return another value: a number times exp(normal) or plus normal, each by a scale of 0.01 to 1; the
    other truth value; another string of the program."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        others = [item for item in strings if item != value]
        return others[int(random.integers(len(others)))] if others else value
    scale, draw = 10 ** random.uniform(-2, 0), float(random.normal())
    moved = value * math.exp(scale * draw) if value and random.random() < 0.5 else value + scale * draw
    if isinstance(value, int):
        return round(moved) if round(moved) != value else value + (1 if draw > 0 else -1)
    return float(f"{moved:.9g}")
