"""Select the champion: challengers against the champion in interleaved pairs on the same core, and a contest
by the geometric mean of paired costs.

On each formula the two run back to back, in turns first and second, so that what slows the host slows both.
What is compared is the cost of each formula, champion over challenger, by `evolake.contest.cost_ratio`: the
ratio is the geometric mean over formulas, and a challenger whose PAR-2, the mean cost, is not lower never
wins. Both are shown. The unit is the formula, or the family if there are enough families. Shuffled copies of
one formula and repeated passes are averaged first, as they are no independent evidence; how far they are
apart counts, because it moves the formula's mean. Which formula and family an instance comes from are columns
of the trials, not parts of its name. A challenger that solves fewer formulas, or gives one answer that is
refuted, never wins. How far repeated passes of one side are apart is reported as the noise floor of the host.

If each formula takes both sides less than `shortest_s`, what is compared is how the programs start and read,
so no challenger wins and the reason says so. Processor time decides, and the clock is a guard: a pair of
which the clock cut one run short counts for neither side. A duel that lost pairs so has fewer formulas than
its suite, so that a later cycle holds it again.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from evolake.compute.needs import timed
from evolake.contest import LEAST_FORMULAS, Contest, cost_ratio
from evolake.journal import run_journaled
from evolake.seeds import generator
from evolake.solvers.execute import Program
from evolake.solvers.measurement.benchmark import MeasuringPlan
from evolake.solvers.measurement.measuring import Job, measure_together
from evolake.solvers.measurement.metrics import PENALTY
from evolake.solvers.rules.outcomes import NO_PROOF
from evolake.solvers.suites import Suite
from evolake.solvers.suites.spec import original_name
from evolake.solvers.tables import CLOCK, DUELS
from evolake.stats import noise_floor

LINE = "solvers"
FLOOR_LEVEL = 0.95
LEAST_COST_S = 1e-6
DOMINANT = 0.5
"""Share of the difference between both sides from which the formula that makes it is named."""
SHORT_SHARE, SHORT_S = 0.01, 0.1
"""A duel is too short if each formula takes both sides less than this share of the limit, and less than so
many seconds."""
Verdict = Literal["better", "worse", "undecided"]
"""Of the challenger. Three ends of one interval: it is above 1, below 1, or holds 1 (or nothing may be
said)."""
CHAMPION, CHALLENGER = "champion", "challenger"


@dataclass(frozen=True)
class Contender:
    """A variant in a duel and its built solver."""

    variant_id: str
    program: Program


@dataclass(frozen=True)
class Decision:
    """The outcome of one duel.

    Attributes:
        ratio: cost of the champion over the challenger's, the geometric mean over formulas with its interval;
            above 1 is a gain.
        formulas: independent formulas that count. instances: these with their shuffled copies.
        pairs: passes over the suite. left_out: pairs that the clock cut short, which count for neither side.
        par2_champion, par2_challenger: mean costs in seconds; None if no pair counts. Their ratio is another
            estimate than `ratio`.
        reason: why it wins or does not, in words, without the ratio.
    """

    champion_id: str
    challenger_id: str
    instances: int
    formulas: int
    pairs: int
    left_out: int
    solved_champion: float
    solved_challenger: float
    par2_champion: float | None
    par2_challenger: float | None
    ratio: float
    ratio_low: float
    ratio_high: float
    noise_floor: float
    wins: bool
    verdict: Verdict
    reason: str
    test: str

    def row(self, cycle: str) -> dict[str, Any]:
        """Return a row of DECISIONS."""
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


@dataclass(frozen=True)
class DuelPlan:
    """One challenger against one champion, `pairs` pairs on each formula of the suite."""

    champion: Contender
    challenger: Contender
    suite: Suite
    cycle: str
    pairs: int


def run_duel(
    duel: DuelPlan, plan: MeasuringPlan, executor: Executor, *, journal: Path | None = None
) -> list[dict[str, Any]]:
    """Return rows of DUELS, in turns champion and challenger first. Every UNSAT answer of both is checked.

    Raises what `journal.run_journaled` raises.
    """

    def job(contender: Contender, index: int, pair: int) -> Job:
        return Job(
            variant_id=contender.variant_id,
            program=contender.program,
            instance=duel.suite.instances[index],
            suite=duel.suite.name,
            cycle=duel.cycle,
            limits=plan.limits,
            repeat=pair,
            proof_share=1.0,
            proof_limits=plan.proof_limits,
            cores=plan.cores,
            scratch=plan.scratch,
            verdicts=plan.verdicts,
        )

    work = [
        Pair(
            job(duel.champion, index, pair),
            job(duel.challenger, index, pair),
            champion_first=(index + pair) % 2 == 0,
        )
        for pair in range(duel.pairs)
        for index in range(len(duel.suite.instances))
    ]
    result = run_journaled(work, executor, measure_pair, journal=journal, fits=_are_rows)
    return [row for rows in result for row in rows]


@timed
def measure_pair(pair: Pair) -> list[dict[str, Any]]:
    """Return two rows of DUELS, the champion's first."""
    jobs = [pair.champion, pair.challenger] if pair.champion_first else [pair.challenger, pair.champion]
    rows = [
        _trial(pair, job, place, row)
        for place, (job, row) in enumerate(zip(jobs, measure_together(jobs), strict=True))
    ]
    return rows if pair.champion_first else rows[::-1]


def decide_duel(trials: pl.DataFrame, rng: np.random.Generator, looks: int = 1) -> Decision:
    """Return the verdict of one duel.

    Args:
        trials: rows of DUELS of one champion and one challenger. rng: of the contest; see `decision_rng`.
            looks: see `cost_ratio`.

    Raises:
        ValueError: no trials, or trials of more than one duel.
    """
    DUELS.validate(trials)
    sides = trials.select("champion_id", "challenger_id").unique()
    if sides.height != 1:
        raise ValueError(f"wanted the trials of one duel (got {sides.height})")
    champion_id, challenger_id = sides.row(0)
    refuted = trials.filter(
        (pl.col("part") == CHALLENGER)
        & ((pl.col("status") == "wrong") | pl.col("proof_status").is_in(NO_PROOF))
    ).height
    asked, counting = _pairs(trials), _pairs(trials).filter("counts")
    shared = {
        "champion_id": champion_id,
        "challenger_id": challenger_id,
        "instances": counting["instance"].n_unique(),
        "formulas": counting["formula"].n_unique(),
        "pairs": asked["pair"].n_unique(),
        "left_out": asked.height - counting.height,
    }
    if counting.is_empty():
        reason = f"the clock cut every one of {asked.height} pairs short"
        return Decision(
            **shared,
            solved_champion=0.0,
            solved_challenger=0.0,
            par2_champion=None,
            par2_challenger=None,
            ratio=1.0,
            ratio_low=0.0,
            ratio_high=np.inf,
            noise_floor=1.0,
            wins=False,
            verdict="undecided",
            reason=reason,
            test="none",
        )
    theirs, ours = (per_formula(counting, part) for part in (CHAMPION, CHALLENGER))
    families = dict(counting.select("formula", "family").sort("formula").iter_rows())
    contest = cost_ratio(theirs, ours, rng, looks, [kind or name for name, kind in families.items()])
    solved = {part: _solved(counting, part) for part in (CHAMPION, CHALLENGER)}
    wins, verdict, reason = verdict_of(contest, solved[CHAMPION], solved[CHALLENGER], refuted)
    short = too_short(theirs, ours, float(trials["timeout_s"].min()))  # pyright: ignore[reportArgumentType]
    if short and not refuted:
        wins, verdict, reason = False, "undecided", short
    elif verdict == "undecided" and contest.pairs >= LEAST_FORMULAS:
        reason += dominant(theirs, ours, list(families))
    if shared["left_out"]:
        reason += f"; {shared['left_out']} of {asked.height} pairs do not count, as the clock cut them short"
    return Decision(
        **shared,
        solved_champion=solved[CHAMPION],
        solved_challenger=solved[CHALLENGER],
        par2_champion=float(theirs.mean()),
        par2_challenger=float(ours.mean()),
        ratio=contest.effect,
        ratio_low=contest.low,
        ratio_high=contest.high,
        noise_floor=repeat_noise_floor([passes(counting, part) for part in (CHALLENGER, CHAMPION)]),
        wins=wins,
        verdict=verdict,
        reason=reason,
        test=contest.test,
    )


def families_of(suite: Suite) -> list[str]:
    """Return the family of each formula of a suite, copies counted once."""
    return list({item.base or item.name: item.family for item in suite.instances}.values())


def decision_rng(root_seed: int, cycle: str, challenger_id: str) -> np.random.Generator:
    """Return the generator of one duel's contest."""
    return generator(root_seed, LINE, cycle, f"duel {challenger_id}")


def formulas_of(runs: pl.DataFrame) -> np.ndarray:
    """Return the number of each instance's formula, instances in order of their names. runs: rows of RUNS."""
    names = [
        original_name(*row) for row in runs.select("instance", "shuffle").unique().sort("instance").rows()
    ]
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return np.array([places[name] for name in names])


def par2_contest(
    theirs: np.ndarray, ours: np.ndarray, groups: np.ndarray, rng: np.random.Generator
) -> Contest:
    """Return the contest by the champion's costs over the challenger's; each formula counts once.

    Args:
        theirs, ours: (instances, passes) costs of champion and challenger. groups: (instances,) number of
            each instance's formula.
    """
    means = [np.bincount(groups, weights=side.mean(axis=1)) / np.bincount(groups) for side in (theirs, ours)]
    return cost_ratio(means[0], means[1], rng)


def per_formula(pairs: pl.DataFrame, part: str) -> np.ndarray:
    """Return (formulas,) the cost of one side: the mean over its shuffled copies of the mean over their
    passes, formulas in order of their names."""
    copies = pairs.group_by("formula", "instance").agg(pl.col(f"cost_{part}").mean())
    return (
        copies.group_by("formula")
        .agg(pl.col(f"cost_{part}").mean())
        .sort("formula")[f"cost_{part}"]
        .to_numpy()
    )


def passes(pairs: pl.DataFrame, part: str) -> np.ndarray:
    """Return (instances, passes) costs of one side, without instances that lack a pass."""
    whole = pairs.filter(pl.len().over("instance") == pairs["pair"].n_unique()).sort("instance", "pair")
    return whole[f"cost_{part}"].to_numpy().reshape(-1, pairs["pair"].n_unique())


def verdict_of(
    contest: Contest, solved_champion: float, solved_challenger: float, refuted: int
) -> tuple[bool, Verdict, str]:
    """Return whether the challenger wins, how it compares, and why.

    It wins with no refuted answer, no fewer formulas solved, and a gain whose whole interval is above 1.
    """
    verdict: Verdict
    if contest.wins:
        verdict = "better"
    elif contest.high < 1:
        verdict = "worse"
    else:
        verdict = "undecided"
    if refuted:
        return False, verdict, f"{refuted} answers of the challenger are refuted or have no proof"
    if solved_challenger < solved_champion:
        return (
            False,
            "undecided" if contest.wins else verdict,
            f"solves {solved_challenger:g} formulas against {solved_champion:g}",
        )
    if contest.wins:
        return True, verdict, f"{contest.reason}; {contest.unseen}"
    return False, verdict, "a loss beyond the noise" if verdict == "worse" else contest.reason


def shortest_s(timeout_s: float) -> float:
    """Return the seconds below which runs of a limit compare nothing but how programs start."""
    return min(SHORT_SHARE * timeout_s, SHORT_S)


def too_short(theirs: np.ndarray, ours: np.ndarray, timeout_s: float) -> str:
    """Return why a duel decides nothing if each formula takes both sides less than `shortest_s`; else "".
    theirs, ours: (formulas,) seconds."""
    longest, least = float(max(theirs.max(), ours.max())), shortest_s(timeout_s)
    if longest >= least:
        return ""
    return (
        f"no formula takes more than {1000 * longest:.3g} ms, and below {1000 * least:.3g} ms the start "
        "of a program decides: take harder formulas"
    )


def dominant(theirs: np.ndarray, ours: np.ndarray, names: Sequence[str]) -> str:
    """Return the words that name the formula which makes most of the difference between both sides; "" if
    none does.

    No single formula can promote a challenger: flipping the others' signs makes as large a sum too often.
    """
    apart = np.abs(theirs - ours)
    place, total = int(np.argmax(apart)), float(apart.sum())
    if total <= 0 or apart[place] < DOMINANT * total:
        return ""
    return f": {apart[place] / total:.0%} of the differences are on the formula {names[place]}"


def repeat_noise_floor(sides: Sequence[np.ndarray], level: float = FLOOR_LEVEL) -> float:
    """Return the ratio of suite PAR-2 that `level` of all A/A pairs stay within; 1.0 (nothing known) if no
    side has two passes.

    Args:
        sides: (formulas, passes) costs of one variant each. Every two passes of one side are an A/A pair.
    """
    first, second = [], []
    for costs in sides:
        means = costs.mean(axis=0) if len(costs) else np.zeros(0)
        for a, b in itertools.combinations(means.tolist(), 2):
            first.append(a)
            second.append(b)
    return noise_floor(first, second, level) if first else 1.0


def _trial(pair: Pair, job: Job, place: int, row: dict[str, Any]) -> dict[str, Any]:
    part = CHAMPION if job is pair.champion else CHALLENGER
    kept = (
        "status",
        "solved",
        "certificate",
        "proof_status",
        "cpu_s",
        "conflicts",
        "timeout_s",
        "host",
        "proof_bytes",
    )
    return {
        "cycle": job.cycle,
        "champion_id": pair.champion.variant_id,
        "challenger_id": pair.challenger.variant_id,
        "instance": job.instance.name,
        "formula": job.instance.base or job.instance.name,
        "family": job.instance.family,
        "pair": job.repeat,
        "part": part,
        "place": place,
        "variant_id": job.variant_id,
        **{name: row[name] for name in kept},
    }


def _are_rows(value: Any) -> bool:
    """Return whether a journal's entry is the result of a pair. One that the clock cut short is measured
    again."""
    return isinstance(value, list) and len(value) == 2 and all(_is_row(row) for row in value)


def _is_row(row: Any) -> bool:
    return isinstance(row, dict) and set(row) == set(DUELS.columns) and row["status"] != CLOCK


def _pairs(trials: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each pair: instance, formula, pair, cost and solved of both sides, and whether it
    counts.

    Raises:
        ValueError: a side without the trial of a pair.
    """
    cost = (
        pl.when(pl.col("solved"))
        .then(pl.col("cpu_s"))
        .otherwise(PENALTY * pl.col("timeout_s"))
        .clip(lower_bound=LEAST_COST_S)
    )
    rows = trials.with_columns(cost=cost, counts=pl.col("status") != CLOCK)
    sides = [
        rows.filter(pl.col("part") == part).select(
            "instance",
            "formula",
            "family",
            "pair",
            pl.col("cost").alias(f"cost_{part}"),
            pl.col("solved").alias(f"solved_{part}"),
            pl.col("counts").alias(f"counts_{part}"),
        )
        for part in (CHAMPION, CHALLENGER)
    ]
    both = sides[0].join(sides[1].drop("formula", "family"), on=["instance", "pair"])
    if not both.height == sides[0].height == sides[1].height or 2 * both.height != trials.height:
        raise ValueError(
            f"wanted as many trials of each side on each formula (got {sides[0].height} and "
            f"{sides[1].height})"
        )
    return both.with_columns(counts=pl.all_horizontal(f"counts_{CHAMPION}", f"counts_{CHALLENGER}")).sort(
        "instance", "pair"
    )


def _solved(pairs: pl.DataFrame, part: str) -> float:
    """Instances solved, each pass counting its share."""
    return round(
        float(pairs.group_by("instance").agg(pl.col(f"solved_{part}").mean())[f"solved_{part}"].sum()), 9
    )
