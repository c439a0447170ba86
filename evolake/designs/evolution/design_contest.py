"""Select the champion: the consensus' first design against the incumbent, on seeds that no design has met.

Both run on the same fresh instances, at the largest size of the profile that either reaches and at up to four
before it. Each seed is a pair, and how much better the challenger is in it at one size is the log of the
ratio of the two batches' median work: steps times what a step costs (`evolake.designs.work`). How much better
it is at the target, the largest size of the profile, is what the law through the sizes says (`law_contest`).
`evolake.contest` decides from these: it looks after three pairs, gives a challenger up that cannot win any
more, and promotes one that is better beyond the noise. A run that ended unsolved counts with the work that it
was allowed, and a challenger that solves fewer runs never wins. What a clock cut on either side is no pair:
it has shown nothing. If one side was not measured to its end, `bound` and `reason` say that the ratio is a
lower bound or an estimate.

Work is counted, time is measured. A challenger whose processor time per work is more than `CONTRADICTION`
times the other side's does not win, whatever its work: its price is wrong. A busy machine alone does not make
such a factor.

The champion is always measured against the baseline too, for the report.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from evolake.contest import LEAST_PAIRS, Contest, looks, paired
from evolake.designs.evolution.experiments import PAPER_BATCH, Measured, Simulate, simulate_level
from evolake.designs.evolution.extrapolation import (
    LawContest,
    LawGains,
    complete,
    gains_by_law,
    law_contest,
    law_decided,
    law_sizes,
    plausible_laws,
)
from evolake.designs.evolution.line_state import reach
from evolake.designs.evolution.population import Population, Texts
from evolake.designs.evolution.schedule import is_cut, is_solved, sizes
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import DECISIONS
from evolake.designs.work.rows import max_work, median_work, per_step
from evolake.seeds import CycleSeeds

CERTIFICATE = "assignments checked on the clauses by the host"
LARGEST_LOG = 700.0
CONTRADICTION = 2.0
"""How many times more processor time for the same work than the other side's contradicts the counted work."""
LEAST_CPU_S = 0.2
"""Processor time of each side below which it says nothing."""


@dataclass(frozen=True)
class Contender:
    """A design in a duel: its id, TracedDesign's JSON text, and the largest size it has solved so far; of a
    challenger, that any rival has."""

    design_id: str
    traced: str
    largest_solved: int = 0


@dataclass(frozen=True)
class Succession:
    """The champion after a cycle: the champion's id, rows of DECISIONS and rows of DUELS."""

    champion_id: str
    decisions: list[dict[str, Any]]
    trials: list[dict[str, Any]]


def contenders(
    population: Population, order: Sequence[str], texts: Texts
) -> tuple[Contender, Contender, Contender]:
    """Return challenger (first by consensus), incumbent (the champion, or the baseline), baseline (the seed
    of that name, or the first seed).

    The challenger has to show itself at the largest size that any ranked design has solved, whether it
    continued to that size itself or not.
    """
    seeds = population.designs.filter((pl.col("origin") == "seed") & (pl.col("state") != "blocked")).sort(
        "title"
    )
    named = seeds.filter(pl.col("title") == "baseline")["design_id"].to_list()
    baseline = (named or seeds["design_id"].to_list() or order)[0]

    def contender(design_id: str) -> Contender:
        solved = reach(population.experiment_rows([design_id]))["largest_solved"]
        return Contender(design_id, texts(population.row(design_id)["traced_sha"]), solved)

    everyone = max(reach(population.experiment_rows([design_id]))["largest_solved"] for design_id in order)
    challenger = replace(contender(order[0]), largest_solved=everyone)
    return challenger, contender(population.champion_id or baseline), contender(baseline)


def evaluation_rows(trials: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of EVALUATIONS for rows of DUELS."""
    return [
        {
            "artifact_id": trial["design_id"],
            "suite": f"{trial['part']}-{trial['profile']}-N{trial['N']}",
            "instance": f"planted-{trial['seed']}",
            "seed": trial["seed"],
            "status": "solved" if trial["solved"] else "unsolved",
            "cpu_s": trial["cpu_s"],
            "wall_s": trial["wall_s"],
            "peak_mb": None,
            "counters": json.dumps(
                {name: trial[name] for name in ("median_step", "steps_run", "work_per_step", "median_work")}
            ),
            "certificate": CERTIFICATE if trial["solved"] else None,
            "host": platform.node(),
        }
        for trial in trials
    ]


@dataclass(frozen=True)
class _Arena:
    executor: Executor
    simulate: Simulate
    settings: DesignsSettings
    profile: str
    seeds: CycleSeeds

    @property
    def cycle(self) -> str:
        return self.seeds.cycle

    def start(
        self, part: str, contender: Contender, n: int, seeds: Sequence[int], first: int = 0
    ) -> Callable[[], list[dict[str, Any]]]:
        """Submit the runs; return a function that waits for them and returns their rows. first: number of the
        first pair."""
        limits = self.settings.high
        pending: list[Future[Measured]] = [
            self.executor.submit(
                self.simulate, contender.traced, n, limits.max_steps, seed, limits.core_s, self.settings
            )
            for seed in seeds
        ]
        return lambda: self._rows(part, contender, n, seeds, [future.result() for future in pending], first)

    def _rows(
        self,
        part: str,
        contender: Contender,
        n: int,
        seeds: Sequence[int],
        result: Sequence[Measured],
        first: int,
    ) -> list[dict[str, Any]]:
        limits = self.settings.high
        return [
            {
                "cycle": self.cycle,
                "part": part,
                "design_id": contender.design_id,
                "pair": pair,
                "N": n,
                "batch": self.settings.batch,
                "seed": seed,
                "max_steps": int(run.limit),
                "max_work": float(limits.max_steps),
                "median_step": int(run.median_step),
                "work_per_step": float(run.work_per_step),
                "median_work": float(run.median_step * run.work_per_step),
                "together_step": run.together_step if self.settings.batch == PAPER_BATCH else None,
                "left_again": run.left_again,
                "unsolved_fraction": float(run.unsolved_fraction),
                "solved": run.unsolved_fraction < 0.5,
                "steps_run": int(run.steps_run),
                "wall_s": float(run.wall_s),
                "cpu_s": float(run.cpu_s),
                "profile": self.profile,
                "engine": run.engine,
                "timed_out": bool(run.timed_out),
                "failure": run.failure,
            }
            for pair, (seed, run) in enumerate(zip(seeds, result, strict=True), first)
        ]


def decide_champion(
    challenger: Contender,
    incumbent: Contender,
    baseline: Contender,
    *,
    executor: Executor,
    settings: DesignsSettings,
    profile: str,
    cycle_seeds: CycleSeeds,
    simulate: Simulate = simulate_level,
) -> Succession:
    """Return duel, verdict, and the comparison with the baseline.

    Args:
        challenger: first by consensus. incumbent: the champion, or the baseline if there is none yet. Either
            may be the same design.
        executor: where runs go; results do not depend on it. simulate: what runs one batch (see
            `experiments.simulate_level`).
    """
    arena = _Arena(executor, simulate, settings, profile, cycle_seeds)
    seeds = [cycle_seeds.seed("champion", index) for index in range(settings.champion_repeats)]
    n, runs, trials = _largest_size([challenger, incumbent], arena, seeds[:LEAST_PAIRS])
    decisions: list[dict[str, Any]] = []
    champion, part = incumbent, "incumbent"
    if challenger.design_id != incumbent.design_id:
        by_size = {size: runs if size == n else {} for size in law_sizes(sizes(settings, "high"), n)}
        trials += _fight(challenger, incumbent, by_size, arena, seeds)
        decision = _law_decision(challenger, incumbent, by_size, len(seeds), arena)
        decisions.append(decision)
        champion, part = (challenger, "challenger") if decision["wins"] else (incumbent, part)
    if champion.design_id != baseline.design_id:
        if baseline.design_id not in runs:
            trials += _measure({part: champion, "baseline": baseline}, {n: runs}, arena, seeds)
        decisions.append(_baseline_decision(champion, baseline, n, runs, arena))
    return Succession(champion.design_id, decisions, trials)


Runs = dict[str, list[dict[str, Any]]]
"""Design id -> rows of DUELS at one size, seed by seed."""


def _fight(
    challenger: Contender,
    incumbent: Contender,
    by_size: Mapping[int, Runs],
    arena: _Arena,
    seeds: Sequence[int],
) -> list[dict[str, Any]]:
    """Measures further pairs until the duel is decided, adds them to the runs of each size and returns
    them."""
    trials = []
    for count in looks(len(seeds)):
        trials += _measure({"challenger": challenger, "incumbent": incumbent}, by_size, arena, seeds[:count])
        if law_decided(_gains_by_law(challenger, incumbent, by_size, arena.settings), len(seeds)):
            break
    return trials


def _measure(
    sides: Mapping[str, Contender], by_size: Mapping[int, Runs], arena: _Arena, seeds: Sequence[int]
) -> list[dict[str, Any]]:
    """Run each side on those of the seeds that it lacks, largest size first; add the rows to the runs of each
    size and return them."""
    started = []
    for n, runs in sorted(by_size.items(), reverse=True):
        for part, contender in sides.items():
            have = len(runs.setdefault(contender.design_id, []))
            started.append((runs, contender.design_id, arena.start(part, contender, n, seeds[have:], have)))
    trials = []
    for runs, design_id, rows in started:
        measured = rows()
        runs[design_id] = [*runs[design_id], *measured]
        trials += measured
    return trials


def _gains_by_law(
    challenger: Contender, incumbent: Contender, by_size: Mapping[int, Runs], settings: DesignsSettings
) -> list[LawGains]:
    """Return the gain of each seed at the largest size of the profile, by each law that fits; empty if a
    clock cut every seed."""
    ours, theirs = (
        {n: runs[side.design_id] for n, runs in by_size.items()} for side in (challenger, incumbent)
    )
    differences, bounded, measured = complete(ours, theirs, _gain)
    if not len(differences):
        return []
    target, laws = (
        sizes(settings, "high")[-1],
        plausible_laws([_log_works(side, measured) for side in (ours, theirs)]),
    )
    return [gains_by_law(differences, bounded, measured, target, law) for law in laws]


def _log_works(side: Mapping[int, Sequence[Mapping[str, Any]]], measured: Sequence[int]) -> dict[int, float]:
    """Size -> mean log of the work of one design, where all its runs were solved."""
    return {
        n: math.fsum(math.log(most_work(row)) for row in side[n]) / len(side[n])
        for n in measured
        if all(map(is_solved, side[n]))
    }


def gains(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> list[float]:
    """Log of the ratio of median work in each pair, above 0 if ours needs less; pairs of which a clock cut
    one side are left out.

    What a limit cut never counts in favour of ours.

    Args:
        ours, theirs: rows of DUELS of the two sides, pair by pair.
    """
    return [gain for own, their in zip(ours, theirs, strict=True) if (gain := _gain(own, their)) is not None]


def _gain(own: Mapping[str, Any], their: Mapping[str, Any]) -> float | None:
    return None if is_cut(own) or is_cut(their) else math.log(least_work(their) / most_work(own))


def _uncut(
    ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Return the rows of both sides without the pairs of which a clock cut one run."""
    pairs = [
        (own, their) for own, their in zip(ours, theirs, strict=True) if not (is_cut(own) or is_cut(their))
    ]
    return [own for own, _ in pairs], [their for _, their in pairs]


def most_work(row: Mapping[str, Any]) -> float:
    """Return median work of a run, in steps of the baseline; what its level allows if it was not solved."""
    return max(1.0, median_work(row) if is_solved(row) else max_work(row))


def least_work(row: Mapping[str, Any]) -> float:
    """Return median work of a run that was solved, else the work after which it was certainly unsolved."""
    return (
        most_work(row)
        if is_solved(row)
        else max(1.0, min(max_work(row), per_step(row) * float(row["steps_run"])))
    )


def reaches(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a design solved most of its runs at a size. A run that a clock cut counts for
    neither."""
    return 2 * sum(1 for row in rows if is_solved(row)) > sum(1 for row in rows if not is_cut(row))


def _largest_size(
    contenders: Sequence[Contender], arena: _Arena, seeds: Sequence[int]
) -> tuple[int, dict[str, list[dict[str, Any]]], list[dict[str, Any]]]:
    """Return the largest size that at least one contender reaches, with everybody's runs there; the smallest
    size if none reaches any."""
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
    comparison: str,
    challenger: Contender,
    incumbent: Contender,
    by_size: Mapping[int, Runs],
    contest: Contest,
    arena: _Arena,
    law: LawGains | None = None,
) -> dict[str, Any]:
    """law: what the contest is of, None for one of the runs at the largest size alone."""
    n = max(by_size)
    pairs = {
        size: _uncut(runs[challenger.design_id], runs[incumbent.design_id]) for size, runs in by_size.items()
    }
    solved, solved_theirs = (
        sum(1 for sides in pairs.values() for row in sides[place] if is_solved(row)) for place in (0, 1)
    )
    total, total_theirs = (sum(len(sides[place]) for sides in pairs.values()) for place in (0, 1))
    ratio, low, high = (
        math.exp(min(value, LARGEST_LOG)) if value < math.inf else math.inf
        for value in (contest.effect, contest.low, contest.high)
    )
    ours, theirs = pairs[n]
    if solved < total:
        bound = "estimate"
    elif solved_theirs < total_theirs:
        bound = "lower bound"
    else:
        bound = ""
    slower = contradiction(ours, theirs)
    return {
        **_compared(comparison, challenger, incumbent, n, arena),
        "pairs": contest.pairs,
        "ratio": ratio,
        "ratio_low": low,
        "ratio_high": high,
        "noise_floor": ratio / low if low > 0 and law is not None else None,
        "wins": contest.wins and solved >= solved_theirs and not slower,
        "reason": _reason(comparison, n, contest, (ratio, low, high), ours, theirs, law)
        + _missing(comparison, pairs)
        + slower,
        "bound": bound,
        "test": contest.test,
        "target": law.target if law else None,
        "law": law.law if law and len(law.sizes) > 1 else None,
        "sizes": list(law.sizes) if law else None,
    }


def _compared(
    comparison: str, challenger: Contender, incumbent: Contender, n: int, arena: _Arena
) -> dict[str, Any]:
    """Return the columns of a decision that say what was compared; the others are null."""
    return dict.fromkeys(DECISIONS.columns) | {
        "cycle": arena.cycle,
        "comparison": comparison,
        "challenger_id": challenger.design_id,
        "incumbent_id": incumbent.design_id,
        "N": n,
        "batch": arena.settings.batch,
        "profile": arena.profile,
    }


def _law_decision(
    challenger: Contender, incumbent: Contender, by_size: Mapping[int, Runs], most: int, arena: _Arena
) -> dict[str, Any]:
    """Return the decision of the duel, of `most` seeds unless it was decided earlier."""
    by_law = _gains_by_law(challenger, incumbent, by_size, arena.settings)
    if not by_law:
        return _unmeasured(
            "incumbent",
            challenger,
            incumbent,
            max(by_size),
            len(by_size[max(by_size)][challenger.design_id]),
            arena,
        )
    done: LawContest = law_contest(by_law, most, lambda law: arena.seeds.generator(f"ratio-incumbent-{law}"))
    return _decision("incumbent", challenger, incumbent, by_size, done.contest, arena, done.gains)


def _baseline_decision(
    champion: Contender, baseline: Contender, n: int, runs: Runs, arena: _Arena
) -> dict[str, Any]:
    """Return the comparison with the baseline at one size."""
    differences = gains(runs[champion.design_id], runs[baseline.design_id])
    if not differences:
        return _unmeasured("baseline", champion, baseline, n, len(runs[champion.design_id]), arena)
    return _decision(
        "baseline",
        champion,
        baseline,
        {n: runs},
        paired(differences, arena.seeds.generator("ratio-baseline")),
        arena,
    )


def _unmeasured(
    comparison: str, challenger: Contender, incumbent: Contender, n: int, cut: int, arena: _Arena
) -> dict[str, Any]:
    """Return the decision where a clock cut every pair."""
    reason = (
        f"undecided: this machine was too busy to end any of {cut} pairs at N={n}; run the cycle again when "
        "it is not"
    )
    decision = _compared(comparison, challenger, incumbent, n, arena)
    return {**decision, "pairs": 0, "wins": False, "bound": "", "test": "", "reason": reason}


def _reason(
    comparison: str,
    n: int,
    contest: Contest,
    ratios: tuple[float, float, float],
    ours: Sequence[Mapping[str, Any]],
    theirs: Sequence[Mapping[str, Any]],
    law: LawGains | None,
) -> str:
    works = _mean_work(ours, most_work), _mean_work(theirs, least_work)
    text = (
        f"median work {works[0]} at N={n} against {works[1]} of the {comparison}, in steps of the baseline, "
    )
    if law is not None and len(law.sizes) > 1:
        text += f"and by the {law.law} through N={', '.join(map(str, law.sizes))} at N={law.target} "
    ratio, low, high = ratios
    unseen = f"; {replace(contest, worst=math.exp(contest.worst)).unseen}" if contest.wins else ""
    return text + (
        f"a ratio of {ratio:.3g} (95% interval {low:.3g} to {high:.3g}, {contest.pairs} "
        f"{'seeds' if contest.pairs > 1 else 'seed'}; {_mean_steps(ours)} against {_mean_steps(theirs)}): "
        f"{contest.reason}{unseen}"
    )


def _mean_work(rows: Sequence[Mapping[str, Any]], work: Callable[[Mapping[str, Any]], float]) -> str:
    return (
        f"{math.exp(math.fsum(math.log(work(row)) for row in rows) / len(rows)):.0f}" if rows else "unknown"
    )


def _mean_steps(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return "unknown steps"
    return (
        f"{math.exp(math.fsum(math.log(max(1, row['median_step'])) for row in rows) / len(rows)):.0f} "
        f"steps of {per_step(rows[0]):.2f}"
    )


def contradiction(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> str:
    """Return why the processor time of ours contradicts its counted work beside theirs; empty if it does not.

    Args:
        ours, theirs: rows of DUELS at one size, pair by pair; the median over pairs counts.
    """
    if min(math.fsum(row["cpu_s"] for row in side) for side in (ours, theirs)) < LEAST_CPU_S:
        return ""
    factors = sorted(
        seconds_of_work(own) / seconds_of_work(their) for own, their in zip(ours, theirs, strict=True)
    )
    factor = factors[(len(factors) - 1) // 2]
    if factor <= CONTRADICTION:
        return ""
    return (
        f"; its processor time contradicts its work: {factor:.2g} times as much for the same work "
        f"(at most {CONTRADICTION:g} is allowed), so it does not win: its operators are priced too low"
    )


def seconds_of_work(row: Mapping[str, Any]) -> float:
    """Return processor seconds per step of the baseline's work that a run took."""
    return max(row["cpu_s"], 1e-9) / (max(1, row["steps_run"]) * per_step(row))


def _missing(
    comparison: str, pairs: Mapping[int, tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]]
) -> str:
    """Return which runs were not solved, and what that means for the challenger."""
    text, solved = "", [0, 0]
    for place, name in enumerate(("the challenger", f"the {comparison}")):
        for n, sides in sorted(pairs.items(), reverse=True):
            missing = sum(1 for row in sides[place] if not is_solved(row))
            solved[place] += len(sides[place]) - missing
            where = "it" if n == max(pairs) else f"N={n}"
            if missing:
                text += (
                    f"; {name} did not solve {where} within the limit in {missing} of {len(sides[place])} "
                    "runs, which count with the limit"
                )
    return f"{text}: who solves fewer runs does not win" if solved[0] < solved[1] else text
