"""`evolake solvers`: measure solver repositories on a suite.

Exit codes: 0 every repository was built and measured and no answer is refuted; 1 one is not laid out as a
variant, does not build, or gave an answer that is refuted or has no proof that can be read; 2 a missing
folder or suite; 3 the machinery failed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evolake.commands import LazyGroup, OrdinaryPath
from evolake.lazy import Lazy
from evolake.terminal import say, say_json, visible_console

if TYPE_CHECKING:
    import polars as pl

    from evolake.solvers.measurement.bench import Opened, Report

SHOWN = (
    "solved",
    "solved_sat",
    "solved_unsat",
    "par2",
    "par2_sat",
    "par2_unsat",
    "wrong",
    "unproved",
    "checked_share",
    "proof_share",
    "memory_max_mb",
)


@click.group(
    cls=LazyGroup,
    later={
        "ablate": Lazy("evolake.solvers.commands.ablate:ablate"),
        "adapt": Lazy("evolake.solvers.commands.adapt:adapt"),
        "duel": Lazy("evolake.solvers.commands.duel:duel"),
        "layout": Lazy("evolake.solvers.commands.layout:layout"),
        "lock": Lazy("evolake.solvers.commands.lock:lock"),
        "submit": Lazy("evolake.solvers.commands.submit:submit"),
        "transfer": Lazy("evolake.solvers.commands.transfer:transfer"),
        "verify": Lazy("evolake.solvers.commands.verify:verify"),
    },
    short_help="Verify, measure and submit SAT solver repositories.",
)
def solvers() -> None:
    """Verify, measure and submit SAT solvers as repositories.

    \b
    Example:
      evolake solvers verify my-solver --suite smoke
    """


@solvers.command(short_help="Build each repository DIR and run it on a suite.")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=OrdinaryPath())
@click.option(
    "--suite",
    default="train",
    show_default=True,
    help="A suite by name (train, holdout, hard-train, ...), or a folder of formulas.",
)
@click.option(
    "--statuses",
    type=OrdinaryPath(),
    default=None,
    help="CSV of name,status for a folder; default: its status.csv.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0.01),
    default=None,
    help="Cpu seconds per run; default: the profile's.",
)
@click.option(
    "--instances",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Only the first N formulas; 0: all of them.",
)
@click.option(
    "--repeats", type=click.IntRange(min=1), default=1, show_default=True, help="Runs of each formula."
)
@click.option(
    "--adapter",
    default=None,
    help="The solver's family, or a file NAME.toml (default: that of variant.toml); needed for an "
    "upstream tree.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=None,
    help="Concurrent runs; default: the settings', at most one per core.",
)
@click.option(
    "--runs",
    "runs_file",
    type=OrdinaryPath(),
    default=None,
    help="Write all runs into this Parquet file (default: none).",
)
@click.option(
    "--journal",
    type=OrdinaryPath(),
    default=None,
    help="Store finished runs in this file and continue from it (default: none).",
)
@click.option(
    "--profile",
    default=None,
    help="Sizes and limits (default: EVOLAKE_PROFILE, else the lake's, else laptop).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def bench(
    folders: tuple[Path, ...],
    suite: str,
    statuses: Path | None,
    instances: int,
    adapter: str | None,
    journal: Path | None,
    as_json: bool,
    runs_file: Path | None,
    **options: Any,
) -> None:
    """Build each repository DIR and run it on a suite: answers judged by the formula, UNSAT answers by their
    proofs."""
    from evolake.solvers.measurement.bench import SuiteChoice, bench_folders
    from evolake.solvers.measurement.benchmark import MeasuringOptions

    with _progress(quiet=as_json) as advance:
        report = bench_folders(
            folders,
            SuiteChoice(suite, instances, statuses),
            MeasuringOptions(**options),
            adapter=adapter,
            journal=journal,
            on_progress=advance,
        )
    if runs_file is not None:
        report.runs.write_parquet(runs_file)
    if as_json:
        say_json(report.to_json())
    else:
        _say(report)
    sys.exit(0 if report.verdict == "measured" else 1)


def _say(report: Report) -> None:
    if not report.metrics.is_empty():
        console = visible_console(width=None if sys.stdout.isatty() else 160)
        console.print(_table(report.opened, report.metrics))
    for remark in report.remarks:
        say(f"formulas: {remark}")
    for reason in [*report.unread, *filter(None, [report.short]), *report.reasons]:
        say(reason)


def _table(opened: Sequence[Opened], metrics: pl.DataFrame) -> Any:
    from rich.table import Table

    first = metrics.row(0, named=True)
    table = Table(
        title=(
            f"suite {first['suite']}: {first['instances']} formulas, timeout {first['timeout_s']:g} s of "
            "cpu time"
        )
    )
    names = {item.variant_id: str(item.folder) for item in reversed(opened)}
    rows = metrics.to_dicts()
    # One row a figure: beside each other, eleven figures do not fit 80 columns, and a number that is cut is
    # another number.
    table.add_column("repository", no_wrap=True)
    for row in rows:
        table.add_column(names[row["variant_id"]], justify="right", overflow="fold")
    for name in SHOWN:
        table.add_row(
            name.replace("_", " "), *("-" if row[name] is None else f"{row[name]:.4g}" for row in rows)
        )
    return table


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Any]:
    """Show a bar on a terminal's standard error, plain lines elsewhere; nothing when quiet."""
    console = visible_console(stderr=True)
    if quiet:
        yield None
        return
    if not console.is_terminal:
        yield lambda done, total, row: say(
            f"{done}/{total} {row['instance']}: {row['status']} {row['cpu_s']:.2f} s", err=True
        )
        return
    from rich.progress import Progress

    with Progress(console=console, transient=True) as bars:
        bar = bars.add_task("runs", total=None)
        yield lambda done, total, row: bars.update(
            bar, completed=done, total=total, description=f"{row['instance']}: {row['status']}"
        )
