"""Searches over the literals of a program (`searches`), which the line's search has to beat, under a budget:
by the same evaluator, in the same jail, through the same gates, for processor seconds or evaluations.

The line's asset `baseline` runs them in every cycle, and continues where the cycle before ended
(`continued`); `benchmarks/programs_control.py` compares them with the operators. An evaluation is one call of
the project's evaluator under one seed. A program that was evaluated before is not evaluated again and costs
nothing, and neither does one that does not build; an evaluation that fails costs as much as any other. The
initial program is known to all and costs nothing.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from evolake.programs.model.project import Project, program_id
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator
from evolake.programs.sandbox.program_runs import Built
from evolake.programs.search.searches import Literals, search_named
from evolake.programs.settings import ProgramsSettings
from evolake.seeds import generator

IDLE_ROUNDS = 60
"""Rounds (generations of the operators, batches of a climber) without a new program after which a search
ends: it has found no further one to try."""

BEYOND_S = 1.3
"""Processor seconds that the start of a polish takes, and the evaluation of what it found."""

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


def searching(
    judge: Judge,
    setup: SearchSetup,
    search: str,
    best: tuple[Mapping[str, str], float],
    random: np.random.Generator,
) -> Iterator[None]:
    """Yield after each batch of a search, until nothing is left to spend or it ends. best: the best program
    that it knows, with its score.

    Raises:
        InputError: there is no such search. MachineryError: what it asks for are no candidates.
    """
    make = search_named(search)
    if getattr(make, "from_initial", False):
        best = setup.project.evolving, float(setup.initial["score"])
    literals = Literals(best[0])
    running = make(literals.space, judge.sign * best[1], random, setup.workers)
    while not judge.over and len(asked := running.ask()):
        running.tell(asked, judge.merits([literals.program(values, search) for values in asked]))
        yield


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
    new is found any more. note: keeps a state, every `NOTED_S` and at the end.

    What is drawn depends on the rounds before, so that a run which continues after a kill does not draw the
    same again. Raises as `searching` does.
    """
    best = before.texts, before.score
    judge, state, rounds = Judge(setup, best), before, before.rounds
    random = generator(setup.seed, CYCLE, cycle, f"{setup.project.name}/{search}", before.rounds)

    def now() -> SearchState:
        return SearchState(
            judge.texts,
            judge.best,
            before.evaluations + setup.evaluator.spent,
            before.seconds + setup.evaluator.seconds_spent,
            rounds,
        )

    for _ in searching(judge, setup, search, best, random):
        rounds += 1
        if before.seconds + setup.evaluator.seconds_used > state.seconds + NOTED_S:
            note(state := now())
    if rounds > state.rounds:
        note(state := now())
    return state


def evaluated_under(
    project: Project, own: ProgramsSettings, texts: Mapping[str, str], seeds: Sequence[int], mode: str | None
) -> list[Evaluation]:
    """Return an evaluation of a program under each seed. Raises HostBusy."""
    with Evaluator(project, own, mode=mode) as evaluator:
        built = evaluator.build(texts)
        return [evaluator.evaluate(texts, seed, built) for seed in seeds]
