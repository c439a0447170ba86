"""Races designs over rungs of (size, instances), small and cheap ones first; who is far behind the best known at a rung goes no further.

Everything is counted in work (`evolake.designs.work`): a step that costs twice the baseline's counts as two.

A rung's bar is a factor over what the fourth best of all racers so far took there, the larger the smaller the size is beside the largest: what is
fastest at N=160 is seldom what scales, and a bar close to it keeps out what does. It is also the limit: a hopeless design costs at most the
bar. All racers of a search meet the same instances (common random numbers), at several sizes and seeds, so that a design that fits one draw falls
at the next. What wins here is still to be measured on fresh ones, against others and against the noise floor.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evolake.compute.needs import trusted
from evolake.designs.engines.median_search import Computed
from evolake.designs.evolution.schedule import MOST_STEPS_PER_WORK
from evolake.designs.genome.grammar import Grammar
from evolake.designs.genome.grammars import compose, parent_of, propose, read_genome, with_values
from evolake.designs.genome.values import differed_values
from evolake.designs.genome.variation import Child, Parent, short_title

SLACK = 1.25
BAR_PLACE = 4
ELITE = 20
SAME_FORM = 4
"""Racers of the elite that may differ in parameter values alone."""
RANK_DECAY = 0.85
DIFFERENCE_ODDS, SETTLED_ODDS = 0.25, 0.7
DIFFERENCE_FACTORS = (0.4, 0.9)
SCORED_FROM = 0.6
"""Rungs whose size is at least this share of the largest that was solved make the score."""


@dataclass(frozen=True)
class Rung:
    """A batch of instances of one size, and the most work that any racer gets there, in steps of the baseline."""

    n: int
    batch: int
    seed: int
    max_steps: int


@dataclass(frozen=True)
class Lap:
    """What a racer took at one rung: median steps (estimated where it did not get there), whether it got there, and processor seconds.

    timed_out: whether a clock cut it before it had shown anything. failure: what it broke on. per_step: work of a step.
    """

    median_step: int
    solved: bool
    cpu_s: float
    steps_run: int = 0
    timed_out: bool = False
    failure: str | None = None
    per_step: float = 1.0

    @property
    def median_work(self) -> float:
        """Median steps in steps of the baseline."""
        return self.median_step * self.per_step


@dataclass(frozen=True)
class Racer:
    """A design that has raced. missed: rungs that it did not get to the end of; score: mean log of its median work at the largest that it did.

    medians: median steps at the rungs that it solved.
    """

    name: str
    title: str
    genome: str
    medians: tuple[int, ...]
    missed: int
    score: float
    operator: str = ""


@dataclass
class Race:
    """The elite of a search and the bars that follow from it."""

    grammar: Grammar
    rungs: Sequence[Rung]
    elite: list[Racer] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    times: list[list[float]] = field(default_factory=list)
    raced: int = 0
    finished: int = 0
    same_form: int = SAME_FORM
    difference_odds: float = DIFFERENCE_ODDS

    def __post_init__(self) -> None:
        self.times = self.times or [[] for _ in self.rungs]

    def limits(self) -> list[int]:
        """Work that the next racer gets at each rung, in steps of the baseline."""
        largest = max(rung.n for rung in self.rungs)
        return [
            min(rung.max_steps, math.ceil(SLACK * largest / rung.n * sorted(times)[:BAR_PLACE][-1])) if times else rung.max_steps
            for rung, times in zip(self.rungs, self.times, strict=True)
        ]

    def propose(self, random: np.random.Generator) -> Child | None:
        """A child of one of the elite, the better the likelier; nothing that was raced before, or that behaves like it."""
        if not self.elite:
            return None
        odds = RANK_DECAY ** np.arange(len(self.elite))
        chosen = random.choice(len(self.elite), size=min(3, len(self.elite)), replace=False, p=odds / odds.sum())
        parents = [self.parent(self.elite[int(place)]) for place in chosen]
        child = differed(parents, self.taken, random) if len(parents) == 3 and random.random() < self.difference_odds else None
        child = child or propose(parents, self.taken, random)
        if child is not None:
            self.taken.add(child.key())
        return child

    def settle(self) -> None:
        """From here on, forms are settled: the elite may be of one form, and most children step along its differences."""
        self.same_form, self.difference_odds = ELITE, SETTLED_ODDS

    def parent(self, racer: Racer) -> Parent:
        return parent_of(racer.name, racer.title, read_genome(racer.genome))

    def take(self, name: str, title: str, genome: str, laps: Sequence[Lap], operator: str = "") -> Racer | None:
        """Notes the laps of a racer; the racer, where it is among the elite. One that a clock cut has not been measured."""
        self.raced += 1
        for times, lap in zip(self.times, laps, strict=False):
            if lap.solved:
                times.append(lap.median_work)
        solved = [lap for lap in laps if lap.solved]
        if not solved or any(lap.timed_out for lap in laps):
            return None
        missed = len(self.rungs) - len(solved)
        self.finished += not missed
        racer = Racer(name, title, genome, tuple(lap.median_step for lap in solved), missed, score(self.rungs, solved), operator)
        self.elite = kept([*self.elite, racer], self.same_form)
        return racer if racer in self.elite else None


def differed(parents: Sequence[Parent], taken: Collection[str], random: np.random.Generator) -> Child | None:
    """The first of three parents, its parameters moved by a part of what tells the second from the third; None where nothing new comes of it.

    What the elite varies in sets the steps: wide while it is varied, small at its end, and along what its members have in common.
    """
    first, parent, other = parents
    assert first.genome is not None
    factor = float(random.uniform(*DIFFERENCE_FACTORS))
    genome = with_values(first.genome, differed_values(first.values, parent.values, other.values, first.scales, factor, random))
    title = short_title("difference", first.design_id)
    rationale = f"Moves the parameters by {factor:.2f} times the way from {other.title} to {parent.title}."
    child = Child(compose(genome, title, rationale), {}, genome, "difference", ((first.design_id, 1.0),), title, rationale)
    return None if child.key() in taken or genome.values() == first.genome.values() else child


def score(rungs: Sequence[Rung], laps: Sequence[Lap]) -> float:
    """Mean log of the median work at the largest of the rungs that laps are of."""
    largest = max(rung.n for rung in rungs[: len(laps)])
    counted = [math.log(max(1.0, lap.median_work)) for rung, lap in zip(rungs, laps, strict=False) if rung.n >= SCORED_FROM * largest]
    return sum(counted) / len(counted)


def kept(racers: Sequence[Racer], same_form: int = SAME_FORM) -> list[Racer]:
    """The best, at most so many of one form."""
    forms: dict[str, int] = {}
    result: list[Racer] = []
    for racer in sorted(racers, key=lambda racer: (racer.missed, racer.score, racer.name)):
        form = form_of(racer.genome)
        forms[form] = forms.get(form, 0) + 1
        if forms[form] <= same_form and len(result) < ELITE:
            result.append(racer)
    return result


def form_of(genome: str) -> str:
    """What a genome is but for its parameters' values."""
    import json

    data: dict[str, Any] = json.loads(genome)
    return json.dumps({name: data[name] for name in ("drives", "memories") if name in data} or sorted(data["terms"]), sort_keys=True)


@trusted
def run_rungs(
    traced: str, rungs: Sequence[Rung], limits: Sequence[int], ratio: float, core_s: float, *, computed: Computed = "deciding",
) -> list[Lap]:
    """The laps of one traced design, until it misses a bar; in a child of this process, as `experiments.simulate_level` does it.

    computed: which instances are computed (`evolake.designs.engines.median_search`). It changes no lap but the estimate of one that missed its bar.
    """
    from evolake.designs.engines.isolated import Run, run_apart

    laps: list[Lap] = []
    for rung, limit in zip(rungs, limits, strict=True):
        most = MOST_STEPS_PER_WORK * limit
        done = run_apart(Run(
            traced, rung.n, rung.batch, rung.seed, most, instance_seed=rung.seed, ratio=ratio, max_work=limit, core_s=core_s, computed=computed,
        ))
        solved = done.unsolved_fraction < 0.5 and not done.failure
        laps.append(Lap(
            int(done.median_step), solved, float(done.cpu_s), int(done.steps_run), bool(done.timed_out), done.failure, float(done.work_per_step),
        ))
        if not solved:
            break
    return laps
