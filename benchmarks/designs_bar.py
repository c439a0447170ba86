"""The formulas that a search of designs races on and its champion is measured on, and the bar that it is held
against. As a program, it measures a design on fresh formulas.

    python benchmarks/designs_bar.py MEASURE [--design FILE] [--seed S] [--rows FILE]

bars      the bar below, against design 340 and the baseline
scaling   the design, design 340, the baseline, probSAT, MiniSat and CaDiCaL on planted formulas to N=5,000
          and uniform ones to N=640: solved, steps, work and processor seconds with 95 % intervals
terms     the same for the design's genome (FILE.genome.json) without each of its terms, on both kinds
tune      probSAT's seconds by its break parameter, on formulas that nothing else draws
choice    which rule chooses the better design in lakes of several root seeds (--lakes FOLDER...): consensus,
          each single objective, mean rank, scaling law, chance; what they choose runs on fresh formulas

figure    draw the rows of a scaling or a choice (--rows FILE) as FILE.png

A clock decides only when another solver gives up; everything else is counted. --rows writes the rows as JSON.

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

import argparse
import json
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bench import SHORT

from evolake.contest import paired
from evolake.designs.commands import trace_file
from evolake.designs.engines.isolated import Run, run_apart
from evolake.designs.engines.other_solvers import Solved, of_design, solve
from evolake.designs.evolution.ablation import traced_ablations
from evolake.designs.evolution.population import archive_asset, read_population, texts_of
from evolake.designs.evolution.racing import BudgetLevel, Racer, Stage, kind_scores, run_stages
from evolake.designs.genome.open_ablation import ablations
from evolake.designs.genome.open_genome import read_genome
from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.instances import (
    PLANTED,
    FormulaKind,
    KindName,
    Planted,
    distinct_triples,
    draw_formulas,
    uniform_kind,
    write_batch,
)
from evolake.designs.report.material import material_of
from evolake.designs.tracing.trace import PRELOAD
from evolake.jail import open_pool
from evolake.lake import Lake
from evolake.objectives.kendall import rank_rows
from evolake.plots import style
from evolake.plots.style import BLUE, FAINT, GREEN, ORANGE, PURPLE, RED
from evolake.report.finished_cycle import FinishedCycle
from evolake.seeds import child_seed
from evolake.stats.power_law import fit_power_law

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


SEEDS = Path(__file__).resolve().parents[1] / "data_lake" / "seeds"
KNOWN = {
    "baseline": SEEDS / "designs" / "baseline.py",
    "design 340": SEEDS / "reference_designs" / "design_340.py",
}
"""The rivals of the bar."""
CORE_S = 3600.0
SECONDS = 5.0
"""Processor seconds after which another solver gives up a formula."""
MOST_WORK = 100_000
DESIGNS = ("champion", "design 340", "baseline")
CDCL = ("MiniSat", "CaDiCaL")
SCALING: tuple[tuple[FormulaKind, int, int, tuple[str, ...]], ...] = (
    (PLANTED, 160, 100, (*DESIGNS, "probSAT", *CDCL)),
    (PLANTED, 320, 48, (*DESIGNS, "probSAT")),
    (PLANTED, 640, 24, (*DESIGNS, "probSAT")),
    (PLANTED, 1280, 24, DESIGNS[:2]),
    (PLANTED, 2560, 12, DESIGNS[:2]),
    (PLANTED, 5000, 12, DESIGNS[:2]),
    (uniform_kind(4.2), 160, 100, (*DESIGNS, "probSAT", *CDCL)),
    (uniform_kind(4.1), 226, 48, (*DESIGNS, "probSAT")),
    (uniform_kind(4.0), 320, 48, (*DESIGNS, "probSAT")),
    (uniform_kind(4.0), 452, 48, (*DESIGNS, "probSAT")),
    (uniform_kind(4.0), 640, 48, (*DESIGNS, "probSAT")),
)
"""Kind, variables, formulas and solvers of the scaling. A solver that gave up most formulas of a size is not
run on the next."""
FILTERED = 320
"""Uniform formulas of more variables are taken as they are drawn: with 4.0 clauses per variable nearly all
are satisfiable, and a complete solver takes long to find out."""
CHOSEN, BY_CHANCE = (PLANTED, 226, 24, 20_000), 10
"""Twice the largest size that a demo's designs are raced at; and how many ranked designs stand for chance."""
TERMS = ((PLANTED, 320, 100), (uniform_kind(4.1), 226, 100))
TUNED = ((PLANTED, 160, 100), (uniform_kind(4.1), 226, 100))
if SHORT:
    SCALING, TERMS = ((PLANTED, 40, 12, SCALING[0][3]),), ((PLANTED, 40, 12),)
    TUNED, SECONDS, MOST_WORK = ((PLANTED, 40, 12),), 1.0, 3_000


def traced(path: Path) -> str:
    """Return a design file's graph as JSON text."""
    result = trace_file(path.read_text())
    if not isinstance(result, TracedDesign):
        raise SystemExit(f"{path} cannot be traced: {result.reason}")
    return json.dumps(result.to_json())


def drawn(kind: FormulaKind, n: int, formulas: int, seed: int) -> Planted:
    """Return formulas of a kind; see FILTERED."""
    if kind.name == "planted" or n <= FILTERED:
        return draw_formulas(kind, n, formulas, seed)
    random, m = np.random.default_rng([seed, n]), int(kind.ratio * n)
    idx = distinct_triples(random, formulas * m, n).reshape(formulas, m, 3).astype(np.int32)
    sgn = (2 * random.integers(0, 2, size=idx.shape, dtype=np.int8) - 1).astype(np.int8)
    return Planted(idx, sgn, np.zeros((formulas, n), np.int8), n, m, seed)


def solved_by(text: str, instances: Planted, most_work: int, seed: int) -> tuple[Solved, float]:
    """Run a design on a batch, each formula until it is solved or the work is spent; return what came of it,
    and the work of a step."""
    with tempfile.TemporaryDirectory() as folder:
        write_batch(instances, Path(folder) / "batch.npz")
        result = run_apart(
            Run(
                text,
                instances.n,
                instances.batch,
                seed,
                10**9,
                instance_seed=0,
                ratio=0.0,
                until_median=False,
                computed="unsolved",
                max_work=most_work,
                batch_file=f"{folder}/batch.npz",
            )
        )
    if result.failure:
        raise SystemExit(f"a design failed: {result.failure}")
    return of_design(result), result.work_per_step


def scaling_row(
    kind: FormulaKind, solver: str, n: int, result: Solved, per_step: float | None
) -> dict[str, Any]:
    """Return a row of the scaling. steps, work, cpu_s: median, low, high; null: not reached."""

    def known(values: np.ndarray) -> list[float | None]:
        return [float(f"{value:.4g}") if math.isfinite(value) else None for value in result.median(values)]

    return {
        "kind": str(kind),
        "n": n,
        "solver": solver,
        "formulas": len(result.status),
        "solved": int((result.status == 1).sum()),
        "steps": known(result.steps),
        "work": known(result.steps * per_step) if per_step else None,
        "cpu_s": known(result.cpu_s),
        "mean_cpu_s": float(f"{result.cpu_s.mean():.4g}"),
    }


def scaling(champion: Path, seed: int) -> Iterator[dict[str, Any]]:
    """Measure the champion and the others at each size; yield rows."""
    texts = {name: traced(path) for name, path in {"champion": champion, **KNOWN}.items()}
    print(
        f"{'formulas':20} {'N':>5} {'solver':10} {'solved':>8}   median (95 % interval): steps, work, seconds"
    )
    for place, (kind, n, formulas, names) in enumerate(SCALING):
        instances = drawn(kind, n, formulas, child_seed(seed, "designs", "scaling", str(kind), place))
        for name in names:
            if name in texts:
                result, per_step = solved_by(texts[name], instances, MOST_WORK, seed)
            else:
                result, per_step = solve(name, instances, seconds=SECONDS, seed=seed), None
            yield scaling_row(kind, name, n, result, per_step)


def shown(row: Mapping[str, Any]) -> str:
    """Return a row of the scaling as a line."""

    def numbers(values: Sequence[float | None] | None) -> str:
        if values is None:
            return "-"
        middle, low, high = ("-" if value is None else f"{value:,.4g}" for value in values)
        return f"{middle} ({low} to {high})"

    parts = "   ".join(numbers(row[name]) for name in ("steps", "work", "cpu_s"))
    solved = f"{row['solved']:3d}/{row['formulas']:<4d}"
    mean = f"mean {row['mean_cpu_s']:.3g} s"
    return f"{row['kind']:20} {row['n']:5d} {row['solver']:10} {solved}   {parts}   {mean}"


def terms(champion: Path, seed: int) -> Iterator[dict[str, Any]]:
    """Measure the champion's genome without each of its terms on both kinds; yield rows."""
    genome = read_genome(champion.with_suffix(".genome.json").read_text())
    with open_pool(workers=1, preload=PRELOAD) as pool:
        without = traced_ablations(ablations(genome), pool)
    for place, (kind, n, formulas) in enumerate(TERMS):
        instances = drawn(kind, n, formulas, child_seed(seed, "designs", "terms", str(kind), place))
        for name, text in [("whole", traced(champion)), *((str(item), text) for item, text in without)]:
            result, per_step = solved_by(text, instances, MOST_WORK // 5, seed)
            yield scaling_row(kind, name, n, result, per_step)


def tune(seed: int) -> Iterator[dict[str, Any]]:
    """Measure probSAT by its break parameter; yield rows."""
    for place, (kind, n, formulas) in enumerate(TUNED):
        instances = drawn(kind, n, formulas, child_seed(seed, "designs", "tune", str(kind), place))
        for cb in (1.8, 1.9, 2.0, 2.06, 2.15, 2.3, 2.5, 2.8):
            result = solve("probSAT", instances, seconds=SECONDS / 2.5, seed=seed, cb=cb)
            yield scaling_row(kind, f"cb={cb:g}", n, result, None)


def bars(champion: Path, seed: int) -> Iterator[dict[str, Any]]:
    """Hold the champion against the bar; yield rows."""
    texts = {name: traced(path) for name, path in {"champion": champion, **KNOWN}.items()}

    def run(name: str, levels: Sequence[BudgetLevel]) -> list[Stage]:
        return [run_stages(texts[name], [level], [level.max_steps], CORE_S)[0] for level in levels]

    comparisons = measured(run, seed, BARS[:1] if SHORT else BARS)
    print(verdict(comparisons))
    for item in comparisons:
        works = {"champion": item.champion, "rival_work": item.rival}
        yield {"bar": str(item.bar), "ratio": [item.ratio, item.low, item.high], **works}


LOOKS = {
    "champion": (BLUE, "o"),
    "design 340": (RED, "s"),
    "baseline": (FAINT, "D"),
    "probSAT": (GREEN, "^"),
    "MiniSat": (PURPLE, "v"),
    "CaDiCaL": (ORANGE, "x"),
}
PANELS = (("work", "work, in steps of the baseline"), ("cpu_s", "processor seconds per formula"))


def draw_choice(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Draw each rule's ratio with its 95% interval, and the lakes as small marks."""
    drawn, axes = style.figure(height=3.6, width=7.6)
    for place, row in enumerate(reversed(rows)):
        middle, low, high = row["ratio"]
        axes.plot([low, high], [place, place], color=BLUE, linewidth=1.6)
        axes.plot([middle], [place], color=BLUE, marker="o", markersize=7)
        axes.plot(
            [math.exp(value) for value in row["logs"]],
            [place - 0.25] * row["lakes"],
            color=FAINT,
            marker="|",
            linestyle="",
        )
    axes.set_yticks(range(len(rows)), [row["rule"] for row in reversed(rows)], fontsize=style.SMALL)
    axes.set_xscale("log")
    axes.set_xticks([1, 2, 3, 5], ["1", "2", "3", "5"])
    axes.minorticks_off()
    title = f"Which rule chooses well? {rows[0]['lakes']} lakes"
    style.dress(axes, title, "work of the chosen design over that of the best", "")
    return style.to_png(drawn)


def draw(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Draw medians with their 95% intervals by size, planted formulas at the left, work above and seconds
    below. A median that was not reached is not drawn; an interval without an upper end ends in an arrow."""
    drawn, axes = style.figure(height=7.6, width=10.0)
    axes.remove()
    panels = drawn.subplots(2, 2, sharex="col", sharey="row")
    for line, (value, label) in enumerate(PANELS):
        for column, kind in enumerate(("planted", "uniform")):
            panel = panels[line][column]
            for name, (colour, marker) in LOOKS.items():
                points = [
                    (row["n"], *row[value])
                    for row in rows
                    if row["solver"] == name and row["kind"].startswith(kind) and row[value] and row[value][0]
                ]
                for n, middle, low, high in points:
                    panel.plot([n, n], [low, high or 3 * middle], color=colour, linewidth=1.2)
                    if high is None:
                        panel.plot([n], [3 * middle], color=colour, marker=6, markersize=5)
                if points:
                    n, middle, *_ = zip(*points, strict=True)
                    panel.plot(
                        n, middle, color=colour, marker=marker, markersize=6, linewidth=1.4, label=name
                    )
            panel.set_xscale("log")
            panel.set_yscale("log")
            title = f"{kind} formulas" if line == 0 else ""
            style.dress(panel, title, "variables N" if line else "", label if column == 0 else "")
            sizes = sorted({row["n"] for row in rows if row["kind"].startswith(kind)})
            panel.set_xticks(sizes, [f"{n:,}" for n in sizes], fontsize=style.SMALL)
            panel.minorticks_off()
    handles, labels = panels[1][0].get_legend_handles_labels()
    drawn.legend(handles, labels, fontsize=style.SMALL, frameon=False, loc="outside lower center", ncols=6)
    return style.to_png(drawn)


@dataclass(frozen=True)
class Pool:
    """The designs that a finished cycle ranked. results: design -> rows of its levels."""

    scores: np.ndarray
    objectives: list[str]
    families: list[str]
    designs: list[str]
    order: list[str]
    results: dict[str, list[dict[str, Any]]]
    texts: list[str]


def pool_of(root: Path, finished: int) -> Pool:
    """Return what was ranked in a lake's cycle, the first of which is 1."""
    lake = Lake(root)
    cycle, entering = f"{finished:04d}", f"{finished + 1:04d}"
    report = FinishedCycle(lake, "designs", cycle, None, "", {})
    population = read_population(lake, entering)
    ranked = material_of(report, population).ranked()
    family = dict(population.objectives.select("objective_id", "family").iter_rows())
    text = texts_of(lake)
    designs = [str(name) for name in ranked.design_ids]
    return Pool(
        ranked.scores,
        [str(name) for name in ranked.objective_ids],
        [family[str(name)] for name in ranked.objective_ids],
        designs,
        [str(name) for name in ranked.order],
        population.results(),
        [text(population.row(name)["traced_sha"]) for name in designs],
    )


def choices(pool: Pool, n: int, random: np.random.Generator) -> dict[str, list[str]]:
    """Return rule -> the design that it chooses, or several of which each counts alike. n: size that the
    scaling law is asked for."""
    ranks = rank_rows(pool.scores).average
    laws = {}
    for name in pool.designs:
        levels = [row for row in pool.results[name] if row["unsolved_fraction"] < 0.5]
        if law := fit_power_law([row["N"] for row in levels], [row["median_step"] for row in levels]):
            laws[name] = law.predicted(n)[0]
    chance = [str(name) for name in random.permutation(pool.designs)[:BY_CHANCE]]
    single = {
        f"{family} {name[:6]}": pool.designs[int(np.argmin(row))]
        for family, name, row in zip(pool.families, pool.objectives, ranks, strict=True)
    }
    return {
        "consensus": pool.order[:1],
        "a single objective": list(single.values()),
        "mean rank": [pool.designs[int(np.argmin(ranks.mean(axis=0)))]],
        "scaling law": [min(laws, key=lambda name: laws[name])] if laws else chance,
        "chance": chance,
        **{
            f"objective {family}": [name for label, name in single.items() if label.startswith(f"{family} ")]
            for family in sorted(set(pool.families))
        },
    }


def choice(lakes: Sequence[Path], seed: int) -> Iterator[dict[str, Any]]:
    """Judge by fresh formulas of CHOSEN what each rule chooses in each lake; yield a row for each rule."""
    logs: dict[str, list[float]] = {}
    kind, n, formulas, most = CHOSEN
    finished = min(len(Lake(root).cycles("designs", archive_asset("designs"))) for root in lakes) - 1
    for place, root in enumerate(lakes):
        pool = pool_of(root, finished)
        levels = budget_levels(seed, f"choice {root.name}", [(kind, n, formulas, most)])
        rules = choices(pool, n, np.random.default_rng([seed, place]))
        wanted = {name for chosen in rules.values() for name in chosen}
        work = {
            name: math.log(counted_work(run_stages(text, levels, [most], CORE_S)[0]))
            for name, text in zip(pool.designs, pool.texts, strict=True)
            if name in wanted
        }
        best = min(work.values())
        for rule, chosen in rules.items():
            logs.setdefault(rule, []).append(float(np.mean([work[name] for name in chosen])) - best)
        print(f"{root}: {len(work)} designs, {len(pool.objectives)} objectives", flush=True)
    for rule, values in logs.items():
        if len(values) == len(lakes):
            found = paired(values, np.random.default_rng(seed))
            ratio = [math.exp(value) for value in (found.effect, found.low, found.high)]
            print(f"{rule:24} {ratio[0]:6.2f} ({ratio[1]:.2f} to {ratio[2]:.2f}) times the work of the best")
            yield {"rule": rule, "lakes": len(lakes), "ratio": ratio, "logs": values}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    measures = {
        "bars": lambda given: bars(given.design, given.seed),
        "scaling": lambda given: scaling(given.design, given.seed),
        "terms": lambda given: terms(given.design, given.seed),
        "tune": lambda given: tune(given.seed),
        "choice": lambda given: choice(given.lakes, given.seed),
    }
    parser.add_argument("measure", choices=[*measures, "figure"], nargs="?", default="scaling")
    parser.add_argument("--design", type=Path, default=SEEDS / "reference_designs" / "in_turn.py")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--lakes", type=Path, nargs="+", default=[])
    given = parser.parse_args()
    if given.measure == "figure":
        rows = json.loads(given.rows.read_text())
        given.rows.with_suffix(".png").write_bytes((draw_choice if "rule" in rows[0] else draw)(rows))
        return
    rows = []
    for row in measures[given.measure](given):
        rows.append(row)
        if "solver" in row:
            print(shown(row), flush=True)
        if given.rows:
            given.rows.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
