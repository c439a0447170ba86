"""Commands that judge and measure: `evolake solvers` with `bench` and `verify`, and `evolake proof`. Those
that bring something are in `commands_bring`, those that compare in `commands_compare`.

Exit codes of `bench`: 0 every repository was built and measured and no answer is refuted; 1 one is not laid
out as a variant, does not build, or gave an answer that is refuted or has no proof that can be read; 2 a
missing folder or suite; 3 the machinery failed. Of `verify`, which asks whether a repository may take part,
by all gates from layout to stability: 0 accepted, 1 blocked, 2 a missing folder, adapter or seed, 3 the
machinery failed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evolake.commands import AS_JSON, PROFILE, LazyGroup, OrdinaryPath
from evolake.lazy import Lazy
from evolake.terminal import moving_bar, say, say_json, say_text, visible_console

if TYPE_CHECKING:
    import polars as pl

    from evolake.solvers.measurement.repositories import Opened, Report


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


SUITE = click.option(
    "--suite",
    default="train",
    show_default=True,
    help="A suite by name (train, holdout, hard-train, ...), or a folder of formulas.",
)
INSTANCES = click.option(
    "--instances",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Only the first N formulas of a suite; 0: all of them.",
)
STATUSES = click.option(
    "--statuses", type=OrdinaryPath(), help="CSV of name,status for a folder; default: its status.csv."
)
TIMEOUT = click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0.01),
    help="Cpu seconds per run; default: the profile's.",
)
WORKERS = click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Concurrent runs; default: the settings', at most one per core.",
)


@click.group(
    cls=LazyGroup,
    later={
        "ablate": Lazy("evolake.solvers.commands_compare:ablate"),
        "adapt": Lazy("evolake.solvers.commands_bring:adapt"),
        "duel": Lazy("evolake.solvers.commands_compare:duel"),
        "layout": Lazy("evolake.solvers.commands_bring:layout"),
        "lock": Lazy("evolake.solvers.commands_bring:lock"),
        "submit": Lazy("evolake.solvers.commands_bring:submit"),
        "transfer": Lazy("evolake.solvers.commands_compare:transfer"),
        "tune": Lazy("evolake.solvers.commands_tune:tune"),
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
@SUITE
@STATUSES
@TIMEOUT
@INSTANCES
@click.option(
    "--repeats", type=click.IntRange(min=1), default=1, show_default=True, help="Runs of each formula."
)
@click.option(
    "--adapter",
    default=None,
    help="The solver's family, or a file NAME.toml (default: that of variant.toml); needed for an "
    "upstream tree.",
)
@WORKERS
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
@PROFILE
@AS_JSON
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
    from evolake.solvers.measurement.benchmark import MeasuringOptions
    from evolake.solvers.measurement.repositories import SuiteChoice, bench_folders

    with _runs_progress(quiet=as_json) as advance:
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
        _say_measured(report)
    sys.exit(0 if report.verdict == "measured" else 1)


def _say_measured(report: Report) -> None:
    if not report.metrics.is_empty():
        console = visible_console(width=None if sys.stdout.isatty() else 160)
        console.print(_measured_table(report.opened, report.metrics))
    for remark in report.remarks:
        say(f"formulas: {remark}")
    for reason in [*report.unread, *filter(None, [report.short]), *report.reasons]:
        say(reason)


def _measured_table(opened: Sequence[Opened], metrics: pl.DataFrame) -> Any:
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
def _runs_progress(*, quiet: bool) -> Iterator[Any]:
    """Show a bar on a terminal's standard error, plain lines elsewhere; nothing when quiet."""
    with moving_bar("runs", quiet=quiet) as move:
        if move is not None:
            yield lambda done, total, row: move(done, total, f"{row['instance']}: {row['status']}")
        else:
            yield (
                None
                if quiet
                else lambda done, total, row: say(
                    f"{done}/{total} {row['instance']}: {row['status']} {row['cpu_s']:.2f} s", err=True
                )
            )


@solvers.command(short_help="Judge the repository DIR by every gate.")
@click.argument("folder", metavar="DIR", type=OrdinaryPath())
@click.option(
    "--suite",
    type=click.Choice(["smoke", "train"]),
    default="smoke",
    show_default=True,
    help="Further formulas for models and proofs.",
)
@INSTANCES
@click.option(
    "--adapter",
    "adapter_name",
    default=None,
    help="The solver's family, or a file NAME.toml (default: that of variant.toml); "
    "needed for an upstream tree.",
)
@PROFILE
@AS_JSON
def verify(
    folder: Path, suite: str, instances: int, adapter_name: str | None, profile: str | None, as_json: bool
) -> int:
    """Judge the repository DIR: layout and rules, a clean build, small files, models and proofs, stability.

    DIR can also be what `evolake champion solvers --out DIR` wrote.
    """
    from evolake.solvers.gates.verifying import verify_folder

    with moving_bar("gates", quiet=as_json) as move:
        result = verify_folder(
            folder,
            suite=suite,
            instances=instances,
            adapter_name=adapter_name,
            profile=profile,
            on_progress=None if move is None else lambda gate, done, total: move(done, total, gate),
        )
    if as_json:
        say_json(result.to_json())
    elif result.judged.blocked_by is None:
        say(f"{folder}: accepted ({sum(result.to_json()['runs'].values())} runs, suite {suite})")
        if result.seed is None:
            say(
                "  its sources were compared with nothing, since no seed of its family is known: evolake "
                "seeds add DIR makes it one"
            )
    else:
        say(f"{folder}: blocked")
        say_text(result.judged.feedback)
        if result.judged.output:
            say("  the program wrote in runs that did not end well:")
            say_text(result.judged.output)
    return 0 if result.verdict == "accepted" else 1


SPELLINGS = ("auto", "drat-text", "drat-binary", "lrat-text", "lrat-binary")
READ = "DRAT or LRAT, text or binary, plain or packed by gzip, xz, bzip2 or Zstandard"
NEXT = "name the format by --spelling, or let the solver write one of these"
UNREAD = ("malformed", "unsupported")
STRICTER = {
    "incomplete": (
        "drat-trim may verify it: it needs no empty clause if unit propagation finds a conflict without one"
    ),
    "malformed": "drat-trim may verify it: it skips bytes that are no step, and what is behind the last one",
}
"""Where we are stricter than drat-trim, by verdict."""


@click.group(short_help="Check proofs of unsatisfiability.")
def proof() -> None:
    """Check proofs of unsatisfiability.

    \b
    Example:
      evolake proof check formula.cnf proof.drat
    """


@proof.command(short_help="Check the DRAT or LRAT proof PROOF of the formula CNF.")
@click.argument("cnf", type=OrdinaryPath())
@click.argument("proof_file", metavar="PROOF", type=OrdinaryPath())
@click.option(
    "--checker",
    default="default",
    help=(
        "evolake (the default), dratify, dratify-python; drat-trim, lrat-trim, lrat-check, cake_lpr if "
        "present."
    ),
)
@click.option(
    "--second",
    is_flag=True,
    help="Ask a second, independent checker too where one is present; both must agree.",
)
@click.option(
    "--spelling",
    type=click.Choice(SPELLINGS),
    default="auto",
    show_default=True,
    help="The proof's format; auto: by name and content.",
)
@click.option(
    "--cpu-s",
    default=200.0,
    show_default=True,
    type=click.FloatRange(min=1),
    help="Seconds of processor time for the checker.",
)
@click.option(
    "--memory-mb",
    default=4096,
    show_default=True,
    type=click.IntRange(min=256),
    help="MiB of memory for the checker.",
)
@click.option(
    "--proof-mb",
    default=1024,
    show_default=True,
    type=click.IntRange(min=1),
    help="MiB of the largest proof that is read, unpacked.",
)
@AS_JSON
def check(
    cnf: Path,
    proof_file: Path,
    checker: str,
    second: bool,
    spelling: str,
    cpu_s: float,
    memory_mb: int,
    proof_mb: int,
    as_json: bool,
) -> None:
    """Judge the proof PROOF (DRAT or LRAT, text or binary) of the formula CNF; both may be packed by gzip,
    xz, bzip2 or Zstandard.

    Exit code 0 means verified; 1 refuted (a step does not follow), incomplete (no empty clause) or unknown
    (no verdict within the limits); 2 malformed or unsupported (the proof cannot be read, so nothing is known
    of it), or that a file cannot be used. Verified means that the formula is unsatisfiable. Steps that the
    refutation does not need are checked by `--checker dratify` alone.
    """
    from evolake.solvers.proof import ProofLimits
    from evolake.solvers.proof.checking import check_proof

    limits = ProofLimits(cpu_s=cpu_s, memory_mb=memory_mb, proof_mb=proof_mb)
    result = check_proof(cnf, proof_file, limits=limits, checker=checker, second=second, spelling=spelling)  # type: ignore[arg-type]
    unread = {"wanted": READ, "got": result.reason, "next": NEXT} if result.verdict in UNREAD else {}
    note = {"note": STRICTER[result.verdict]} if result.verdict in STRICTER else {}
    if as_json:
        shown = {
            "verdict": result.verdict,
            "reason": result.reason,
            "checker": result.checker,
            "cpu_s": round(result.cpu_s, 3),
        }
        say_json(shown | {"proof_sha256": result.proof_sha} | unread | note)
    else:
        say(f"{result.verdict}: {result.reason} ({result.checker}, {result.cpu_s:.2f} s)")
        for name in ("wanted", "next") if unread else ():
            say(f"  {name}: {unread[name]}")
        if note:
            say(f"  note: {note['note']}")
    if result.verdict == "verified":
        code = 0
    elif result.verdict in UNREAD:
        code = 2
    else:
        code = 1
    sys.exit(code)


@proof.command(short_help="Build drat-trim and lrat-trim from CaDiCaL's sources.")
@click.argument("source", type=OrdinaryPath(exists=True))
def tools(source: Path) -> None:
    """Build drat-trim and lrat-trim from SOURCE, cadical's sources (a folder or an archive), for second
    opinions: in the folder that EVOLAKE_PROOF_TOOLS names, else in the lake's."""
    from evolake.solvers.proof.native_check import build_tools

    for path in build_tools(source):
        say(f"built {path}")
