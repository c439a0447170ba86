"""Breeds designs within a cycle: children race over sizes and seeds before the cycle's experiments, and the best of them enter it.

Children are made and judged in generations of fixed size. All of one generation come of the elite as it stood before it, meet the bars that held
then, and are taken in the order in which they were proposed. So what comes out depends on the seed, not on how many workers there are or on
who ends first, and a race that was killed comes to the same when it is run again. What ends a race is counted too: children, and simulated steps
times instances times variables, weighted by the work of a step. The instances are the cycle's own: what was fitted to those of one cycle meets
others in the next.

Every child passes the gates as any candidate does; one that is blocked is a row with its reason. Of those that enter, the ancestors that only raced
are left out of the ancestry: a child's shares are handed on to the designs of the archive that they come from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from evolake.cycle_seeds import CycleSeeds
from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.population import Population, Texts
from evolake.designs.evolution.proposals import Candidate, Judge, Judged, blocking_gate, judged
from evolake.designs.evolution.racing import Lap, Race, Racer, Rung, kept, run_rungs
from evolake.designs.genome.grammars import GRAMMARS, adopted, parent_of
from evolake.designs.genome.variation import Child, DesignGenome, Parent
from evolake.designs.settings import DesignsSettings
from evolake.errors import MachineryError
from evolake.gates.in_turn import side_by_side
from evolake.seeds import child_seed

GENERATION = 16
CORE_TIMES = 5.0
"""What a rung may take, as a multiple of `core_s` of the experiments at low fidelity: its bar is to end it, not this."""
SHARES_OF_LARGEST = (0.25, 0.35, 0.5, 0.5, 0.7, 1.0, 1.0)
"""Sizes of the rungs; two at a size have instances of their own."""
SETTLED_AFTER = 0.5
"""Share of the children after which forms are settled (`Race.settle`)."""
ENTERING_OF_ONE_FORM = 2
MOST_STARTERS, STARTERS_AT_ONCE = 6, 4
MILLION = 10**6
RunRungs = Callable[[str, Sequence[Rung], Sequence[int], float], list[Lap]]


@dataclass(frozen=True)
class Starter:
    """A design that is there and races as it is. traced: TracedDesign's JSON text."""

    design_id: str
    title: str
    genome: DesignGenome
    traced: str


@dataclass(frozen=True)
class Bred:
    """What a race gave: rows of RACED, the candidates that enter the cycle, best first, all that was judged, and processor seconds of simulating."""

    rows: list[dict[str, Any]]
    entering: list[Judged]
    judged: list[Judged]
    cpu_s: float


def should_breed(settings: DesignsSettings, backend: str) -> bool:
    """Whether the cycle's designs race: by the setting, and where operators write designs. A model's designs are its own."""
    return settings.race.candidates > 0 and backend == "operators"


def rungs_of(settings: DesignsSettings, cycle: str, root_seed: int) -> list[Rung]:
    """The rungs of a cycle's race, each with instances that no other cycle and no experiment draws."""
    race = settings.race
    return [
        Rung(max(settings.n_start, round(share * race.max_n)), race.batch, child_seed(root_seed, LINE, cycle, "race", place), race.max_steps)
        for place, share in enumerate(SHARES_OF_LARGEST)
    ]


def starter_of(parent: Parent, traced: str, settings: DesignsSettings) -> Starter | None:
    """A design as a starter; None for one that the grammar cannot vary but by its values."""
    genome = adopted(parent, settings.grammar).genome
    return None if genome is None else Starter(parent.design_id, parent.title, genome, traced)


def starters_of(population: Population, fresh: Sequence[Judged], texts: Texts, settings: DesignsSettings) -> list[Starter]:
    """The best of the archive by its last ranking, and the cycle's accepted candidates: `MOST_STARTERS` and all of them."""
    live = set(population.live_ids())
    ranked = [row["design_id"] for row in population.ranking.sort("rank").to_dicts() if row["design_id"] in live]
    result: list[Starter] = []
    for design_id in dict.fromkeys([*ranked, *population.live_ids()]):
        if len(result) < MOST_STARTERS:
            starter = starter_of(population.parent(design_id, texts), texts(population.row(design_id)["traced_sha"]), settings)
            result += [starter] if starter else []
    for item in fresh:
        if item.accepted and item.traced is not None and item.genome is not None:
            parent = parent_of(item.design_id, item.title, item.genome)
            starter = starter_of(parent, json.dumps(item.traced.to_json(), sort_keys=True), settings)
            result += [starter] if starter else []
    return result


@dataclass(frozen=True)
class KnownDesigns:
    """graphs: graph_sha -> design id, of every design there is. keys: of all that were ever proposed."""

    graphs: Mapping[str, str]
    keys: Collection[str]


@dataclass(frozen=True)
class RaceSetup:
    """Where children are judged and run. judge: the gates. workers: children that are judged at one time. origin: who wrote them."""

    judge: Judge
    executor: Executor
    origin: str
    workers: int = 1
    run: RunRungs = run_rungs


def breed(starters: Sequence[Starter], setup: RaceSetup, known: KnownDesigns, *, settings: DesignsSettings, cycle_seeds: CycleSeeds) -> Bred:
    """A race of `settings.race.candidates` children at most.

    Args:
        starters: who is raced first and whose children come first.

    Raises:
        MachineryError: a worker process died.
    """
    grammar = GRAMMARS[settings.grammar]
    race = Race(grammar, rungs_of(settings, cycle_seeds.cycle, cycle_seeds.root), taken=set(known.keys))
    stage = _Stage(race, setup, settings, cycle_seeds.cycle, dict(known.graphs))
    stage.start(starters)
    random = np.random.default_rng(cycle_seeds.seed("race-children"))
    asked = 0
    while asked < settings.race.candidates and stage.work < settings.race.work * MILLION and race.elite:
        if asked >= SETTLED_AFTER * settings.race.candidates:
            race.settle()
        count = min(GENERATION, settings.race.candidates - asked)
        children = [child for child in (race.propose(random) for _ in range(count)) if child is not None]
        asked += count
        stage.generation(children)
    return stage.bred()


@dataclass
class _Stage:
    """A race on its way.

    laps: of the racer that was taken last. made: children by id. shares: what the archive's designs have in each racer.
    """

    race: Race
    setup: RaceSetup
    settings: DesignsSettings
    cycle: str
    known: dict[str, str]
    number: int = 0
    work: int = 0
    cpu_s: float = 0.0
    laps: Sequence[Lap] = ()
    rows: list[dict[str, Any]] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    made: dict[str, Judged] = field(default_factory=dict)
    shares: dict[str, dict[str, float]] = field(default_factory=dict)

    def start(self, starters: Sequence[Starter]) -> None:
        """Runs the starters as they are, a few at a time: those before set the bars of those after."""
        for first in range(0, len(starters), STARTERS_AT_ONCE):
            self._started(starters[first : first + STARTERS_AT_ONCE])

    def _started(self, starters: Sequence[Starter]) -> None:
        pending = [self._submitted(starter.traced) for starter in starters]
        for starter, future in zip(starters, pending, strict=True):
            self.shares[starter.design_id] = {starter.design_id: 1.0}
            racer = self._taken(starter.design_id, starter.title, starter.genome, _laps(future), "")
            self._row(starter, (), "start", racer)

    def generation(self, children: Sequence[Child]) -> None:
        """Judges children side by side and takes them in their order. A worker races who passed while others are being traced."""
        candidates = [self._candidate(child) for child in children]
        met = side_by_side(partial(self._met, dict(self.known)), candidates, self.setup.workers)
        for child, candidate, (design, future) in zip(children, candidates, met, strict=True):
            if design.traced is not None and design.accepted and design.traced.graph_sha in self.known:
                design = judged(candidate, self.known, self.setup.judge)
            self.judged.append(design)
            if not design.accepted or future is None or design.traced is None or design.genome is None:
                self._row(design, child.weights, "blocked", gate=blocking_gate(design), reason=design.examined.reason)
                continue
            self.known[design.traced.graph_sha] = design.design_id
            self.made[design.design_id], self.shares[design.design_id] = design, self._inherited(child.weights)
            racer = self._taken(design.design_id, design.title, design.genome, _laps(future), design.operator)
            self._row(design, child.weights, "raced", racer)

    def bred(self) -> Bred:
        """The rows, and the best children as candidates of the cycle."""
        best = kept([racer for racer in self.race.elite if racer.name in self.made], ENTERING_OF_ONE_FORM)[: self.settings.race.enter]
        entering = [self._entering(self.made[racer.name], racer) for racer in best]
        names = {racer.name for racer in best}
        rows = [row | {"state": "enters"} if row["state"] == "raced" and row["design_id"] in names else row for row in self.rows]
        return Bred(rows, entering, self.judged, self.cpu_s)

    def _met(self, known: Mapping[str, str], candidate: Candidate) -> tuple[Judged, Future[list[Lap]] | None]:
        result = judged(candidate, known, self.setup.judge)
        if result.traced is None or not result.accepted:
            return result, None
        return result, self._submitted(json.dumps(result.traced.to_json(), sort_keys=True))

    def _submitted(self, traced: str) -> Future[list[Lap]]:
        return self.setup.executor.submit(
            self.setup.run, traced, self.race.rungs, self.race.limits(), CORE_TIMES * self.settings.low.core_s,
        )

    def _taken(self, name: str, title: str, genome: DesignGenome, laps: Sequence[Lap], operator: str) -> Racer | None:
        """Counts what the laps took and lets the race take them; the racer, wherever it came in."""
        self.laps = laps
        self.work += sum(round(lap.steps_run * lap.per_step) * rung.batch * rung.n for lap, rung in zip(laps, self.race.rungs, strict=False))
        self.cpu_s += sum(lap.cpu_s for lap in laps)
        return self.race.take(name, title, genome.to_json(), laps, operator)

    def _candidate(self, child: Child) -> Candidate:
        return Candidate(
            source=child.source, hyper=dict(child.hyper), genome=child.genome, title=child.title, operator=child.operator, origin=self.setup.origin,
            rationale=child.rationale, direction_id=None, weights=child.weights,
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
        largest = self.race.rungs[len(racer.medians) - 1].n
        rationale = f"{made.rationale} Raced with {len(self.made)} others: median step {racer.medians[-1]} at N={largest}."
        return replace(made, operator=made.operator if direct else "race", weights=shares, rationale=rationale)

    def _row(
        self, design: Starter | Judged, parents: Sequence[tuple[str, float]], state: str, racer: Racer | None = None, gate: str | None = None,
        reason: str | None = None,
    ) -> None:
        laps: Sequence[Lap] = () if state == "blocked" else self.laps
        solved = [lap for lap in laps if lap.solved]
        self.rows.append({
            "cycle": self.cycle, "number": self.number, "design_id": design.design_id, "title": design.title,
            "operator": design.operator or None if isinstance(design, Judged) else None,
            "parents": json.dumps(dict(parents), sort_keys=True), "state": state, "gate": gate,
            "reason": reason or next((lap.failure for lap in laps if lap.failure), None),
            "genome": design.genome.to_json() if design.genome else None, "source_sha": None, "traced_sha": None,
            "sizes": [rung.n for rung, _ in zip(self.race.rungs, laps, strict=False)],
            "median_steps": [lap.median_step for lap in laps], "median_works": [lap.median_work for lap in laps],
            "solved_rungs": len(solved), "rungs": len(self.race.rungs),
            "steps_run": sum(lap.steps_run for lap in laps),
            "score": racer.score if racer else None, "elite": racer is not None,
            "timed_out": any(lap.timed_out for lap in laps), "cpu_s": sum(lap.cpu_s for lap in laps),
        })
        self.number += 1


def _laps(future: Future[list[Lap]]) -> list[Lap]:
    try:
        return future.result()
    except BrokenExecutor as error:
        raise MachineryError("a worker process died during a race", got=str(error), do="look for a lack of memory; then run again") from error
