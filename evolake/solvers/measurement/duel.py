"""Select the champion: challengers against the champion in interleaved pairs on the same core, and a contest by mean PAR-2.

On each formula the two run back to back, in turns first and second, so that what slows the host slows both. What is
compared is PAR-2 over the suite, a mean: `evolake.contest.mean_ratio` decides, also against rivals that help some
formulas and hurt others. Its unit is the formula: shuffled copies and repeated passes of one formula are summed, as
they are no independent evidence. A challenger that solves fewer formulas, or gives one answer that is refuted, never
wins. How far repeated passes of one side lie apart is reported as the noise floor of the host. Source of the model of
champion and challenger: SATLUTION, section 3; the duel and its contest are ours.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evolake.compute.needs import timed
from evolake.contest import LEAST_FORMULAS, LEVEL, Contest, mean_ratio
from evolake.seeds import generator
from evolake.solvers.measurement.benchmark import Plan
from evolake.solvers.measurement.journal import run_journaled
from evolake.solvers.measurement.measuring import Job, measure_together
from evolake.solvers.measurement.metrics import PENALTY
from evolake.solvers.process.execute import Program
from evolake.solvers.rules.outcomes import NO_PROOF
from evolake.solvers.suites import Suite
from evolake.solvers.tables import DUELS
from evolake.stats import Interval, noise_floor

LINE = "solvers"
FLOOR_LEVEL = 0.95
COPY = re.compile(r"~\d+$")
"""The number of a shuffled copy, behind the name of its formula. The recipes of copies that a duel draws anew are other formulas: `name~1@0002`."""
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
    test: str

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


def decide(trials: pl.DataFrame, rng: np.random.Generator) -> Decision:
    """Return the verdict of one duel.

    Args:
        trials: rows of DUELS of one champion and one challenger. rng: of the contest; see `decision_rng`.

    Raises:
        ValueError: no trials, or trials of more than one duel.
    """
    DUELS.validate(trials)
    sides = trials.select("champion_id", "challenger_id").unique()
    if sides.height != 1:
        raise ValueError(f"wanted the trials of one duel (got {sides.height})")
    champion_id, challenger_id = sides.row(0)
    ours, theirs, groups = _costs(trials, CHALLENGER), _costs(trials, CHAMPION), formulas_of(sorted(trials["instance"].unique()))
    contest = par2_contest(theirs, ours, groups, rng)
    floor = repeat_noise_floor([ours, theirs])
    solved = {part: _solved(trials, part) for part in (CHAMPION, CHALLENGER)}
    refuted = trials.filter((pl.col("part") == CHALLENGER) & ((pl.col("status") == "wrong") | pl.col("proof_status").is_in(NO_PROOF))).height
    wins, reason = verdict_in_words(contest, floor, solved[CHAMPION], solved[CHALLENGER], refuted)
    return Decision(
        champion_id=champion_id, challenger_id=challenger_id, instances=len(ours), pairs=ours.shape[1], solved_champion=solved[CHAMPION],
        solved_challenger=solved[CHALLENGER], par2_champion=float(theirs.mean()), par2_challenger=float(ours.mean()), ratio=contest.effect,
        ratio_low=contest.low, ratio_high=contest.high, noise_floor=floor, wins=wins, reason=reason, test=contest.test,
    )


def decision_rng(root_seed: int, cycle: str, challenger_id: str) -> np.random.Generator:
    """Return the generator of one duel's contest."""
    return generator(root_seed, LINE, cycle, f"duel {challenger_id}")


def formulas_of(instances: Sequence[str]) -> np.ndarray:
    """Return the number of each instance's formula: shuffled copies (`name~2`) are of the formula that they copy."""
    names = [COPY.sub("", name) for name in instances]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return np.array([places[name] for name in names])


def par2_contest(theirs: np.ndarray, ours: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> Contest:
    """Return the contest by PAR-2 of the champion over the challenger's.

    Args:
        theirs, ours: (instances, passes) costs of champion and challenger. groups: (instances,) number of each instance's formula.
    """
    sums = [np.bincount(groups, weights=side.mean(axis=1)) for side in (theirs, ours)]
    return mean_ratio(sums[0], sums[1], rng)


def verdict_in_words(contest: Contest, floor: float, solved_champion: float, solved_challenger: float, refuted: int) -> tuple[bool, str]:
    """Return whether the challenger wins, and why: no refuted answer, no fewer solved, and a gain whose whole interval lies above 1."""
    interval = Interval(contest.effect, contest.low, contest.high, LEVEL)
    gain = f"PAR-2 of the champion over the challenger's is {interval} on {contest.pairs} formulas, noise floor {floor:.4g}"
    if refuted:
        return False, f"{refuted} answers of the challenger are refuted or have no proof; {gain}"
    if solved_challenger < solved_champion:
        return False, f"solves {solved_challenger:g} formulas against {solved_champion:g}; {gain}"
    if contest.wins:
        return True, f"solves {solved_challenger:g} formulas against {solved_champion:g}; {gain}: {contest.reason}"
    if contest.effect > floor and contest.pairs >= LEAST_FORMULAS:
        return False, f"{gain}: the gain rests on too few formulas"
    return False, f"{gain}: {contest.reason}"


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
