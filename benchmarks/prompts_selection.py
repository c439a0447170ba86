"""Does selection find the better prompts? A world whose truth is known, and ways to select side by side.

    python benchmarks/prompts_selection.py [--runs 30] [--iterations 20] [--first-seed 200]

Some entries of the principle library decide what a prompt is worth (`WORLDS`); which ones is drawn for each
run. In the first world one raises the share of right replies by .55 and one lowers it by .10. All else is the
line's own code at the paper's sizes (10 problems, 3 prompts, 5 replies, window 10); operators edit. In one
world weights learn: there each update takes 3 % off what is left to learn, so old values mislead.

Printed for each selection of the line, after 6 iterations and in the end: what the prompt that is named best
is worth, in how many runs it is the best set of principles there is, in how many it is truly best of those
that took part, and what the prompts of all iterations were worth on average (what training gets). `none`
draws prompts by chance.

Before that, in the worlds of fixed weights, searches that evolve nothing, with as many replies as the line
has by then (150 an iteration): all principles at once (no reply); the best of root and single principles by
equal shares of the replies (`best of n`) or by successive halving.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import chain, combinations
from statistics import fmean
from typing import Any

import numpy as np
from bench import SHORT

from evolake.agents import Agents
from evolake.agents.roles import OperatorsBackend
from evolake.prompts.evolution.iteration import ARMS, IterationContext, run_iteration
from evolake.prompts.evolution.population import found_population
from evolake.prompts.model.library import PrincipleLibrary, load_library, load_roots
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import Group, Problem, Rollout, Sample, UpdateStats
from evolake.prompts.settings import PromptsSettings
from evolake.settings import default_lake_root

SEEDS = default_lake_root() / "seeds/prompts"
BASE = 0.2
"""Share of right replies of a prompt without a principle that counts."""
EARLY = 6
REPLIES = 150
"""Of an iteration: 10 problems, 3 prompts, 5 replies."""


@dataclass(frozen=True)
class Effects:
    """What principles do to the share of right replies. alone: one entry a principle that counts. together:
    added if a prompt has the first two. learned: share of what is left to learn that an update learns. apart:
    added for every other problem, and taken from the rest."""

    alone: tuple[float, ...]
    together: float = 0.0
    learned: float = 0.0
    apart: float = 0.0


WORLDS = {
    "fixed weights": Effects((0.55, -0.10)),
    "weights that learn": Effects((0.55, -0.10), learned=0.03),
    "two that need each other": Effects((0.10, 0.05, -0.10), together=0.40),
    "six that hurt": Effects((0.55, *[-0.06] * 6)),
    "hard and easy problems": Effects((0.55, -0.10), apart=0.2),
}
WAYS = {"stepwise": ("espl", "stepwise"), "espl": ("espl", "espl"), "none": ("no-selection", "espl")}
"""Name -> (arm, setting `selection`)."""


@dataclass
class World:
    """A policy whose share of right replies is known for every prompt. drawn: names of entries of the library
    that count, in the order of `effects.alone`."""

    library: PrincipleLibrary
    drawn: tuple[str, ...]
    effects: Effects
    left: float = 1.0
    name: str = "world"
    learns: bool = True

    def share(self, prompt: SystemPrompt) -> float:
        """Return the true share of right replies under a prompt."""
        return self.worth({name for text in prompt.texts for name in self.library.names_of(text)})

    def worth(self, names: Set[str]) -> float:
        """Return the true share of right replies under a prompt with these principles."""
        alone = sum(
            effect for name, effect in zip(self.drawn, self.effects.alone, strict=True) if name in names
        )
        both = self.effects.together * (set(self.drawn[:2]) <= names)
        return max(0.0, 1.0 - self.left * (1.0 - BASE - alone - both))

    def most(self) -> float:
        """Return the share of the best set of principles."""
        some = [combinations(self.drawn, size) for size in range(len(self.drawn) + 1)]
        return max(self.worth(set(names)) for names in chain(*some))

    def sample(
        self, pairs: Sequence[tuple[SystemPrompt, Problem]], n: int, seed: int, *, greedy: bool = False
    ) -> list[list[Sample]]:
        random = np.random.default_rng(seed)
        return [
            [self._reply(self.share(prompt), problem, random) for _ in range(n)] for prompt, problem in pairs
        ]

    def _reply(self, share: float, problem: Problem, random: np.random.Generator) -> Sample:
        true = json.loads(problem.answer)
        share += self.effects.apart * (1 if true % 4 == 1 else -1)
        kind = 3 if random.random() < share else int(random.integers(3))
        reply = (
            f"It is {true} I think",
            f"The sum is {true + 5}",
            "Let me think about it once",
            f"The sum is {true}",
        )[kind]
        return Sample(reply, len(reply.split()), kind == 2)

    def update(self, groups: Sequence[Group], seed: int) -> UpdateStats:
        self.left *= 1.0 - self.effects.learned
        return UpdateStats(1, 0.0, 0.0, 0.0, 1, len(groups), len(groups), 0, True)

    def save(self) -> bytes:
        return json.dumps(self.left).encode()

    def load(self, state: bytes) -> None:
        self.left = json.loads(state)


@dataclass(frozen=True)
class Point:
    """A run after an iteration: true shares of the best prompt that took part, of the named one, the mean of
    the replies so far, and what the best set of principles is worth."""

    best: float
    named: float
    used: float
    most: float


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


def world_of(effects: Effects, seed: int) -> World:
    """Return the world of one run."""
    library = load_library(SEEDS)
    random = np.random.default_rng([77, seed])
    places = random.choice(len(library.entries), len(effects.alone), replace=False)
    return World(library, tuple(library.entries[place].name for place in places), effects)


Names = frozenset[str]


def halving(world: World, sets: Sequence[Names], replies: int, random: np.random.Generator) -> Names:
    """Return the set that is left when each round asks for its share of the replies and drops the worse half,
    by all replies so far."""
    right, asked, alive = dict.fromkeys(sets, 0), dict.fromkeys(sets, 0), list(sets)
    rounds = max(1, math.ceil(math.log2(len(sets))))
    for _ in range(rounds):
        each = max(1, replies // rounds // len(alive))
        for one in alive:
            right[one] += int(random.binomial(each, world.worth(one)))
            asked[one] += each
        alive = sorted(alive, key=lambda one: -right[one] / asked[one])[: max(1, len(alive) // 2)]
    return alive[0]


def best_of(world: World, sets: Sequence[Names], replies: int, random: np.random.Generator) -> Names:
    """Return the set with the most right replies of equally many."""
    each = replies // len(sets)
    return max(sets, key=lambda one: random.binomial(each, world.worth(one)))


SEARCHES = {
    "best of n": best_of,
    "successive halving": halving,
    "all at once": lambda world, sets, replies, random: Names().union(*sets),
}


def search(name: str, effects: Effects, seed: int, replies: int) -> tuple[float, float]:
    """Return what a search that evolves nothing finds in one run is worth, and what the best set is."""
    world = world_of(effects, seed)
    sets = [Names(), *(Names({entry.name}) for entry in world.library.entries)]
    random = np.random.default_rng([78, seed, replies])
    return world.worth(SEARCHES[name](world, sets, replies, random)), world.most()


def run(way: str, seed: int, iterations: int, effects: Effects) -> list[Point]:
    """Return a point for each iteration of one run."""
    world = world_of(effects, seed)
    library = world.library
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
            used.append(fmean(shares[row["prompt_id"]] for row in done.rows["rollouts"]))
            named = shares[population.best_id()]
            points.append(Point(max(shares.values()), named, fmean(used), world.most()))
    return points


def line(points: Sequence[Point]) -> str:
    """Return the figures of all runs after one iteration."""
    most, found = (
        sum(point.named > getattr(point, name) - 1e-9 for point in points) for name in ("most", "best")
    )
    return (
        f"worth {fmean(point.named for point in points):.3f} ({most} the best set), {found} the best that "
        f"took part; used on average {fmean(point.used for point in points):.3f}"
    )


def compare(runs: int, iterations: int, first_seed: int) -> dict[str, Any]:
    """Print the table; return (world, way) -> points of all runs."""
    result = {}
    early = sorted({min(EARLY, iterations), iterations})
    for name, effects in WORLDS.items():
        print(f"\n{name}, {runs} runs", flush=True)
        for replies in (REPLIES * iteration for iteration in early if not effects.learned):
            for kind in SEARCHES:
                rows = [search(kind, effects, first_seed + number, replies) for number in range(runs)]
                best = sum(worth > most - 1e-9 for worth, most in rows)
                print(
                    f"  {kind:18s} {replies:5d} replies: worth {fmean(worth for worth, _ in rows):.3f} "
                    f"({best} the best set)",
                    flush=True,
                )
        for way in WAYS:
            rows = [run(way, first_seed + number, iterations, effects) for number in range(runs)]
            result[name, way] = rows
            for iteration in early:
                print(
                    f"  {way:18s} {REPLIES * iteration:5d} replies: "
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
