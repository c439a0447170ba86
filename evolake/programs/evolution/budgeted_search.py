"""Dumb searches over the literals of a program, which the line's search has to beat: hill climbing and
restarts, by the same evaluator, in the same jail, through the same gates, for processor seconds.

The line's asset `baseline` runs them in every cycle, and continues where the cycle before ended
(`continued`); `benchmarks/programs_control.py` compares them with more searches. An evaluation is one call of
the project's evaluator under one seed. A program that was evaluated before is not evaluated again and costs
nothing, and neither does one that does not build; an evaluation that fails costs as much as any other. The
initial program is known to all and costs nothing.
"""

from __future__ import annotations

import ast
import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evolake.errors import HostBusy
from evolake.gates import Ruleset, run_gates
from evolake.gates.run import side_by_side
from evolake.jail.waiting import TICKS
from evolake.lake import BlobStore
from evolake.programs.evolution.outcome import search_seeds
from evolake.programs.evolution.population import Row
from evolake.programs.gate_specs import GATES
from evolake.programs.gates import Candidate, bare_text
from evolake.programs.model.program_text import Places, Unreadable, cut, parameters_in, parse
from evolake.programs.model.project import Project, program_id
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator
from evolake.programs.sandbox.program_runs import Built
from evolake.programs.settings import ProgramsSettings
from evolake.seeds import generator

IDLE_ROUNDS = 60
"""Rounds (generations of the operators, batches of a climber) without a new program after which a search
ends: it has found no further one to try."""

BEYOND_S = 1.3
"""Processor seconds that the start of a polish takes, and the evaluation of what it found."""

LARGEST = 1e12
"""Numbers beyond it are left as they are."""
NOTED_S = 10.0
"""Processor seconds after which a search notes what it has."""
TIMES = slice(11, 15)
"""utime, stime, cutime, cstime in /proc/PID/stat after the program's name."""
CYCLE = "baseline"
"""In place of a cycle, where programs are judged that are no candidates."""


def processor_seconds() -> float:
    """Return the processor seconds of this process, and of those that it has started or that they have."""
    ticks, level = 0, [os.getpid()]
    while level:
        folder = Path(f"/proc/{level.pop()}")
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[TIMES]))
            for task in (folder / "task").iterdir():
                level += map(int, (task / "children").read_text().split())
    return ticks / TICKS


class BudgetedEvaluator(Evaluator):
    """An evaluator that refuses further evaluations when their number, the time or the processor seconds are
    spent. `spent` counts them."""

    def __init__(
        self,
        project: Project,
        own: ProgramsSettings,
        *,
        workers: int,
        mode: str | None,
        most: float = math.inf,
        until: float = math.inf,
        seconds: float = math.inf,
    ):
        super().__init__(project, own, workers=workers, mode=mode)
        self.most, self.until, self.spent, self._counting = most, until, 0, threading.Lock()
        self._begun, self._seconds = processor_seconds(), seconds
        self._used = self._looked = 0.0
        self._owed = 0

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to spend."""
        return self.spent >= self.most or time.monotonic() >= self.until or self.seconds_left <= 0

    @property
    def seconds_spent(self) -> float:
        """Processor seconds of this process and its jails since the budget was opened."""
        return processor_seconds() - self._begun

    @property
    def seconds_used(self) -> float:
        """Return `seconds_spent`, looked up twice a second at most."""
        if time.monotonic() > self._looked + 0.5:
            self._used, self._looked = self.seconds_spent, time.monotonic()
        return self._used

    @property
    def seconds_left(self) -> float:
        """Processor seconds that are left to this process and its jails."""
        return self._seconds - self.seconds_used if self._seconds < math.inf else math.inf

    def polish(
        self, value: Any, seeds: Sequence[int], state: Mapping[str, Any], *, seconds: float, seed: int
    ) -> dict[str, Any] | None:
        """Go on with a polish, and count its evaluations; None if too little is left to spend."""
        left = self.seconds_left - BEYOND_S
        if self.exhausted or left <= 0:
            return None
        found = super().polish(value, seeds, state, seconds=min(seconds, left), seed=seed)
        if found is not None:
            with self._counting:
                self.spent += found["evaluations"] - state.get("evaluations", 0)
                self._owed = len(seeds) * self.own.batch
        return found

    def evaluate(
        self, texts: Mapping[str, str], seed: int, built: Built | None = None, *, watch: bool = False
    ) -> Evaluation:
        """Return an evaluation, and count it; a failed one without a score if nothing is left to spend. What
        a polish found, and the children that were proposed with it, are due."""
        with self._counting:
            if self.exhausted and not self._owed:
                return Evaluation("budget", "all evaluations of the search are spent", seed=seed)
            self.spent += 1
            self._owed = max(0, self._owed - 1)
        try:
            return super().evaluate(texts, seed, built, watch=watch)
        except HostBusy:
            with self._counting:
                self.spent -= 1
            raise


@dataclass(frozen=True)
class SearchSetup:
    """What every search starts from. initial: row of the initial program, after its gates. seed: of the
    search."""

    project: Project
    own: ProgramsSettings
    evaluator: BudgetedEvaluator
    initial: Row
    ruleset: Ruleset
    blobs: BlobStore
    seed: int
    workers: int


@dataclass(frozen=True)
class BestProgram:
    """The best program that a search knows. score: as the search measured it. curve: evaluations spent and
    the best score then, at each change of it."""

    texts: dict[str, str]
    score: float
    curve: tuple[tuple[int, float], ...]


class Curve:
    """The best score of a search against what it has spent."""

    def __init__(self, setup: SearchSetup):
        self._evaluator, self._points = setup.evaluator, [(0, float(setup.initial["score"]))]

    def add(self, score: float) -> None:
        """Add the best score now, if it is another one."""
        if score != self._points[-1][1]:
            self._points.append((self._evaluator.spent, float(score)))

    def points(self) -> tuple[tuple[int, float], ...]:
        """Return the points, those of few evaluations first."""
        return tuple(self._points)


class Judge:
    """Scores programs as the line does, each once, and keeps the best. start: the best that is known, if not
    the initial program, and its score."""

    def __init__(self, setup: SearchSetup, start: tuple[Mapping[str, str], float] | None = None):
        self._setup, self._curve = setup, Curve(setup)
        self.sign = 1 if setup.project.higher_is_better else -1
        initial = dict(setup.project.evolving), float(setup.initial["score"])
        self.texts, self.best = (dict(start[0]), start[1]) if start else initial
        self._known: dict[str, float | None] = {
            bare_text(texts): score for texts, score in (initial, (self.texts, self.best))
        }
        self._seeds, self._idle = search_seeds(setup.project, setup.own, setup.seed), 0

    @property
    def over(self) -> bool:
        """Whether nothing is left to spend, or nothing new is found any more."""
        return self._setup.evaluator.exhausted or self._idle >= IDLE_ROUNDS

    def merits(self, batch: Sequence[dict[str, str]]) -> list[float]:
        """Return how good programs are, higher is better; -inf without a score."""
        new = {text: one for one in batch if (text := bare_text(one)) not in self._known}
        before = self._setup.evaluator.spent
        scores = side_by_side(self._scored, list(new.values()), self._setup.workers)
        for (text, one), score in zip(new.items(), scores, strict=True):
            self._known[text] = score
            if score is not None and self.sign * score > self.sign * self.best:
                self.texts, self.best = one, score
        self._curve.add(self.best)
        self._idle = 0 if self._setup.evaluator.spent > before else self._idle + 1
        found = [self._known[bare_text(one)] for one in batch]
        return [-math.inf if score is None else self.sign * score for score in found]

    def _scored(self, texts: dict[str, str]) -> float | None:
        setup = self._setup
        name = program_id(setup.project.name, texts)
        candidate = Candidate(texts, name, setup.evaluator, self._seeds)
        try:
            found = run_gates(candidate, GATES, setup.ruleset, artifact_id=name, cycle=CYCLE, run_id=CYCLE)
        except HostBusy:
            return None
        return candidate.score if found.accepted else None

    def found(self) -> BestProgram:
        """Return the best program."""
        return BestProgram(self.texts, self.best, self._curve.points())


def climb(judge: Judge, setup: SearchSetup, random: np.random.Generator, *, from_best: bool) -> None:
    """Try one batch: change one to three literals of the best program so far, or of the initial one."""
    start = judge.texts if from_best else setup.project.evolving
    judge.merits([with_changed_literals(start, random) for _ in range(setup.workers)])


@dataclass(frozen=True)
class SearchState:
    """How far a search is. score: of its best program in the search's evaluations. evaluations, seconds:
    spent in the cycle; seconds are processor seconds of search, jails and evaluators together. rounds:
    batches tried in the cycle."""

    texts: Mapping[str, str]
    score: float
    evaluations: int = 0
    seconds: float = 0.0
    rounds: int = 0


def continued(
    setup: SearchSetup, search: str, before: SearchState, cycle: str, note: Callable[[SearchState], None]
) -> SearchState:
    """Return a search's state when the setup's evaluator, a fresh one, has nothing left to spend, or nothing
    new is found any more.

    search: hill changes one to three literals of the best program so far, and keeps what is better; any other
    changes those of the initial program, always of that one, and keeps what is best. note: keeps a state,
    every `NOTED_S` and at the end.

    What is drawn depends on the rounds before, so that a run which continues after a kill does not draw the
    same again.
    """
    judge, state, rounds = Judge(setup, (before.texts, before.score)), before, before.rounds
    purpose = f"{setup.project.name}/{search}"
    random = generator(setup.seed, CYCLE, cycle, purpose, before.rounds)
    while not judge.over:
        climb(judge, setup, random, from_best=search == "hill")
        rounds += 1
        if judge.over or before.seconds + setup.evaluator.seconds_used > state.seconds + NOTED_S:
            state = SearchState(
                judge.texts,
                judge.best,
                before.evaluations + setup.evaluator.spent,
                before.seconds + setup.evaluator.seconds_spent,
                rounds,
            )
            note(state)
    return state


def evaluated_under(
    project: Project, own: ProgramsSettings, texts: Mapping[str, str], seeds: Sequence[int], mode: str | None
) -> list[Evaluation]:
    """Return an evaluation of a program under each seed. Raises HostBusy."""
    with Evaluator(project, own, mode=mode) as evaluator:
        built = evaluator.build(texts)
        return [evaluator.evaluate(texts, seed, built) for seed in seeds]


@dataclass(frozen=True)
class Literal:
    """A literal in one of the files: its place, its value, and of a marked parameter how a value is
    written."""

    file: str
    start: int
    end: int
    value: Any
    write: Any = None


def literals_in(texts: Mapping[str, str]) -> list[Literal]:
    """Return the marked parameters of the blocks; of Python files without marks, all numbers, truth values
    and strings but docstrings."""
    result: list[Literal] = []
    for name, text in texts.items():
        spans = cut(text, name).spans()
        marked = parameters_in(text, name)
        found = [
            Literal(name, item.start, item.end, round(item.value) if item.whole else item.value, item.written)
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


def with_changed_literals(texts: Mapping[str, str], random: np.random.Generator) -> dict[str, str]:
    """Return the texts with one to three literals changed; as they are if they have none or the result cannot
    be read."""
    found = literals_in(texts)
    if not found:
        return dict(texts)
    chosen = random.choice(len(found), min(len(found), int(random.integers(1, 4))), replace=False)
    strings = sorted({item.value for item in found if isinstance(item.value, str)})
    changed = dict(texts)
    for item in sorted((found[place] for place in chosen), key=lambda item: -item.start):
        new = written(item, changed_value(item.value, strings, random))
        changed[item.file] = changed[item.file][: item.start] + new + changed[item.file][item.end :]
    try:
        for name, text in changed.items():
            if name.endswith(".py"):
                parse(text)
    except Unreadable:  # a string that is part of an f-string, say
        return dict(texts)
    return changed


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
