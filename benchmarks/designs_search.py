"""How much better than the baseline a search gets, and how fast: the operators, raced over sizes, kinds and
seeds by the fused engine.

    python benchmarks/designs_search.py --minutes M [--state FILE] [--seed S] [--workers W] [--no-bar] [--prepare]

Starts at the baseline dynamics. Every child is traced in the jail and run on the levels of
`designs_bar.SIZES`, planted formulas at several p0 and uniform satisfiable ones, all racers on the same
instances. At first each kind has a separate population; after 40 % of the time they are joined
(`racing.Race.join`). The last quarter is for the values: the elite may then be of one form. With --state, a
search is kept in FILE as it runs and continues from it, so two hours may be run in pieces; a piece shares its
own time out in this way, and kinds that were joined stay so. At the end the elite and the front run on
formulas that neither the race nor the bar has: a batch of each bar, and the best eight of them five more. The
design whose farthest bar is nearest is the champion, and it is held against the bar (`designs_bar`); --no-bar
leaves that out, and --minutes 0 does that alone. If the bar is not reached, the Pareto front is printed:
planted work relative to design 340 against uniform work relative to the baseline. Work is counted, so a
design's figures do not depend on the machine; how many candidates an hour holds does. --prepare only draws
the uniform formulas, which needs the package python-sat; they are kept in the folder EVOLAKE_FORMULA_CACHE,
and a machine that has this folder does not need the package.
"""  # noqa: E501

from __future__ import annotations

import argparse
import json
import math
import os
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from bench import SHORT
from designs_bar import (
    BARS,
    BATCH,
    BEYOND,
    KNOWN,
    REPEATS,
    RIVALS,
    Bar,
    bar_levels,
    budget_levels,
    counted_work,
    front_lines,
    measured,
    verdict,
)

from evolake.designs.evolution.racing import (
    FIXED_AFTER,
    JOINED_AFTER,
    BudgetLevel,
    KindScore,
    Race,
    Racer,
    Stage,
    run_stages,
)
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genome import baseline as baseline_genome
from evolake.designs.genome.open_genome import read_genome
from evolake.designs.genome.variation import Child
from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.instances import FormulaKind, prepare
from evolake.designs.tracing.trace import PRELOAD, trace
from evolake.jail import open_pool

WALL_S = 120.0
FINAL_BATCH = 24
FINAL_ROUNDS = ((1, 40), (5, 8))
"""Batches of each bar, and how many designs enter at most, by round."""
FINAL_SLACK = 2.0
"""A finalist is cut off at so many times the work that a bar wants, and counts with that."""
KEPT_EVERY_S = 30.0


@dataclass
class SearchTotals:
    """What a search has cost and shown over its runs: seconds of the clock, processor seconds in all and of
    simulating, raced, blocked, the curve.

    curve: [seconds, candidates raced, levels missed, score] whenever the best changed.
    """

    spent_s: float = 0.0
    cpu_s: float = 0.0
    simulating_cpu_s: float = 0.0
    raced: int = 0
    blocked: int = 0
    curve: list[list[float]] = field(default_factory=list)


def processor_seconds() -> float:
    """Processor time of this process and of all that it has started, the dead among them that were waited
    for."""
    times: dict[int, tuple[int, float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            result = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        times[int(path.parent.name)] = int(result[1]), sum(map(int, result[11:15])) / os.sysconf("SC_CLK_TCK")
    ours, below = {os.getpid()}, True
    while below:
        below = {pid for pid, (parent, _) in times.items() if parent in ours} - ours
        ours |= below
    return sum(times[pid][1] for pid in ours if pid in times)


class Search:
    """The race, who traces and who runs."""

    def __init__(
        self,
        race: Race,
        summary: SearchTotals,
        pool: Any,
        executor: ProcessPoolExecutor,
        seed: int,
        state: Path | None = None,
    ):
        self.race, self.before, self.pool, self.executor, self.state, self.kept_at = (
            race,
            summary,
            pool,
            executor,
            state,
            time.monotonic(),
        )
        self.random = np.random.default_rng([seed, race.raced])
        self.lock = threading.Lock()
        self.cpu_s, self.blocked, self.began, self.cpu_began = 0.0, 0, time.monotonic(), processor_seconds()
        self.curve, self.raced_before = list(summary.curve), race.raced
        self.references: dict[str, list[Stage]] = {}
        self.texts: dict[str, str] = {}

    def total(self) -> SearchTotals:
        """Return what the search has cost and shown, earlier runs included."""
        return SearchTotals(
            self.before.spent_s + time.monotonic() - self.began,
            self.before.cpu_s + processor_seconds() - self.cpu_began,
            self.before.simulating_cpu_s + self.cpu_s,
            self.before.raced + self.race.raced - self.raced_before,
            self.before.blocked + self.blocked,
            self.curve,
        )

    def traced(self, source: str) -> str | None:
        result = trace(source, pool=self.pool)
        return json.dumps(result.to_json()) if isinstance(result, TracedDesign) else None

    def first(self) -> None:
        """Put the baseline through every budget level."""
        genome = baseline_genome()
        self.race.taken.add(genome.key())
        self.judge("baseline", Child(compose(genome), {}, genome, "", (), "baseline", ""))

    def prepared(self, levels: Sequence[BudgetLevel]) -> None:
        """Draw what a SAT solver has to look at, on every worker."""
        for future in [
            self.executor.submit(prepare, level.kind, level.n, level.batch, level.seed) for level in levels
        ]:
            future.result()

    def compare_with_rivals(self) -> None:
        """Run the designs of the bar on the race's own levels, each to its end, unless they are there."""
        if not self.references:
            self.references = {
                name: self.run(name, self.race.levels) for name in sorted(set(RIVALS.values()))
            }

    def run(self, name: str, levels: Sequence[BudgetLevel]) -> list[Stage]:
        """Run a named design on levels side by side, each to its end."""
        pending = [
            self.executor.submit(run_stages, self.texts[name], [level], [level.max_steps], WALL_S)
            for level in levels
        ]
        return [future.result()[0] for future in pending]

    def name_design(self, name: str, source: str) -> None:
        """Trace a design that is run by its name."""
        text = self.traced(source)
        if text is None:
            raise SystemExit(f"{name} cannot be traced: look at the jail with `evolake doctor`")
        self.texts[name] = text

    def judge(self, name: str, child: Child) -> None:
        """Trace and race a child with a genome; it gets the title that its operator gave."""
        assert child.genome is not None
        text, genome = self.traced(child.source), child.genome.to_json()
        if text is None:
            self.blocked += 1
            return
        limits = self.race.limits(child)
        stages = self.executor.submit(run_stages, text, self.race.levels, limits, WALL_S).result()
        with self.lock:
            best = self.race.elite[0] if self.race.elite else None
            self.cpu_s += sum(stage.cpu_s for stage in stages)
            racer = self.race.take(name, child.title, genome, stages, child.operator)
            if racer is not None and racer is self.race.elite[0] and racer is not best:
                self.curve.append(
                    [
                        self.before.spent_s + time.monotonic() - self.began,
                        self.race.raced,
                        racer.missed,
                        racer.score,
                    ]
                )
                print(f"{self.curve[-1][0]:7.0f} s  {self.race.raced:5d} raced  {shown(racer)}", flush=True)
            if time.monotonic() - self.kept_at > KEPT_EVERY_S:
                self.keep()

    def state_of_race(self) -> dict[str, Any]:
        """Return what a search can continue from, as JSON values."""
        race = self.race
        return {
            "rungs": [asdict(level) for level in race.levels],
            "elite": [asdict(racer) for racer in race.elite],
            "taken": sorted(race.taken),
            "times": race.times,
            "raced": race.raced,
            "finished": race.finished,
            "joined": race.joined,
            "front": [asdict(racer) for racer in race.front],
            "specialists": {
                kind: [asdict(racer) for racer in group] for kind, group in race.specialists.items()
            },
            "references": {
                name: [asdict(stage) for stage in stages] for name, stages in self.references.items()
            },
        }

    def keep(self) -> None:
        """Write what the search can continue from, whole or not at all."""
        if self.state:
            written = self.state.with_suffix(".part")
            written.write_text(json.dumps({**self.state_of_race(), "totals": asdict(self.total())}))
            written.replace(self.state)
        self.kept_at = time.monotonic()

    def until(self, deadline: float) -> None:
        began = time.monotonic()
        while (now := time.monotonic()) < deadline:
            share = (now - began) / (deadline - began)
            with self.lock:
                if share > JOINED_AFTER:
                    self.race.join()
                if share > FIXED_AFTER:
                    self.race.fix_forms()
                child = self.race.propose(self.random)
                name = f"c{len(self.race.taken)}"
            if child is not None and child.genome is not None:
                self.judge(name, child)


def shown(racer: Racer) -> str:
    parts = [
        f"{item.kind} {np.exp(item.score):6.0f} work to N={item.n} ({item.missed} missed)"
        for item in racer.kinds
    ]
    return f"{'   '.join(parts)}   {racer.title}"


def racer_of(data: dict[str, Any]) -> Racer:
    """Return a racer from its JSON."""
    return Racer(
        **{
            **data,
            "medians": tuple(data["medians"]),
            "works": tuple(data["works"]),
            "kinds": tuple(
                KindScore(**{**item, "medians": tuple(item["medians"])}) for item in data["kinds"]
            ),
        }
    )


def read_state(path: Path) -> tuple[Race, SearchTotals, dict[str, list[Stage]]] | None:
    """Return the race that a file holds, what it has cost and shown, and how the rivals did on its budget
    levels."""
    if not path.exists():
        return None
    data = json.loads(path.read_text())
    elite, front = ([racer_of(item) for item in data[name]] for name in ("elite", "front"))
    race = Race(
        [BudgetLevel(**{**level, "kind": FormulaKind(**level["kind"])}) for level in data["rungs"]],
        elite,
        set(data["taken"]),
        data["times"],
        data["raced"],
        data["finished"],
        front=front,
        joined=data["joined"],
        specialists={kind: [racer_of(item) for item in group] for kind, group in data["specialists"].items()},
    )
    references = {name: [Stage(**stage) for stage in stages] for name, stages in data["references"].items()}
    return race, SearchTotals(**data["totals"]), references


def final_levels(seed: int, place: int) -> dict[Bar, list[BudgetLevel]]:
    """Formulas of a round of the finals: batches of every bar, which neither the race nor the bar has."""
    batches, _ = FINAL_ROUNDS[place]
    return {
        bar: budget_levels(
            seed, f"final {place} {bar}", [(bar.kind, bar.n, FINAL_BATCH, bar.max_work)] * batches
        )
        for bar in BARS
    }


def farthest(shares: Mapping[Bar, Sequence[float]]) -> float:
    """Return the mean of log(work / work that the bar wants) at the bar where it is largest; below 0 all bars
    are reached on average. 0 before anything was run."""
    return max((float(np.mean(values)) for values in shares.values() if values), default=0.0)


def champion_of(search: Search, seed: int) -> Racer:
    """Return the best of the elite and the front on formulas that the search has not met, by the bar from
    which it is farthest. All meet a batch of each bar, and the best of these five more."""
    racers = {racer.name: racer for racer in [*search.race.elite, *search.race.front]}
    texts = {name: search.traced(compose(read_genome(racer.genome))) for name, racer in racers.items()}
    entering = [name for name, text in texts.items() if text is not None]
    shares: dict[str, dict[Bar, list[float]]] = {name: {bar: [] for bar in BARS} for name in entering}
    for place, (_, most) in enumerate(FINAL_ROUNDS):
        entering = sorted(entering, key=lambda name: farthest(shares[name]))[:most]
        by_bar = final_levels(seed, place)
        search.prepared([level for levels in by_bar.values() for level in levels])
        wanted = {
            level: counted_work(stage) / bar.needed
            for bar in BARS
            for level, stage in zip(by_bar[bar], search.run(bar.rival, by_bar[bar]), strict=True)
        }
        pending = {
            (name, bar, level): search.executor.submit(
                run_stages, texts[name], [level], [math.ceil(FINAL_SLACK * wanted[level])], WALL_S
            )
            for name in entering
            for bar, levels in by_bar.items()
            for level in levels
        }
        for (name, bar, level), future in pending.items():
            (stage,) = future.result()
            work = counted_work(stage) if stage.solved else FINAL_SLACK * wanted[level]
            shares[name][bar].append(math.log(work / wanted[level]))
    champion = min(entering, key=lambda name: farthest(shares[name]))
    met = len(shares[champion][BARS[0]])
    means = ", ".join(f"{bar} {math.exp(np.mean(values)):.2f}" for bar, values in shares[champion].items())
    print(
        f"\nfinals: {len(shares)} designs, the best {len(entering)} on {met} batches of {FINAL_BATCH} of "
        f"each bar; champion's work over what the bar wants, geometric mean: {means}"
    )
    return racers[champion]


def limits_sentence(race: Race, summary: SearchTotals, workers: int) -> str:
    """Return what a search was limited by: time, candidates, and budget levels that few got through."""
    through = race.finished / max(race.raced, 1)
    curve = "; ".join(
        f"{at:.0f} s {raced:.0f} raced, {missed:.0f} missed, {np.exp(score):.0f}"
        for at, raced, missed, score in summary.curve
    )
    return (
        f"over all runs that were counted: {summary.raced} candidates in {summary.spent_s:.0f} s, "
        f"{3600 * summary.raced / max(summary.cpu_s, 1e-9):.0f} per processor hour; simulating was "
        f"{summary.simulating_cpu_s / max(summary.cpu_s, 1e-9):.0%} of {summary.cpu_s:.0f} processor "
        f"seconds, which were {summary.cpu_s / max(summary.spent_s * workers, 1e-9):.0%} of what "
        f"{workers} workers could have had; {summary.blocked} blocked, {through:.0%} went through every "
        f"level; the best over time (work on the average of the large levels): {curve or 'no change'}"
    )


def search_for(search: Search, minutes: float, workers: int) -> None:
    """Search for so long, and say what it came to."""
    race, before, began = search.race, search.race.raced, time.monotonic()
    deadline = began + 60 * minutes
    # a candidate is traced in a jail, then raced in a process; more candidates than workers keep both kinds
    # of processes at work
    under_way = workers + workers // 2
    with ThreadPoolExecutor(under_way) as threads:
        for future in [threads.submit(search.until, deadline) for _ in range(under_way)]:
            future.result()
    spent, raced = time.monotonic() - began, race.raced - before
    search.keep()
    print(
        f"\n{raced} candidates in {spent:.0f} s on {workers} workers, "
        f"{3600 * raced / max(spent, 1e-9):.0f} an hour; {race.finished} of all {race.raced} went through "
        f"every level, {search.blocked} were blocked; simulating took "
        f"{search.cpu_s / max(spent * workers, 1e-9):.0%} of the workers' wall time"
    )
    print(limits_sentence(race, search.total(), workers))
    best = {racer.name for racer in (*race.elite, *race.front)}
    print(f"{race.dynamics()} different dynamics among {len(best)} designs of the elite and the front")
    for racer in race.elite[:5]:
        print(" ", shown(racer), racer.operator)


def hold_against_bar(search: Search, seed: int) -> None:
    """Choose the champion, measure it against the bar on fresh formulas and at the size beyond, and print
    what came of it."""
    champion = champion_of(search, seed)
    genome = read_genome(champion.genome)
    print(
        f"\nchampion: {champion.title}\n"
        f"{compose(genome).partition('def _grad_single')[2]}{genome.values()}\n{genome.to_json()}"
    )
    search.name_design("champion", compose(genome))
    search.prepared([level for bar in BARS for level in bar_levels(bar, seed)])
    print(
        f"\nfresh formulas, {REPEATS} batches of {BATCH}; median over batches of the batch's median work, "
        "in steps of the baseline"
    )
    comparisons = measured(search.run, seed)
    stages = search.run("champion", bar_levels(BEYOND, seed))
    works, solved = [counted_work(stage) for stage in stages], sum(stage.solved for stage in stages)
    print(
        f"{BEYOND!s:24s} champion {'' if solved == len(stages) else '>= '}{np.median(works):,.0f} "
        f"({min(works):,.0f} to {max(works):,.0f}); half solved in {solved} of {len(stages)} batches"
    )
    print(verdict(comparisons))
    if not all(item.reached for item in comparisons):
        print("\nPareto front on the race's own formulas: work relative to that of the rival of each kind")
        print("\n".join(front_lines(search.race.front, search.references, search.race.levels)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=0.1 if SHORT else 120.0)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1 if SHORT else 2)
    parser.add_argument(
        "--no-bar", action="store_true", default=SHORT, help="do not measure a champion at the end"
    )
    parser.add_argument(
        "--prepare", action="store_true", help="only draw the uniform formulas of the race and of the bar"
    )
    given = parser.parse_args()
    known = read_state(given.state) if given.state else None
    race, summary, references = known or (Race(budget_levels(given.seed, "race")), SearchTotals(), {})
    with (
        open_pool(workers=given.workers, preload=PRELOAD) as pool,
        ProcessPoolExecutor(given.workers) as executor,
    ):
        search = Search(race, summary, pool, executor, given.seed, given.state)
        search.references = references
        search.prepared(race.levels)
        if given.prepare:
            search.prepared(
                [
                    *(
                        level
                        for place in range(len(FINAL_ROUNDS))
                        for levels in final_levels(given.seed, place).values()
                        for level in levels
                    ),
                    *(level for bar in BARS for level in bar_levels(bar, given.seed)),
                ]
            )
            return
        for name, path in KNOWN.items():
            search.name_design(name, path.read_text())
        if not race.elite:
            search.first()
        search.compare_with_rivals()
        search.keep()
        if given.minutes > 0:
            search_for(search, given.minutes, given.workers)
        if not given.no_bar:
            hold_against_bar(search, given.seed)


if __name__ == "__main__":
    main()
