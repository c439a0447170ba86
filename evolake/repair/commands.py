"""`evolake repair`: run the study, write its problems, judge one candidate, or report tables, figures and
pages.

Exit codes of `certify`: 0 certified, 1 refuted, unknown or malformed, 2 when the problem or the files cannot
be used, 3 when the machinery failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON, REPLAY_ONLY, SEEDS_PER_ARM, OrdinaryPath
from evolake.errors import InputError
from evolake.reading import TEXT_BYTES, Unreadable, read_bytes, reason
from evolake.repair.settings import RepairSettings
from evolake.terminal import say, say_json, say_text, visible_console

if TYPE_CHECKING:
    from evolake.repair.running import Progress


@click.group(short_help="Run and report the study of solver-grounded repair.")
def repair() -> None:
    """Run the study of solver-grounded repair, report it, judge a candidate.

    \b
    Example:
      evolake repair run --problems 20 --seeds 1
    """


@repair.command(short_help="Judge the answer CANDIDATE to the problem PROBLEM.")
@click.argument("problem", type=OrdinaryPath())
@click.argument("candidate", type=OrdinaryPath())
@click.option(
    "--conflict",
    is_flag=True,
    help="Why an assignment is refuted, whole: constraints that exclude some of its values together.",
)
@AS_JSON
def certify(problem: Path, candidate: Path, conflict: bool, as_json: bool) -> int:
    """Judge the candidate in CANDIDATE (JSON) for the problem in PROBLEM (JSON)."""
    from evolake.repair.certifier import CERTIFIED, Certifier
    from evolake.repair.conflicts import certify_whole
    from evolake.repair.problems import parse_candidate, read_problem

    posed = read_problem(problem)
    try:
        text = read_bytes(candidate, TEXT_BYTES)
    except FileNotFoundError:
        raise InputError(
            f"there is no file {str(candidate)!r}", wanted="a candidate in JSON", do="check the path"
        ) from None
    except (OSError, Unreadable) as error:
        raise InputError(
            f"{str(candidate)!r} cannot be read", got=reason(error), do="give a readable file"
        ) from None
    timeout_ms = settings_module.load().of(RepairSettings).solver_timeout_ms
    certifier, claim = Certifier(timeout_ms), parse_candidate(text, posed)
    result = certify_whole(certifier, posed, claim) if conflict else certifier.certify(posed, claim)
    if as_json:
        say_json(result.as_dict())
    else:
        say(f"{posed.id}: {result.verdict}: {result.reason}")
        if result.violated:
            say(f"  violated: {', '.join(result.violated)}")
    return 0 if result.verdict == CERTIFIED else 1


@repair.command(short_help="Write the benchmark's problems and labels as JSONL.")
@click.option(
    "--problems",
    type=click.IntRange(min=1),
    default=500,
    show_default=True,
    help="How many; fewer are the first ones of more.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Root seed.")
@click.option("--out", type=OrdinaryPath(), help="File to write (default: standard output).")
def problems(problems: int, seed: int, out: Path | None) -> int:
    """Write the main benchmark as JSONL, one problem with its certified label per line."""
    from evolake.repair.generator import generate

    lines = "".join(f"{item.problem.to_json()}\n" for item in generate(problems, seed))
    if out is None:
        say_text(lines, nl=False)
        return 0
    try:
        out.write_text(lines, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{str(out)!r} cannot be written", got=str(error), do="name a file in a folder that exists"
        ) from None
    return 0


@repair.command(short_help="Run the study; continue where a run stopped.")
@click.option(
    "--problems", type=click.IntRange(min=1), help="Problems of the main benchmark (default: the profile's)."
)
@SEEDS_PER_ARM
@click.option(
    "--arms", default="all", show_default=True, help="Arms joined by commas, or all of EVOLAKE_REPAIR__ARMS."
)
@click.option(
    "--perturbed",
    type=click.IntRange(min=0),
    help="Main problems that are also run scaled, permuted and relabelled (default: the profile's).",
)
@click.option(
    "--transfer",
    type=click.IntRange(min=0),
    help="Sudoku 4x4 grids of the transfer suite (default: the profile's).",
)
@click.option(
    "--backend",
    type=click.Choice(["operators", "model"]),
    help="Who proposes (default: EVOLAKE_BACKEND, else operators).",
)
@click.option(
    "--profile", help="Sizes and limits: demo, laptop or cluster (default: EVOLAKE_PROFILE, else laptop)."
)
@click.option("--seed", type=click.IntRange(min=0), help="Root seed (default: EVOLAKE_SEED, else 0).")
@REPLAY_ONLY
@AS_JSON
def run(
    problems: int | None,
    seeds: int | None,
    arms: str,
    perturbed: int | None,
    transfer: int | None,
    backend: str | None,
    profile: str | None,
    seed: int | None,
    replay_only: bool,
    as_json: bool,
) -> int:
    """Run the study; continues where an earlier run of the same study stopped."""
    from evolake.repair.cells import pick_arms, pick_seeds
    from evolake.repair.running import run_study

    settings = settings_module.load(profile)
    sizes = {"problems": problems, "seeds": seeds, "perturbed": perturbed, "transfer": transfer}
    given = {"backend": backend, "seed": seed, "replay_only": replay_only or None}
    settings = settings.model_copy(
        update={**{name: value for name, value in given.items() if value is not None}}
    )
    own = settings.of(RepairSettings)
    picked = pick_arms(arms, own.arms)
    sizes = {name: value for name, value in sizes.items() if value is not None} | {"arms": [*picked]}
    settings = settings.with_section(own.model_copy(update=sizes))
    chosen = picked, pick_seeds(settings.of(RepairSettings).seeds)
    with _progress(quiet=as_json) as progress:
        outcome = run_study(settings, *chosen, f"repair-{uuid4().hex[:12]}", progress)
    study = outcome.study
    if as_json:
        result = {
            "verdict": "complete",
            "reasons": [],
            "study_sha": study.sha,
            "backend": study.backend,
            "model": study.model,
            "problems": len(study.entries),
            "ran": list(outcome.ran),
            "kept": list(outcome.kept),
            "lake": str(settings.require_lake()),
        }
        say_json(result)
    else:
        say(
            f"study {study.sha[:12]} complete: {len(outcome.ran)} cells run, {len(outcome.kept)} kept, "
            f"backend {study.backend}"
        )
        say("  next: evolake repair report --out repair_report")
    return 0


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Progress]:
    """Show a bar on a terminal's standard error, a line per cell elsewhere, silence where `quiet`."""
    from evolake.repair.running import Progress

    console = visible_console(stderr=True)

    def tell(cell: str, solved: int, trials: int) -> None:
        if not quiet:
            say(f"{cell}: {solved} of {trials} solved", err=True)

    if quiet or not console.is_terminal:
        yield Progress(lambda trials: None, lambda trials: None, tell)
        return
    from rich.progress import Progress as Bars

    with Bars(console=console, transient=True) as bars:
        bar = bars.add_task("repair study", total=None)
        yield Progress(
            lambda trials: bars.update(bar, total=trials),
            lambda trials: bars.advance(bar, trials),
            lambda cell, solved, trials: bars.console.print(
                f"{cell}: {solved} of {trials} solved", highlight=False
            ),
        )


@repair.command(short_help="Write the study's report from the lake.")
@click.option("--out", required=True, type=OrdinaryPath(file_okay=False), help="The folder to write into.")
@AS_JSON
def report(out: Path, as_json: bool) -> int:
    """Rebuild the report (HTML, LaTeX source, figures, CSV and Parquet tables; a PDF where pdflatex or
    tectonic is installed) from the lake."""
    from evolake.repair.report.artifacts import answers, caution, headline, setting
    from evolake.repair.report.material import read_report
    from evolake.repair.report.page import write_pdf, write_report

    result = read_report(settings_module.load().require_lake())
    written = write_report(result, out)
    pdf, said_of_pdf = write_pdf(out)
    written += [pdf] if pdf else []
    if as_json:
        said = {
            "setting": setting(result),
            "headline": headline(result),
            "reasons": answers(result),
            "files": [str(path) for path in written],
        }
        say_json({"verdict": "written", "study_sha": result.study["study_sha"], "pdf": said_of_pdf} | said)
        return 0
    say(
        f"report: {out / 'report.html'}   LaTeX: {out / 'report.tex'}   figures: {out / 'figures'}   "
        f"tables: {out / 'tables'}"
    )
    say(f"PDF: {said_of_pdf}")
    for sentence in (setting(result), caution(result), headline(result), *answers(result)):
        say(f"  {sentence}")
    return 0
