"""`evolake solvers transfer`: how a champion carries over from the suite that it was bred on to another one.

Exit codes: 0 measured, 1 an answer is refuted or has no proof that can be read,
2 a suite, variant or seed that cannot be used, 3 the machinery failed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json, say_text


@click.command(short_help="Measure champion and seeds on two suites.")
@click.option(
    "--from",
    "bred",
    default="",
    help="The suite that was bred on, by name or as a folder; default: the settings' train_suite.",
)
@click.option(
    "--to", "other", required=True, help="The suite to carry over to, by name or as a folder of formulas."
)
@click.option(
    "--variant",
    "variants",
    multiple=True,
    help="Id of a variant, or a repository's folder, in place of the champion. May be repeated.",
)
@click.option(
    "--seed",
    "seeds",
    multiple=True,
    help="Seed to compare with; default: all of the settings. May be repeated.",
)
@click.option(
    "--out",
    required=True,
    type=OrdinaryPath(file_okay=False),
    help="Folder for the page, both tables and the journal.",
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
    help="Only the first N formulas of each suite; 0: all.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Runs of each formula; two show the noise of this host.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=None,
    help="Concurrent runs; default: the settings', at most one per core.",
)
@click.option(
    "--profile",
    default=None,
    help="Sizes and limits (default: EVOLAKE_PROFILE, else the lake's, else laptop).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def transfer(
    bred: str,
    other: str,
    out: Path,
    instances: int,
    variants: tuple[str, ...],
    seeds: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Measure the champion and every seed on two suites: solved, PAR-2, SAT and UNSAT apart, memory, share of
    the virtual best solver, with intervals. If it was killed, the same command continues where it stopped."""
    import polars as pl

    from evolake.solvers.evolution.transfer import Sides
    from evolake.solvers.evolution.transfer import transfer as measure
    from evolake.solvers.measurement.benchmark import MeasuringOptions
    from evolake.solvers.report.transfer import write_page
    from evolake.solvers.rules.outcomes import NO_PROOF

    def progress(done: int, total: int, row: Any) -> None:
        say(
            f"{done}/{total} {row['suite']} {row['instance']}: {row['status']} {row['cpu_s']:.2f} s", err=True
        )

    result = measure(
        Sides(bred, other, instances),
        out,
        MeasuringOptions(**options),
        variants=variants,
        seeds=seeds,
        on_progress=None if as_json else progress,
    )
    path = write_page(result.table, out)
    bad = result.runs.filter(
        (pl.col("status") == "wrong") | pl.col("proof_status").is_in(NO_PROOF)
    ).to_dicts()
    reasons = [f"{row['variant_id'][:12]} on {row['instance']}: {row['problems']}" for row in bad]
    verdict = (
        "refuted"
        if any(row["status"] == "wrong" or row["proof_status"] == "refuted" for row in bad)
        else "unproved"
    )
    if as_json:
        details = {
            "page": str(path),
            "from": result.parts["from"],
            "to": result.parts["to"],
            "solvers": result.table.to_dicts(),
        }
        say_json({"verdict": verdict if reasons else "measured", "reasons": reasons} | details)
    else:
        say_text(path.read_text(encoding="utf-8"), nl=False)
        say(*reasons)
        say(f"written: {path}")
    sys.exit(1 if reasons else 0)
