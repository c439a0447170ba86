"""How many candidates a core races in an hour, and where its time goes: every instance computed, and only
those that decide, side by side.

    python benchmarks/designs_throughput.py [--candidates 16] [--profile laptop] [--seed 5] [--max-work W]

The race of a first cycle from the baseline, by the operators, one candidate at a time.
Every racer runs both ways, in turns first and second; that both come to the same stages is checked
(else the benchmark fails), so the race is the same either way. Only processor seconds count, of
this process, its jail and the process that simulates:

    simulating   steps of instances, in the kernel
    preparing    lowering, compiling, the first step on the reference engine, instances and initial states
    the rest     operators, tracing in the jail, checking graphs, the other gates

At the end, the processor seconds of each part by candidate, candidates per core hour of both ways, and their
ratio. A cycle holds experiments, tuning and duels as well; they compute solved instances no further, which is
a part of what is measured here. Where the processor is slow at gather instructions, kernels load values one
by one; how much that saves is measured on the baseline, and the old way is charged for it. `--max-work`
lowers the profile's limit of a level.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import SHORT

from evolake.designs.compiler import kernel_call
from evolake.designs.engines import isolated
from evolake.designs.engines.fused import FusedStepper
from evolake.designs.engines.median_search import Computed
from evolake.designs.evolution.breeding import KnownDesigns, RaceSetup, Starter, breed
from evolake.designs.evolution.judging import DesignGates
from evolake.designs.evolution.racing import BudgetLevel, Stage, run_stages
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genome import baseline as baseline_genome
from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.instances import planted
from evolake.designs.settings import DesignsSettings
from evolake.designs.tracing.trace import PRELOAD
from evolake.gates import load_rules
from evolake.jail import open_pool
from evolake.seeds import CycleSeeds

ROOT = Path(__file__).resolve().parents[1]
WAYS: tuple[Computed, Computed] = ("all", "deciding")
NAMES = {"all": "every instance", "deciding": "those that decide"}


class Inline(Executor):
    """Runs what is submitted at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run it and return its finished future."""
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def processor_seconds() -> float:
    """Processor time of this process and of all that it has started and that still runs or was waited for."""
    times: dict[int, tuple[int, float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        times[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    ours, found = {os.getpid()}, True
    while found:
        found = {pid for pid, (parent, _) in times.items() if parent in ours} - ours
        ours |= found
    return sum(times[pid][1] for pid in ours if pid in times)


@dataclass
class BothWays:
    """Runs racers both ways. simulating, child: processor seconds by way, of kernels and of the whole process
    that simulates."""

    simulating: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    child: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    raced: int = 0

    def __call__(
        self, traced: str, levels: Sequence[BudgetLevel], limits: Sequence[int], core_s: float
    ) -> list[Stage]:
        stages: dict[str, list[Stage]] = {}
        for way in WAYS if self.raced % 2 else WAYS[::-1]:
            began = child_seconds()
            stages[way] = run_stages(traced, levels, limits, core_s, computed=way)
            self.child[way] += child_seconds() - began
            self.simulating[way] += sum(stage.cpu_s for stage in stages[way])
        self.raced += 1
        outcomes = [
            [
                (stage.solved, stage.steps_run, stage.median_step if stage.solved else None)
                for stage in stages[way]
            ]
            for way in WAYS
        ]
        if outcomes[0] != outcomes[1]:
            raise SystemExit(
                f"both ways should come to the same stages (got {outcomes[0]} and {outcomes[1]})"
            )
        return stages[WAYS[1]]


def child_seconds() -> float:
    """Processor seconds of the process that simulates; 0 before it is there."""
    return isolated._CHILDREN[0].cpu_s() if isolated._CHILDREN else 0.0


def gather_ratio(traced: TracedDesign, n: int = 317, steps: int = 100) -> float:
    """How many times as long a step of a design takes by gather instructions; 1 where this processor's
    kernels use them."""
    if not kernel_call.gathers_slowly():
        return 1.0
    chosen, best = kernel_call.gathers_slowly, dict.fromkeys((False, True), float("inf"))
    steppers = {}
    for slowly in best:
        kernel_call.gathers_slowly = lambda slowly=slowly: slowly
        steppers[slowly] = FusedStepper(traced, planted(n, 16, 1), 1, traced.dtype)
    kernel_call.gathers_slowly = chosen
    for _ in range(8):
        for slowly, stepper in steppers.items():
            began = time.thread_time()
            stepper.run(steps)
            best[slowly] = min(best[slowly], time.thread_time() - began)
    return best[False] / best[True]


def profile_settings(profile: str, candidates: int, max_work: int | None) -> DesignsSettings:
    """Return the settings of a profile with so many candidates in the race, and no other bound on it."""
    values = tomllib.loads((ROOT / "evolake" / "designs" / "profiles" / f"{profile}.toml").read_text())
    values["race"] = (
        values.get("race", {})
        | {"candidates": candidates, "work": 10**9}
        | ({"max_steps": max_work} if max_work else {})
    )
    return DesignsSettings.model_validate(values)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the race and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--candidates", type=int, default=2 if SHORT else 16)
    parser.add_argument("--profile", default="demo" if SHORT else "laptop")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--max-work", type=int, default=1000 if SHORT else None)
    given = parser.parse_args(arguments)
    settings = profile_settings(given.profile, given.candidates, given.max_work)
    baseline, both = baseline_genome(), BothWays()
    with open_pool(workers=1, preload=PRELOAD) as pool:
        judge = DesignGates(
            pool,
            load_rules(ROOT / "data_lake" / "seeds" / "rules", "designs"),
            settings,
            "0001",
            "benchmark",
            given.seed,
        )
        done = judge(compose(baseline), {}, {})
        if done.traced is None:
            raise SystemExit(f"the baseline cannot be traced: {done.reason}")
        starter = Starter(
            done.design_id, "baseline", baseline, json.dumps(done.traced.to_json(), sort_keys=True)
        )
        known, before = (
            KnownDesigns({done.traced.graph_sha: done.design_id}, {baseline.key()}),
            processor_seconds(),
        )
        setup, seeds = (
            RaceSetup(judge, judge.of_genome, Inline(), "operators", 1, both),
            CycleSeeds(given.seed, "designs", "0001"),
        )
        bred = breed([starter], setup, known, settings=settings, cycle_seeds=seeds)
        total = processor_seconds() - before
    rest, slower = total - sum(both.child.values()), gather_ratio(done.traced)
    print(
        f"{len(bred.rows)} candidates of the profile {given.profile}, {both.raced} raced; processor "
        "seconds per candidate:\n"
    )
    print(
        f"{'':18} {'simulating':>11} {'preparing':>10} {'the rest':>9} {'together':>9} {'per core hour':>14}"
    )
    hourly = {}
    for way in WAYS:
        parts = [
            both.simulating[way] * (slower if way == "all" else 1.0),
            both.child[way] - both.simulating[way],
            rest,
        ]
        hourly[way] = 3600 * len(bred.rows) / sum(parts)
        shown = [part / len(bred.rows) for part in (*parts, sum(parts))]
        print(
            f"{NAMES[way]:18} {shown[0]:11.2f} {shown[1]:10.2f} {shown[2]:9.2f} {shown[3]:9.2f} "
            f"{hourly[way]:14.0f}"
        )
    print(
        f"\nA step by gather instructions takes {slower:.2f} times as long, which the first row is "
        "charged for."
    )
    print(f"{hourly[WAYS[1]] / hourly[WAYS[0]]:.2f} times as many candidates per core hour, the same stages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
