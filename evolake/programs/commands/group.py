"""`evolake programs`: a new project (a function to fit, scored apart from the program that fits it, or an
open problem), what a project's evaluator says of its initial program, a program of the lake, a construction
with what checks it, and whether evolution goes in circles.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON, OrdinaryPath
from evolake.errors import InputError
from evolake.programs.settings import ProgramsSettings
from evolake.terminal import say, say_json, say_text

if TYPE_CHECKING:
    from evolake.settings import Settings


LINE = "programs"


@click.group(short_help="Evolve programs of your own against your evaluator.")
def programs() -> None:
    """Evolve your own programs against your own evaluator.

    \b
    Examples:
      evolake programs new my-curve
      evolake programs check my-curve
    """


@programs.command(short_help="Write a complete small project to edit, or an open problem.")
@click.argument("name", required=False)
@click.option(
    "--from", "problem", help="An open problem, such as circles-26 (default: a small function to fit)."
)
@click.option("--from-function", "function", help="A function of yours that is to evolve: FILE.py:NAME.")
@click.option("--score", help="What scores it, with --from-function: FILE.py:NAME, called with the function.")
@click.option("--minimize", is_flag=True, help="Lower scores are better, with --score.")
@click.option(
    "--from-text",
    "wish",
    metavar="TEXT|FILE",
    help="What you want, in words: a model writes program and evaluator, which are checked and audited.",
)
@click.option("--list", "listed", is_flag=True, help="List the open problems and their best known values.")
@click.option(
    "--in",
    "parent",
    type=OrdinaryPath(file_okay=False),
    help="Folder to create it in (default: the seeds of the lake in use).",
)
def new(
    name: str | None,
    problem: str | None,
    function: str | None,
    score: str | None,
    minimize: bool,
    wish: str | None,
    listed: bool,
    parent: Path | None,
) -> int:
    """Write a complete small project, to be changed into your own, an open problem, a project of a function
    that you have, or one that a model writes from your words. Nothing is overwritten.

    What a model writes is accepted if its program scores in the jail, two evaluations agree, and no attack of
    an audit forges the score. Otherwise what was found is sent back once; then the draft is left in
    NAME.refused of the current folder, and the exit code is 1.

    NAME: a name, for a project among the seeds of the lake in use, which takes part in the next cycle; or a
    path such as ./NAME, for one anywhere. With --from it may be left out: then it is the problem's.
    """
    from evolake.file_names import shell_word
    from evolake.new_files import new_files
    from evolake.programs.model.from_function import project_of_function
    from evolake.programs.problems import lines_of_problems, problem_files, problem_named

    if listed:
        say(*lines_of_problems())
        return 0
    problem = problem and problem_named(problem)
    if not (name := name or problem):
        raise InputError("a new project needs a name", wanted="NAME, or --from PROBLEM", do="add one")
    if (function is None) != (score is None) or (problem and function) or (minimize and not score):
        raise InputError(
            "a project of a function needs the function and what scores it",
            wanted="--from-function FILE.py:NAME --score FILE.py:NAME, without --from",
        )
    if wish is not None and (problem or function):
        raise InputError(
            "a new project comes from one source", wanted="one of --from-text, --from and --from-function"
        )
    settings = settings_module.load()
    files = problem_files(problem) if problem else FILES
    if function and score:
        files = project_of_function(function, score, minimize=minimize)
    folder = _new_folder(settings, name, parent)
    if wish is not None:
        if (accepted := _from_text(folder, wish)) is None:
            return 1
        files = accepted
    with new_files(
        {folder / path: text for path, text in files.items()}
    ):  # a lake that is damaged leaves no half-made project
        called, entering = _called(settings, folder), _entering(settings, folder)
    say(f"{len(files)} files in {folder}; next: evolake programs check {shell_word(called)}", f"  {entering}")
    return 0


def _from_text(folder: Path, wish: str) -> Mapping[str, str] | None:
    """Return the files of the project that a model wrote, and print what was measured; None if it is refused.
    Then the draft and what was found of it are in a folder of their own, outside of the seeds."""
    from evolake.new_files import check_new, write_new
    from evolake.programs.commands.from_text import FINDINGS, project_from_text, wish_in

    refused = Path(f"{folder.name}.refused")
    text = wish_in(wish)
    check_new(folder, refused)
    written = project_from_text(folder.name, text)
    if not written.findings:
        say(*written.lines)
        return written.files
    say(f"{folder.name}: refused", *(f"  finding   {item}" for item in written.findings))
    if written.files:
        kept = {**written.files, FINDINGS: "".join(f"{item}\n" for item in written.findings)}
        write_new({refused / path: item for path, item in kept.items()})
        say(f"  the draft is in {refused}; when it is repaired: evolake audit {refused}")
    return None


def _new_folder(settings: Settings, name: str, parent: Path | None) -> Path:
    """Return the folder of a new project. Raises InputError if its last part can be no project's name, or no
    lake is in use for a bare name."""
    from evolake.file_names import check_id

    path = Path(name)
    given = parent or (None if path.name == name else Path())
    check_id("a project", (Path.cwd() / path).resolve().name)
    return given / path if given is not None else settings.added_seeds / LINE / path


def _called(settings: Settings, folder: Path) -> str:
    """Return the shortest text that `evolake programs check` finds the project by from here."""
    from evolake.programs.model.project import find_project

    found = find_project(folder.name, settings.of(ProgramsSettings), settings.seed_folders)
    return folder.name if found.resolve() == folder.resolve() else str(folder)


def _entering(settings: Settings, folder: Path) -> str:
    """When a new project takes part, in a sentence."""
    from evolake.file_names import shell_word
    from evolake.lake import Lake
    from evolake.programs.evolution.added_seeds import held_with_other_files
    from evolake.programs.model.project import project_folders
    from evolake.report.entering import entry

    own = settings.of(ProgramsSettings)
    if held_with_other_files(Lake(settings.require_lake()), folder):
        return (
            f"the line already has a project {folder.name} with other files and continues with those: "
            "rename the folder to start a new one"
        )
    if folder.resolve() in [known.resolve() for known in project_folders(own, *settings.seed_folders)]:
        return (
            f"{entry(Lake(settings.require_lake()), LINE)[1]} (evolake run --lines {LINE}), with the "
            "content that it has then"
        )
    if own.projects:
        return f"it takes part where EVOLAKE_PROGRAMS__PROJECTS names it, which now is {own.projects}"
    return f"it takes part after: evolake seeds add {shell_word(folder)}"


@programs.command(short_help="Evaluate a project's initial program in the sandbox.")
@click.argument("project", metavar="NAME|DIR")
@click.option(
    "--runs",
    type=click.IntRange(min=2),
    default=4,
    show_default=True,
    help="Evaluations: two under one seed, each other under its own.",
)
@click.option(
    "--install",
    is_flag=True,
    help="First install requirements.txt, as wheels, into an environment of the project.",
)
@AS_JSON
def check(project: str, runs: int, install: bool, as_json: bool) -> int:
    """Evaluate the initial program of a project in the jail: score, noise, time, whether it is deterministic,
    whether its score is protected.

    The project is named by its folder, or by the name that `evolake programs new` was given. Exit code 1 if a
    gate blocks the initial program, as it would when the line starts, or if the evaluator reports an error in
    addition to its score.
    """
    from evolake.programs.evolution.checking import check_project
    from evolake.programs.model.project import find_project, load_project
    from evolake.programs.sandbox import environment

    settings = settings_module.load()
    own = settings.of(ProgramsSettings)
    folder = find_project(project, own, settings.seed_folders)
    loaded = load_project(folder)
    if install and (place := environment.install(loaded)) is not None and not as_json:
        say(f"{loaded.name}: the packages of {environment.FILE} are in {place}")
    result = check_project(loaded, own, settings, runs, project)
    if as_json:
        say_json(result.to_json() | {"folder": str(folder)})
        return int(not result.clean)
    for line in [*result.lines(), *([f"  {_entering(settings, folder)}"] if result.passed else [])]:
        say(line)
    return int(not result.clean)


@programs.command(short_help="Show a program, its scores, gates and changes.")
@click.argument("program", metavar="ID")
@AS_JSON
def show(program: str, as_json: bool) -> int:
    """Show a program: its scores, its gates, and its difference from the initial program of its project.

    ID: its id or the first eight or more digits of it, or the name of a project for its champion.
    """
    from evolake.lake import Lake
    from evolake.programs.report.page import details_of, lines_of

    result = details_of(Lake(settings_module.load().require_lake()), program)
    if as_json:
        say_json({"verdict": "found"} | result)
    else:
        *lines, diff = lines_of(result)
        say(*lines)
        say_text(diff)
    return 0


@programs.command(short_help="Write a program's construction with what checks it.")
@click.argument("program", metavar="ID")
@click.option(
    "--out", required=True, type=OrdinaryPath(file_okay=False), help="The folder to write, missing or empty."
)
@AS_JSON
def certificate(program: str, out: Path, as_json: bool) -> int:
    """Write the object that a program returns in exact numbers, with the evaluator and a script that scores
    it again, a picture, and the distance to the best known value.

    ID: as of `evolake programs show`: an id, or the name of a project for its champion.
    """
    from evolake.lake import Lake
    from evolake.programs.report.certificate import certify

    settings = settings_module.load()
    result = certify(Lake(settings.require_lake()), program, out, settings)
    if as_json:
        say_json({"verdict": "certified"} | result)
    else:
        say(f"{result['project']}: {result['metric']} {result['score']!r}", f"  {result['compared']}")
        say(f"  {len(result['files'])} files in {out}; to check it: python {out / 'check.py'}")
    return 0


@programs.command(short_help="Name the program that brought each line of a program.")
@click.argument("program", metavar="ID")
@AS_JSON
def blame(program: str, as_json: bool) -> int:
    """Name, for each line of a program, the program of its lineage that brought it, with its cycle, its
    operator or the model, and what it gained: how much better it scored in the search than its parent.

    ID: its id or the first eight or more digits of it, or the name of a project for its champion. Numbers
    that are written out over several lines, as a polish writes them, are one range.
    """
    from evolake.lake import Lake
    from evolake.programs.report.page import blame_of
    from evolake.programs.report.tracing import blame_cells
    from evolake.terminal import columns_text

    rows = blame_of(Lake(settings_module.load().require_lake()), program)
    if as_json:
        say_json({"verdict": "found", "program_id": rows[0]["program_id"] if rows else None, "lines": rows})
        return 0
    heads = ("line", "program", "cycle", "operator", "gain", "text")
    for file in dict.fromkeys(row["file"] for row in rows):
        cells = blame_cells([row for row in rows if row["file"] == file])
        widest = max(len(cell[-1]) for cell in cells) + BESIDE_TEXT
        say(file)
        say_text(columns_text(heads, cells, widest, numbers=("line", "gain"), whole=heads))
    return 0


BESIDE_TEXT = 80
"""Characters of a line of `blame` that are not the program's text, at most."""


@programs.command(short_help="List the programs that no other beats in every metric.")
@click.argument("project", required=False)
@AS_JSON
def front(project: str | None, as_json: bool) -> int:
    """List the Pareto front of PROJECT (default: of all): the living programs that no other is at least as
    good as in every declared metric and better in one. The metrics are those of `[metrics]` in
    project.toml."""
    from evolake.lake import Lake
    from evolake.programs.report.material import front_of, lines_of, material_of

    lake = Lake(settings_module.load().require_lake())
    cycles = lake.cycles(LINE, "incoming_programs")
    if not cycles or not lake.cycles(LINE, "champion"):
        raise InputError(
            "the lake holds no finished cycle of programs yet", do="evolake run --lines programs"
        )
    material = material_of(lake, cycles[-1])
    known = list(material.metrics)
    if project is not None and project not in known:
        raise InputError(f"the lake holds no project {project!r}", wanted=f"one of {', '.join(known)}")
    fronts = [front_of(material, name) for name in ([project] if project else known)]
    if as_json:
        say_json({"verdict": "listed", "projects": fronts})
    else:
        say(*(line for item in fronts for line in lines_of(item)))
    return 0


@programs.command(short_help="Measure how often evolution adds lines it had deleted.")
@click.argument("project", required=False)
@AS_JSON
def trace(project: str | None, as_json: bool) -> int:
    """Say whether the evolution of PROJECT (default: of all) goes in circles: the share of added lines that
    its lineage had deleted before."""
    from evolake.lake import Lake
    from evolake.programs.evolution.population import texts_of
    from evolake.programs.report.material import population_entering
    from evolake.programs.report.tracing import lines_of, trace_of

    lake = Lake(settings_module.load().require_lake())
    cycles = lake.cycles(LINE, "incoming_programs")
    if not cycles:
        raise InputError("the lake holds no programs yet", do="evolake run --lines programs")
    population = population_entering(lake, cycles[-1])
    known = population.projects()
    if project is not None and project not in known:
        raise InputError(f"the lake holds no project {project!r}", wanted=f"one of {', '.join(known)}")
    traces = [
        trace_of(
            name,
            population.rows(name),
            population.champion(name)["program_id"],
            lambda row: texts_of(lake.blobs, row["files_sha"]),
        )
        for name in ([project] if project else known)
    ]
    if as_json:
        say_json({"verdict": "traced", "projects": [trace.to_json() for trace in traces]})
    else:
        for item in traces:
            for line in lines_of(item):
                say(line)
    return 0


FILES = {
    name: resources.files("evolake.programs.commands").joinpath("example", name).read_text(encoding="utf-8")
    for name in ("initial_program.py", "evaluator.py", "project.toml")
}
"""Path below the project's folder -> its text."""
