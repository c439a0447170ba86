"""How much better than the baseline a search gets, and how fast: the operators of one grammar, raced over sizes and seeds by the fused engine.

    python benchmarks/designs_search.py --grammar open|paper --hours H [--state FILE] [--seed S] [--workers W] [--sizes 160,320,640]

Starts at the grammar's baseline dynamics. Every child is traced in the jail and run on the rungs of `SIZES`, all racers on the same instances.
The second half of the time is for the values: the elite may then be of one form. With --state, a search is kept in FILE as it runs and goes on
from it. At the end the best of the elite on instances of their own is the champion, and it is measured against the baseline and the paper's design
340 on fresh instances at N = 160, 320 and 640: medians over seeds, their ratio, and the noise floor (the ratio that splits of one design's own runs
stay within). The last line says whether the grammar's bar was reached: paper, ahead of design 340 at N=640 by more than the noise floor; open, three
times less work than the baseline at N=320. Work is counted, so a design's figures do not depend on the machine; how many candidates an hour
holds does.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from evolake.designs.evolution.racing import Lap, Race, Racer, Rung, run_rungs
from evolake.designs.genome.grammars import GRAMMARS, compose, read_genome
from evolake.designs.grammars.paper import GRAMMAR as PAPER
from evolake.designs.model.contract import TracedDesign
from evolake.designs.tracing.trace import PRELOAD, trace
from evolake.jail import open_pool
from evolake.seeds import child_seed
from evolake.stats import noise_floor

RATIO, WALL_S = 4.3, 120.0
SIZES = (
    (160, 20, 20_000), (226, 16, 20_000), (320, 16, 30_000), (320, 16, 30_000), (453, 12, 30_000), (640, 12, 30_000), (640, 12, 30_000),
)
FINALISTS, FINAL_SEEDS = 6, 3
KEPT_EVERY_S = 30.0
SETTLED_AFTER = 0.5
MEASURED = ((160, 30, 40_000), (320, 24, 100_000), (640, 16, 60_000))
REPEATS = 3
BAR_RATIO = 3.0


@dataclass
class Told:
    """What a search has cost and shown over its runs: seconds of the clock, processor seconds in all and of simulating, raced, blocked, the curve.

    curve: [seconds, candidates raced, rungs missed, score] whenever the best changed.
    """

    spent_s: float = 0.0
    cpu_s: float = 0.0
    simulating_cpu_s: float = 0.0
    raced: int = 0
    blocked: int = 0
    curve: list[list[float]] = field(default_factory=list)


@dataclass(frozen=True)
class Measured:
    """Designs on fresh instances of one size: median work, whether every run was solved, and noise floors, by name.

    steps: in steps of the baseline; a run that was not solved counts with what it ran, so that the median is a lower bound where
    `solved` is false; so do floors.
    """

    steps: dict[str, float]
    solved: dict[str, bool]
    floors: dict[str, float]

    def ratio(self, rival: str) -> tuple[str, float]:
        """How many times the champion's steps the rival takes, and what the number says of that: "", "at least", "at most", or "not known:"."""
        known = {(True, True): "", (False, True): "at least", (True, False): "at most", (False, False): "not known:"}
        return known[self.solved[rival], self.solved["champion"]], self.steps[rival] / self.steps["champion"]


def processor_seconds() -> float:
    """Processor time of this process and of all that it has started, the dead among them that were waited for."""
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


def rungs_of(seed: int, purpose: str, sizes: tuple[tuple[int, int, int], ...] = SIZES) -> list[Rung]:
    """Sizes, batches and step limits with instances drawn for one purpose."""
    return [Rung(n, batch, child_seed(seed, "designs", "search", purpose, place), most) for place, (n, batch, most) in enumerate(sizes)]


class Search:
    """The race, who traces and who runs."""

    def __init__(self, race: Race, summary: Told, pool: Any, executor: ProcessPoolExecutor, seed: int, state: Path | None = None):
        self.race, self.before, self.pool, self.executor, self.state, self.kept_at = race, summary, pool, executor, state, time.monotonic()
        self.random = np.random.default_rng([seed, race.raced])
        self.lock = threading.Lock()
        self.cpu_s, self.blocked, self.began, self.cpu_began = 0.0, 0, time.monotonic(), processor_seconds()
        self.curve, self.raced_before = list(summary.curve), race.raced

    def total(self) -> Told:
        """What the search has cost and shown, earlier runs included."""
        return Told(
            self.before.spent_s + time.monotonic() - self.began, self.before.cpu_s + processor_seconds() - self.cpu_began,
            self.before.simulating_cpu_s + self.cpu_s, self.before.raced + self.race.raced - self.raced_before,
            self.before.blocked + self.blocked, self.curve,
        )

    def traced(self, source: str) -> str | None:
        result = trace(source, pool=self.pool)
        return json.dumps(result.to_json()) if isinstance(result, TracedDesign) else None

    def first(self) -> None:
        """The baseline, through every rung."""
        genome = self.race.grammar.baseline()
        self.race.taken.add(genome.key())
        self.judge("baseline", "baseline", genome.to_json(), compose(genome), "")

    def judge(self, name: str, title: str, genome: str, source: str, operator: str) -> None:
        text = self.traced(source)
        if text is None:
            self.blocked += 1
            return
        laps = self.executor.submit(run_rungs, text, self.race.rungs, self.race.limits(), RATIO, WALL_S).result()
        with self.lock:
            best = self.race.elite[0] if self.race.elite else None
            self.cpu_s += sum(lap.cpu_s for lap in laps)
            racer = self.race.take(name, title, genome, laps, operator)
            if racer is not None and racer is self.race.elite[0] and racer is not best:
                self.curve.append([self.before.spent_s + time.monotonic() - self.began, self.race.raced, racer.missed, racer.score])
                print(f"{self.curve[-1][0]:7.0f} s  {self.race.raced:5d} raced  {shown(racer)}", flush=True)
            if time.monotonic() - self.kept_at > KEPT_EVERY_S:
                self.keep()

    def state_of_race(self) -> dict[str, Any]:
        """Return what a search can continue from, as JSON values."""
        race = self.race
        return {
            "grammar": race.grammar.name, "rungs": [asdict(rung) for rung in race.rungs], "elite": [asdict(racer) for racer in race.elite],
            "taken": sorted(race.taken), "times": race.times, "raced": race.raced, "finished": race.finished,
        }

    def keep(self) -> None:
        """Writes what the search can go on from, whole or not at all."""
        if self.state:
            written = self.state.with_suffix(".part")
            written.write_text(json.dumps({**self.state_of_race(), "told": asdict(self.total())}))
            written.replace(self.state)
        self.kept_at = time.monotonic()

    def until(self, deadline: float) -> None:
        half = time.monotonic() + SETTLED_AFTER * (deadline - time.monotonic())
        while time.monotonic() < deadline:
            with self.lock:
                if time.monotonic() > half:
                    self.race.settle()
                child = self.race.propose(self.random)
                name = f"c{len(self.race.taken)}"
            if child is not None and child.genome is not None:
                self.judge(name, child.title, child.genome.to_json(), child.source, child.operator)


def shown(racer: Racer) -> str:
    laps = ", ".join(map(str, racer.medians))
    return f"{racer.missed} rungs missed, {np.exp(racer.score):6.0f} work on the average of the large ones ({laps})  {racer.title}"


def read_state(path: Path, grammar: str) -> tuple[Race, Told] | None:
    """The race that a file holds, and what it has cost and shown; of a file of an earlier version only the race."""
    if not path.exists():
        return None
    data = json.loads(path.read_text())
    if data["grammar"] != grammar:
        raise SystemExit(f"{path} holds a search in the grammar {data['grammar']!r}; wanted {grammar!r}: name another file")
    elite = [Racer(**{**racer, "medians": tuple(racer["medians"])}) for racer in data["elite"]]
    rungs = [Rung(**rung) for rung in data["rungs"]]
    race = Race(GRAMMARS[grammar], rungs, elite, set(data["taken"]), data["times"], data["raced"], data["finished"])
    return race, Told(**data.get("told", {}))


def champion_of(search: Search, seed: int) -> Racer:
    """The best of the elite on instances that the search has not met, of those that missed the fewest rungs."""
    finalists = [racer for racer in search.race.elite if racer.missed == search.race.elite[0].missed][:FINALISTS]
    if len(finalists) == 1:
        return finalists[0]
    largest = search.race.rungs[len(finalists[0].medians) - 1].n
    rungs = rungs_of(seed, "final", ((largest, 16, 60_000),) * FINAL_SEEDS)
    texts = [search.traced(compose(read_genome(racer.genome))) for racer in finalists]
    pending = [search.executor.submit(run_rungs, text, [rung], [rung.max_steps], RATIO, WALL_S) for text in texts if text for rung in rungs]
    steps = np.array([max(1.0, future.result()[0].median_work) for future in pending], dtype=float).reshape(len(finalists), -1)
    return finalists[int(np.argmin(np.exp(np.log(steps).mean(axis=1))))]


def counted(lap: Lap) -> float:
    """Steps of a run: its median where it was solved; else what it ran, however it ended, for no more is known. The estimate is no bound."""
    return float(max(1.0, lap.median_work if lap.solved else lap.steps_run * lap.per_step))


def split_floor(steps: Sequence[float]) -> float:
    """The ratio of medians that 95 % of all splits of one design's runs into two halves stay within; 1.0 is no noise."""
    values = np.array(steps, dtype=float)
    places = np.arange(len(values))
    halves = [np.isin(places, chosen) for chosen in combinations(range(len(values)), len(values) // 2)]
    left, right = ([float(np.median(values[mask == side])) for mask in halves] for side in (True, False))
    return noise_floor(left, right)


def measured_of(laps: Mapping[str, Sequence[Lap]]) -> Measured:
    """Runs of designs at one size, by name, the champion among them."""
    steps = {name: [counted(lap) for lap in result] for name, result in laps.items()}
    floors = {name: split_floor(result) for name, result in steps.items()}
    medians = {name: float(np.median(result)) for name, result in steps.items()}
    return Measured(medians, {name: all(lap.solved for lap in result) for name, result in laps.items()}, floors)


def measure(search: Search, champion: Racer, seed: int, sizes: list[int]) -> dict[int, Measured]:
    """Medians over fresh seeds at some of the sizes of `MEASURED`, by size."""
    result: dict[int, Measured] = {}
    designs = {"champion": compose(read_genome(champion.genome)), "baseline": compose(PAPER.baseline()), "design 340": compose(PAPER.seeds()[1])}
    texts = {name: search.traced(source) for name, source in designs.items()}
    print("\nfresh instances; median over seeds of the batch's median work, in steps of the baseline; >= where half was not solved: what it ran")
    for n, batch, most in (row for row in MEASURED if row[0] in sizes):
        rungs = rungs_of(seed, f"measure{n}", ((n, batch, most),) * (2 * REPEATS))
        met = {name: rungs[:REPEATS] if name == "baseline" else rungs for name in texts}
        pending = {
            name: [search.executor.submit(run_rungs, text, [rung], [rung.max_steps], RATIO, WALL_S) for rung in met[name]]
            for name, text in texts.items() if text
        }
        laps = {name: [future.result()[0] for future in futures] for name, futures in pending.items()}
        result[n] = at = measured_of(laps)
        line = [f"N={n:4d}, batch {batch}"]
        for name, results in laps.items():
            steps, most_of = [counted(lap) for lap in results], "" if at.solved[name] else ">="
            line.append(f"{name} {most_of}{at.steps[name]:.0f} ({min(steps):.0f} to {max(steps):.0f}, floor {at.floors[name]:.2f})")
        details = {name: at.ratio(name) for name in ("baseline", "design 340")}
        line.append("; ".join(f"{name} / champion {said} {ratio:.2f}".replace("  ", " ") for name, (said, ratio) in details.items()))
        print("   ".join(line), flush=True)
    return result


def verdict(grammar: str, measured: dict[int, Measured]) -> str:
    """Whether the grammar's bar was reached, in a sentence.

    A rival that was not solved counts with the steps that it ran: the bar is reached only where this bound suffices.
    """
    n, rival = (640, "design 340") if grammar == PAPER.name else (320, "baseline")
    at = measured.get(n)
    if at is None:
        return f"bar of the grammar {grammar}: not measured at N={n}"
    needed = max(at.floors["champion"], at.floors[rival]) if grammar == PAPER.name else BAR_RATIO
    said, ratio = at.ratio(rival)
    reached = at.solved["champion"] and (ratio > needed if grammar == PAPER.name else ratio >= needed)
    wanted = f"more than the noise floor, {needed:.2f}" if grammar == PAPER.name else f"{needed:.0f} or more"
    text = f"{said} {ratio:.2f}".strip()
    return (
        f"bar of the grammar {grammar}: {'REACHED' if reached else 'not reached'}; {rival} / champion at N={n} is {text}, wanted {wanted}"
        f"{'' if at.solved['champion'] else '; the champion was not solved within its limit'}"
    )


def limits_told(race: Race, summary: Told, workers: int) -> str:
    """What a search was limited by: time, candidates, and rungs that few got through."""
    through = race.finished / max(race.raced, 1)
    curve = "; ".join(f"{at:.0f} s {raced:.0f} raced, {missed:.0f} missed, {np.exp(score):.0f}" for at, raced, missed, score in summary.curve)
    return (
        f"over all runs that were counted: {summary.raced} candidates in {summary.spent_s:.0f} s, "
        f"{3600 * summary.raced / max(summary.cpu_s, 1e-9):.0f} per processor hour; "
        f"simulating was {summary.simulating_cpu_s / max(summary.cpu_s, 1e-9):.0%} of {summary.cpu_s:.0f} processor seconds, which were "
        f"{summary.cpu_s / max(summary.spent_s * workers, 1e-9):.0%} of what {workers} workers could have had; {summary.blocked} blocked, "
        f"{through:.0%} went through every rung; the best over time (work on the average of the large rungs): {curve or 'no change'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grammar", choices=list(GRAMMARS), default="open")
    parser.add_argument("--hours", type=float, default=0.1)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sizes", default="160,320,640", help="sizes of the measurement at the end; empty: none")
    given = parser.parse_args()
    known = read_state(given.state, given.grammar) if given.state else None
    race, summary = known or (Race(GRAMMARS[given.grammar], rungs_of(given.seed, "race")), Told())
    with open_pool(workers=given.workers, preload=PRELOAD) as pool, ProcessPoolExecutor(given.workers) as executor:
        search = Search(race, summary, pool, executor, given.seed, given.state)
        if not race.elite:
            search.first()
        deadline, before, began = time.monotonic() + 3600 * given.hours, race.raced, time.monotonic()
        with ThreadPoolExecutor(given.workers) as threads:
            for future in [threads.submit(search.until, deadline) for _ in range(given.workers)]:
                future.result()
        spent, raced, summary = time.monotonic() - began, race.raced - before, search.total()
        search.keep()
        print(
            f"\ngrammar {given.grammar}: {raced} candidates in {spent:.0f} s on {given.workers} workers, "
            f"{3600 * raced / max(spent, 1e-9):.0f} an hour; {race.finished} of all {race.raced} went through every rung, "
            f"{search.blocked} were blocked; simulating took "
            f"{search.cpu_s / max(spent * given.workers, 1e-9):.0%} of the workers' wall time",
        )
        print(limits_told(race, summary, given.workers))
        for racer in race.elite[:5]:
            print(" ", shown(racer), racer.operator)
        sizes = [int(size) for size in given.sizes.split(",") if size]
        if sizes:
            champion = champion_of(search, given.seed)
            genome = read_genome(champion.genome)
            print(f"\nchampion: {champion.title}\n{compose(genome).partition('def _grad_single')[2]}{genome.values()}")
            print(verdict(given.grammar, measure(search, champion, given.seed, sizes)))


if __name__ == "__main__":
    main()
