"""Breed designs within a cycle: children race over sizes and seeds before the cycle's experiments, and the
best of them enter it.

Children are made and judged in generations of fixed size. All of one generation come of the elite as it was
before it, meet the bars that held then, and are taken in the order in which they were proposed. So what comes
out depends on the seed, not on how many workers there are or on who ends first, and a race that was killed
comes to the same when it is run again. What ends a race is counted too: children, and simulated steps times
instances times variables, weighted by the work of a step. The instances are those of `SAME_FORMULAS` cycles:
what was fitted to them meets others after that, and what a design showed on them before is not run again.

Every child passes the gates of a racer: its graph is read off its genome, which needs no jail, and its first
steps are those of the race. What would enter the cycle is judged again as any candidate is: its file is
traced in the jail, and it is blocked if that gives another graph than the one that raced. Nothing else of a
race becomes a design of the archive, so a champion has passed every gate. A child that is blocked is a row
with its reason. Ancestors that only raced are left out of the ancestry: a child's shares are handed on to the
designs of the archive that they come from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np

from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.judging import DesignResults
from evolake.designs.evolution.population import Population, Texts
from evolake.designs.evolution.proposals import Candidate, Judge, Judged, blocking_gate, judged
from evolake.designs.evolution.racing import (
    FIXED_AFTER,
    JOINED_AFTER,
    BudgetLevel,
    Race,
    Racer,
    Stage,
    kept,
    run_stages,
)
from evolake.designs.genome.open_genetic import parent_of
from evolake.designs.genome.open_genome import OpenGenome
from evolake.designs.genome.variation import Child, Parent
from evolake.designs.model.instances import FormulaKind, uniform_kind
from evolake.designs.settings import DesignsSettings
from evolake.errors import MachineryError
from evolake.gates.run import side_by_side
from evolake.seeds import CycleSeeds, child_seed

GENERATION = 8
CORE_TIMES = 5.0
"""What a budget level may take, as a multiple of `core_s` of the experiments at low fidelity: its bar is to
end it, not this."""
SHARES_OF_LARGEST = (0.25, 0.35, 0.5, 0.5, 0.7, 1.0, 1.0)
"""Sizes of the budget levels; two levels of one size have separate instances."""
SAME_FORMULAS = 4
"""Cycles in a row that race on the same formulas. Designs of the archive, which race in each, took half of
its processor time."""
UNIFORM_FROM = 0.5
"""Size of the smallest budget level of uniform formulas, as a share of the largest."""
ENTERING_OF_ONE_FORM = 2
OTHER_GRAPH = "its file, traced in the jail, gives another graph than its genome, which raced"
MOST_STARTERS, STARTERS_AT_ONCE = 6, 4
MILLION = 10**6
RunLevels = Callable[[str, Sequence[BudgetLevel], Sequence[int], float], list[Stage]]


@dataclass(frozen=True)
class Starter:
    """A design that is there and races as it is. traced: TracedDesign's JSON text."""

    design_id: str
    title: str
    genome: OpenGenome
    traced: str


@dataclass(frozen=True)
class Bred:
    """What a race gave: rows of RACED, the candidates that enter the cycle, best first, all that was judged,
    processor seconds of simulating, and how many different dynamics its elite and its front hold: designs
    that differ in values alone count as one."""

    rows: list[dict[str, Any]]
    entering: list[Judged]
    judged: list[Judged]
    cpu_s: float
    dynamics: int = 0


def should_breed(settings: DesignsSettings, backend: str) -> bool:
    """Return whether the cycle's designs race: by the setting, and where operators write designs. A model's
    designs are its own."""
    return settings.race.candidates > 0 and backend == "operators"


def budget_levels(settings: DesignsSettings, cycle: str, root_seed: int) -> list[BudgetLevel]:
    """Return the budget levels of a cycle's race, small ones first, each with instances that no experiment
    draws, the same for `SAME_FORMULAS` cycles."""
    epoch = f"from {_first_of_same_formulas(cycle):04d}"
    race = settings.race
    sizes = [max(settings.n_start, round(share * race.max_n)) for share in SHARES_OF_LARGEST]
    largest_first = [race.p0[place % len(race.p0)] for place in range(len(sizes))]
    kinds = [
        (n, FormulaKind("planted", settings.ratio, p0))
        for n, p0 in zip(sizes, reversed(largest_first), strict=True)
    ]
    most = min(race.max_n, race.uniform_max_n)
    count = round(len(sizes) * race.uniform_share / (1 - race.uniform_share))
    for share in np.linspace(UNIFORM_FROM, 1.0, count) if count > 1 else [1.0] * count:
        n = max(settings.n_start, round(share * most))
        kinds.append((n, uniform_kind(uniform_ratio(n))))
    kinds.sort(key=lambda pair: pair[0])  # stable: planted before uniform ones of a size
    return [
        BudgetLevel(n, race.batch, child_seed(root_seed, LINE, epoch, "race", place), race.max_steps, kind)
        for place, (n, kind) in enumerate(kinds)
    ]


def cycles_of_same_formulas(cycle: str) -> list[str]:
    """Return the earlier cycles that raced on the same formulas as `cycle`."""
    return [f"{number:04d}" for number in range(_first_of_same_formulas(cycle), int(cycle))]


def _first_of_same_formulas(cycle: str) -> int:
    return int(cycle) // SAME_FORMULAS * SAME_FORMULAS


def uniform_ratio(n: int) -> float:
    """Return the clauses per variable at which a SAT solver still decides uniform formulas of this size in
    about a second."""
    if n <= 160:
        return 4.2
    if n <= 226:
        return 4.1
    return 4.0


def starter_of(parent: Parent, traced: str) -> Starter | None:
    """Return a design as a starter; None for one without a genome, which can be varied by its values only."""
    return None if parent.genome is None else Starter(parent.design_id, parent.title, parent.genome, traced)


def starters_of(population: Population, fresh: Sequence[Judged], texts: Texts) -> list[Starter]:
    """Return the best of the archive by its last ranking, and the cycle's accepted candidates:
    `MOST_STARTERS` and all of them."""
    live = set(population.live_ids())
    ranked = [
        row["design_id"] for row in population.ranking.sort("rank").to_dicts() if row["design_id"] in live
    ]
    result: list[Starter] = []
    for design_id in dict.fromkeys([*ranked, *population.live_ids()]):
        if len(result) < MOST_STARTERS:
            starter = starter_of(
                population.parent(design_id, texts), texts(population.row(design_id)["traced_sha"])
            )
            result += [starter] if starter else []
    for item in fresh:
        if item.accepted and item.traced is not None and item.genome is not None:
            parent = parent_of(item.design_id, item.title, item.genome)
            starter = starter_of(parent, json.dumps(item.traced.to_json(), sort_keys=True))
            result += [starter] if starter else []
    return result


@dataclass(frozen=True)
class KnownDesigns:
    """graphs: graph_sha -> design id, of every design there is. keys: of all that were ever proposed. raced:
    rows of RACED of earlier cycles."""

    graphs: Mapping[str, str]
    keys: Collection[str]
    raced: Sequence[Mapping[str, Any]] = ()


def solved_before(
    rows: Sequence[Mapping[str, Any]], levels: Sequence[BudgetLevel]
) -> dict[str, dict[int, Stage]]:
    """Return what designs solved on these budget levels in earlier races: by design id, by the budget level's
    seed."""
    batches, result = {level.seed: level.batch for level in levels}, dict[str, dict[int, Stage]]()
    for row in rows:
        for seed, batch, solved, steps, work in zip(
            row["seeds"], row["batches"], row["solved"], row["median_steps"], row["median_works"], strict=True
        ):
            if solved and batches.get(seed) == batch:
                result.setdefault(row["design_id"], {})[seed] = Stage(
                    steps, True, 0.0, per_step=work / max(1, steps)
                )
    return result


@dataclass(frozen=True)
class RaceSetup:
    """Where children are judged and run. judge: the gates. of_genome: those of a racer, by its genome
    (`judging.DesignGates.of_genome`). workers: children that are judged at one time. origin: who wrote
    them."""

    judge: Judge
    of_genome: Callable[..., DesignResults]
    executor: Executor
    origin: str
    workers: int = 1
    run: RunLevels = run_stages


def breed(
    starters: Sequence[Starter],
    setup: RaceSetup,
    known: KnownDesigns,
    *,
    settings: DesignsSettings,
    cycle_seeds: CycleSeeds,
) -> Bred:
    """Return a race of `settings.race.candidates` children at most.

    Args:
        starters: who is raced first and whose children come first.

    Raises:
        MachineryError: a worker process died.
    """
    race = Race(budget_levels(settings, cycle_seeds.cycle, cycle_seeds.root), taken=set(known.keys))
    breeding = _Breeding(
        race, setup, settings, cycle_seeds.cycle, dict(known.graphs), solved_before(known.raced, race.levels)
    )
    breeding.start(starters)
    random = np.random.default_rng(cycle_seeds.seed("race-children"))
    asked = 0
    while asked < settings.race.candidates and breeding.work < settings.race.work * MILLION and race.elite:
        if asked >= JOINED_AFTER * settings.race.candidates:
            race.join()
        if asked >= FIXED_AFTER * settings.race.candidates:
            race.fix_forms()
        count = min(GENERATION, settings.race.candidates - asked)
        children = [child for child in (race.propose(random) for _ in range(count)) if child is not None]
        asked += count
        breeding.generation(children)
    return breeding.bred()


@dataclass
class _Breeding:
    """A race on its way.

    before: what designs of the archive solved in earlier races on these budget levels. stages: of the racer
    that was taken last. made: children
    by id. shares:
    what the archive's designs have in each racer.
    """

    race: Race
    setup: RaceSetup
    settings: DesignsSettings
    cycle: str
    known: dict[str, str]
    before: Mapping[str, Mapping[int, Stage]] = field(default_factory=dict)
    number: int = 0
    work: int = 0
    cpu_s: float = 0.0
    stages: Sequence[Stage] = ()
    rows: list[dict[str, Any]] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    made: dict[str, Judged] = field(default_factory=dict)
    shares: dict[str, dict[str, float]] = field(default_factory=dict)

    def start(self, starters: Sequence[Starter]) -> None:
        """Run the starters as they are, a few at a time: those before set the cutoffs of those after."""
        for first in range(0, len(starters), STARTERS_AT_ONCE):
            self._started(starters[first : first + STARTERS_AT_ONCE])

    def _started(self, starters: Sequence[Starter]) -> None:
        limits = self.race.limits()
        pending = [
            self._submitted(starter.traced, self._unknown(starter.design_id, limits), limits)
            for starter in starters
        ]
        for starter, future in zip(starters, pending, strict=True):
            self.shares[starter.design_id] = {starter.design_id: 1.0}
            stages = self._joined(starter.design_id, limits, _stages_of(future))
            racer = self._taken(starter.design_id, starter.title, starter.genome, stages, "")
            self._row(starter, (), "start", racer)

    def _unknown(self, design_id: str, limits: Sequence[int]) -> list[int]:
        """Return the places of the budget levels that a design has to run. A kind is known as far as it was
        solved within the limits."""
        before, unknown, ended = self.before.get(design_id, {}), list[int](), set[str]()
        for place, (level, limit) in enumerate(zip(self.race.levels, limits, strict=True)):
            stage = before.get(level.seed)
            if level.kind.name in ended or stage is None or stage.median_work > limit:
                ended.add(level.kind.name)
                unknown.append(place)
        return unknown

    def _joined(self, design_id: str, limits: Sequence[int], stages: Sequence[Stage]) -> list[Stage]:
        """Return the stages of all budget levels: those that were run, and those that were known."""
        ran = dict(zip(self._unknown(design_id, limits), stages, strict=False))
        missing = Stage(0, False, 0.0, ran=False)
        before = self.before.get(design_id, {})
        unknown = set(self._unknown(design_id, limits))
        result = [
            ran.get(place, missing) if place in unknown else before[level.seed]
            for place, level in enumerate(self.race.levels)
        ]
        while result and not result[-1].ran:
            result.pop()
        return result

    def generation(self, children: Sequence[Child]) -> None:
        """Judges children side by side and takes them in their order. A worker races who passed while others
        are being traced."""
        candidates = [self._candidate(child) for child in children]
        met = side_by_side(partial(self._met, dict(self.known)), candidates, self.setup.workers)
        for child, candidate, (design, future) in zip(children, candidates, met, strict=True):
            if design.traced is not None and design.accepted and design.traced.graph_sha in self.known:
                design = self._of_racer(candidate, self.known)
            self.judged.append(design)
            if not design.accepted or future is None or design.traced is None or design.genome is None:
                self._row(
                    design,
                    child.weights,
                    "blocked",
                    gate=blocking_gate(design),
                    reason=design.examined.reason,
                )
                continue
            self.known[design.traced.graph_sha] = design.design_id
            self.made[design.design_id], self.shares[design.design_id] = (
                design,
                self._inherited(child.weights),
            )
            racer = self._taken(
                design.design_id, design.title, design.genome, _stages_of(future), design.operator
            )
            self._row(design, child.weights, "raced", racer)

    def bred(self) -> Bred:
        """Return the rows, and the best children as candidates of the cycle."""
        waiting = kept([racer for racer in self.race.elite if racer.name in self.made], ENTERING_OF_ONE_FORM)
        entering: list[Judged] = []
        blocked: dict[str, tuple[str | None, str]] = {}
        again: dict[str, Judged] = {}
        while waiting and (lacking := self.settings.race.enter - len(entering)) > 0:
            turn, waiting = waiting[:lacking], waiting[lacking:]
            designs = [self.made[racer.name] for racer in turn]
            for racer, design in zip(
                turn, side_by_side(self._judged_again, designs, self.setup.workers), strict=True
            ):
                again[racer.name] = design
                if design.accepted and design.design_id == racer.name:
                    entering.append(self._entering(design, racer))
                elif design.accepted:
                    blocked[racer.name] = "trace", OTHER_GRAPH
                else:
                    blocked[racer.name] = blocking_gate(design), design.examined.reason
        names = {design.design_id for design in entering}
        rows = []
        for row in self.rows:
            name = row["design_id"]
            if row["state"] == "raced" and name in names:
                row = row | {"state": "enters"}
            elif row["state"] == "raced" and name in blocked:
                row = row | dict(zip(("state", "gate", "reason"), ("blocked", *blocked[name]), strict=True))
            rows.append(row)
        self.judged = [again.get(item.design_id, item) for item in self.judged]
        return Bred(rows, entering, self.judged, self.cpu_s, self.race.dynamics())

    def _judged_again(self, made: Judged) -> Judged:
        """Return a racer after all gates, its file traced in the jail."""
        known = {sha: name for sha, name in self.known.items() if name != made.design_id}
        candidate = Candidate(**{item.name: getattr(made, item.name) for item in fields(Candidate)})
        return judged(candidate, known, self.setup.judge)

    def _met(
        self, known: Mapping[str, str], candidate: Candidate
    ) -> tuple[Judged, Future[list[Stage]] | None]:
        result = self._of_racer(candidate, known)
        if result.traced is None or not result.accepted:
            return result, None
        limits = self.race.limits(candidate)
        return result, self._submitted(json.dumps(result.traced.to_json(), sort_keys=True), limits=limits)

    def _of_racer(self, candidate: Candidate, known: Mapping[str, str]) -> Judged:
        """Return a child after the gates of a racer."""
        assert candidate.genome is not None, "children of genomes have genomes"
        return judged(candidate, known, partial(self.setup.of_genome, candidate.genome))

    def _submitted(
        self, traced: str, places: Sequence[int] | None = None, limits: Sequence[int] = ()
    ) -> Future[list[Stage]]:
        """Submit a design on all budget levels, or on those at some places."""
        levels, limits = self.race.levels, limits or self.race.limits()
        chosen = range(len(levels)) if places is None else places
        if not chosen:
            done: Future[list[Stage]] = Future()
            done.set_result([])
            return done
        parts = [levels[place] for place in chosen], [limits[place] for place in chosen]
        return self.setup.executor.submit(
            self.setup.run, traced, *parts, CORE_TIMES * self.settings.low.core_s
        )

    def _taken(
        self, name: str, title: str, genome: OpenGenome, stages: Sequence[Stage], operator: str
    ) -> Racer | None:
        """Count what the stages took and let the race take them; the racer, wherever it came in."""
        self.stages = stages
        self.work += sum(
            round(stage.steps_run * stage.per_step) * level.batch * level.n
            for stage, level in zip(stages, self.race.levels, strict=False)
        )
        self.cpu_s += sum(stage.cpu_s for stage in stages)
        return self.race.take(name, title, genome.to_json(), stages, operator)

    def _candidate(self, child: Child) -> Candidate:
        return Candidate(
            source=child.source,
            hyper=dict(child.hyper),
            genome=child.genome,
            title=child.title,
            operator=child.operator,
            origin=self.setup.origin,
            rationale=child.rationale,
            direction_id=None,
            weights=child.weights,
        )

    def _inherited(self, weights: Sequence[tuple[str, float]]) -> dict[str, float]:
        """Shares of the archive's designs, handed down through ancestors that only raced."""
        result: dict[str, float] = {}
        for parent, weight in weights:
            for design_id, share in self.shares[parent].items():
                result[design_id] = result.get(design_id, 0.0) + weight * share
        return result

    def _entering(self, made: Judged, racer: Racer) -> Judged:
        shares = tuple(self.shares[made.design_id].items())
        direct = {name for name, _ in made.weights} <= {name for name, _ in shares}
        reached = " and ".join(
            f"{item.median} at N={item.n} on {item.kind} formulas" for item in racer.kinds if item.n
        )
        rationale = f"{made.rationale} Raced with {len(self.made)} others: median step {reached}."
        return replace(
            made, operator=made.operator if direct else "race", weights=shares, rationale=rationale
        )

    def _row(
        self,
        design: Starter | Judged,
        parents: Sequence[tuple[str, float]],
        state: str,
        racer: Racer | None = None,
        gate: str | None = None,
        reason: str | None = None,
    ) -> None:
        stages: Sequence[Stage] = () if state == "blocked" else self.stages
        ran = [(level, stage) for level, stage in zip(self.race.levels, stages, strict=False) if stage.ran]
        self.rows.append(
            {
                "cycle": self.cycle,
                "number": self.number,
                "design_id": design.design_id,
                "title": design.title,
                "operator": design.operator or None if isinstance(design, Judged) else None,
                "parents": json.dumps(dict(parents), sort_keys=True),
                "state": state,
                "gate": gate,
                "reason": reason or next((stage.failure for stage in stages if stage.failure), None),
                "genome": design.genome.to_json() if design.genome else None,
                "source_sha": None,
                "traced_sha": None,
                "sizes": [level.n for level, _ in ran],
                "kinds": [level.kind.name for level, _ in ran],
                "seeds": [level.seed for level, _ in ran],
                "batches": [level.batch for level, _ in ran],
                "solved": [stage.solved for _, stage in ran],
                "median_steps": [stage.median_step for _, stage in ran],
                "median_works": [stage.median_work for _, stage in ran],
                "solved_rungs": sum(stage.solved for _, stage in ran),
                "rungs": len(self.race.levels),
                "steps_run": sum(stage.steps_run for stage in stages),
                "score": racer.score if racer else None,
                "elite": racer is not None,
                "timed_out": any(stage.timed_out for stage in stages),
                "cpu_s": sum(stage.cpu_s for stage in stages),
            }
        )
        self.number += 1


def _stages_of(future: Future[list[Stage]]) -> list[Stage]:
    try:
        return future.result()
    except BrokenExecutor as error:
        raise MachineryError(
            "a worker process died during a race",
            got=str(error),
            do="look for a lack of memory; then run again",
        ) from error
