"""Does selection find the better prompts? A world whose truth is known, and ways to select side by side.

    python benchmarks/prompts_selection.py [--runs 30] [--iterations 20] [--first-seed 200]

Two entries of the principle library decide what a prompt is worth: one raises the share of right replies by
.55, one lowers it by .10; which two is drawn for each run. All else is the line's own code at the paper's
sizes (10 problems, 3 prompts, 5 replies, window 10); operators edit. The world is run with fixed weights, and
with weights that learn: there each update takes 3 % off what is left to learn, so old values mislead.

Printed for each way to select, after 6 iterations and in the end: in how many runs the prompt that is named
best is truly best of those that took part, what the best prompt is worth that it misses (regret), what the
named one is worth, and what the prompts of all iterations were worth on average (what training gets). Two
ways to name are compared on the same runs: by the skill of all matches, and by TrueSkill's mu - 3 sigma. The
runs of one seed share the world, not the draws after the first iteration.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np
from bench import SHORT

from evolake.agents import Agents
from evolake.agents.roles import OperatorsBackend
from evolake.prompts.evolution.iteration import ARMS, IterationContext, run_iteration
from evolake.prompts.evolution.population import MATCHES, Population, found_population
from evolake.prompts.model.library import PrincipleLibrary, load_library, load_roots
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import Group, Problem, Rollout, Sample, UpdateStats
from evolake.prompts.settings import PromptsSettings
from evolake.settings import default_lake_root

SEEDS = default_lake_root() / "seeds/prompts"
BASE, GAIN, LOSS = 0.2, 0.55, -0.10
LEARNED = 0.03
"""Share of what is left to learn that an update learns, in the world that learns."""
EARLY = 6
WAYS = {"skills": ("espl", "skills"), "espl": ("espl", "espl"), "none": ("no-selection", "skills")}
"""Name -> (arm, setting `selection`)."""


@dataclass
class World:
    """A policy whose share of right replies is known for every prompt. helps, hurts: names of entries of the
    library."""

    library: PrincipleLibrary
    helps: str
    hurts: str
    learned: float
    left: float = 1.0
    name: str = "world"
    learns: bool = True

    def share(self, prompt: SystemPrompt) -> float:
        """Return the true share of right replies under a prompt."""
        names = {name for text in prompt.texts for name in self.library.names_of(text)}
        return 1.0 - self.left * (1.0 - BASE - GAIN * (self.helps in names) - LOSS * (self.hurts in names))

    def sample(
        self, pairs: Sequence[tuple[SystemPrompt, Problem]], n: int, seed: int, *, greedy: bool = False
    ) -> list[list[Sample]]:
        random = np.random.default_rng(seed)
        return [
            [self._reply(self.share(prompt), problem, random) for _ in range(n)] for prompt, problem in pairs
        ]

    def _reply(self, share: float, problem: Problem, random: np.random.Generator) -> Sample:
        true = json.loads(problem.answer)
        kind = 3 if random.random() < share else int(random.integers(3))
        reply = (
            f"It is {true} I think",
            f"The sum is {true + 5}",
            "Let me think about it once",
            f"The sum is {true}",
        )[kind]
        return Sample(reply, len(reply.split()), kind == 2)

    def update(self, groups: Sequence[Group], seed: int) -> UpdateStats:
        self.left *= 1.0 - self.learned
        return UpdateStats(1, 0.0, 0.0, 0.0, 1, len(groups), len(groups), 0, True)

    def save(self) -> bytes:
        return json.dumps(self.left).encode()

    def load(self, state: bytes) -> None:
        self.left = json.loads(state)


@dataclass(frozen=True)
class Point:
    """A run after an iteration: true shares of the best prompt that took part, of the named ones, and the
    mean of those that were used so far."""

    best: float
    by_skill: float
    by_rating: float
    used: float


def problem(number: int) -> Problem:
    """Return a sum to add."""
    name = f"sum-{number}"
    return Problem(
        name,
        f"What is {number} + {number + 3}?",
        json.dumps(2 * number + 3),
        True,
        "sums",
        1,
        "train",
        "world",
        name,
    )


PROBLEMS = [problem(number) for number in range(1, 41)]


def judge(prompt: SystemPrompt, problem: Problem, number: int, sample: Sample) -> Rollout:
    """Return the rollout with reward 1 if the last word is the right number."""
    last = sample.reply.split()[-1]
    correct = last.isdigit() and int(last) == json.loads(problem.answer)
    return Rollout(
        prompt.prompt_id,
        problem.problem_id,
        number,
        sample.reply,
        sample.tokens,
        sample.truncated,
        correct,
        last.isdigit(),
        float(correct),
    )


def run(way: str, seed: int, iterations: int, learned: float) -> list[Point]:
    """Return a point for each iteration of one run."""
    library = load_library(SEEDS)
    helps, hurts = (
        library.entries[place].name
        for place in np.random.default_rng([77, seed]).choice(len(library.entries), 2, replace=False)
    )
    world = World(library, helps, hurts, learned)
    arm, selection = WAYS[way]
    settings = PromptsSettings(selection=selection)  # type: ignore[arg-type]
    population = found_population({"plain": load_roots(SEEDS)["plain"]}, "0001")
    points, used = [], []
    with Agents(OperatorsBackend("0001"), line="prompts", cycle="0001") as agents:
        course = IterationContext(agents, judge, settings, library, "0001", seed)
        for _ in range(iterations):
            done = run_iteration(population, world, PROBLEMS, course, arm=ARMS[arm])
            population = done.population
            shares = {
                row["prompt_id"]: world.share(population.prompt(row["prompt_id"]))
                for row in population.living()
                if row["rounds"]
            }
            used.append(
                fmean(shares[row["prompt_id"]] for row in done.rows["ratings"] if row["source"] == "update")
            )
            by_skill, by_rating = (
                shares[item.best_id()] for item in (population, without_matches(population))
            )
            points.append(Point(max(shares.values()), by_skill, by_rating, fmean(used)))
    return points


def without_matches(population: Population) -> Population:
    """Return the population as earlier versions left it, where TrueSkill names the best."""
    return replace(population, state=population.state.filter(population.state["name"] != MATCHES))


def line(points: Sequence[Point]) -> str:
    """Return the figures of all runs after one iteration."""
    found = [
        sum(abs(getattr(point, name) - point.best) < 1e-9 for point in points)
        for name in ("by_skill", "by_rating")
    ]
    regret = [
        fmean(point.best - getattr(point, name) for point in points) for name in ("by_skill", "by_rating")
    ]
    return (
        f"named by skill {found[0]:2d} of {len(points)} truly best, regret {regret[0]:.3f}, worth "
        f"{fmean(point.by_skill for point in points):.3f};  by TrueSkill {found[1]:2d}, regret "
        f"{regret[1]:.3f};  used on average {fmean(point.used for point in points):.3f}"
    )


def compare(runs: int, iterations: int, first_seed: int) -> dict[str, Any]:
    """Print the table; return (world, way) -> points of all runs."""
    result = {}
    for name, learned in (("fixed weights", 0.0), ("weights that learn", LEARNED)):
        print(f"\n{name}, {runs} runs", flush=True)
        for way in WAYS:
            rows = [run(way, first_seed + number, iterations, learned) for number in range(runs)]
            result[name, way] = rows
            for iteration in sorted({min(EARLY, iterations), iterations}):
                print(
                    f"  selection {way:7s} iteration {iteration:3d}: "
                    f"{line([points[iteration - 1] for points in rows])}",
                    flush=True,
                )
    return result


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--runs", type=int, default=1 if SHORT else 30)
    options.add_argument("--iterations", type=int, default=3 if SHORT else 20)
    options.add_argument("--first-seed", type=int, default=200)
    given = options.parse_args()
    compare(given.runs, given.iterations, given.first_seed)


if __name__ == "__main__":
    main()
