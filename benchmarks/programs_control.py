"""The control that a model has to beat: operators alone against four dumb searches on
`programs_control_problems`, at equal evaluations or at equal processor seconds.

    python benchmarks/programs_control.py [--evaluations 150 | --equal seconds] [--seeds 5] [--problems a,b] [--hours H] [--state FILE]
    python benchmarks/programs_control.py --field [--search hill] [--seconds 600 | --minutes 30] [--no-terms] [--problems a,b] [--state FILE]

Per problem it prints the score of the initial program, the median of each search's best over seeds, and the
operators' improvement over that of each other search with a 95% interval (bootstrap over seeds). A win is an
interval wholly above 1, a loss one wholly below 1; with one seed there is neither. A ratio counts as 0.1 at
least and 10 at most. If a project is noisy, the reported score is the best program's under held-out seeds.

The searches are in `programs_control_searches.py`: the line's operators, as cycles of the laptop profile run
them; hill climbing, which changes one to three literals of the best program so far; restart climbing, which
changes those of the initial program; CMA-ES and differential evolution over the numbers of the initial
program. Every run is kept in FILE as soon as it ends. It is not repeated unless the problem, its budget, the
number of workers, or the code of its search has changed.

`--equal seconds` gives each search the processor seconds (of search, jails and evaluators together) that
`budgets.toml` names for the problem. The operators run a second time there without a polish (`plain`) where
they have one. The runs without a polish are also compared at equal evaluations: as many as each search made
in its seconds. `--field` runs the operators, or another search, on AlphaEvolve's problems, each for so many
processor seconds or minutes of the clock, and prints their results with published ones. `--no-terms` hides
what evaluators offer to a polish (`smooth`). With a number of evaluations there is no polish.
"""  # noqa: E501

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import statistics
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np
from bench import SHORT, fresh_file
from programs_control_searches import BASELINES, SEARCHES, held_out_seeds, search_is_noisy

from evolake.errors import HostBusy, InputError
from evolake.gates import load_rules
from evolake.lake import BlobStore
from evolake.programs.evolution.added_seeds import admit
from evolake.programs.evolution.budgeted_search import BudgetedEvaluator, SearchSetup, processor_seconds
from evolake.programs.model.project import Project, project_of, read_files
from evolake.programs.problems import problem_files, problems
from evolake.programs.sandbox.evaluating import Evaluator, score_of
from evolake.programs.sandbox.meeting import with_mode
from evolake.programs.settings import ProgramsSettings
from evolake.seeds import generator
from evolake.stats.bootstrap import RESAMPLES, Interval

ROOT = Path(__file__).resolve().parents[1]
PROBLEMS = Path(__file__).resolve().parent / "programs_control_problems"
PUBLISHED, BUDGETS = (PROBLEMS / name for name in ("published.toml", "budgets.toml"))
SYSTEMS = ("AlphaEvolve", "CodeEvolve", "ShinkaEvolve", "OpenEvolve")
HELD_OUT = 12
"""Seeds under which the best programs of a noisy problem are compared."""
UNLIMITED = 10**9
CLOSE = 0.01
"""Share of AlphaEvolve's first published value within which a result counts as close to it."""
LAPTOP = ProgramsSettings()


@dataclass(frozen=True)
class Run:
    """One search on one problem under one seed. initial, best: scores. key: what the run depends on. curve:
    evaluations spent and the best score then, as the search measured it."""

    key: str
    problem: str
    search: str
    seed: int
    initial: float
    best: float
    higher_is_better: bool
    spent: int
    cpu_s: float
    wall_s: float
    program: dict[str, str]
    curve: tuple[tuple[int, float], ...]

    @property
    def improvement(self) -> float:
        """Return how much better the best is than the initial program; 0 if under held-out seeds it is
        none."""
        return max(0.0, (self.best - self.initial) * (1 if self.higher_is_better else -1))

    def score_after(self, evaluations: int) -> float:
        """Return the best score after so many evaluations, as the search measured it."""
        return [score for spent, score in self.curve if spent <= evaluations][-1]

    def improvement_after(self, evaluations: int) -> float:
        """Return how much better the search had become after so many evaluations, by its own measure."""
        change = self.score_after(evaluations) - self.curve[0][1]
        return max(0.0, change * (1 if self.higher_is_better else -1))


def problem_names() -> list[str]:
    """Return the names of all problems: AlphaEvolve's, which evolake ships, and those stored here."""
    own = (path.name for path in PROBLEMS.iterdir() if path.is_dir())
    return sorted([*own, *tomllib.loads(PUBLISHED.read_text())])


def budgets(names: Sequence[str]) -> dict[str, float]:
    """Return the processor seconds that each search has on problems."""
    given = tomllib.loads(BUDGETS.read_text())
    return {name: float(given.get(name, given["usual"])) for name in names}


def files_of(name: str) -> dict[str, bytes]:
    """Return the files of a problem."""
    if name in problems():
        return {path: text.encode() for path, text in problem_files(name).items()}
    return read_files(PROBLEMS / name)


def load_problem(name: str, *, terms: bool = True) -> Project:
    """Return a problem as a project. terms: whether its evaluator offers `smooth`, if it has it."""
    files = files_of(name)
    if not terms:
        files["evaluator.py"] = files["evaluator.py"].replace(b"def smooth(", b"def hidden(")
    return with_mode(project_of(name, files), LAPTOP)


def run_key(
    project: Project,
    search: str,
    seed: int,
    evaluations: int,
    minutes: float | None,
    workers: int,
    seconds: float | None = None,
) -> str:
    """Return a hash of what the result of a run depends on."""
    line = ROOT / "evolake" / "programs"
    sources = [
        Path(__file__).parent / "programs_control_searches.py",
        line / "evolution" / "budgeted_search.py",
        line / "search" / "searches.py",
    ]
    if search not in BASELINES:
        sources += sorted(
            path for folder in ("search", "evolution", "sandbox") for path in (line / folder).glob("*.py")
        )
    given = [project.sha, search, seed, evaluations, minutes, workers, seconds]
    digest = hashlib.sha256(json.dumps(given).encode())
    for path in sources:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def run_search(
    project: Project,
    search: str,
    seed: int,
    key: str,
    *,
    evaluations: int = UNLIMITED,
    minutes: float | None = None,
    workers: int = 2,
    seconds: float | None = None,
) -> Run:
    """Run one search from the initial program until its evaluations, minutes or processor seconds are
    spent."""
    polished = evaluations == UNLIMITED and search != "plain"
    own = LAPTOP if polished else LAPTOP.model_copy(update={"polish_s": 0.0})
    begun, usage = time.monotonic(), processor_seconds()
    until = begun + 60 * minutes if minutes else float("inf")
    ruleset = load_rules(ROOT / "data_lake" / "seeds" / "rules", "programs")
    with tempfile.TemporaryDirectory(prefix="programs-control-") as folder:
        blobs = BlobStore(Path(folder))
        initial, _ = admit(
            project, LAPTOP, ruleset, blobs, cycle="0000", run_id="benchmark", root_seed=seed, mode=None
        )
        if initial["score"] is None:
            raise InputError(
                f"the initial program of {project.name} has no score",
                got=str(initial["reason"]),
                do="correct the problem",
            )
        evaluator = BudgetedEvaluator(
            project,
            own,
            workers=workers,
            mode=None,
            most=evaluations,
            until=until,
            seconds=seconds or math.inf,
        )
        with evaluator:
            found = SEARCHES[search](
                SearchSetup(project, own, evaluator, initial, ruleset, blobs, seed, workers)
            )
            spent, cpu_s = evaluator.spent, processor_seconds() - usage
    start, best = initial["score"], found.score
    if search_is_noisy(project, LAPTOP):
        start, best = held_out_score(project, project.evolving), held_out_score(project, found.texts)
    return Run(
        key,
        project.name,
        search,
        seed,
        start,
        best,
        project.higher_is_better,
        spent,
        cpu_s,
        time.monotonic() - begun,
        found.texts,
        found.curve,
    )


def held_out_score(project: Project, texts: Mapping[str, str]) -> float:
    """Return the mean score under held-out seeds; an evaluation without one counts as the worst that there
    was."""
    with Evaluator(project, LAPTOP) as evaluator:
        built = evaluator.build(texts)
        evaluations = [
            evaluator.evaluate(texts, seed, built) for seed in held_out_seeds(project, LAPTOP, HELD_OUT)
        ]
    scores = [score for item in evaluations if item.ok and (score := score_of(project, item)) is not None]
    if not scores:
        what = f"a program of {project.name} has no score under held-out seeds"
        raise InputError(what, got=evaluations[0].reason, do="see the problem's evaluator")
    worst = (min if project.higher_is_better else max)(scores)
    return statistics.fmean(scores + [worst] * (len(evaluations) - len(scores)))


def read_runs(state: Path) -> dict[str, Run]:
    """Return the runs that a state file has, by key. A last line that was broken off is removed from the
    file."""
    runs: dict[str, Run] = {}
    lines = state.read_text().splitlines(keepends=True) if state.exists() else []
    if lines and not lines[-1].endswith("\n"):
        lines.pop()
        state.write_text("".join(lines))
    for number, line in enumerate(lines, 1):
        try:
            found = json.loads(line)
            run = Run(**found | {"curve": tuple((spent, score) for spent, score in found.get("curve", ()))})
        except (ValueError, TypeError, AttributeError):
            what = f"line {number} of {state} is no run of this benchmark"
            raise InputError(
                what,
                wanted="a file that this command wrote",
                got=line[:80],
                do="name another file by --state",
            ) from None
        runs[run.key] = run
    return runs


def runs_of(
    names: Sequence[str],
    searches: Sequence[str],
    seeds: int,
    state: Path,
    *,
    evaluations: int,
    minutes: float | None,
    workers: int,
    until: float,
    seconds: Mapping[str, float] | None = None,
    terms: bool = True,
) -> Iterator[Run]:
    """Yield the runs that are wanted, from the state file or done now, until the time is over. Runs of one
    seed come before those of the next. seconds: of each problem."""
    done = read_runs(state)
    projects = {name: load_problem(name, terms=terms) for name in names}
    for seed, name, search in itertools.product(range(seeds), names, searches):
        project, most = projects[name], seconds[name] if seconds else None
        if search == "plain" and not project.given.program.entry:
            continue  # it is what the operators do
        key = run_key(project, search, seed, evaluations, minutes, workers, most)
        if key in done:
            yield done[key]
            continue
        if time.monotonic() >= until:
            continue
        sizes = {"evaluations": evaluations, "minutes": minutes, "workers": workers, "seconds": most}
        try:
            run = run_search(project, search, seed, key, **sizes)
        except HostBusy as error:
            click.echo(f"{name}, {search}, seed {seed}: not run, {error}", err=True)
            continue
        state.parent.mkdir(parents=True, exist_ok=True)
        with state.open("a") as file:
            file.write(json.dumps(asdict(run)) + "\n")
        change, spent = (
            f"{run.initial:.6g} -> {run.best:.6g}",
            f"{run.spent} evaluations, {run.wall_s:.0f} s, {run.cpu_s:.0f} processor seconds",
        )
        click.echo(f"{name}, {search}, seed {seed}: {change}, {spent}", err=True)
        yield run


CAP = 10.0
"""A ratio counts as at most this, and at least one over it: an improvement of 0 on one side gives no finite
ratio."""

ONE_SEED = "one seed"
"""Verdict where nothing says how much chance there is in a ratio."""


@dataclass(frozen=True)
class Comparison:
    """What two searches made of one problem.

    Attributes:
        ratio: own median improvement over the other's; the ends of its interval are NaN with one seed.
        resampled: ratios of resampled seeds.
    """

    problem: str
    ratio: Interval
    resampled: np.ndarray

    @property
    def verdict(self) -> str:
        """Return win or loss if the whole interval lies above or below 1, else tie; `ONE_SEED` without an
        interval."""
        if math.isnan(self.ratio.low):
            return ONE_SEED
        if self.ratio.low > 1:
            return "win"
        if self.ratio.high < 1:
            return "loss"
        return "tie"


def improvement_ratio(own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return own / other of improvements >= 0, within 1 / CAP and CAP; 1 if both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(other > 0, own / np.where(other > 0, other, 1), np.where(own > 0, CAP, 1.0))
    return np.clip(ratio, 1 / CAP, CAP)


def compare(
    problem: str, own: Sequence[float], other: Sequence[float], random: np.random.Generator
) -> Comparison:
    """Compare the improvements of two searches, one number per seed, none negative."""
    first, second = np.asarray(own, float), np.asarray(other, float)
    medians = [
        np.median(values[random.integers(len(values), size=(RESAMPLES, len(values)))], axis=1)
        for values in (first, second)
    ]
    ratios = improvement_ratio(*medians)
    low, high = np.quantile(ratios, [0.025, 0.975]) if len(first) > 1 else (math.nan, math.nan)
    estimate = float(improvement_ratio(np.median(first), np.median(second)))
    return Comparison(problem, Interval(estimate, float(low), float(high), 0.95), ratios)


def geometric_mean(comparisons: Sequence[Comparison], random: np.random.Generator) -> Interval:
    """Return the geometric mean of the ratios over problems, with its interval from the resampled seeds.

    The problems are taken as they are, not as a sample of others. With one seed of each there is nothing else
    to resample, and the interval is that over problems.
    """
    logs = np.log([item.ratio.estimate for item in comparisons])
    if any(item.verdict == ONE_SEED for item in comparisons):
        resampled = logs[random.integers(len(logs), size=(RESAMPLES, len(logs)))].mean(axis=1)
    else:
        resampled = np.mean([np.log(item.resampled) for item in comparisons], axis=0)
    low, high = np.quantile(np.exp(resampled), [0.025, 0.975])
    return Interval(float(np.exp(logs.mean())), float(low), float(high), 0.95)


def runs_by_search(runs: Sequence[Run], name: str) -> dict[str, list[Run]]:
    """Return each search's runs of a problem, under those seeds under which all searches ran; nothing of a
    problem that one of them has not run. Without runs of its own `plain` has those of the operators."""
    found: dict[str, dict[int, Run]] = {search: {} for search in ("operators", *BASELINES)}
    for run in runs:
        if run.problem == name:
            found.setdefault(run.search, {})[run.seed] = run
    found.setdefault("plain", found["operators"])
    seeds = sorted(set.intersection(*(set(some) for some in found.values())))
    return {search: [found[search][seed] for seed in seeds] for search in SEARCHES} if seeds else {}


def comparison_table(runs: Sequence[Run], names: Sequence[str], *, plain: bool = False) -> list[str]:
    """Return the lines of the table in Markdown, and a summary. Only seeds under which all searches ran are
    compared. plain: whether the runs were given seconds: then the operators without a polish have a column,
    and are compared at equal evaluations."""
    shown = [search for search in SEARCHES if plain or search != "plain"]
    over = [f"over {other}" for other in BASELINES]
    lines = [f"| {' | '.join(['problem', 'initial', *shown, *over])} |"]
    lines.append("| --- " * (2 + len(shown) + len(over)) + "|")
    compared: dict[str, list[Comparison]] = {other: [] for other in BASELINES}
    evenly: dict[str, list[Comparison]] = {other: [] for other in BASELINES}
    for name in names:
        if not (own := runs_by_search(runs, name)):
            continue
        for other in BASELINES:
            given, more = (generator(0, "programs_control", name, other) for _ in range(2))
            ours, theirs = ([run.improvement for run in own[search]] for search in ("operators", other))
            compared[other].append(compare(name, ours, theirs, given))
            equal = [min(one.spent, two.spent) for one, two in zip(own["plain"], own[other], strict=True)]
            ours, theirs = (
                [run.improvement_after(most) for run, most in zip(own[search], equal, strict=True)]
                for search in ("plain", other)
            )
            evenly[other].append(compare(name, ours, theirs, more))
        first = own["operators"][0]
        medians = [statistics.median(run.initial for run in own["operators"])]
        medians += [statistics.median(run.best for run in own[search]) for search in shown]
        arrow = "higher" if first.higher_is_better else "lower"
        ratios = [ratio_text(compared[other][-1]) for other in BASELINES]
        figures = [f"{value:.5g}" for value in medians]
        lines.append(f"| {' | '.join([f'{name} ({arrow})', *figures, *ratios])} |")
    if compared["hill"]:
        lines += ["", *(summary(f"operators over {other}", compared[other]) for other in BASELINES)]
        if plain:
            words = "at equal evaluations, without a polish: operators over"
            lines += ["", *(summary(f"{words} {other}", evenly[other]) for other in BASELINES)]
    return lines


def ratio_text(comparison: Comparison) -> str:
    """Return a ratio with its interval and, if it is no tie, its verdict."""
    ratio, verdict = comparison.ratio, comparison.verdict
    if verdict == ONE_SEED:
        return f"{ratio.estimate:.2f}"
    ends = f"{ratio.estimate:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
    return ends if verdict == "tie" else f"{ends} {verdict}"


def summary(what: str, comparisons: Sequence[Comparison]) -> str:
    """Return a line on all problems. what: is compared with what."""
    verdicts = [item.verdict for item in comparisons]
    mean = geometric_mean(comparisons, generator(0, "programs_control", "geometric mean", what))
    counts = f"{verdicts.count('win')} wins, {verdicts.count('tie')} ties, {verdicts.count('loss')} losses"
    over = ""
    if ONE_SEED in verdicts:
        ratios = [item.ratio.estimate for item in comparisons]
        ahead, behind = sum(ratio > 1 for ratio in ratios), sum(ratio < 1 for ratio in ratios)
        counts = f"ahead on {ahead}, behind on {behind}, equal on {len(ratios) - ahead - behind}, one seed"
        over = " over problems"
    return (
        f"{what}, {len(comparisons)} problems: {counts}; "
        f"geometric mean {mean.estimate:.2f} (95% {mean.low:.2f} to {mean.high:.2f}{over})"
    )


def field_table(runs: Sequence[Run], published: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the lines of the table with published values in Markdown."""
    lines = [
        f"| problem | initial | {runs[0].search if runs else ''} | evaluations | processor seconds | "
        f"over {SYSTEMS[0]}'s first | {' | '.join(SYSTEMS)} |",
        "| --- " * (6 + len(SYSTEMS)) + "|",
    ]
    gains: list[float] = []
    for run in runs:
        first = float(published[run.problem][SYSTEMS[0]].split()[0])
        gains.append((run.best - first) / first * (1 if run.higher_is_better else -1))
        values = " | ".join(published[run.problem].get(system, "") for system in SYSTEMS)
        arrow = "higher" if run.higher_is_better else "lower"
        lines.append(
            f"| {run.problem} ({arrow}) | {run.initial:.6g} | {run.best:.10g} | {run.spent} | "
            f"{run.cpu_s:.0f} | {gains[-1]:+.3%} | {values} |"
        )
    near, beyond = sum(gain >= -CLOSE for gain in gains), sum(gain >= 0 for gain in gains)
    return [*lines, "", f"within {CLOSE:.0%} of it: {near} of {len(gains)}; at or beyond it: {beyond}"]


@click.command()
@click.option(
    "--evaluations",
    default=4 if SHORT else 150,
    show_default=True,
    help="Of each search on each problem under each seed.",
)
@click.option(
    "--equal",
    type=click.Choice(["evaluations", "seconds"]),
    default="evaluations",
    show_default=True,
    help="What each search gets as much of: evaluations, or the processor seconds of `budgets.toml`.",
)
@click.option("--seeds", default=1 if SHORT else 5, show_default=True)
@click.option("--problems", default="fit_8" if SHORT else "", help="Names, comma-separated; default: all.")
@click.option("--hours", default=0.0, help="No run begins after so many hours; 0: all are run.")
@click.option(
    "--state",
    type=click.Path(path_type=Path, dir_okay=False),
    default=fresh_file("runs.jsonl") if SHORT else ROOT / "build" / "programs_control.jsonl",
    show_default=True,
)
@click.option(
    "--workers", default=2, show_default=True, help="Evaluations at the same time, of every search."
)
@click.option(
    "--field",
    is_flag=True,
    help="What operators alone reach on AlphaEvolve's problems, with published values.",
)
@click.option(
    "--search",
    type=click.Choice(list(SEARCHES)),
    default="operators",
    show_default=True,
    help="With --field.",
)
@click.option("--minutes", default=30.0, show_default=True, help="Of each problem, with --field.")
@click.option("--seconds", default=0.0, help="Processor seconds of each problem, with --field; 0: minutes.")
@click.option("--terms/--no-terms", default=True, help="Whether evaluators offer `smooth` to a polish.")
def main(
    evaluations: int,
    equal: str,
    seeds: int,
    problems: str,
    hours: float,
    state: Path,
    workers: int,
    field: bool,
    search: str,
    minutes: float,
    seconds: float,
    terms: bool,
) -> None:
    """Run the searches and print the table."""
    published = tomllib.loads(PUBLISHED.read_text()) if PUBLISHED.exists() else {}
    known = sorted(published) if field else problem_names()
    names = [name.strip() for name in problems.split(",") if name.strip()] or known
    if unknown := sorted(set(names) - set(known)):
        raise click.UsageError(f"there is no problem {unknown[0]!r}; expected some of: {', '.join(known)}")
    if min(evaluations, seeds, workers) < 1 or minutes <= 0 or seconds < 0:
        raise click.UsageError("evaluations, seeds, workers, minutes and seconds must be at least 1")
    until = time.monotonic() + 3600 * hours if hours else float("inf")
    begun, usage = time.monotonic(), os.times()
    try:
        if field:
            some = runs_of(
                names,
                [search],
                1,
                state,
                evaluations=UNLIMITED,
                minutes=None if seconds else minutes,
                workers=workers,
                until=until,
                seconds=dict.fromkeys(names, seconds) if seconds else None,
                terms=terms,
            )
            lines = field_table(list(some), published)
        else:
            plain = equal == "seconds"
            some = runs_of(
                names,
                [search for search in SEARCHES if plain or search != "plain"],
                seeds,
                state,
                evaluations=UNLIMITED if plain else evaluations,
                minutes=None,
                workers=workers,
                until=until,
                seconds=budgets(names) if plain else None,
                terms=terms,
            )
            lines = comparison_table(list(some), names, plain=plain)
    except InputError as error:
        click.echo(f"error: {error}", err=True)
        raise SystemExit(2) from None
    click.echo("\n".join(lines))
    click.echo(
        f"{time.monotonic() - begun:.0f} s on the clock, {sum(os.times()[:4]) - sum(usage[:4]):.0f} s of "
        "processor time",
        err=True,
    )


if __name__ == "__main__":
    main()
