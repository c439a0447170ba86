"""Who is champion: challengers against the champion in interleaved pairs on the same core, a paired bootstrap, and the noise floor of this host.

On each formula the two run back to back, in turns first and second, so that what slows the host slows both. What is compared is PAR-2 over the suite.
Two things could fool it, and each has its guard. Luck with the formulas: formulas are resampled with replacement, both sides' runs together, and the
gain's lower end counts. Noise of the host: each side's repeated passes over the suite are A/A pairs, and the ratio that 95% of them stay within is
the floor that the gain must beat. A challenger that solves fewer formulas, or gives one answer that is refuted, never wins.
Source of the model of champion and challenger: SATLUTION, section 3; the duel, its interval and the floor are ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evolake.compute.needs import timed
from evolake.seeds import generator
from evolake.solvers.measurement.benchmark import Plan
from evolake.solvers.measurement.journal import run_journaled
from evolake.solvers.measurement.measuring import Job, measure_together
from evolake.solvers.measurement.metrics import PENALTY
from evolake.solvers.process.execute import Program
from evolake.solvers.rules.outcomes import NO_PROOF
from evolake.solvers.suites import Suite
from evolake.solvers.tables import DUELS
from evolake.stats import Interval, bootstrap_interval, noise_floor

LINE = "solvers"
LEVEL = 0.90
"""Of the two-sided interval: its lower end is passed by chance in 5% of all cases."""
FLOOR_LEVEL = 0.95
CHAMPION, CHALLENGER = "champion", "challenger"


@dataclass(frozen=True)
class Contender:
    """A variant in a duel and its built solver."""

    variant_id: str
    program: Program


@dataclass(frozen=True)
class Decision:
    """The outcome of one duel. ratio: PAR-2 of the champion over the challenger's, above 1 is a gain, with its interval. reason: in words."""

    champion_id: str
    challenger_id: str
    instances: int
    pairs: int
    solved_champion: float
    solved_challenger: float
    par2_champion: float
    par2_challenger: float
    ratio: float
    ratio_low: float
    ratio_high: float
    noise_floor: float
    wins: bool
    reason: str

    def row(self, cycle: str) -> dict[str, Any]:
        """A row of DECISIONS."""
        return {"cycle": cycle, **{name: getattr(self, name) for name in self.__dataclass_fields__}}


@dataclass(frozen=True)
class Pair:
    """One formula, both solvers, one after the other on one core."""

    champion: Job
    challenger: Job
    champion_first: bool

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two pairs the same measurement."""
        return ("pair", self.champion_first, self.champion.key, self.challenger.key)


def run_duel(
    champion: Contender, challenger: Contender, suite: Suite, plan: Plan, executor: Executor, *, cycle: str, pairs: int, journal: Path | None = None,
    on_progress: Callable[[int, int, Any], None] | None = None,
) -> list[dict[str, Any]]:
    """Rows of DUELS: `pairs` pairs on each formula, in turns champion and challenger first. Every UNSAT answer of both is checked.

    Raises what `journal.run_journaled` raises.
    """

    def job(contender: Contender, index: int, pair: int) -> Job:
        return Job(
            variant_id=contender.variant_id, program=contender.program, instance=suite.instances[index], suite=suite.name, cycle=cycle,
            limits=plan.limits, repeat=pair, proof_share=1.0, proof_limits=plan.proof_limits, cores=plan.cores, scratch=plan.scratch,
            verdicts=plan.verdicts,
        )

    work = [
        Pair(job(champion, index, pair), job(challenger, index, pair), champion_first=(index + pair) % 2 == 0)
        for pair in range(pairs)
        for index in range(len(suite.instances))
    ]
    result = run_journaled(work, executor, measure_pair, journal=journal, fits=_are_rows, on_progress=on_progress)
    return [row for rows in result for row in rows]


@timed
def measure_pair(pair: Pair) -> list[dict[str, Any]]:
    """Two rows of DUELS, the champion's first."""
    jobs = [pair.champion, pair.challenger] if pair.champion_first else [pair.challenger, pair.champion]
    rows = [_trial(pair, job, place, row) for place, (job, row) in enumerate(zip(jobs, measure_together(jobs), strict=True))]
    return rows if pair.champion_first else rows[::-1]


def decide(trials: pl.DataFrame, rng: np.random.Generator, *, level: float = LEVEL) -> Decision:
    """The verdict of one duel.

    Args:
        trials: rows of DUELS of one champion and one challenger. rng: of the bootstrap; see `decision_rng`.

    Raises:
        ValueError: no trials, or trials of more than one duel.
    """
    DUELS.validate(trials)
    sides = trials.select("champion_id", "challenger_id").unique()
    if sides.height != 1:
        raise ValueError(f"wanted the trials of one duel (got {sides.height})")
    champion_id, challenger_id = sides.row(0)
    ours, theirs = _costs(trials, CHALLENGER), _costs(trials, CHAMPION)
    our_means, their_means = ours.mean(axis=1), theirs.mean(axis=1)

    def gain(places: np.ndarray) -> np.ndarray:
        chosen = places.astype(np.int64)
        return their_means[chosen].mean(axis=-1) / our_means[chosen].mean(axis=-1)

    interval = bootstrap_interval(np.arange(len(our_means)), rng, statistic=gain, level=level)
    floor = repeat_noise_floor([ours, theirs])
    solved = {part: _solved(trials, part) for part in (CHAMPION, CHALLENGER)}
    refuted = trials.filter((pl.col("part") == CHALLENGER) & ((pl.col("status") == "wrong") | pl.col("proof_status").is_in(NO_PROOF))).height
    wins, reason = verdict_in_words(interval, floor, solved[CHAMPION], solved[CHALLENGER], refuted)
    return Decision(
        champion_id=champion_id, challenger_id=challenger_id, instances=len(our_means), pairs=ours.shape[1], solved_champion=solved[CHAMPION],
        solved_challenger=solved[CHALLENGER], par2_champion=float(their_means.mean()), par2_challenger=float(our_means.mean()),
        ratio=interval.estimate, ratio_low=interval.low, ratio_high=interval.high, noise_floor=floor, wins=wins, reason=reason,
    )


def decision_rng(root_seed: int, cycle: str, challenger_id: str) -> np.random.Generator:
    """The bootstrap's generator for one duel."""
    return generator(root_seed, LINE, cycle, f"duel {challenger_id}")


def verdict_in_words(interval: Interval, floor: float, solved_champion: float, solved_challenger: float, refuted: int) -> tuple[bool, str]:
    """Whether the challenger wins, and why: no refuted answer, no fewer solved, and a gain whose lower end is above the noise floor."""
    gain = f"PAR-2 of the champion over the challenger's is {interval}, noise floor {floor:.4g}"
    if refuted:
        return False, f"{refuted} answers of the challenger are refuted or have no proof; {gain}"
    if solved_challenger < solved_champion:
        return False, f"solves {solved_challenger:g} formulas against {solved_champion:g}; {gain}"
    if interval.low > floor:
        return True, f"solves {solved_challenger:g} formulas against {solved_champion:g}; {gain}: a gain beyond the noise"
    if interval.estimate > floor:
        return False, f"{gain}: the gain rests on too few formulas"
    return False, f"{gain}: no gain beyond the noise"


def repeat_noise_floor(sides: Sequence[np.ndarray], level: float = FLOOR_LEVEL) -> float:
    """The ratio of suite PAR-2 that `level` of all A/A pairs stay within; 1.0 (nothing known) where no side has two passes.

    Args:
        sides: (formulas, passes) costs of one variant each. Every two passes of one side are an A/A pair.
    """
    first, second = [], []
    for costs in sides:
        passes = costs.mean(axis=0)
        for a, b in itertools.combinations(passes.tolist(), 2):
            first.append(a)
            second.append(b)
    return noise_floor(first, second, level) if first else 1.0


def _trial(pair: Pair, job: Job, place: int, row: dict[str, Any]) -> dict[str, Any]:
    part = CHAMPION if job is pair.champion else CHALLENGER
    kept = ("status", "solved", "certificate", "proof_status", "cpu_s", "conflicts", "timeout_s", "host", "proof_bytes")
    return {
        "cycle": job.cycle, "champion_id": pair.champion.variant_id, "challenger_id": pair.challenger.variant_id, "instance": job.instance.name,
        "pair": job.repeat, "part": part, "place": place, "variant_id": job.variant_id, **{name: row[name] for name in kept},
    }


def _are_rows(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(row, dict) and set(row) == set(DUELS.columns) for row in value)


def _costs(trials: pl.DataFrame, part: str) -> np.ndarray:
    """(formulas, passes) PAR-2 costs of one side, at least a microsecond, formulas in order of their names."""
    cost = pl.when(pl.col("solved")).then(pl.col("cpu_s")).otherwise(PENALTY * pl.col("timeout_s")).clip(lower_bound=1e-6)
    side = trials.filter(pl.col("part") == part).sort("instance", "pair").select("instance", cost.alias("cost"))
    formulas = side["instance"].n_unique()
    if not formulas or side.height % formulas:
        raise ValueError(f"wanted as many trials of the {part} on each formula (got {side.height} on {formulas})")
    return side["cost"].to_numpy().reshape(formulas, -1)


def _solved(trials: pl.DataFrame, part: str) -> float:
    """Formulas solved, each pass counting its share."""
    side = trials.filter(pl.col("part") == part)
    return round(float(side["solved"].to_numpy().mean()) * side["instance"].n_unique(), 9) if side.height else 0.0
