"""The searches that `programs_control.py` compares: the line's operators, with a polish and without, and the
built-in ones over the literals (`evolake.programs.search.searches`).

All evaluate by the same `Evaluator`, in the jail, with the same number of evaluations at the same time, and
judge by the same gates: `evolake.programs.evolution.budgeted_search` has what they share, and what counts
as an evaluation.
"""

from __future__ import annotations

from functools import partial

from evolake.agents import Agents
from evolake.agents.roles import OperatorsBackend
from evolake.programs.evolution.budgeted_search import (
    IDLE_ROUNDS,
    BestProgram,
    Curve,
    Judge,
    SearchSetup,
    searching,
)
from evolake.programs.evolution.generations import run_generation
from evolake.programs.evolution.outcome import Context
from evolake.programs.evolution.population import Islands, texts_of
from evolake.programs.evolution.program_contest import end_of_cycle
from evolake.programs.evolution.search_memory import SearchMemory
from evolake.programs.model.project import Project
from evolake.programs.search.searches import BUILT_IN
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


def literals(setup: SearchSetup, *, search: str) -> BestProgram:
    """Search over the literals of the initial program."""
    initial = dict(setup.project.evolving), float(setup.initial["score"])
    judge, random = Judge(setup), generator(setup.seed, "climber", setup.project.name, search)
    for _ in searching(judge, setup, search, initial, random):
        pass
    return judge.found()


SEARCHES = {
    "operators": operators,
    "plain": operators,
    **{name: partial(literals, search=name) for name in BUILT_IN},
}
"""Name -> search. `plain`: the operators without a polish."""
BASELINES = tuple(BUILT_IN)


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
