"""Commands that compare: is the second repository better than the first (`evolake solvers duel`), how does
a champion carry over from the suite that it was bred on to another one (`transfer`), and what is it worth to
show planner and coder something (`ablate`)?

Exit codes of `duel`: 0 it is better; 1 it is not, or a repository cannot be built; 2 a missing folder, suite
or adapter; 3 the machinery failed. Of `transfer`: 0 measured, 1 an answer is refuted or has no proof that can
be read, 2 a suite, variant or seed that cannot be used, 3 the machinery failed. Of `ablate`: 0 both arms were
made, 2 no population, or a journal of another question, 3 the machinery failed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evolake.commands import AS_JSON, PROFILE, OrdinaryPath
from evolake.solvers.commands import INSTANCES, STATUSES, SUITE, TIMEOUT, WORKERS
from evolake.terminal import say, say_json, say_text, visible_console

if TYPE_CHECKING:
    from evolake.solvers.measurement.duel import Decision
    from evolake.solvers.measurement.duel_families import Helped
    from evolake.solvers.measurement.repositories import FolderDuel


@click.command(short_help="Decide whether repository B is better than A.")
@click.argument("champion", metavar="A", type=OrdinaryPath())
@click.argument("challenger", metavar="B", type=OrdinaryPath())
@SUITE
@STATUSES
@INSTANCES
@click.option(
    "--passes",
    type=click.IntRange(1, 10),
    default=3,
    show_default=True,
    help="Runs of both on each formula at most.",
)
@TIMEOUT
@click.option(
    "--adapter",
    default=None,
    help=(
        "The family of both, or a file NAME.toml (default: that of variant.toml); needed for upstream trees."
    ),
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=None,
    help="Concurrent pairs; default: the settings', at most one per core.",
)
@click.option(
    "--journal",
    type=OrdinaryPath(),
    default=None,
    help="Store finished pairs in this file and continue from it (default: none).",
)
@PROFILE
@AS_JSON
def duel(
    champion: Path,
    challenger: Path,
    suite: str,
    statuses: Path | None,
    instances: int,
    passes: int,
    adapter: str | None,
    journal: Path | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Decide whether repository B is better than A, by their costs over a suite.

    Both run on each formula, one right after the other, pass by pass, until the 95% interval of the ratio
    is above or below 1, or all passes are done.
    Every UNSAT answer needs its proof.
    """
    from evolake.solvers.measurement.benchmark import MeasuringOptions
    from evolake.solvers.measurement.repositories import SuiteChoice, duel_folders

    def say_pass(number: int, decision: Decision) -> None:
        say(f"pass {number}: A's cost over B's {_interval(decision)}", err=True)

    result = duel_folders(
        (champion, challenger),
        SuiteChoice(suite, instances, statuses),
        MeasuringOptions(**options),
        most=passes,
        adapter=adapter,
        journal=journal,
        on_pass=say_pass,
        on_limits=lambda line: say(line, err=True),
    )
    if as_json:
        say_json(_to_json(result))
    else:
        _say_duel(result, suite)
    return 0 if result.verdict == "better" else 1


def _say_duel(result: FolderDuel, suite: str) -> None:
    from evolake.solvers.measurement.duel_families import family_lines

    for line in [*(f"formulas: {remark}" for remark in result.remarks), *result.reasons]:
        say(line)
    decision = result.decision
    if decision is None:
        return
    first, second = (item.folder for item in result.opened)
    words = {
        "better": "is better than",
        "worse": "is worse than",
        "undecided": "is not shown to be better than",
    }[result.verdict]
    say(f"{second} {words} {first}: {decision.reason}")
    if decision.par2_champion is None or decision.par2_challenger is None:
        return
    say(
        f"  cost of {first} over that of {second}, geometric mean: {_interval(decision)}; PAR-2 "
        f"{decision.par2_champion:.4g} s and {decision.par2_challenger:.4g} s"
    )
    say(
        f"  solved {decision.solved_champion:g} and {decision.solved_challenger:g} of "
        f"{decision.instances}; {decision.pairs} passes over {suite}"
    )
    if result.helped is not None:
        say(f"  {result.helped.words}")
    for line in family_lines(result.families):
        say(f"  {line}")
    say(f"  cost: {result.solver_s:.1f} processor seconds of solvers, without builds and checks of proofs")


def _interval(decision: Decision) -> str:
    high = "no upper end" if decision.ratio_high == float("inf") else f"{decision.ratio_high:.3g}"
    return f"{decision.ratio:.3g} ({decision.ratio_low:.3g} to {high}) over {decision.formulas} formulas"


def _to_json(result: FolderDuel) -> dict[str, Any]:
    from evolake.solvers.measurement.duel_families import helped_in

    decision = result.decision
    return {
        "verdict": result.verdict,
        "reasons": result.reasons,
        "remarks": list(result.remarks),
        "suite": result.suite,
        "decision": None
        if decision is None
        else {name: _finite(value) for name, value in decision.row("duel").items() if name != "cycle"},
        "families": [
            {name: value for name, value in row.items() if not name.endswith("_id") and name != "cycle"}
            | {"probability": None if (found := helped_in(row)) is None else _ends(found)}
            for row in result.families
        ],
        "helped": None
        if (helped := result.helped) is None
        else {
            "gained": helped.gained,
            "lost": helped.lost,
            "formulas": helped.formulas,
            "probability": _ends(helped),
        },
        "solver_s": result.solver_s,
    }


def _ends(helped: Helped) -> list[float]:
    return [helped.share.estimate, helped.share.low, helped.share.high]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and value == float("inf") else value


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
@TIMEOUT
@INSTANCES
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Runs of each formula; two show the noise of this host.",
)
@WORKERS
@PROFILE
@AS_JSON
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

    from evolake.solvers.measurement.benchmark import MeasuringOptions
    from evolake.solvers.rules.outcomes import NO_PROOF
    from evolake.solvers.transfer import Sides, write_page
    from evolake.solvers.transfer import transfer as measure

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


@click.command(short_help="Measure whether showing the rules helps planner and coder.")
@click.option(
    "--without",
    type=click.Choice(["rules", "knowledge"]),
    required=True,
    help="Information that one of the two arms does not get.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="How often both arms are made.",
)
@click.option(
    "--out",
    type=OrdinaryPath(file_okay=False),
    required=True,
    help="Folder of the journal; a killed run continues from it.",
)
@PROFILE
@AS_JSON
def ablate(without: str, repeats: int, out: Path, profile: str | None, as_json: bool) -> int:
    """Let planner and coder work on the newest population, with and without some information, and count what
    passes the gates."""
    from evolake.settings import load
    from evolake.solvers.evolution import ablation

    arms, cycle = ablation.ablate(
        load(profile),
        without=without,
        repeats=repeats,
        out=out,
        on_progress=lambda text: None if as_json else say(text, err=True),
    )
    if as_json:
        say_json(
            {
                "verdict": "measured",
                "cycle": cycle,
                "repeats": repeats,
                "arms": [arm.to_json() for arm in arms],
            }
        )
        return 0
    from rich.table import Table

    table = Table(
        title=f"population of cycle {cycle}, {repeats} repeats; shares of the plans with 95% intervals"
    )
    for name in (
        "arm",
        "plans",
        *(name.replace("_", " ") for name in ablation.MEASURES),
        "blocked",
        "repairs",
        "usd",
    ):
        table.add_column(name)
    for arm in arms:
        shares = [
            f"{share.estimate:.0%} ({share.low:.0%} to {share.high:.0%})" for share in arm.shares.values()
        ] or ["-"] * len(ablation.MEASURES)
        blocked = ", ".join(f"{gate} {count}" for gate, count in arm.gates.items()) or "none"
        table.add_row(arm.name, str(arm.plans), *shares, blocked, str(arm.repairs), f"{arm.usd:.4f}")
    visible_console(width=160).print(table)
    return 0
