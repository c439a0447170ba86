"""Who is champion: the consensus' first design against the incumbent, on seeds that no design has met.

Both run on the same fresh instances, at the largest size of the profile that either reaches. The incumbent also runs on as many further seeds: all
ways to split its runs in two halves are A/A pairs, and the ratio of medians that 95% of them stay within is the noise floor. The challenger is
crowned only when its median beats the incumbent's by more than that. A run that does not solve half of its batch counts with the contract's
estimate (more than the step limit), so where only one of the two reaches the size the ratio is a lower bound, and `reason` says so.

The champion is always measured against the baseline too, for the report.
"""

from __future__ import annotations

import itertools
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from evolake.designs.evolution.experiments import LINE, Measured, Simulate, simulate_level
from evolake.designs.evolution.line_state import reach
from evolake.designs.evolution.population import Population, Texts
from evolake.designs.evolution.schedule import is_solved, sizes
from evolake.designs.settings import DesignsSettings
from evolake.seeds import child_seed, generator
from evolake.stats import beats, median_ratio_interval, noise_floor

FLOOR_LEVEL = 0.95
CERTIFICATE = "assignments checked on the clauses by the host"


@dataclass(frozen=True)
class Contender:
    """A design in a duel: its id, TracedDesign's JSON text, and the largest size it has solved so far."""

    design_id: str
    traced: str
    largest_solved: int = 0


@dataclass(frozen=True)
class Succession:
    """The champion after a cycle: the champion's id, rows of DECISIONS and rows of DUELS."""

    champion_id: str
    decisions: list[dict[str, Any]]
    trials: list[dict[str, Any]]


def contenders(population: Population, order: Sequence[str], texts: Texts) -> tuple[Contender, Contender, Contender]:
    """Challenger (first by consensus), incumbent (the champion, or the baseline), baseline (the seed of that name, or the first seed)."""
    seeds = population.designs.filter((pl.col("origin") == "seed") & (pl.col("state") != "blocked")).sort("title")
    named = seeds.filter(pl.col("title") == "baseline")["design_id"].to_list()
    baseline = (named or seeds["design_id"].to_list() or order)[0]

    def contender(design_id: str) -> Contender:
        solved = reach(population.experiment_rows([design_id]))["largest_solved"]
        return Contender(design_id, texts(population.row(design_id)["traced_sha"]), solved)

    return contender(order[0]), contender(population.champion_id or baseline), contender(baseline)


def evaluation_rows(trials: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of EVALUATIONS for rows of DUELS."""
    return [
        {
            "artifact_id": trial["design_id"], "suite": f"{trial['part']}-{trial['profile']}-N{trial['N']}", "instance": f"planted-{trial['seed']}",
            "seed": trial["seed"], "status": "solved" if trial["solved"] else "unsolved", "cpu_s": trial["cpu_s"], "wall_s": trial["wall_s"],
            "peak_mb": None, "counters": json.dumps({"median_step": trial["median_step"], "steps_run": trial["steps_run"]}),
            "certificate": CERTIFICATE if trial["solved"] else None, "host": platform.node(),
        }
        for trial in trials
    ]


@dataclass(frozen=True)
class _Arena:
    executor: Executor
    simulate: Simulate
    settings: DesignsSettings
    cycle: str
    profile: str
    root_seed: int

    def start(self, part: str, contender: Contender, n: int, seeds: Sequence[int]) -> Callable[[], list[dict[str, Any]]]:
        """Submits the runs; what comes back waits for them and gives their rows."""
        limits = self.settings.high
        pending: list[Future[Measured]] = [
            self.executor.submit(self.simulate, contender.traced, n, limits.max_steps, seed, limits.wall_s, self.settings) for seed in seeds
        ]
        return lambda: self._rows(part, contender, n, seeds, [future.result() for future in pending])

    def _rows(self, part: str, contender: Contender, n: int, seeds: Sequence[int], result: Sequence[Measured]) -> list[dict[str, Any]]:
        limits = self.settings.high
        return [
            {
                "cycle": self.cycle, "part": part, "design_id": contender.design_id, "pair": pair, "N": n, "batch": self.settings.batch,
                "seed": seed, "max_steps": limits.max_steps, "median_step": int(run.median_step),
                "unsolved_fraction": float(run.unsolved_fraction), "solved": run.unsolved_fraction < 0.5, "steps_run": int(run.steps_run),
                "wall_s": float(run.wall_s), "cpu_s": float(run.cpu_s), "profile": self.profile, "engine": run.engine,
                "timed_out": bool(run.timed_out), "failure": run.failure,
            }
            for pair, (seed, run) in enumerate(zip(seeds, result, strict=True))
        ]


def decide_champion(
    challenger: Contender, incumbent: Contender, baseline: Contender, *, executor: Executor, settings: DesignsSettings, cycle: str, profile: str,
    root_seed: int, simulate: Simulate = simulate_level,
) -> Succession:
    """Duel, verdict, and the comparison with the baseline.

    Args:
        challenger: first by consensus. incumbent: the champion, or the baseline where there is none yet. Either may be the same design.
        executor: where runs go; results do not depend on it. simulate: what runs one batch (see `experiments.simulate_level`).
    """
    arena = _Arena(executor, simulate, settings, cycle, profile, root_seed)
    seeds = [child_seed(root_seed, LINE, cycle, "champion", index) for index in range(settings.champion_repeats)]
    extra = [child_seed(root_seed, LINE, cycle, "champion-again", index) for index in range(settings.champion_repeats)]
    n, runs, trials = _largest_size([challenger, incumbent], arena, seeds)
    again_runs = arena.start("again", incumbent, n, extra) if challenger.design_id != incumbent.design_id else None
    baseline_runs = arena.start("baseline", baseline, n, seeds) if baseline.design_id not in runs else None
    decisions: list[dict[str, Any]] = []
    champion = incumbent
    if again_runs is not None:
        again = again_runs()
        trials += again
        floor = split_noise_floor(_steps(runs[incumbent.design_id]), _steps(again))
        decision = _decision("incumbent", challenger, incumbent, runs, n, floor, arena)
        decisions.append(decision)
        champion = challenger if decision["wins"] else incumbent
    if champion.design_id != baseline.design_id:
        if baseline_runs is not None:
            runs[baseline.design_id] = baseline_runs()
            trials += runs[baseline.design_id]
        decisions.append(_decision("baseline", champion, baseline, runs, n, None, arena))
    return Succession(champion.design_id, decisions, trials)


def split_noise_floor(first: Sequence[float], again: Sequence[float]) -> float:
    """The ratio of medians that 95% of all splits of one design's runs into two equal halves stay within; 1.0 is no noise.

    Args:
        first, again: (r,) positive median steps of the same design on different seeds.
    """
    values = np.array([*first, *again], dtype=np.float64)
    half = len(values) // 2
    left, right = [], []
    for chosen in itertools.islice(itertools.combinations(range(len(values)), half), 5000):
        mask = np.zeros(len(values), dtype=bool)
        mask[list(chosen)] = True
        left.append(float(np.median(values[mask])))
        right.append(float(np.median(values[~mask])))
    return noise_floor(left, right, FLOOR_LEVEL)


def should_crown(challenger: Sequence[float], incumbent: Sequence[float], floor: float) -> bool:
    """Whether the challenger's median over seeds is lower than the incumbent's by more than the floor."""
    return beats(float(np.median(challenger)), float(np.median(incumbent)), floor)


def reaches(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a design solved most of its runs at a size."""
    return 2 * sum(1 for row in rows if is_solved(row)) > len(rows)


def _largest_size(
    contenders: Sequence[Contender], arena: _Arena, seeds: Sequence[int]
) -> tuple[int, dict[str, list[dict[str, Any]]], list[dict[str, Any]]]:
    """The largest size that at least one contender reaches, with everybody's runs there; the smallest size if nobody reaches any."""
    known = max(contender.largest_solved for contender in contenders)
    ladder = sizes(arena.settings, "high")
    below = [n for n in ladder if n <= known] or list(ladder)
    trials: list[dict[str, Any]] = []
    runs: dict[str, list[dict[str, Any]]] = {}
    for n in reversed(below):
        started = {}
        for part, contender in zip(("challenger", "incumbent"), contenders, strict=True):
            if contender.design_id not in started:
                started[contender.design_id] = arena.start(part, contender, n, seeds)
        runs = {design_id: rows() for design_id, rows in started.items()}
        trials += [row for rows in runs.values() for row in rows]
        if any(reaches(rows) for rows in runs.values()) or n == below[0]:
            return n, runs, trials
    raise AssertionError("the ladder has at least one size")


def _decision(
    comparison: str, challenger: Contender, incumbent: Contender, runs: Mapping[str, Sequence[Mapping[str, Any]]], n: int, floor: float | None,
    arena: _Arena,
) -> dict[str, Any]:
    ours, theirs = runs[challenger.design_id], runs[incumbent.design_id]
    random = generator(arena.root_seed, LINE, arena.cycle, f"ratio-{comparison}")
    interval = median_ratio_interval(_steps(theirs), _steps(ours), random)
    wins = should_crown(_steps(ours), _steps(theirs), floor) if floor is not None else interval.low > 1.0
    return {
        "cycle": arena.cycle, "comparison": comparison, "challenger_id": challenger.design_id, "incumbent_id": incumbent.design_id, "N": n,
        "batch": arena.settings.batch, "profile": arena.profile, "pairs": len(ours), "ratio": interval.estimate, "ratio_low": interval.low,
        "ratio_high": interval.high, "noise_floor": floor, "wins": wins, "reason": _reason(comparison, n, interval.estimate, floor, ours, theirs),
    }


def _reason(
    comparison: str, n: int, ratio: float, floor: float | None, ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]
) -> str:
    own, other = float(np.median(_steps(ours))), float(np.median(_steps(theirs)))
    text = f"{own:.0f} median steps at N={n} against {other:.0f} of the {comparison}, a ratio of {ratio:.3g}"
    if floor is not None:
        text += f"; noise floor {floor:.3g}"
    sides: list[tuple[str, Callable[[], bool]]] = [("the challenger", lambda: reaches(ours)), (f"the {comparison}", lambda: reaches(theirs))]
    missing = [name for name, reached in sides if not reached()]
    return text + (f"; {' and '.join(missing)} did not solve it within the limit, so its steps are an estimate" if missing else "")


def _steps(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """Median steps of each run; of one that was not solved at least its step limit, also when the wall guard cut it short."""
    return [max(1.0, float(row["median_step"]), 0.0 if is_solved(row) else float(row["max_steps"])) for row in rows]
