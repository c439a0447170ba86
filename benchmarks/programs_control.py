"""The control that a model has to beat: operators alone against two dumb searches on
`programs_control_problems`.

    python benchmarks/programs_control.py [--evaluations 150] [--seeds 5] [--problems a,b] [--hours H] [--state FILE]
    python benchmarks/programs_control.py --field [--minutes 30] [--problems a,b] [--state FILE]

Per problem it prints the score of the initial program, the median of each search's best over seeds, and the
operators' improvement over that of hill climbing with a 95% interval (bootstrap over seeds). A win is an
interval wholly above 1, a loss one wholly below 1; with one seed there is neither. A ratio counts as 0.1 at
least and 10 at most. If a project is noisy, the reported score is the best program's under held-out seeds.
A second table compares the searches after shares of the evaluations, by the scores that they measured
themselves.

The searches are in `programs_control_searches.py`: the line's operators, as cycles of the laptop profile run
them; hill climbing, which changes one to three literals of the best program so far; and restart climbing,
which changes those of the initial program. Every run is kept in FILE as soon as it ends. It is not repeated
unless the problem, the number of evaluations or workers, or the code of its search has changed.

`--field` runs the operators on AlphaEvolve's problems, each for so many minutes of the clock, and prints their
results with published ones, and what they had after 150 and 1,000 evaluations.
"""  # noqa: E501

from __future__ import annotations

import hashlib
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
from programs_control_searches import (
    SEARCHES,
    BudgetedEvaluator,
    SearchSetup,
    held_out_seeds,
    search_is_noisy,
)

from evolake.errors import HostBusy, InputError
from evolake.gates import load_rules
from evolake.lake import BlobStore
from evolake.programs.evolution.added_seeds import admit
from evolake.programs.model.project import Project, project_of, read_files
from evolake.programs.sandbox.evaluating import Evaluator, score_of
from evolake.programs.sandbox.meeting import with_mode
from evolake.programs.settings import ProgramsSettings
from evolake.seeds import generator
from evolake.stats.bootstrap import RESAMPLES, Interval

ROOT = Path(__file__).resolve().parents[1]
PROBLEMS = Path(__file__).resolve().parent / "programs_control_problems"
SHARED, PUBLISHED = PROBLEMS / "shared", PROBLEMS / "published.toml"
SYSTEMS = ("AlphaEvolve", "CodeEvolve", "ShinkaEvolve", "OpenEvolve")
HELD_OUT = 12
"""Seeds under which the best programs of a noisy problem are compared."""
UNLIMITED = 10**9
CURVE = (0.1, 0.25, 0.5, 0.75, 1.0)
"""Shares of the evaluations after which searches are compared as well."""
SHORTER = (150, 1000)
"""Evaluations after which the best of a run of `--field` is shown as well."""
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
    """Return the names of all problems."""
    return sorted(path.name for path in PROBLEMS.iterdir() if path.is_dir() and path != SHARED)


def load_problem(name: str) -> Project:
    """Return a problem as a project: its folder, with those shared modules that its evaluator imports,
    directly or by another."""
    files, shared, missing = read_files(PROBLEMS / name), read_files(SHARED), True
    while missing:
        missing = {
            file: data
            for file, data in shared.items()
            if file not in files
            and any(f"from {Path(file).stem} import".encode() in text for text in files.values())
        }
        files |= missing
    return with_mode(project_of(name, files), LAPTOP)


def run_key(
    project: Project, search: str, seed: int, evaluations: int, minutes: float | None, workers: int
) -> str:
    """Return a hash of what the result of a run depends on."""
    line = ROOT / "evolake" / "programs"
    sources = [Path(__file__).parent / "programs_control_searches.py"]
    if search == "operators":
        sources += sorted(
            path for folder in ("search", "evolution", "roles") for path in (line / folder).glob("*.py")
        )
    digest = hashlib.sha256(json.dumps([project.sha, search, seed, evaluations, minutes, workers]).encode())
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
) -> Run:
    """Run one search from the initial program until its evaluations or minutes are spent."""
    begun, usage = time.monotonic(), os.times()
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
            project, LAPTOP, workers=workers, mode=None, most=evaluations, until=until
        )
        with evaluator:
            found = SEARCHES[search](
                SearchSetup(project, LAPTOP, evaluator, initial, ruleset, blobs, seed, workers)
            )
            spent = evaluator.spent
    start, best = initial["score"], found.score
    if search_is_noisy(project, LAPTOP):
        start, best = held_out_score(project, project.evolving), held_out_score(project, found.texts)
    after = os.times()
    cpu_s = sum(after[:4]) - sum(usage[:4])
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
) -> Iterator[Run]:
    """Yield the runs that are wanted, from the state file or done now, until the time is over. Runs of one
    seed come before those of the next."""
    done = read_runs(state)
    projects = {name: load_problem(name) for name in names}
    for seed in range(seeds):
        for name, project in projects.items():
            for search in searches:
                key = run_key(project, search, seed, evaluations, minutes, workers)
                if key in done:
                    yield done[key]
                    continue
                if time.monotonic() >= until:
                    continue
                try:
                    run = run_search(
                        project, search, seed, key, evaluations=evaluations, minutes=minutes, workers=workers
                    )
                except HostBusy as error:
                    click.echo(f"{name}, {search}, seed {seed}: not run, {error}", err=True)
                    continue
                state.parent.mkdir(parents=True, exist_ok=True)
                with state.open("a") as file:
                    file.write(json.dumps(asdict(run)) + "\n")
                change, spent = (
                    f"{run.initial:.6g} -> {run.best:.6g}",
                    f"{run.spent} evaluations, {run.wall_s:.0f} s",
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


def comparison_table(runs: Sequence[Run], names: Sequence[str]) -> list[str]:
    """Return the lines of the table in Markdown, and a summary. Only seeds under which all searches ran are
    compared."""
    lines = [
        "| problem | initial | operators | hill | restart | operators / hill | | operators / restart |",
        "| --- " * 8 + "|",
    ]
    compared: dict[str, list[Comparison]] = {"hill": [], "restart": []}
    for name in names:
        own = runs_by_search(runs, name)
        if not own["operators"]:
            continue
        for other, comparisons in compared.items():
            first, second = ([run.improvement for run in own[search]] for search in ("operators", other))
            comparisons.append(compare(name, first, second, generator(0, "programs_control", name, other)))
        lines.append(comparison_row(own, compared["hill"][-1], compared["restart"][-1]))
    return (
        lines
        + [""] * bool(compared["hill"])
        + [summary(other, comparisons) for other, comparisons in compared.items() if comparisons]
    )


def runs_by_search(runs: Sequence[Run], name: str) -> dict[str, list[Run]]:
    """Return each search's runs of a problem, under those seeds under which all searches ran."""
    by_search = {
        search: {run.seed: run for run in runs if (run.problem, run.search) == (name, search)}
        for search in SEARCHES
    }
    seeds = sorted(set.intersection(*(set(found) for found in by_search.values())))
    return {search: [found[seed] for seed in seeds] for search, found in by_search.items()}


def curve_table(runs: Sequence[Run], names: Sequence[str], evaluations: int) -> list[str]:
    """Return the lines of a table in Markdown: geometric means of the ratios after shares of the evaluations,
    by what the searches measured themselves."""
    compared = [(name, own) for name in names if (own := runs_by_search(runs, name))["operators"]]
    if not compared:
        return []
    lines = ["| evaluations | operators / hill | operators / restart |", "| --- " * 3 + "|"]
    for spent in sorted({math.ceil(evaluations * share) for share in CURVE}):
        cells = [str(spent)]
        for other in ("hill", "restart"):
            random = generator(0, "programs_control", "curve", other)
            comparisons = [
                compare(
                    name,
                    [run.improvement_after(spent) for run in own["operators"]],
                    [run.improvement_after(spent) for run in own[other]],
                    random,
                )
                for name, own in compared
            ]
            mean = geometric_mean(comparisons, random)
            cells.append(f"{mean.estimate:.2f} ({mean.low:.2f} to {mean.high:.2f})")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def comparison_row(own: Mapping[str, Sequence[Run]], hill: Comparison, restart: Comparison) -> str:
    """Return the line of one problem. own: search -> its runs."""
    first = own["operators"][0]
    medians = [statistics.median(run.initial for run in own["operators"])]
    medians += [statistics.median(run.best for run in own[search]) for search in SEARCHES]
    arrow = "higher" if first.higher_is_better else "lower"
    ends = "" if hill.verdict == ONE_SEED else f" ({hill.ratio.low:.2f} to {hill.ratio.high:.2f})"
    ratio = f"{hill.ratio.estimate:.2f}{ends} | {hill.verdict} | {restart.ratio.estimate:.2f}"
    return f"| {first.problem} ({arrow}) | {' | '.join(f'{value:.5g}' for value in medians)} | {ratio} |"


def summary(other: str, comparisons: Sequence[Comparison]) -> str:
    """Return a line on all problems. other: the search that the operators are compared with."""
    verdicts = [item.verdict for item in comparisons]
    mean = geometric_mean(comparisons, generator(0, "programs_control", "geometric mean", other))
    counts = f"{verdicts.count('win')} wins, {verdicts.count('tie')} ties, {verdicts.count('loss')} losses"
    over = ""
    if ONE_SEED in verdicts:
        ratios = [item.ratio.estimate for item in comparisons]
        ahead, behind = sum(ratio > 1 for ratio in ratios), sum(ratio < 1 for ratio in ratios)
        counts = f"ahead on {ahead}, behind on {behind}, equal on {len(ratios) - ahead - behind}, one seed"
        over = " over problems"
    return (
        f"operators over {other}, {len(comparisons)} problems: {counts}; "
        f"geometric mean {mean.estimate:.2f} (95% {mean.low:.2f} to {mean.high:.2f}{over})"
    )


def field_table(runs: Sequence[Run], published: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the lines of the table with published values in Markdown."""
    lines = [
        f"| problem | initial | {' | '.join(f'after {count} evaluations' for count in SHORTER)} | "
        f"operators alone | {' | '.join(SYSTEMS)} |",
        "| --- " * (3 + len(SHORTER) + len(SYSTEMS)) + "|",
    ]
    for run in runs:
        values = " | ".join(published[run.problem].get(system, "") for system in SYSTEMS)
        arrow = "higher" if run.higher_is_better else "lower"
        lines.append(
            f"| {run.problem} ({arrow}) | {run.initial:.6g} | "
            f"{' | '.join(f'{run.score_after(count):.6g}' for count in SHORTER)} | "
            f"{run.best:.8g}, {run.spent} evaluations | {values} |"
        )
    return lines


@click.command()
@click.option(
    "--evaluations",
    default=4 if SHORT else 150,
    show_default=True,
    help="Of each search on each problem under each seed.",
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
@click.option("--minutes", default=30.0, show_default=True, help="Of each problem, with --field.")
def main(
    evaluations: int,
    seeds: int,
    problems: str,
    hours: float,
    state: Path,
    workers: int,
    field: bool,
    minutes: float,
) -> None:
    """Run the searches and print the table."""
    published = tomllib.loads(PUBLISHED.read_text()) if PUBLISHED.exists() else {}
    known = sorted(published) if field else problem_names()
    names = [name.strip() for name in problems.split(",") if name.strip()] or known
    if unknown := sorted(set(names) - set(known)):
        raise click.UsageError(f"there is no problem {unknown[0]!r}; expected some of: {', '.join(known)}")
    if min(evaluations, seeds, workers) < 1 or minutes <= 0:
        raise click.UsageError("evaluations, seeds, workers and minutes must be at least 1")
    until = time.monotonic() + 3600 * hours if hours else float("inf")
    begun, usage = time.monotonic(), os.times()
    try:
        if field:
            some = runs_of(
                names,
                ["operators"],
                1,
                state,
                evaluations=UNLIMITED,
                minutes=minutes,
                workers=workers,
                until=until,
            )
            lines = field_table(list(some), published)
        else:
            some = runs_of(
                names,
                list(SEARCHES),
                seeds,
                state,
                evaluations=evaluations,
                minutes=None,
                workers=workers,
                until=until,
            )
            found = list(some)
            curve = curve_table(found, names, evaluations)
            lines = comparison_table(found, names) + [""] * bool(curve) + curve
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
