"""`evolake programs`: a new project, what a project's evaluator says of its initial program, and a program of the lake."""

from __future__ import annotations

import json
from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.errors import InputError
from evolake.programs.settings import ProgramsSettings

LINE = "programs"


@click.group()
def programs() -> None:
    """Programs of your own, evolved against an evaluator of your own."""


@programs.command()
@click.argument("name")
@click.option("--in", "parent", type=click.Path(file_okay=False, path_type=Path), help="Folder to make it in (default: programs of the seeds).")
def new(name: str, parent: Path | None) -> int:
    """Write a complete small project NAME, to be changed into your own. Nothing is overwritten."""
    from evolake.file_names import check_id
    from evolake.new_files import write_new
    from evolake.programs.commands.template import FILES

    folder = (parent or settings_module.load().seeds / LINE) / check_id("a project", name)
    write_new({folder / path: text for path, text in FILES.items()})
    click.echo(f"{len(FILES)} files in {folder}; next: evolake programs check {folder}")
    return 0


@programs.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--runs", type=click.IntRange(min=2), default=4, show_default=True, help="Evaluations: two under one seed, each other under its own.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def check(folder: Path, runs: int, as_json: bool) -> int:
    """Evaluate the initial program of the project DIR in the jail: score, noise, time, whether it is deterministic, whether its score is protected.

    Exit code 1 where a gate blocks the initial program, as it would when the line starts.
    """
    from evolake.programs.evolution.checking import check_project
    from evolake.programs.model.project import load_project

    settings = settings_module.load()
    found = check_project(load_project(folder), settings.of(ProgramsSettings), settings, runs)
    if as_json:
        click.echo(json.dumps(found.told()))
    else:
        for line in found.lines():
            click.echo(line)
    return int(not found.passed)


@programs.command()
@click.argument("program", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def show(program: str, as_json: bool) -> int:
    """Show a program: its scores, its gates, and its difference from the initial program of its project.

    ID: its id or the first eight or more digits of it, or the name of a project for its champion.
    """
    from evolake.lake import Lake
    from evolake.programs.report.showing import lines_of, told_of

    found = told_of(Lake(settings_module.load().lake), program)
    if found is None:
        raise InputError(f"no program {program!r} is in the lake", wanted="an id as `evolake sql` shows it, or a project's name", do="evolake status")
    if as_json:
        click.echo(json.dumps({"verdict": "found"} | found))
    else:
        for line in lines_of(found):
            click.echo(line)
    return 0
