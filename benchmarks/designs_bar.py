"""The formulas that a search of designs races on and its champion is measured on, and the bar that it is held
against.

The bar, on fresh formulas, 400 at each size and kind: at most a third of the work of the paper's design 340
on planted formulas (p0 = 0.08) at N=320 and 640, and at most the work of the baseline on uniform satisfiable
ones at N=160, 226 and 320. It is reached if the whole 95% interval of the ratio is on the right side. Ratios
are geometric means over eight batches of fifty, both designs on the same formulas; work is that until half of
a batch was solved, in steps of the baseline. A rival that did not solve half of a batch within its limit
counts with what it ran, which is a lower bound; a champion that did not has not reached the bar.

The more clauses, the longer a SAT solver takes to find out which uniform formulas are satisfiable: 4.2
clauses per variable at N=160, 4.1 at N=226 and 4.0 at N=320 are what it decides in about a second each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from bench import SHORT

from evolake.contest import paired
from evolake.designs.evolution.racing import BudgetLevel, Racer, Stage, kind_scores
from evolake.designs.model.instances import PLANTED, FormulaKind, KindName, uniform_kind
from evolake.seeds import child_seed

SIZES: tuple[tuple[FormulaKind, int, int, int], ...] = (
    (PLANTED, 160, 20, 20_000),
    (uniform_kind(4.2), 160, 20, 20_000),
    (FormulaKind(p0=0.05), 226, 16, 20_000),
    (uniform_kind(4.1), 226, 16, 20_000),
    (PLANTED, 320, 24, 30_000),
    (uniform_kind(4.0), 320, 16, 20_000),
    (uniform_kind(4.1), 226, 16, 20_000),
    (FormulaKind(p0=0.03), 320, 16, 30_000),
    (PLANTED, 320, 24, 30_000),
    (PLANTED, 640, 12, 30_000),
)
"""Kind, variables, formulas and most work of the budget levels. Two of one kind and size have different
formulas. No p0 is above 0.08: with 0.15, design 340 solves 31 of 100 formulas of 320 variables in 60,000
steps, and a level that nothing gets through keeps all racers from those behind it."""
BATCH, REPEATS = 50, 8
if SHORT:
    SIZES = ((PLANTED, 40, 4, 2_000), (uniform_kind(4.0), 40, 4, 2_000))


@dataclass(frozen=True)
class Bar:
    """A comparison with a rival on fresh formulas: the rival's work over the champion's has to be `needed` or
    more. max_work: of a batch."""

    kind: FormulaKind
    n: int
    rival: str
    needed: float
    max_work: int

    def __str__(self) -> str:
        return f"{self.kind} N={self.n}"


BARS = (
    Bar(PLANTED, 320, "design 340", 3.0, 60_000),
    Bar(PLANTED, 640, "design 340", 3.0, 100_000),
    Bar(uniform_kind(4.2), 160, "baseline", 1.0, 40_000),
    Bar(uniform_kind(4.1), 226, "baseline", 1.0, 40_000),
    Bar(uniform_kind(4.0), 320, "baseline", 1.0, 40_000),
)
BEYOND = Bar(PLANTED, 1280, "", 0.0, 60_000)
"""Where the champion is measured unchanged, without a rival."""
RIVALS: Mapping[KindName, str] = {"planted": "design 340", "uniform": "baseline"}


@dataclass(frozen=True)
class Comparison:
    """A champion against a bar's rival: works by batch, the ratio with its interval, and whether both solved
    half of every batch."""

    bar: Bar
    champion: tuple[float, ...]
    rival: tuple[float, ...]
    ratio: float
    low: float
    high: float
    solved: bool
    rival_solved: bool

    @property
    def reached(self) -> bool:
        return self.solved and self.low >= self.bar.needed

    def __str__(self) -> str:
        bounds = {
            (True, True): "",
            (True, False): "at least ",
            (False, True): "at most ",
            (False, False): "not known: ",
        }
        bound = bounds[self.solved, self.rival_solved]
        return (
            f"{self.bar!s:24s} champion {'' if self.solved else '>= '}{np.median(self.champion):,.0f}   "
            f"{self.bar.rival} {'' if self.rival_solved else '>= '}{np.median(self.rival):,.0f}   "
            f"{self.bar.rival} / champion {bound}{self.ratio:.2f} ({self.low:.2f} to {self.high:.2f}), "
            f"wanted {self.bar.needed:g} or more: {'reached' if self.reached else 'not reached'}"
        )


def budget_levels(
    seed: int, purpose: str, sizes: Sequence[tuple[FormulaKind, int, int, int]] = SIZES
) -> list[BudgetLevel]:
    """Rungs with formulas drawn for one purpose."""
    return [
        BudgetLevel(n, batch, child_seed(seed, "designs", "search", purpose, place), most, kind)
        for place, (kind, n, batch, most) in enumerate(sizes)
    ]


def bar_levels(bar: Bar, seed: int) -> list[BudgetLevel]:
    """Fresh formulas of a bar, by batch."""
    return budget_levels(seed, f"measure {bar}", [(bar.kind, bar.n, BATCH, bar.max_work)] * REPEATS)


def counted_work(stage: Stage) -> float:
    """Work of a run: its median if it was solved, else what it ran, for no more is known. The estimate is no
    bound."""
    return float(max(1.0, stage.median_work if stage.solved else stage.steps_run * stage.per_step))


def compared(bar: Bar, champion: Sequence[Stage], rival: Sequence[Stage], seed: int) -> Comparison:
    """Compare two designs on the same batches."""
    ours, theirs = (tuple(counted_work(stage) for stage in stages) for stages in (champion, rival))
    contest = paired(
        [math.log(other / own) for own, other in zip(ours, theirs, strict=True)],
        np.random.default_rng([seed, bar.n]),
    )
    ratio, low, high = (math.exp(value) for value in (contest.effect, contest.low, contest.high))
    return Comparison(
        bar,
        ours,
        theirs,
        ratio,
        low,
        high,
        all(stage.solved for stage in champion),
        all(stage.solved for stage in rival),
    )


def verdict(comparisons: Sequence[Comparison]) -> str:
    """Return whether the bar was reached, in a sentence."""
    missed = [str(item.bar) for item in comparisons if not item.reached]
    if not comparisons:
        return "bar: not measured"
    return (
        f"bar: not reached at {', '.join(missed)}"
        if missed
        else f"bar: REACHED at {', '.join(str(item.bar) for item in comparisons)}"
    )


def relative_works(
    racer: Racer, references: Mapping[str, Sequence[Stage]], levels: Sequence[BudgetLevel]
) -> dict[KindName, float]:
    """Return the work of a racer over that of the rival of each kind, at the large levels that the racer
    solved; infinite if it solved none."""
    result: dict[KindName, float] = {}
    for ours in racer.kinds:
        solved = [level for level in levels if level.kind.name == ours.kind][
            : _levels_solved(racer, ours.kind, levels)
        ]
        stages = [
            stage
            for level, stage in zip(levels, references[RIVALS[ours.kind]], strict=False)
            if level.kind.name == ours.kind
        ][: len(solved)]
        theirs = (
            kind_scores(
                solved, [Stage(stage.median_step, True, 0.0, per_step=stage.per_step) for stage in stages]
            )
            if solved
            else ()
        )
        result[ours.kind] = math.exp(ours.score - theirs[0].score) if theirs else math.inf
    return result


def _levels_solved(racer: Racer, kind: KindName, levels: Sequence[BudgetLevel]) -> int:
    total = sum(level.kind.name == kind for level in levels)
    return total - next(item.missed for item in racer.kinds if item.kind == kind)


def front_lines(
    front: Sequence[Racer], references: Mapping[str, Sequence[Stage]], levels: Sequence[BudgetLevel]
) -> list[str]:
    """Return the Pareto front in lines: planted work over that of design 340, uniform work over that of the
    baseline, on the race's formulas."""
    lines = []
    for racer in front:
        works = relative_works(racer, references, levels)
        parts = [
            f"{item.kind} {works[item.kind]:6.2f} of {RIVALS[item.kind]}"
            + (f" ({item.missed} levels missed)" if item.missed else "")
            for item in racer.kinds
        ]
        lines.append("   ".join([*parts, racer.title]))
    return lines


Runs = Callable[[str, Sequence[BudgetLevel]], list[Stage]]
"""Runs a design by its name on levels, each to its end."""


def measured(run: Runs, seed: int, bars: Sequence[Bar] = BARS) -> list[Comparison]:
    """Compare the champion with the rivals, bar by bar, and print each."""
    result = []
    for bar in bars:
        levels = bar_levels(bar, seed)
        result.append(compared(bar, run("champion", levels), run(bar.rival, levels), seed))
        print(result[-1], flush=True)
    return result
