"""The searches that `programs_control.py` compares: the line's operators, with a polish and without, and four
dumb ones over the literals: a hill climber, a restart climber, CMA-ES and differential evolution.

All evaluate by the same `Evaluator`, in the jail, with the same number of evaluations at the same time, and
judge by the same gates: `evolake.programs.evolution.budgeted_search` has what they share, and what counts
as an evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from evolake.agents import Agents
from evolake.agents.roles import OperatorsBackend
from evolake.programs.evolution.budgeted_search import (
    IDLE_ROUNDS,
    LARGEST,
    BestProgram,
    Curve,
    Judge,
    SearchSetup,
    climb,
    literals_in,
    written,
)
from evolake.programs.evolution.generations import run_generation
from evolake.programs.evolution.outcome import Context
from evolake.programs.evolution.population import Islands, texts_of
from evolake.programs.evolution.program_contest import end_of_cycle
from evolake.programs.evolution.search_memory import SearchMemory
from evolake.programs.model.project import Project
from evolake.programs.settings import ProgramsSettings
from evolake.seeds import child_seed, generator


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


def climbing(setup: SearchSetup, *, from_best: bool) -> BestProgram:
    """Change literals of the best program so far, or always of the initial one."""
    judge = Judge(setup)
    random = generator(
        setup.seed, "climber", setup.project.name, "from_best" if from_best else "from_initial"
    )
    while not judge.over:
        climb(judge, setup, random, from_best=from_best)
    return judge.found()


class Vector:
    """The numbers among the literals of the initial program as one vector; 0 is what they are there, and 1 is
    as much more, or the range of a marked one."""

    def __init__(self, texts: Mapping[str, str]):
        self._texts = texts
        self._items = [item for item in literals_in(texts) if type(item.value) in (int, float)]
        self._values = np.array([item.value for item in self._items], float)
        self._unit = np.where(self._values == 0, 1.0, np.abs(self._values))
        self.count = len(self._items)

    def program(self, vector: np.ndarray) -> dict[str, str]:
        """Return the program with a vector's numbers."""
        changed, found = dict(self._texts), self._values + vector * self._unit
        for item, value in sorted(
            zip(self._items, np.clip(found, -LARGEST, LARGEST).tolist(), strict=True),
            key=lambda pair: -pair[0].start,
        ):
            new = round(value) if isinstance(item.value, int) else float(f"{value:.9g}")
            text = changed[item.file]
            changed[item.file] = text[: item.start] + written(item, new) + text[item.end :]
        return changed


def cma_es(setup: SearchSetup) -> BestProgram:
    """Adapt a normal distribution over all numbers (Hansen, The CMA Evolution Strategy: A Tutorial, 2016),
    from the initial ones with a step of a fifth of each."""
    judge, vector = Judge(setup), Vector(setup.project.evolving)
    random, n = generator(setup.seed, "climber", setup.project.name, "cma"), vector.count
    if not n:
        return judge.found()
    size = 4 + int(3 * math.log(n))
    raw = math.log(size / 2 + 0.5) - np.log(np.arange(1, size // 2 + 1))
    weights = raw / raw.sum()
    mass = 1 / np.sum(weights**2)
    c_step, c_path = (mass + 2) / (n + mass + 5), (4 + mass / n) / (n + 4 + 2 * mass / n)
    c_one = 2 / ((n + 1.3) ** 2 + mass)
    c_many = min(1 - c_one, 2 * (mass - 2 + 1 / mass) / ((n + 2) ** 2 + mass))
    damping = 1 + 2 * max(0, math.sqrt((mass - 1) / (n + 1)) - 1) + c_step
    usual = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
    mean, step, covariance = np.zeros(n), 0.2, np.eye(n)
    path, path_step = np.zeros(n), np.zeros(n)
    while not judge.over:
        values, axes = np.linalg.eigh(covariance)
        root = axes * np.sqrt(np.maximum(values, 1e-20))
        drawn = random.normal(size=(size, n)) @ root.T
        order = np.argsort(
            [-merit for merit in judge.merits([vector.program(mean + step * one) for one in drawn])]
        )
        best = drawn[order[: len(weights)]]
        moved = weights @ best
        mean = mean + step * moved
        path_step = (1 - c_step) * path_step + math.sqrt(c_step * (2 - c_step) * mass) * (
            axes @ (axes.T @ moved / np.sqrt(np.maximum(values, 1e-20)))
        )
        length = float(np.linalg.norm(path_step))
        path = (1 - c_path) * path + (length < 1.5 * usual) * math.sqrt(c_path * (2 - c_path) * mass) * moved
        covariance = (1 - c_one - c_many) * covariance + c_one * np.outer(path, path)
        covariance += c_many * (best.T * weights) @ best
        step = float(np.clip(step * math.exp(c_step / damping * (length / usual - 1)), 1e-9, 10.0))
    return judge.found()


def differential_evolution(setup: SearchSetup) -> BestProgram:
    """Move 15 vectors, the first of them the initial one, along differences of others (Storn and Price, 1997:
    best/1/bin, factors of 0.5 to 1, 0.7 of the numbers)."""
    judge, vector = Judge(setup), Vector(setup.project.evolving)
    random, n = generator(setup.seed, "climber", setup.project.name, "de"), vector.count
    if not n:
        return judge.found()
    points = np.concatenate([np.zeros((1, n)), random.uniform(-1, 1, size=(14, n)) * 0.5])
    merits = np.array(judge.merits([vector.program(one) for one in points]))
    while not judge.over:
        first, second = (points[random.permutation(15)] for _ in range(2))
        moved = points[int(np.argmax(merits))] + random.uniform(0.5, 1.0) * (first - second)
        taken = random.random((15, n)) < 0.7
        taken[np.arange(15), random.integers(n, size=15)] = True
        tried = np.where(taken, moved, points)
        new = np.array(judge.merits([vector.program(one) for one in tried]))
        points[new >= merits], merits = tried[new >= merits], np.maximum(new, merits)
    return judge.found()


SEARCHES = {
    "operators": operators,
    "plain": operators,
    "hill": partial(climbing, from_best=True),
    "restart": partial(climbing, from_best=False),
    "cma": cma_es,
    "de": differential_evolution,
}
"""Name -> search. `plain`: the operators without a polish."""
BASELINES = ("hill", "restart", "cma", "de")


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
