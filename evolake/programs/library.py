"""`evolake.evolve`: cycles of the programs line from a script or a notebook, with the same lake and the same
rows as `evolake run`."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake import project as project_module
from evolake import settings as settings_module
from evolake.errors import InputError, MachineryError
from evolake.lake import Lake
from evolake.lake.homes import home_of
from evolake.programs.evolution.added_seeds import held_with_other_files
from evolake.programs.evolution.population import texts_of
from evolake.programs.gates import unreadable
from evolake.programs.model.project import EVALUATOR, INITIAL, TOML, load_project
from evolake.programs.report.material import LINE, population_entering, simplified_gain, simplified_of
from evolake.scratch import Scratch
from evolake.terminal import say_text

EXIT_INPUT = 2


@dataclass(frozen=True)
class Evolved:
    """What `evolve` gives.

    Attributes:
        program: text of the champion's main file, simplified if a shorter one was no worse. files: path ->
            text of all that evolves. program_id: of the champion. score: mean of `program` under held-out
            seeds; None without one.
        initial_score: the initial program's under the same seeds. low, high: the champion's 95% interval,
            moved by as much as `program` differs from it.
            protected: whether the program could not see what scores it. lake: folder with every row of it.
    """

    program: str
    files: Mapping[str, str]
    program_id: str
    score: float | None
    initial_score: float | None
    low: float | None
    high: float | None
    protected: bool
    cycles: int
    lake: Path


def evolve(
    initial: str | Path,
    evaluator: str | Path | None = None,
    *,
    cycles: int = 5,
    lake: str | Path | None = None,
    name: str = "project",
    project: str | None = None,
    profile: str | None = None,
    verbose: bool = True,
    **settings: Any,
) -> Evolved:
    """Evolve a program against an evaluator.

    Args:
        initial: a project's folder; or path or text of the initial program. evaluator: path or text of the
            evaluator, where `initial` is no folder.
        cycles: how many more; called again with the same lake, it continues. lake: its folder, missing or one
            that an earlier call made; default: the process's own setting, else a new temporary folder, which
            is kept.
        name: of the project, where `initial` is no folder. project: text of a project.toml next to them.
        profile: sizes and limits. settings: of the line, such as `generations_per_cycle=2`.
        verbose: print a line to standard error for each cycle, as `evolake run` does.

    Raises:
        InputError: nothing can be evolved from what was given, or the lake holds a project of this name with
            other files.
        MachineryError: a cycle failed; what was done is in the lake.
    """
    with ExitStack() as stack:
        folder = _folder(initial, evaluator, name, project, stack)
        if wrong := unreadable(load_project(folder).evolving):
            raise InputError(
                "the initial program cannot be used", got=wrong, do="correct it and call evolve again"
            )
        where = _lake(lake)
        if held_with_other_files(Lake(where), folder):
            raise InputError(
                f"the lake {where} holds a project {folder.name!r} with other files",
                wanted="the program, evaluator and settings that it began with",
                do="give another name (name=...) or another lake (lake=...)",
            )
        return _evolved(folder, where, lake is None, cycles, profile, settings, verbose)


def _evolved(
    folder: Path,
    where: Path,
    chosen: bool,
    cycles: int,
    profile: str | None,
    settings: Mapping[str, Any],
    verbose: bool,
) -> Evolved:
    """Run the cycles. chosen: the user named no lake, so that Dagster's home may be the process's own."""
    home = project_module.home(where) if chosen else where / project_module.IN_LAKE
    environment = {
        **os.environ,
        "EVOLAKE_LAKE": str(where),
        "EVOLAKE_PROGRAMS__PROJECTS": str(folder),
        "DAGSTER_HOME": str(home),
        **({"EVOLAKE_PROFILE": profile} if profile else {}),
        **{f"EVOLAKE_PROGRAMS__{key.upper()}": str(value) for key, value in settings.items()},
    }
    home.mkdir(parents=True, exist_ok=True)
    command = [*project_module.command("pipelines.evolve"), "--lines", LINE, "--cycles", str(cycles)]
    code, got = _run(command, environment, verbose)
    if code:
        kind = InputError if code == EXIT_INPUT else MachineryError
        raise kind(
            f"the evolution of {folder.name} stopped",
            got=got.strip()[-1500:],
            do=f"see {home_of(home, Lake(where).id) / 'logs'}",
        )
    return read_evolved(Lake(where), folder.name)


def _run(command: list[str], environment: Mapping[str, str], verbose: bool) -> tuple[int, str]:
    """Run a command, and pass on each line that it prints if `verbose`. Return its exit code, and what it
    wrote to stderr, else to stdout."""
    printed: list[str] = []
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        options: dict[str, Any] = {"text": True, "encoding": "utf-8", "errors": "replace"}
        with subprocess.Popen(
            command, env=dict(environment), stdout=subprocess.PIPE, stderr=errors, **options
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                printed.append(line)
                if verbose:
                    say_text(
                        line, nl=False, err=True
                    )  # a notebook's stderr is no file that a process could write to
        errors.seek(0)
        return process.returncode, errors.read() or "".join(printed)


def read_evolved(lake: Lake, name: str) -> Evolved:
    """Return what a lake holds of a project. Raises InputError where it holds nothing."""
    cycles = lake.cycles(LINE, "champion")
    rows = (
        [row for row in lake.read(LINE, "champion", cycles[-1]).to_dicts() if row["project"] == name]
        if cycles
        else []
    )
    if not rows:
        raise InputError(
            f"the lake {lake.root} holds no finished cycle of a project {name!r}", do="run a cycle"
        )
    row, champion = (
        rows[0],
        population_entering(lake, lake.cycles(LINE, "incoming_programs")[-1]).champion(name),
    )
    made = simplified_of(lake, champion["program_id"])
    texts = texts_of(lake.blobs, (made or champion)["files_sha"])
    projects = lake.read(LINE, "projects", cycles[-1]).to_dicts()
    higher = next(item["higher_is_better"] for item in projects if item["project"] == name)
    shift = simplified_gain(lake, made, higher=higher)
    mean, low, high = (
        None if row[name] is None else row[name] + shift
        for name in ("holder_mean", "holder_low", "holder_high")
    )
    return Evolved(
        next(iter(texts.values())),
        texts,
        champion["program_id"],
        mean,
        row["initial_mean"],
        low,
        high,
        row["protected"],
        len(cycles),
        lake.root,
    )


def _folder(
    initial: str | Path, evaluator: str | Path | None, name: str, project: str | None, stack: ExitStack
) -> Path:
    """Return the project's folder: the one given, or one with the texts given, which goes when `stack` is
    closed: the lake holds them by then."""
    if evaluator is None:
        if not isinstance(initial, str | Path) or not Path(initial).is_dir():
            raise InputError(
                "there is no evaluator",
                wanted="evaluator=..., or a project's folder as `initial`",
                got=repr(str(initial)[:80]),
            )
        return Path(initial).resolve()
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name):
        raise InputError(
            "the project's name cannot be used",
            wanted="lower-case letters, digits, - and _",
            got=repr(name)[:80],
        )
    folder = Path(stack.enter_context(Scratch("project"))) / name
    folder.mkdir()
    named = _path(initial)
    for file, given in (
        (f"{INITIAL}{named.suffix if named else '.py'}", initial),
        (EVALUATOR, evaluator),
        (TOML, project),
    ):
        if given is not None:
            path = _path(given)
            (folder / file).write_bytes(path.read_bytes() if path else str(given).encode())
    return folder


def _path(given: str | Path) -> Path | None:
    """Return the file that is meant; None for a text. Raises InputError for a path if no file is, and for
    anything else, such as a function."""
    if not isinstance(given, str | Path):
        raise InputError(
            f"a program or evaluator cannot be read from a value of the type {type(given).__name__}",
            wanted="the path of a Python file, or its text: it runs in another process, which has no other "
            "objects of this one",
            got=repr(given)[:80],
            do="write a function with its imports into a file (an evaluator's defines "
            "evaluate(program_path)), and pass the path of that file",
        )
    if isinstance(given, str) and "\n" in given:
        return None
    if not Path(given).is_file():
        raise InputError(
            f"there is no file {str(given)[:200]}",
            wanted="the path of a file, or a text of more than one line",
        )
    return Path(given)


def _lake(given: str | Path | None) -> Path:
    if given is not None:
        return Path(given).resolve()
    if "EVOLAKE_LAKE" in os.environ:
        return settings_module.load().require_lake()
    return Path(tempfile.mkdtemp(prefix="evolake-lake-"))
