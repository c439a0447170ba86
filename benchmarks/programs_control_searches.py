"""The searches that `programs_control.py` compares: the line's operators, a hill climber and a restart
climber.

All three evaluate by the same `Evaluator`, in the jail, with the same number of evaluations at the same time,
and judge by the same gates. An evaluation is one call of the project's evaluator under one seed. A program
that was evaluated before is not evaluated again and costs nothing, and neither does one that does not build;
an evaluation that fails costs as much as any other. The initial program is known to all and costs nothing.
"""

from __future__ import annotations

import ast
import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.agents import Agents
from evolake.agents.backends import OperatorsBackend
from evolake.errors import HostBusy
from evolake.gates import Ruleset
from evolake.gates.run import side_by_side
from evolake.lake import BlobStore
from evolake.programs.evolution.generations import judge, run_generation
from evolake.programs.evolution.outcome import Context, search_seeds
from evolake.programs.evolution.population import Islands, Row, texts_of
from evolake.programs.evolution.program_contest import end_of_cycle
from evolake.programs.evolution.search_memory import SearchMemory
from evolake.programs.gates import Candidate, bare_text
from evolake.programs.model.program_text import Places, Unreadable, cut, parameters_in, parse
from evolake.programs.model.project import Project, program_id
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator
from evolake.programs.sandbox.program_runs import Built
from evolake.programs.settings import ProgramsSettings
from evolake.seeds import child_seed, generator

IDLE_ROUNDS = 60
"""Rounds (generations of the operators, batches of a climber) without a new program after which a search
ends: it has found no further one to try."""

LARGEST = 1e12
"""Numbers beyond it are left as they are."""


class BudgetedEvaluator(Evaluator):
    """An evaluator that refuses further evaluations when their number or the time is spent. `spent` counts
    them."""

    def __init__(
        self,
        project: Project,
        own: ProgramsSettings,
        *,
        workers: int,
        mode: str | None,
        most: int,
        until: float = math.inf,
    ):
        super().__init__(project, own, workers=workers, mode=mode)
        self.most, self.until, self.spent, self._counting = most, until, 0, threading.Lock()

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to spend."""
        return self.spent >= self.most or time.monotonic() >= self.until

    def evaluate(
        self, texts: Mapping[str, str], seed: int, built: Built | None = None, *, watch: bool = False
    ) -> Evaluation:
        """Return an evaluation, and count it; a failed one without a score if nothing is left to spend."""
        with self._counting:
            if self.exhausted:
                return Evaluation("budget", "all evaluations of the benchmark are spent", seed=seed)
            self.spent += 1
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


def operators(setup: SearchSetup) -> BestProgram:
    """Search as cycles of the line do: generations on islands, migration at the end of each cycle.

    The duel at the end of a cycle, whose evaluations are under held-out seeds, is left out: the best program
    of the search counts as champion.
    """
    islands = Islands(setup.project, setup.own, {setup.initial["program_id"]: setup.initial})
    rows, cycle, idle = [setup.initial], 0, 0
    curve = Curve(setup)
    while not setup.evaluator.exhausted and idle < IDLE_ROUNDS:
        cycle += 1
        name = f"{cycle:04d}"
        agents = Agents(OperatorsBackend(name), line="programs", cycle=name)
        context = Context(
            setup.evaluator,
            setup.own,
            agents,
            setup.blobs,
            setup.ruleset,
            name,
            "benchmark",
            setup.seed,
            setup.workers,
        )
        for generation in range(1, setup.own.generations_per_cycle + 1):
            if setup.evaluator.exhausted:
                break
            before = setup.evaluator.spent
            entry = run_generation(
                context,
                islands,
                generation,
                next_number=len(rows),
                seen={row["program_id"] for row in rows},
                artifacts={},
                memory=SearchMemory(rows),
            )
            rows += entry.programs
            curve.add(islands.ranked(islands.rows.values())[0]["score"])
            idle = 0 if setup.evaluator.spent > before else idle + 1
        best = islands.ranked(islands.rows.values())[0]
        end_of_cycle(
            islands, best["program_id"], most=setup.project.config.population or setup.own.most_programs
        )
    best = islands.ranked(islands.rows.values())[0]
    return BestProgram(texts_of(setup.blobs, best["files_sha"]), best["score"], curve.points())


def hill_climbing(setup: SearchSetup) -> BestProgram:
    """Change one to three literals of the best program so far, and keep what is better."""
    return _climb(setup, from_best=True)


def restart_climbing(setup: SearchSetup) -> BestProgram:
    """Change one to three literals of the initial program, always of that one, and keep what is best."""
    return _climb(setup, from_best=False)


SEARCHES = {"operators": operators, "hill": hill_climbing, "restart": restart_climbing}


def _climb(setup: SearchSetup, *, from_best: bool) -> BestProgram:
    project, evaluator, sign = setup.project, setup.evaluator, 1 if setup.project.higher_is_better else -1
    texts, best, curve = dict(project.evolving), setup.initial["score"], Curve(setup)
    random = generator(setup.seed, "climber", project.name, "from_best" if from_best else "from_initial")
    tried, idle = {bare_text(texts)}, 0
    seeds = search_seeds(project, setup.own, setup.seed)

    def judged(texts: dict[str, str]) -> float | None:
        candidate = Candidate(texts, program_id(project.name, texts), evaluator, seeds)
        try:
            accepted = judge(candidate, setup.ruleset, setup.blobs, cycle="0001", run_id="benchmark").accepted
        except HostBusy:
            return None
        return candidate.score if accepted else None

    while not evaluator.exhausted and idle < IDLE_ROUNDS:
        batch: list[dict[str, str]] = []
        for _ in range(setup.workers):
            changed = with_changed_literals(texts if from_best else project.evolving, random)
            if (text := bare_text(changed)) not in tried:
                tried.add(text)
                batch.append(changed)
        before = evaluator.spent
        for changed, score in zip(batch, side_by_side(judged, batch, setup.workers), strict=True):
            if score is not None and sign * score > sign * best:
                texts, best = changed, score
        curve.add(best)
        idle = 0 if evaluator.spent > before else idle + 1
    return BestProgram(texts, best, curve.points())


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
        value = changed_value(item.value, strings, random)
        negative = isinstance(value, int | float) and value < 0
        if item.write:
            written = item.write(value)
        elif negative:
            written = f"({value!r})"
        else:
            written = repr(value)
        changed[item.file] = changed[item.file][: item.start] + written + changed[item.file][item.end :]
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


def held_out_seeds(project: Project, own: ProgramsSettings, count: int) -> list[int]:
    """Return seeds that no search has, the same for all."""
    return (
        [child_seed(0, "programs_control", "held-out", project.name, place) for place in range(count)]
        if search_is_noisy(project, own)
        else []
    )


def search_is_noisy(project: Project, own: ProgramsSettings) -> bool:
    """Return whether a candidate is evaluated under several seeds, so that its score is an estimate."""
    return (project.given.evaluator.repeats or own.repeats) > 1
