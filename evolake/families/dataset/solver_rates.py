"""How hard levels are by a stated solver's error: the naive programs, and what is kept of every solver.

Difficulty is not what a generator was asked for, but how often a solver fails. A stated solver here is a
program that makes one kind of mistake, so that its success can be measured on every family, without a model:

    guess      the best of some twenty guesses from the data and of the commonest label of a level, chosen on
               one half of the questions and tried on the other, both ways; it never sees the text
    overlooks  the primary without one of its rules, the mean of all rules (`model.without_rules`)
    slips      the primary, but a number is off by one, a name is another one, with a chance of SLIP each
    skips      the primary, but each entry of a list is missed with a chance of SLIP
    hasty      the primary without the last third of the longest list, if possible of facts
    pool       the mean of those of the five that apply to the family

A text of letters that is the only one in the data is a list of them.

The labels are the primary's, which the gates have held against other programs; with checkers an answer is
right if most of them accept it. A program that fails on what it misread, or has no end, is wrong. All of it
runs in the jail; what is misread depends on the family, the level and the number of the question alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, pvariance
from typing import Any

import numpy as np

from evolake.errors import InputError
from evolake.families.gates.bites import CAP_S, same_answers
from evolake.families.gates.consensus import right_answers
from evolake.families.gates.execution import caps_of, pairs_of
from evolake.families.gates.static import short_key
from evolake.families.independence import rows_kept
from evolake.families.model.contract import Family
from evolake.families.model.without_rules import says_something, ways_without
from evolake.families.sandbox.running import Caps, Instance, Solved, generate, solve
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import SOLVER_RATES
from evolake.lake import Lake
from evolake.program_templates import load_template
from evolake.seeds import generator
from evolake.stats.proportions import wilson_interval

NAIVE = {
    "guess": "knows the data and common answers, not the text",
    "overlooks": "the family's own program without one of its rules",
    "slips": "the family's own program, each datum misread with a chance of 5 %",
    "skips": "the family's own program, each entry of a list missed with a chance of 5 %",
    "hasty": "the family's own program without the last third of the longest list of facts",
}
POOL = "pool"
SOLVERS = NAIVE | {POOL: "the mean of the naive programs that apply to a family"}
SLIP = 0.05
"""Chance that a datum is misread, or an entry missed."""
LAST = 3
"""The last of so many parts of a list is what a hasty solver does not read."""
SHORTEST = 3
"""Entries of a list from which on some may be missed."""
Z = 1.96
Values = dict[int, list[float]]
"""Level -> of each question, how far it was answered right: 0 or 1, or a mean of several answers."""


def ask_naive(
    family: Family, levels: Sequence[int], questions: int, *, pool: Any, settings: FamiliesSettings
) -> dict[str, Values]:
    """Return what each naive program that applies to the family, and their pool, answers right.

    Args:
        questions: drawn of each level, on seeds that all families share.

    Raises:
        MachineryError: the jail failed.
    """
    caps = caps_of(settings)
    drawn = generate(family, pairs_of(levels, questions, "difficulty"), pool=pool, caps=caps)
    made = [item for item in drawn if item.status == "ok"]
    labels = solve(family.validator, [item.inputs for item in made], pool=pool, caps=caps)
    pairs = [pair for pair in zip(made, labels, strict=True) if pair[1].status == "ok"]
    if not pairs:
        return {}
    asked = _Asked(family, pairs, pool, settings, replace(caps, cpu_s=min(caps.cpu_s, CAP_S)))
    found = {"guess": asked.guesses(), "overlooks": asked.without_rules()}
    found |= {name: asked.misread(name, change) for name, change in MISREADINGS.items()}
    known = {name: values for name, values in found.items() if values is not None}
    known[POOL] = [fmean(values) for values in zip(*known.values(), strict=True)]
    by_level: dict[str, Values] = {name: {} for name in known}
    for name, values in known.items():
        for (item, _), value in zip(pairs, values, strict=True):
            by_level[name].setdefault(item.difficulty, []).append(value)
    return by_level


@dataclass(frozen=True)
class _Asked:
    """The questions with their labels, and what is needed to answer them again."""

    family: Family
    pairs: Sequence[tuple[Instance, Solved]]
    pool: Any
    settings: FamiliesSettings
    caps: Caps

    def guesses(self) -> list[float]:
        inputs = [item.inputs for item, _ in self.pairs]
        said = solve(load_template("evolake.families.dataset.templates.guesses"), inputs, pool=self.pool)
        rows = [item.answer if isinstance(item.answer, dict) else {} for item in said]
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = [[row.get(name) for row in rows] for name in names] + [self._constants()]
        hits = np.array([self._right(column) for column in columns], dtype=float)
        result = np.zeros(len(self.pairs))
        for half in (0, 1):
            best = int(hits[:, 1 - half :: 2].mean(axis=1).argmax())
            result[half::2] = hits[best, half::2]
        return result.tolist()

    def _constants(self) -> list[Any]:
        """For each question the commonest label of its level in the other half."""
        known: dict[tuple[int, int], list[Any]] = {}
        for number, (item, solved) in enumerate(self.pairs):
            known.setdefault((number % 2, item.difficulty), []).append(solved.answer)
        best = {}
        for key, answers in known.items():
            commonest = Counter(map(short_key, answers)).most_common(1)[0][0]
            best[key] = next(answer for answer in answers if short_key(answer) == commonest)
        return [best.get((1 - n % 2, item.difficulty)) for n, (item, _) in enumerate(self.pairs)]

    def _right(self, answers: Sequence[Any]) -> list[bool]:
        if self.family.checkers:
            tasks = [(item.inputs, answer) for (item, _), answer in zip(self.pairs, answers, strict=True)]
            return right_answers(self.family, tasks, pool=self.pool, settings=self.settings)
        return self._same([Solved("ok", "", answer, "", None, 0.0) for answer in answers])

    def _same(self, again: Sequence[Solved]) -> list[bool]:
        return same_answers(self.family, self.pairs, again, pool=self.pool, caps=self.caps)

    def without_rules(self) -> list[float] | None:
        """None if no rule can be left out."""
        inputs = [item.inputs for item, _ in self.pairs]
        ways: dict[str, list[list[bool]]] = {}
        for way in ways_without(self.family):
            again = self._solved(way.source, inputs)
            same = self._same(again)
            answered = sum(item.status == "ok" for item in again)
            if says_something(way.way, len(same), answered, len(same) - sum(same)):
                ways.setdefault(way.point, []).append(same)
        points = [np.mean(found, axis=0) for found in ways.values()]
        return np.mean(points, axis=0).tolist() if points else None

    def misread(self, name: str, change: Callable[[Any, np.random.Generator], Any]) -> list[float] | None:
        """None if the change leaves every question as it is."""
        inputs: list[Any] = []
        for item, _ in self.pairs:
            random = generator(item.seed, "families", self.family.family_id, name, item.difficulty)
            text = _only_text(item.inputs)
            if text is None:
                inputs.append(change(item.inputs, random))
            else:
                letters = change(item.inputs | {text: list(item.inputs[text])}, random)
                inputs.append(letters | {text: "".join(letters[text])})
        if all(one == item.inputs for one, (item, _) in zip(inputs, self.pairs, strict=True)):
            return None
        return [float(same) for same in self._same(self._solved(self.family.validator, inputs))]

    def _solved(self, source: str, inputs: Sequence[Any]) -> list[Solved]:
        """Answers to all inputs: the driver does not run what comes after some that have no end."""
        done: list[Solved] = []
        while len(done) < len(inputs):
            part = solve(source, inputs[len(done) :], pool=self.pool, caps=self.caps)
            ran = next((n for n, item in enumerate(part) if item.reason.startswith("not run")), len(part))
            done += part[: max(ran, 1)]
        return done


def slips(value: Any, random: np.random.Generator) -> Any:
    """Return the data with single data misread."""
    words = list(dict.fromkeys(_words(value)))

    def changed(part: Any) -> Any:
        if isinstance(part, list):
            return [changed(inner) for inner in part]
        if isinstance(part, dict):
            return {key: changed(inner) for key, inner in part.items()}
        if part is None or random.random() >= SLIP:
            return part
        if isinstance(part, bool):
            return not part
        if isinstance(part, str):
            others = [word for word in words if word != part]
            return others[int(random.integers(len(others)))] if others else part
        return part + (1 if random.random() < 0.5 else -1)

    return changed(value)


def skips(value: Any, random: np.random.Generator) -> Any:
    """Return the data without single entries of lists; lists of one length next to each other lose the
    same."""

    def kept(count: int) -> list[int]:
        places = [place for place in range(count) if random.random() >= SLIP]
        return places or [0]

    return _cut(value, lambda part: len(part) >= SHORTEST, kept)


def hasty(value: Any, random: np.random.Generator) -> Any:
    """Return the data without the last part of the longest list: of those whose entries have parts, as facts
    and clues, if there are such."""
    lists = [part for part in _lists(value) if len(part) >= SHORTEST]
    of_facts = any(map(_of_facts, lists))
    longest = max((len(part) for part in lists if _of_facts(part) or not of_facts), default=0)
    return _cut(
        value,
        lambda part: len(part) == longest and (_of_facts(part) or not of_facts),
        lambda count: list(range(count - max(1, count // LAST))),
    )


MISREADINGS = {"slips": slips, "skips": skips, "hasty": hasty}


def _words(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _words(part)


def _only_text(value: Any) -> str | None:
    """Return the key of the only text in the data; None if there is none, or more than one."""
    if not isinstance(value, dict) or len(list(_words(value))) != 1:
        return None
    return next((key for key, part in value.items() if isinstance(part, str)), None)


def _of_facts(part: list[Any]) -> bool:
    return isinstance(part[0], list | dict)


def _lists(value: Any) -> Iterable[list[Any]]:
    if isinstance(value, list):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _lists(part)


def _cut(value: Any, meant: Callable[[list[Any]], bool], kept: Callable[[int], list[int]]) -> Any:
    """Return the data with those entries that `kept` gives for a length, of the lists that are `meant`."""
    if not isinstance(value, dict):
        return value
    lengths = {len(part) for part in value.values() if isinstance(part, list) and meant(part)}
    places = {length: kept(length) for length in sorted(lengths)}
    return {
        key: [part[place] for place in places[len(part)]]
        if isinstance(part, list) and meant(part)
        else _cut(part, meant, kept)
        for key, part in value.items()
    }


def rises(values: Values) -> list[tuple[int, int]]:
    """Return the pairs of neighbouring levels of which the harder one is answered right more often, beyond
    the noise: the difference is more than Z times its standard error."""
    found = []
    levels = sorted(values)
    for low, high in pairwise(levels):
        one, two = values[low], values[high]
        error = math.sqrt(pvariance(one) / len(one) + pvariance(two) / len(two))
        if fmean(two) - fmean(one) > Z * error:
            found.append((low, high))
    return found


def rate_rows(family_id: str, found: Mapping[str, Values]) -> list[dict[str, Any]]:
    """Return rows of SOLVER_RATES. The interval of a mean of several answers to a question is that of single
    answers, which is wider."""
    rows = []
    for solver, values in found.items():
        for level, own in sorted(values.items()):
            share = wilson_interval(sum(own), len(own))
            rows.append(
                {
                    "family_id": family_id,
                    "difficulty": level,
                    "solver": solver,
                    "questions": len(own),
                    "correct": float(sum(own)),
                    "rate": share.estimate,
                    "low": share.low,
                    "high": share.high,
                }
            )
    return rows


@dataclass(frozen=True)
class Band:
    """Shares of right answers of a stated solver. Both ends are in it."""

    low: float
    high: float
    solver: str

    def holds(self, row: Mapping[str, Any]) -> bool | None:
        """Return whether the measured share is in the band; None if its 95% interval is wider than the band:
        too few questions were asked to tell. row: of SOLVER_RATES."""
        if row["high"] - row["low"] > self.high - self.low:
            return None
        return self.low <= row["rate"] <= self.high

    def describe(self) -> str:
        """Return whose shares these are, in a few words."""
        words = SOLVERS.get(self.solver, "a policy that was asked such questions")
        return f"share of right answers of the solver `{self.solver}` ({words})"

    def __str__(self) -> str:
        return f"{self.low:g}:{self.high:g}"


def read_band(text: str, solver: str | None) -> Band:
    """Return the band that LOW:HIGH names.

    Raises:
        InputError: these are not two shares in order, or no solver is named.
    """
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        low, high = 1.0, 0.0
    if not 0 <= low <= high <= 1:
        raise InputError(
            "--difficulty is not a band",
            wanted="LOW:HIGH, two shares of right answers between 0 and 1, the lower one first",
            got=text,
            do="write for instance --difficulty 0.3:0.7",
        )
    if solver is None:
        raise InputError(
            "--difficulty needs a solver whose share of right answers it is",
            wanted=f"--solver with one of {', '.join(SOLVERS)}, or a policy that was asked",
            do="run: evolake families difficulty, then export with --solver pool",
        )
    return Band(low, high, solver)


def rates_of(lake: Lake, solver: str) -> list[dict[str, Any]]:
    """Return the rows of SOLVER_RATES of a solver.

    Raises:
        InputError: nothing was measured of a solver of this name.
    """
    rows = rows_kept(lake, SOLVER_RATES)
    found = [row for row in rows if row["solver"] == solver]
    if not found:
        measured = sorted({row["solver"] for row in rows})
        raise InputError(
            f"nothing was measured of a solver {solver!r}",
            wanted=f"one of {', '.join(measured)}" if measured else "a solver that was asked in this lake",
            do="run: evolake families difficulty"
            + ("" if solver in SOLVERS else " --solver policy, which prints the policy's name"),
        )
    return found
