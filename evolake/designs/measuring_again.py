"""Measure again what a bundle states of a design: it and the baseline, on the bundle's seeds and on fresh
ones.

Steps and work are counted, so a run under a known seed gives the very numbers on any machine: every run of
the bundle must. The stated gain must be the decision that the line's contest makes of these runs, under the
seeds that the contest draws (`stated_gain`); and it must be reached under fresh seeds, which the author of
the bundle cannot know (`reached`). What a pair counts for is `design_contest.gains` in both places.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from evolake.bundles.measuring import difference, fresh_count, fresh_seeds, judged
from evolake.bundles.model import Said
from evolake.contest import LEAST_PAIRS
from evolake.designs.evolution.design_contest import Contender, decide_champion, gains
from evolake.designs.evolution.schedule import is_solved
from evolake.designs.report.story import gain_of_decision
from evolake.errors import MachineryError
from evolake.report.numbers import counted
from evolake.seeds import CycleSeeds

if TYPE_CHECKING:
    from evolake.designs.model.contract import TracedDesign
    from evolake.designs.settings import DesignsSettings
    from evolake.report.gain import Gain

OWN, BASELINE = "the design", "the baseline"
SAME_WORK = 1e-6
"""How far two counts of one design's work may differ, relative: sums are added in any order."""
COLUMNS = (
    "N",
    "batch",
    "seed",
    "max_steps",
    "max_work",
    "median_step",
    "unsolved_fraction",
    "steps_run",
    "timed_out",
    "work_per_step",
)
"""Columns of DUELS that a contest reads; `Trial` has the same."""
MOST_VARIABLES = 4_000_000
"""Variables of all instances of a run: its memory grows with them."""
LIMIT_S = 600.0
"""Processor seconds that a run may take here; a longer one is not evidence for or against the design."""


class Trial(BaseModel):
    """One run of one side of the contest with the baseline."""

    model_config = ConfigDict(extra="forbid", strict=True)
    N: int = Field(ge=3, le=20_000)
    batch: int = Field(gt=0, le=2_000)
    seed: int
    max_steps: int = Field(gt=0, le=100_000_000)
    max_work: float = Field(gt=0, le=10_000_000)
    median_step: int
    unsolved_fraction: float
    steps_run: int
    timed_out: bool
    work_per_step: float = Field(gt=0)

    def row(self) -> dict[str, Any]:
        """Return it as a row of DUELS."""
        return self.model_dump() | {"median_work": self.median_step * self.work_per_step}


class Contest(BaseModel):
    """The contest with the baseline that a stated gain rests on.

    root: of its seeds, as published. own, baseline: pair by pair. hyper: values that replace those of the
    baseline's file. ratio: clauses per variable.
    """

    model_config = ConfigDict(extra="forbid")
    cycle: str = Field(max_length=20)
    root: int = Field(ge=0)
    profile: str = Field(max_length=200)
    ratio: float = Field(gt=0, le=20)
    hyper: dict[str, int | float]
    own: list[Trial] = Field(min_length=1, max_length=1000)
    baseline: list[Trial] = Field(min_length=1, max_length=1000)


@dataclass(frozen=True)
class _Replayed:
    """A run of the bundle as the contest reads it."""

    median_step: int
    unsolved_fraction: float
    steps_run: int
    timed_out: bool
    work_per_step: float
    limit: int
    cpu_s: float = 0.0
    wall_s: float = 0.0
    engine: str = ""
    diverged: int = 0
    failure: str | None = None
    together_step: int | None = None
    left_again: int | None = None


class Rerun:
    """Designs on this machine; each runs once under each seed, size and limit. progress: called with what is
    done next."""

    def __init__(self, settings: DesignsSettings, progress: Callable[[str], None]):
        self._settings, self._progress = settings, progress
        self._known: dict[tuple[Any, ...], dict[str, Any]] = {}

    def run(
        self,
        traced: TracedDesign,
        n: int,
        max_steps: int,
        seed: int,
        *,
        batch: int,
        ratio: float,
        max_work: float = 0.0,
    ) -> Mapping[str, Any]:
        """Return a row with `COLUMNS`, `median_work` and `failure`. max_work: what is noted as allowed; the
        run ends at `max_steps`."""
        key = (
            traced.graph_sha,
            json.dumps(traced.hyper_values, sort_keys=True),
            n,
            max_steps,
            seed,
            batch,
            ratio,
        )
        if n * batch > MOST_VARIABLES:
            raise MachineryError(
                f"a run of the bundle has {batch} instances of {n} variables",
                wanted=f"at most {MOST_VARIABLES:,} variables in all",
            )
        if key not in self._known:
            from evolake.designs.engines.isolated import Run, run_apart

            self._progress(f"run {len(self._known) + 1}, N={n}")
            done = run_apart(
                Run(
                    json.dumps(traced.to_json()),
                    n,
                    batch,
                    seed,
                    max_steps,
                    instance_seed=seed,
                    ratio=ratio,
                    guard_s=LIMIT_S,
                    threads=os.cpu_count() or 1,
                )
            )
            self._known[key] = {
                "N": n,
                "batch": batch,
                "seed": seed,
                "max_steps": max_steps,
                "failure": done.failure,
                "median_work": done.median_work,
                **{name: getattr(done, name) for name in COLUMNS[5:]},
            }
        return {"max_work": max_work} | self._known[key]


def stated_gain(contest: Contest, design_id: str, baseline_id: str, settings: DesignsSettings) -> Gain | None:
    """Return the gain that the line's contest makes of the runs in the bundle.

    Raises:
        ValueError: it lacks a run that the contest needs, or has one of another size.
    """
    first = contest.own[0]
    for name, side in ((OWN, contest.own), (BASELINE, contest.baseline)):
        if len({row.seed for row in side}) < len(side):
            raise ValueError(f"it has a run of {name} under one seed twice")
        if any((row.N, row.batch, row.max_work) != (first.N, first.batch, first.max_work) for row in side):
            raise ValueError(
                f"its runs of {name} differ in size, instances or allowed work from the others of the contest"
            )
    rows = {
        OWN: {row.seed: row for row in contest.own},
        BASELINE: {row.seed: row for row in contest.baseline},
    }

    def replay(side: str, n: int, max_work: int, seed: int, *_: object) -> _Replayed:
        if seed not in rows[side]:
            raise ValueError(
                f"a gain over the baseline is stated, and the bundle has no run of {side} under seed "
                f"{seed}, which the contest draws"
            )
        row = rows[side][seed]
        return _Replayed(
            row.median_step,
            row.unsolved_fraction,
            row.steps_run,
            row.timed_out,
            row.work_per_step,
            row.max_steps,
        )

    high = settings.high.model_copy(update={"max_n": first.N, "max_steps": round(first.max_work)})
    sizes = settings.model_copy(
        update={
            "n_start": first.N,
            "batch": first.batch,
            "high": high,
            "champion_repeats": max(len(contest.own), len(contest.baseline)),
        }
    )
    own, other = Contender(design_id, OWN, first.N), Contender(baseline_id, BASELINE)
    with ThreadPoolExecutor(1) as executor:
        done = decide_champion(
            own,
            own,
            other,
            executor=executor,
            settings=sizes,
            profile=contest.profile,
            cycle_seeds=CycleSeeds(contest.root, "designs", contest.cycle),
            simulate=replay,
        )
    decision = next(row for row in done.decisions if row["comparison"] == "baseline")
    return None if decision["ratio"] is None else gain_of_decision(decision)


def run_again(
    rerun: Rerun, contest: Contest, side: str, traced: TracedDesign, rows: Sequence[Trial], brought: int
) -> Iterator[Said]:
    """Run some runs of one side of the contest again: each must give the very numbers."""
    cut = 0
    for row in rows:
        done = rerun.run(traced, row.N, row.max_steps, row.seed, batch=row.batch, ratio=contest.ratio)
        if (
            row.timed_out
            and is_solved(done)
            and done["median_step"] <= row.steps_run
            and not is_solved(row.row())
        ):
            said = (
                f"under seed {row.seed} it claims no solution in {row.steps_run} steps, and measured is "
                f"one after {done['median_step']}"
            )
            yield Said(f"contest with the baseline: {side}", "fails", said)
            return
        if done["timed_out"] or row.timed_out:
            cut += 1
            continue
        same = done["median_step"] == row.median_step and done["unsolved_fraction"] == row.unsolved_fraction
        if (
            done["failure"]
            or not same
            or not math.isclose(done["work_per_step"], row.work_per_step, rel_tol=SAME_WORK)
        ):
            claim, here = (
                f"median step {item['median_step']} of work {item['work_per_step']:.4g} each, "
                f"{item['unsolved_fraction']:.1%} unsolved"
                for item in (row.row(), done)
            )
            why = f" ({done['failure']})" if done["failure"] else ""
            yield Said(
                f"contest with the baseline: {side}",
                "fails",
                f"under seed {row.seed} it claims {claim}, and measured is {here}{why}",
            )
            return
    late = f"; {cut} more were cut short by the clock, here or there, and are no evidence" if cut else ""
    said = f"{len(rows) - cut} of {brought} give the same median step and share of unsolved instances{late}"
    yield Said(f"contest with the baseline: {side}", "holds", said, (len(rows) - cut, brought))


def reached(
    rerun: Rerun,
    contest: Contest,
    own: TracedDesign,
    baseline: TracedDesign,
    installed: TracedDesign | None,
    stated: Mapping[str, Any],
    sample: int | None,
) -> Iterator[Said]:
    """Check the stated gain under fresh seeds.

    Args:
        installed: the baseline of this machine, if what the bundle calls so is another design; else None.
            stated: the gain.
    """
    what = "gain (times) under fresh seeds"
    before = gains([row.row() for row in contest.own], [row.row() for row in contest.baseline])
    if len(before) < LEAST_PAIRS:
        why = f"it rests on {counted(len(before), 'seed')}; at least {LEAST_PAIRS} are wanted"
        yield Said("gain over the baseline", "fails", why, gain=True)
        return
    first, seeds = contest.own[0], fresh_seeds(fresh_count(len(before), sample))

    def rows(traced: TracedDesign, limit: int) -> list[Mapping[str, Any]]:
        return [
            rerun.run(
                traced, first.N, limit, seed, batch=first.batch, ratio=contest.ratio, max_work=first.max_work
            )
            for seed in seeds
        ]

    mine = rows(own, first.max_steps)
    if failed := [row["failure"] for row in mine if row["failure"]]:
        yield Said(
            "fresh seeds",
            "fails",
            f"the design breaks under {len(failed)} of {len(seeds)} fresh seeds: {failed[0]}",
        )
        return
    limit = _limit(contest)
    for name, traced in (("the baseline", baseline), ("the baseline that is installed here", installed)):
        if traced is None:
            continue
        theirs = rows(traced, limit)
        if cut := sum(row["timed_out"] for row in (*mine, *theirs)):
            why = (
                f"{cut} of {2 * len(seeds)} runs under fresh seeds did not end within {LIMIT_S:g} "
                "processor seconds here"
            )
            yield Said(what, "unmeasured", why, gain=True)
            return
        yield judged(
            what if traced is baseline else f"{what}, over {name}",
            before,
            gains(mine, theirs),
            shown=_times,
            gain=stated,
        )
    if installed is not None:
        yield Said(
            "baseline",
            "note",
            f"what the bundle calls {stated.get('against')!r} is not the baseline that is installed here",
        )


def _limit(contest: Contest) -> int:
    """Return the steps that the baseline gets under fresh seeds: those that counted for it, where the clock
    cut it short in the bundle."""
    counted_for = [row.steps_run if row.timed_out else row.max_steps for row in contest.baseline]
    return (
        max(1, max(counted_for))
        if any(row.timed_out for row in contest.baseline)
        else contest.baseline[0].max_steps
    )


def _times(value: float) -> float:
    return math.exp(min(value, 700.0))


def unfounded(
    held: Mapping[str, Any] | None,
    contest: Contest | None,
    design_id: str,
    baseline_id: str,
    settings: DesignsSettings,
) -> str:
    """Return why a stated gain does not follow from the runs in the bundle; "" if it does, or if none is
    stated."""
    if held is None or held["gain"] is None:
        return ""
    if contest is None:
        return (
            "a gain over the baseline is stated, and the bundle has no runs of the baseline: export it again"
        )
    try:
        gain = stated_gain(contest, design_id, baseline_id, settings)
    except ValueError as error:
        return str(error)
    return difference(held["gain"], gain and replace(gain, against=str(held["gain"].get("against"))))
