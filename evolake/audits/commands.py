"""`evolake audit`: can a score be forged, is it a measurement, is the gain real?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON, OrdinaryPath, materialize
from evolake.errors import InputError
from evolake.file_names import shell_word
from evolake.new_files import write_whole
from evolake.programs.settings import ProgramsSettings
from evolake.terminal import columns_text, say, say_json, say_text

if TYPE_CHECKING:
    from evolake.programs.audit.verdict import About, Entry
    from evolake.programs.model.project import Mode

IN_USE = "-"
"""Instead of a lake's folder: the lake in use."""


@click.command(short_help="Audit an evaluator, a gain or a finished run.")
@click.argument("path", type=OrdinaryPath())
@click.argument("program", required=False, type=OrdinaryPath(exists=True, dir_okay=False))
@click.option(
    "--project",
    type=OrdinaryPath(exists=True, file_okay=False),
    help="Folder with the evaluator of a finished run (default: looked for above it).",
)
@click.option(
    "--mode",
    type=click.Choice(["imports", "calls", "separate"]),
    help="How evaluator and program meet (default: as the project has it).",
)
@click.option(
    "--only",
    "parts",
    multiple=True,
    type=click.Choice(["evaluator", "measurement", "gain"]),
    help="A part of the audit; may be given several times (default: all).",
)
@click.option(
    "--attack", default="", help="Run this attack alone, or those of a class, and print the program."
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=120,
    show_default=True,
    help="Processor seconds that it may take, about.",
)
@click.option("--each", is_flag=True, help="Audit every project in the folder PATH; print one table.")
@click.option("--out", type=OrdinaryPath(dir_okay=False), help="The page of HTML to write.")
@click.option(
    "--into",
    type=OrdinaryPath(file_okay=False),
    is_flag=False,
    flag_value=IN_USE,
    help="Folder of a lake that keeps the audit as rows; alone: the lake in use (default: none).",
)
@click.option(
    "--bundle",
    type=OrdinaryPath(dir_okay=False),
    help="File that others can check by `evolake bundle verify`; nothing is overwritten (default: none).",
)
@AS_JSON
def audit(
    path: Path,
    program: Path | None,
    project: Path | None,
    mode: Mode | None,
    parts: tuple[About, ...],
    attack: str,
    seconds: float,
    each: bool,
    out: Path | None,
    into: Path | None,
    bundle: Path | None,
    as_json: bool,
) -> int:
    """Audit a project: can its score be forged, is the score a measurement, is the gain real? Everything runs
    in the jail; no model and no key is needed.

    PATH: the folder or the name of a project (evolake's, OpenEvolve's or ShinkaEvolve's), the file of an
    evaluator, or a finished run of OpenEvolve, ShinkaEvolve, GEPA, LLM4AD or CodeEvolve. PROGRAM: the initial
    program, with the file of an evaluator; else the best program that is claimed.

    Exit code 0 without a finding, 1 with one, 2 if it cannot be read.

    \b
    Examples:
      evolake audit ./my-project
      evolake audit evaluator.py program.py
      evolake audit openevolve_output --project . --out verdict.html
      evolake audit openevolve_output --project . --into
      evolake audit ./examples --each --seconds 25
    """
    from evolake.audits.bundle import audit_bundle
    from evolake.audits.requests import read_request, write_request
    from evolake.audits.rows import audit_in, is_made
    from evolake.audits.tables import LINE
    from evolake.lake import Lake
    from evolake.programs.audit import auditing
    from evolake.programs.audit.page import page_of

    settings = settings_module.load()
    chosen = ("evaluator",) if attack else parts or auditing.PARTS
    if attack and (into is not None or bundle):
        raise InputError(
            "--attack shows one attack", wanted="it alone, or --into and --bundle", do="leave --attack out"
        )
    if bundle and bundle.exists():
        raise InputError(
            f"{bundle} is there already", wanted="a file that is not there yet", do="name another"
        )
    asked = auditing.Asked(path, program, project, mode, attack, chosen, seconds)
    own, lake, key = settings.of(ProgramsSettings), None, ""
    if each:
        if program or project or attack or into is not None or bundle:
            raise click.UsageError(
                "--each audits projects: it goes with none of PROGRAM, --project, --attack, --into, --bundle"
            )
        return _each(auditing.audit_each(asked, own, settings), out, as_json)
    subject = auditing.subject_of(asked, own, settings.seed_folders)
    if into is None:
        found = auditing.audit(asked, subject, own, settings)
    else:
        lake = Lake(settings.require_lake() if str(into) == IN_USE else into)
        key = write_request(lake, asked, subject)
        made = is_made(lake, read_request(lake, key), settings)
        if not made and (code := materialize(lake.root, LINE, key)) != 0:
            return code
        found = audit_in(lake, key)
    if out:
        write(out, page_of(found))
    if bundle:
        write_whole(bundle, audit_bundle(asked, subject, found))
    if as_json:
        say_json(found.to_json() | ({"audit": key, "lake": str(lake.root)} if lake else {}))
        return int(bool(found.findings))
    say(*found.lines())
    if attack:
        for finding in found.findings:
            say_text(finding.program)
    if out:
        say(f"page: {out}")
    if bundle:
        say(f"bundle: {bundle}; evolake bundle verify {shell_word(bundle)}")
    if lake:
        place = shell_word(lake.root)
        say(f'lake: {lake.root}, audit {key}; evolake sql --lake {place} "FROM audits.verdicts"')
    return int(bool(found.findings))


def _each(entries: Iterable[Entry], out: Path | None, as_json: bool) -> int:
    """Print the audits of several folders, one after another as they end and then as a table."""
    from evolake.programs.audit.page import page_of
    from evolake.programs.audit.verdict import HEADS

    done: list[Entry] = []
    for entry in entries:
        done.append(entry)
        if not as_json:
            said = entry.reason() or f"{entry.audit.headline if entry.audit else ''}, {entry.seconds:.0f} s"
            say(f"{entry.folder}: {said}")
    audited = [entry.audit for entry in done if entry.audit]
    if out:
        write(out, page_of(entries=done))
    if as_json:
        say_json(
            {"verdict": "audited", "audited": len(audited), "folders": [entry.to_json() for entry in done]}
        )
    elif audited:
        say_text(
            columns_text(HEADS, [entry.cells() for entry in done if entry.audit], WIDTH, whole=HEADS[:2])
        )
        say(f"{len(audited)} of {len(done)} folders were audited")
    if not audited:
        return InputError.exit_code
    return int(any(found.findings for found in audited))


WIDTH = 150
"""Characters of a line of the table."""


def write(out: Path, page: str) -> None:
    """Write a page, with the folders above it."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page, encoding="utf-8")
