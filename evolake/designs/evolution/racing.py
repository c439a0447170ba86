"""Race designs over budget levels of (size, instances), small and cheap ones first; who is far behind the
best known at a budget level goes no further.

Everything is counted in work (`evolake.designs.work`): a step that costs twice the baseline's counts as two.
A budget level's bar is a factor over what the fourth best of all racers so far took there, the larger the
smaller the size is next to the largest: what is fastest at N=160 is seldom what scales. It is also the limit:
a hopeless design costs at most the bar. All racers of a search meet the same instances (common random
numbers), at several sizes and seeds, so that a design that fits one draw falls at the next. What wins here is
still to be measured on fresh ones, against others and against the noise floor.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from evolake.compute.needs import trusted
from evolake.designs.engines.median_search import Computed
from evolake.designs.evolution.schedule import MOST_STEPS_PER_WORK
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genetic import OF_TWO, OPERATORS, parent_of, propose
from evolake.designs.genome.open_genome import read_genome, with_values
from evolake.designs.genome.variation import Child, Parent, differed_values, short_title
from evolake.designs.model.instances import PLANTED, FormulaKind, KindName

SLACK = 1.25
SWITCH_SLACK = 4.0
"""What `SLACK` is for a child that is two designs in turn: what both take adds up."""
BAR_PLACE = 4
ELITE = 20
FRONT, FRONT_ODDS = 12, 0.2
"""Racers of the front that are kept, and how often a child has one of them as its first parent."""
SPECIALISTS, SPECIALIST_ODDS = 12, 0.4
"""The best racers on each kind alone that are kept, and how often all parents of a child are of one such
group."""
SAME_FORM = 4
"""Racers of the elite that may differ in parameter values alone."""
RANK_DECAY = 0.85
DIFFERENCE_ODDS, FIXED_FORM_ODDS = 0.25, 0.7
JOINED_AFTER, FIXED_AFTER = 0.4, 0.75
"""Shares of a search after which `Race.join` and `Race.fix_forms` are due."""
SWITCH_SHARE = 0.1
"""Of the children of a joined race on several kinds, those by `switch`; the draw of operators adds more."""
SWITCHED = 4
"""Of the best on a kind, those that `switch` takes its parents from."""
STRUCTURE_SHARE = 0.4
"""Of the children of a race, those that are made by an operator that changes the form of a design, at least;
the baseline with other values is found easily, and takes the place of what is new."""
VALUE_OPERATORS = ("constants", "perturb")
DIFFERENCE_FACTORS = (0.4, 0.9)
SCORED_FROM = 0.6
"""Budget levels whose size is at least this share of the largest that was solved make the score."""


@dataclass(frozen=True)
class BudgetLevel:
    """A batch of instances of one size and kind, and the most work that any racer gets there, in steps of the
    baseline."""

    n: int
    batch: int
    seed: int
    max_steps: int
    kind: FormulaKind = PLANTED


@dataclass(frozen=True)
class Stage:
    """What a racer took at one budget level: median steps (estimated where it did not get there), whether it
    got there, and processor seconds.

    timed_out: whether a clock cut it before it had shown anything. failure: what it broke on. per_step: work
    of a step. ran: False for a budget level that was not run, because a smaller one of its kind was missed.
    """

    median_step: int
    solved: bool
    cpu_s: float
    steps_run: int = 0
    timed_out: bool = False
    failure: str | None = None
    per_step: float = 1.0
    ran: bool = True

    @property
    def median_work(self) -> float:
        """Median steps in steps of the baseline."""
        return self.median_step * self.per_step


@dataclass(frozen=True)
class KindScore:
    """How a racer did on the formulas of one kind. missed: budget levels that it did not get to the end of;
    score: mean log of its median work at the largest that it did (infinite if none); n, median: the largest
    size that it solved, and its median steps there (0 if none); medians: at every level that it solved."""

    kind: KindName
    missed: int
    score: float
    n: int
    median: int
    medians: tuple[int, ...]

    @property
    def order(self) -> tuple[int, float]:
        """What racers are ordered by on a kind; lower is better."""
        return self.missed, self.score


@dataclass(frozen=True)
class Racer:
    """A design that has raced. missed: budget levels that it did not get to the end of; score: mean log of
    its median work at the largest that it did, mean over kinds.

    medians, works: median steps and median work at the budget levels that it solved. kinds: by kind of
    formulas.
    """

    name: str
    title: str
    genome: str
    medians: tuple[int, ...]
    missed: int
    score: float
    operator: str
    kinds: tuple[KindScore, ...]
    works: tuple[float, ...]

    def beats(self, other: Racer) -> bool:
        """Return whether this one is at least as good on every kind and better on one."""
        pairs = [(ours.order, theirs.order) for ours, theirs in zip(self.kinds, other.kinds, strict=True)]
        return all(ours <= theirs for ours, theirs in pairs) and any(ours < theirs for ours, theirs in pairs)


class Proposed(Protocol):
    """What a race asks of a child before it runs: how it was made, and of whom."""

    @property
    def operator(self) -> str:
        """Return the operator that made it."""
        ...

    @property
    def weights(self) -> tuple[tuple[str, float], ...]:
        """Return its parents' names with their shares."""
        ...


@dataclass
class Race:
    """The elite of a search and the cutoffs that follow from it.

    times: at each level the median works of all who solved it. specialists: the best on each kind of formulas
    alone, by kind; empty if there is one kind. joined: see `join`.
    """

    levels: Sequence[BudgetLevel]
    elite: list[Racer] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    times: list[list[float]] = field(default_factory=list)
    raced: int = 0
    finished: int = 0
    same_form: int = SAME_FORM
    difference_odds: float = DIFFERENCE_ODDS
    front: list[Racer] = field(default_factory=list)
    specialists: dict[str, list[Racer]] = field(default_factory=dict)
    joined: bool = False

    def __post_init__(self) -> None:
        self.times = self.times or [[] for _ in self.levels]
        kinds = kinds_of(self.levels)
        self.specialists = self.specialists or {
            kind: best_on(number, self.known()) for number, kind in enumerate(kinds) if len(kinds) > 1
        }

    def limits(self, child: Proposed | None = None) -> list[int]:
        """Return the work that a racer gets at each budget level, in steps of the baseline.

        It follows from the times of those before. Once kinds are joined, a child by `switch`, or of a racer
        that went through every level, is held to the slowest of such racers at each level (`SWITCH_SLACK`,
        `SLACK`): what is fast on one kind is mostly good at nothing else.
        """
        kinds = kinds_of(self.levels)
        if self.joined and len(kinds) > 1 and child is not None:
            best = (*self.elite, *self.front)
            finished = {racer.name: racer.works for racer in best if len(racer.works) == len(self.levels)}
            switched = child.operator == "switch"
            if switched or any(name in finished for name, _ in child.weights):
                slack = SWITCH_SLACK if switched else SLACK
                return [
                    math.ceil(min(level.max_steps, slack * max(works, default=math.inf)))
                    for level, *works in zip(self.levels, *finished.values(), strict=True)
                ]
        largest = {kind: max(level.n for level in self.levels if level.kind.name == kind) for kind in kinds}
        return [
            min(
                level.max_steps,
                math.ceil(SLACK * largest[level.kind.name] / level.n * sorted(times)[:BAR_PLACE][-1]),
            )
            if times
            else level.max_steps
            for level, times in zip(self.levels, self.times, strict=True)
        ]

    def propose(self, random: np.random.Generator) -> Child | None:
        """Return a child of one of the elite, the better the likelier; nothing that was raced before, or that
        behaves like it."""
        if not self.elite:
            return None
        drawn, among = random.random(), self.elite
        if self.specialists and (drawn < SPECIALIST_ODDS or not self.joined):
            among = list(self.specialists.values())[int(random.integers(len(self.specialists)))] or among
        odds = RANK_DECAY ** np.arange(len(among))
        chosen = random.choice(len(among), size=min(3, len(among)), replace=False, p=odds / odds.sum())
        parents = [self.parent(among[int(place)]) for place in chosen]
        if self.specialists and self.joined and self.front and drawn > 1.0 - FRONT_ODDS:
            first = self.front[int(random.integers(len(self.front)))]
            parents = [self.parent(first), *(parent for parent in parents if parent.design_id != first.name)][
                :3
            ]
        structural = random.random() < STRUCTURE_SHARE
        operator = self._structural(parents, random) if structural else None
        if self.specialists and self.joined and random.random() < SWITCH_SHARE:
            operator, structural = "switch", True
        if operator == "switch" and (pair := self._pair(random)):
            parents = pair
        steps = len(parents) == 3 and not structural and random.random() < self.difference_odds
        child = differed(parents, self.taken, random) if steps else None
        child = child or propose(parents, self.taken, random, operator=operator)
        if child is not None:
            self.taken.add(child.key())
        return child

    def _structural(self, parents: Sequence[Parent], random: np.random.Generator) -> str:
        """Return an operator that changes the form of a design."""
        names = [
            name
            for name in OPERATORS
            if name not in VALUE_OPERATORS
            and (len(parents) > 1 or name not in OF_TWO)
            and (name != "switch" or self.joined or not self.specialists)
        ]
        return names[int(random.integers(len(names)))]

    def _pair(self, random: np.random.Generator) -> list[Parent]:
        """Return one of the best on each of two kinds, in either order; none if there are not two."""
        groups = [group[:SWITCHED] for group in self.specialists.values() if group]
        order = random.permutation(len(groups))[:2]
        chosen = [groups[number][int(random.integers(len(groups[number])))] for number in order]
        return [self.parent(racer) for racer in chosen] if len({racer.name for racer in chosen}) == 2 else []

    def known(self) -> list[Racer]:
        """Return all racers that are kept: elite, front, and the best on each kind alone; each once."""
        groups = (self.elite, self.front, *self.specialists.values())
        return list({racer.name: racer for group in groups for racer in group}.values())

    def dynamics(self) -> int:
        """Return how many forms the elite and the front hold: designs that differ in values alone are one."""
        return len({form_of(racer.genome) for racer in (*self.elite, *self.front)})

    def join(self) -> None:
        """From here on, designs that are good at one kind of formulas are joined. Before, each kind has a
        separate population, whose children are held to what is fast on that kind."""
        self.joined = True

    def fix_forms(self) -> None:
        """From here on, forms are fixed: the elite may be of one form, and most children step along its
        differences."""
        self.same_form, self.difference_odds = ELITE, FIXED_FORM_ODDS

    def parent(self, racer: Racer) -> Parent:
        """Return a racer as a parent."""
        return parent_of(racer.name, racer.title, read_genome(racer.genome))

    def take(
        self, name: str, title: str, genome: str, stages: Sequence[Stage], operator: str = ""
    ) -> Racer | None:
        """Record the stages of a racer; return the racer if it is among the elite. One that a clock cut has
        not been measured."""
        self.raced += 1
        for times, stage in zip(self.times, stages, strict=False):
            if stage.solved:
                times.append(stage.median_work)
        solved = [stage for stage in stages if stage.solved]
        if not solved or any(stage.timed_out for stage in stages):
            return None
        missed = len(self.levels) - len(solved)
        self.finished += not missed
        kinds = kind_scores(self.levels, stages)
        known = [item.score for item in kinds if math.isfinite(item.score)]
        racer = Racer(
            name,
            title,
            genome,
            tuple(stage.median_step for stage in solved),
            missed,
            sum(known) / len(known),
            operator,
            kinds,
            tuple(stage.median_work for stage in solved),
        )
        self.elite = kept([*self.elite, racer], self.same_form)
        self.front = front_of([*self.front, racer])
        for number, (kind, group) in enumerate(self.specialists.items()):
            self.specialists[kind] = best_on(number, [*group, racer])
        return racer if racer in self.elite else None


def differed(parents: Sequence[Parent], taken: Collection[str], random: np.random.Generator) -> Child | None:
    """Return the first of three parents, its parameters moved by a part of the difference between the second
    and the third; None if nothing new comes of it.

    What the elite varies in sets the steps: wide while it is varied, small at its end, and along what its
    members have in common.
    """
    first, parent, other = parents
    assert first.genome is not None
    factor = float(random.uniform(*DIFFERENCE_FACTORS))
    genome = with_values(
        first.genome, differed_values(first.values, parent.values, other.values, first.scales, factor, random)
    )
    title = short_title("difference", first.design_id)
    rationale = f"Moves the parameters by {factor:.2f} times the way from {other.title} to {parent.title}."
    child = Child(
        compose(genome, title, rationale),
        {},
        genome,
        "difference",
        ((first.design_id, 1.0),),
        title,
        rationale,
    )
    return None if child.key() in taken or genome.values() == first.genome.values() else child


def kinds_of(levels: Sequence[BudgetLevel]) -> list[KindName]:
    """Return the names of the kinds of formulas of a race, in the order of the budget levels."""
    return list(dict.fromkeys(level.kind.name for level in levels))


def kind_scores(levels: Sequence[BudgetLevel], stages: Sequence[Stage]) -> tuple[KindScore, ...]:
    """Return how a racer did on each kind. Stages may be fewer than budget levels: those that are lacking
    were not run."""
    result = []
    for kind in kinds_of(levels):
        solved = [
            (level, stage)
            for level, stage in zip(levels, stages, strict=False)
            if level.kind.name == kind and stage.solved
        ]
        total = sum(level.kind.name == kind for level in levels)
        if solved:
            largest = max(solved, key=lambda pair: pair[0].n)
            mean = score([level for level, _ in solved], [stage for _, stage in solved])
            medians = tuple(stage.median_step for _, stage in solved)
            result.append(
                KindScore(kind, total - len(solved), mean, largest[0].n, largest[1].median_step, medians)
            )
        else:
            result.append(KindScore(kind, total, math.inf, 0, 0, ()))
    return tuple(result)


def score(levels: Sequence[BudgetLevel], stages: Sequence[Stage]) -> float:
    """Return mean log of the median work at the largest of the budget levels that stages are of."""
    largest = max(level.n for level in levels[: len(stages)])
    counted = [
        math.log(max(1.0, stage.median_work))
        for level, stage in zip(levels, stages, strict=False)
        if level.n >= SCORED_FROM * largest
    ]
    return sum(counted) / len(counted)


def judged_order(racers: Sequence[Racer]) -> list[Racer]:
    """Return racers by the levels that they missed on the kind where they missed most, then by their worse
    rank over kinds, best first, then by the sum of their ranks. On one kind that is its own order.

    Those that solved no budget level of some kind come after all others, and equals share the last of their
    ranks: a crowd that fails on a kind together has not done well on it.
    """
    ranks: list[list[int]] = [[] for _ in racers]
    for number in range(len(racers[0].kinds) if racers else 0):
        orders = sorted(racer.kinds[number].order for racer in racers)
        for place, racer in enumerate(racers):
            ranks[place].append(bisect_right(orders, racer.kinds[number].order))
    failed = [sum(not math.isfinite(kind.score) for kind in racer.kinds) for racer in racers]
    missed = [max((kind.missed for kind in racer.kinds), default=0) for racer in racers]
    places = sorted(
        range(len(racers)),
        key=lambda place: (
            failed[place],
            missed[place],
            max(ranks[place]),
            sum(ranks[place]),
            racers[place].name,
        ),
    )
    return [racers[place] for place in places]


def best_on(number: int, racers: Sequence[Racer]) -> list[Racer]:
    """Return the best on the kind of this number that solved a level of it, at most `SPECIALISTS`; few of one
    form, and of equals one."""
    ordered = sorted(racers, key=lambda racer: (racer.kinds[number].order, racer.name))
    solved = [racer for racer in ordered if math.isfinite(racer.kinds[number].score)]
    return _few_of_a_form(solved, SAME_FORM, SPECIALISTS, number)


def front_of(racers: Sequence[Racer]) -> list[Racer]:
    """Return the racers that no other beats on every kind, those with the best worse rank first, at most
    `FRONT`."""
    free = [racer for racer in racers if not any(other.beats(racer) for other in racers)]
    return judged_order(free)[:FRONT]


def kept(racers: Sequence[Racer], same_form: int = SAME_FORM) -> list[Racer]:
    """Return the best, at most so many of one form, and of equals one."""
    return _few_of_a_form(judged_order(racers), same_form, ELITE)


def _few_of_a_form(
    ordered: Sequence[Racer], same_form: int, most: int, number: int | None = None
) -> list[Racer]:
    """Return the first of these, at most so many of one form and so many in all. Racers with equal steps on
    every kind, or on the one of this number, differ in what does nothing but cost, and the first stands for
    all."""
    forms: dict[str, int] = {}
    seen: set[tuple[Any, ...]] = set()
    result: list[Racer] = []
    for racer in ordered:
        form = form_of(racer.genome)
        kinds = racer.kinds if number is None else racer.kinds[number : number + 1]
        figures = tuple(item.medians or (item.missed, item.score) for item in kinds)
        if len(result) < most and forms.get(form, 0) < same_form and figures not in seen:
            forms[form] = forms.get(form, 0) + 1
            seen.add(figures)
            result.append(racer)
    return result


def form_of(genome: str) -> str:
    """Return what a genome is but for its parameters' values."""
    import json

    data: dict[str, Any] = json.loads(genome)
    return json.dumps({name: data[name] for name in ("drives", "memories")}, sort_keys=True)


@trusted
def run_stages(
    traced: str,
    levels: Sequence[BudgetLevel],
    limits: Sequence[int],
    core_s: float,
    *,
    computed: Computed = "deciding",
) -> list[Stage]:
    """Return the stages of one traced design, of each kind until it misses a cutoff; in a child of this
    process, as `experiments.simulate_level` does it.

    computed: which instances are computed (`evolake.designs.engines.median_search`). It changes no stage but
    the estimate of one that missed its bar.
    """
    from evolake.designs.engines.isolated import Run, run_apart

    stages: list[Stage] = []
    missed: set[str] = set()
    for level, limit in zip(levels, limits, strict=True):
        if level.kind.name in missed:
            stages.append(Stage(0, False, 0.0, ran=False))
            continue
        kind, most = level.kind, MOST_STEPS_PER_WORK * limit
        done = run_apart(
            Run(
                traced,
                level.n,
                level.batch,
                level.seed,
                most,
                instance_seed=level.seed,
                ratio=kind.ratio,
                max_work=limit,
                core_s=core_s,
                kind=kind.name,
                p0=kind.p0,
                computed=computed,
            )
        )
        solved = done.unsolved_fraction < 0.5 and not done.failure
        stages.append(
            Stage(
                int(done.median_step),
                solved,
                float(done.cpu_s),
                int(done.steps_run),
                bool(done.timed_out),
                done.failure,
                float(done.work_per_step),
            )
        )
        if not solved:
            missed.add(kind.name)
    while stages and not stages[-1].ran:
        stages.pop()
    return stages
