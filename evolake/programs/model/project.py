"""A project: a folder with an initial program, an evaluator and, where they are needed, `project.toml` and
`config.yaml`.

    initial_program.py   what evolves, between EVOLVE-BLOCK-START and EVOLVE-BLOCK-END
    evaluator.py         evaluate(program_path) -> dict of numbers; or evaluate_stage1, evaluate_stage2,
                         evaluate_stage3
    initial.py, evaluate.py   instead of both, as ShinkaEvolve names them: main(program_path, results_dir),
                              run_shinka_eval
    config.yaml          of OpenEvolve: what it names and evolake knows is used
    project.toml         several files, another language, protected scores, metrics, features, limits

These are OpenEvolve's contract and ShinkaEvolve's; docs/programs.md has the fields. Nothing of a project runs
on the host: it is read as text and data.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evolake.errors import InputError
from evolake.file_names import check_id, id_like
from evolake.jail.protocol import plain_name
from evolake.programs.model.config_yaml import Config, read_config
from evolake.programs.model.evaluator_text import clock_in, obstacle
from evolake.programs.model.program_text import BadBlocks, cut, parameters_in
from evolake.programs.settings import ProgramsSettings
from evolake.reading import Unparsable, Unreadable, parse_toml, read_bytes, reason, unique_keys
from evolake.text_edits import BOM

INITIAL, EVALUATOR, TOML, YAML = "initial_program", "evaluator.py", "project.toml", "config.yaml"
SHINKA_INITIAL, SHINKA_EVALUATOR = "initial", "evaluate.py"
INIT, SETTINGS = "init", (".yaml", ".yml", ".json", ".toml", ".md")
"""How the name of another initial program begins, and endings of files that are none."""
SCORE = "combined_score"
MOST_FILES, MOST_BYTES = 200, 8 << 20
PATIENCE, LEAST_PATIENCE = 4.0, 2.0
"""How many times as long as its processor time an evaluation may last: if only that is given, and at
least."""
STAGES = ("evaluate_stage1", "evaluate_stage2", "evaluate_stage3")
Mode = Literal["imports", "calls", "separate"]
CLOCK = (
    "the evaluator reads a clock ({}), and what a program does in a call that is not timed, or when it is "
    'loaded, such a clock misses; in mode = "separate" the kernel counts all of it'
)


LONGEST_S, MOST_MB, MOST_PROCESSES, MOST_REPEATS = 1e6, 1 << 24, 1 << 16, 10_000
"""Limits of what a project may ask for: the system's own limits take no larger numbers."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class ProgramSection(_Section):
    """`[program]`: which files evolve, the first is the one the evaluator is given; how they are built, run
    or called."""

    files: list[str] = Field(
        default_factory=list, description="files that evolve; default: the one initial_program.*"
    )
    needs: list[str] = Field(
        default_factory=list, description="further files that build and run get; of all others they see none"
    )
    build: str = ""
    built: list[str] = Field(default_factory=list, description="files that the build leaves and `run` needs")
    run: str = ""
    entry: str = Field(default="", pattern=r"^([A-Za-z_]\w*)?$")


class EvaluatorSection(_Section):
    """`[evaluator]`: the file, how it meets the program, and what an evaluation may take."""

    file: str = EVALUATOR
    mode: Mode | None = Field(
        default=None,
        description="default: calls if the evaluator only calls functions of the program, else imports",
    )
    cpu_s: float | None = Field(default=None, gt=0, le=LONGEST_S)
    wall_s: float | None = Field(default=None, gt=0, le=LONGEST_S)
    memory_mb: int | None = Field(default=None, gt=0, le=MOST_MB)
    processes: int | None = Field(default=None, ge=0, le=MOST_PROCESSES)
    repeats: int | None = Field(default=None, gt=0, le=MOST_REPEATS)


class FeatureSection(_Section):
    """`[features.NAME]`: a metric, or `size`, cut into bins."""

    low: float
    high: float
    bins: int = Field(default=10, gt=1, le=100)


class JailSection(_Section):
    """`[jail]`: what of this machine the project's jails show, read-only."""

    programs: list[Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.+-]*$")]] = Field(
        default_factory=list, max_length=20, description="on PATH"
    )
    folders: list[str] = Field(
        default_factory=list,
        max_length=20,
        description="absolute; in folders that EVOLAKE_PROGRAMS__JAIL_FOLDERS names",
    )


class ConstructionSection(_Section):
    """`[construction]`: how an object that programs return is drawn, and the best score that is known of one,
    with its source and date."""

    picture: Literal["circles", "hexagons", "points", "steps", "rows"] = "rows"
    best: float | None = None
    source: str = ""
    date: str = ""


class ProjectFile(_Section):
    """project.toml."""

    description: str = ""
    program: ProgramSection = ProgramSection()
    evaluator: EvaluatorSection = EvaluatorSection()
    metrics: dict[str, Literal["max", "min"]] = Field(default_factory=dict)
    features: dict[str, FeatureSection] = Field(default_factory=dict)
    jail: JailSection = JailSection()
    construction: ConstructionSection = ConstructionSection()


@dataclass(frozen=True)
class Project:
    """A project as it was read.

    Attributes:
        files: path -> bytes of everything in the folder. evolving: the files that evolve, as text, the main
            one first.
        metrics: name -> max or min; the first is the score. sha: of all files: another evaluator is another
            project.
        mode: how evaluator and program meet. open_because: why the score is not protected, in words; "" where
            it is.
    """

    name: str
    files: Mapping[str, bytes] = field(repr=False)
    evolving: Mapping[str, str] = field(repr=False)
    given: ProjectFile = field(default_factory=ProjectFile)
    config: Config = field(default_factory=Config)
    sha: str = ""
    mode: Mode = "imports"
    open_because: str = ""

    @property
    def main(self) -> str:
        """The file that the evaluator is given, or that `entry` is in."""
        return next(iter(self.evolving))

    @property
    def python(self) -> bool:
        """Whether what evolves is Python."""
        return all(name.endswith(".py") for name in self.evolving)

    @property
    def apart(self) -> bool:
        """Whether evaluator and program run in separate jails, so that the program cannot see or change what
        scores it."""
        return self.mode != "imports"

    @property
    def protected(self) -> bool:
        """Whether it runs apart, and the evaluator does not measure by a clock of its own either."""
        return self.apart and not self.open_because

    @cached_property
    def metrics(self) -> dict[str, str]:
        """Declared metrics with their directions; the first is the score."""
        return dict(self.given.metrics) or {SCORE: "max"}

    @cached_property
    def score_name(self) -> str:
        """The metric that programs are ranked by."""
        return next(iter(self.metrics))

    @cached_property
    def higher_is_better(self) -> bool:
        """Whether a higher score is better."""
        return self.metrics[self.score_name] == "max"

    @property
    def evaluator_files(self) -> dict[str, bytes]:
        """Files that the evaluator finds next to it: all but those that evolve and those that are evolake's
        or for people."""
        return {
            name: data
            for name, data in self.files.items()
            if name not in self.evolving and name not in (TOML, YAML)
        }

    def run_argv(self) -> list[str]:
        """Return the command that runs the program, where it is one."""
        if self.given.program.run:
            return shlex.split(self.given.program.run)
        if self.python:
            return ["python", self.main]
        return []


def files_sha(files: Mapping[str, bytes]) -> str:
    """Return sha256 over names and bytes."""
    digest = hashlib.sha256()
    for name, data in sorted(files.items()):
        digest.update(f"{name}\0{len(data)}\0".encode(errors="surrogateescape"))
        digest.update(data)
    return digest.hexdigest()


def program_id(project: str, texts: Mapping[str, str]) -> str:
    """Return what a program is known by: sha256 over its project's name and its texts."""
    return hashlib.sha256(
        json.dumps([project, dict(texts)], sort_keys=True, ensure_ascii=False).encode(
            "utf-8", "surrogatepass"
        )
    ).hexdigest()


def pack_files(files: Mapping[str, bytes]) -> bytes:
    """Return files as one blob."""
    return json.dumps(
        {name: base64.b64encode(data).decode() for name, data in sorted(files.items())}
    ).encode()


def unpack_files(data: bytes) -> dict[str, bytes]:
    """Return the files of such a blob."""
    packed = json.loads(data, object_pairs_hook=unique_keys)
    return {name: base64.b64decode(text) for name, text in packed.items()}


LEFT_OUT = ("__pycache__", "openevolve_output")
"""Folders of a project that hold nothing of it: caches, and what OpenEvolve writes."""


def read_files(folder: Path, without: str = "") -> dict[str, bytes]:
    """Return path -> bytes of the folder's files. Hidden ones, caches, links and runs of OpenEvolve are left
    out.

    without: name of a further folder in it that is left out.

    Raises:
        InputError: no such folder, unreadable, too many or too large.
    """
    if not folder.is_dir():
        wanted = (
            f"a folder with {INITIAL}.* and {EVALUATOR}, or the name of a project among the seeds "
            "(evolake seeds list)"
        )
        raise InputError(
            f"there is no project folder {folder}", wanted=wanted, do="evolake programs new NAME"
        )
    result: dict[str, bytes] = {}
    total = 0
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        parts = PurePosixPath(name).parts
        hidden = parts[0] == without or any(part.startswith(".") or part in LEFT_OUT for part in parts)
        if hidden or path.is_symlink() or path.is_dir():
            continue
        size = path.stat().st_size if path.is_file() else 0
        if len(result) == MOST_FILES or total + size > MOST_BYTES:
            wanted = f"at most {MOST_FILES} files of {MOST_BYTES >> 20} MiB together"
            got, do = f"more with {name}", "keep data that the evaluator does not need elsewhere"
            raise InputError(f"the project {folder} is too large", wanted=wanted, got=got, do=do)
        try:
            result[plain_name(name)] = read_bytes(path, MOST_BYTES - total)
        except (OSError, Unreadable) as error:
            do = "check its kind, size and permissions"
            raise InputError(f"{path} of a project cannot be read", got=reason(error), do=do) from None
        total += len(result[name])
    return result


def load_project(folder: Path, without: str = "", *, any_name: bool = False) -> Project:
    """Return a project from its folder. without: as of `read_files`. any_name: the folder may have a name
    that no project of the line may have. Raises InputError where it is none; says what is missing."""
    files, name = read_files(folder, without), folder.resolve().name
    given = id_like(name) if any_name else check_id("a project", name, do="rename its folder")
    return project_of(given, files, str(folder))


def project_of(name: str, files: Mapping[str, bytes], where: str = "") -> Project:
    """Return a project from its files. where: what messages call it. Raises InputError as `load_project`
    does."""
    where = where or f"project {name}"
    given = _project_file(files[TOML], where) if TOML in files else ProjectFile()
    config = read_config(files[YAML], f"{where}/{YAML}") if YAML in files else Config()
    given = _evaluator_named(given, files)
    names = given.program.files or _initial(files, where)
    texts: dict[str, str] = {}
    for item in names:
        if item not in files:
            raise InputError(
                f"{where}: there is no file {item}",
                wanted="files of the project in [program] files",
                do="fix project.toml",
            )
        try:
            texts[item] = files[item].decode("utf-8")
            cut(texts[item], item)
            parameters_in(texts[item], item)
        except (UnicodeDecodeError, BadBlocks, ValueError) as error:
            raise InputError(f"{where}/{item} cannot evolve", got=str(error), do="fix the file") from None
    if given.evaluator.file not in files:
        raise InputError(
            f"{where}: there is no evaluator {given.evaluator.file}",
            wanted="evaluate(program_path) -> dict of numbers",
            do="write it",
        )
    if given.evaluator.file in texts:
        raise InputError(
            f"{where}: the evaluator cannot be among the files that evolve",
            got=given.evaluator.file,
            do="fix [program] files",
        )
    made = Project(name, dict(files), texts, given, config, files_sha(files), *_meeting(files, texts, given))
    _require_runnable(made, where)
    return made


def _meeting(files: Mapping[str, bytes], texts: Mapping[str, str], given: ProjectFile) -> tuple[Mode, str]:
    """Return how evaluator and program meet, and why the score is not protected, as far as the texts show."""
    if given.evaluator.mode == "separate":
        return "separate", ""
    own = [
        (name, data.decode("utf-8", "replace").removeprefix(BOM))
        for name, data in files.items()
        if name.endswith(".py") and name not in texts
    ]
    clock = next((f"{name}, {found}" for name, text in own if (found := clock_in(text))), "")
    timed = CLOCK.format(clock) if clock else ""
    if given.evaluator.mode == "calls":
        return "calls", timed
    if given.evaluator.mode == "imports":
        return "imports", f'{TOML} says mode = "imports"'
    main, *others = texts
    if others or not main.endswith(".py"):
        return "imports", "more than one file evolves" if others else "the program is not Python"
    beside = {name: data for name, data in files.items() if name not in (main, given.evaluator.file)}
    evaluator = files[given.evaluator.file].decode("utf-8", "replace").removeprefix(BOM)
    why = obstacle(evaluator, texts[main].removeprefix(BOM), main, beside)
    return ("imports", why) if why else ("calls", timed)


def limits_of(project: Project, own: ProgramsSettings) -> dict[str, float]:
    """Return cpu_s, wall_s, memory_mb and processes of one evaluation: project.toml, then config.yaml, then
    the settings.

    Processor time decides about a computing program, since it does not depend on what else the machine does.
    So config.yaml's timeout is taken as processor time, and so is a wall_s that is given alone. The clock is
    a guard against a program that sleeps: it gets at least twice as much.
    """
    given, timeout = project.given.evaluator, project.config.timeout_s
    cpu_s = given.cpu_s or timeout or min(own.cpu_s, given.wall_s or own.cpu_s)
    wall_s = given.wall_s or (timeout and PATIENCE * timeout) or own.wall_s
    return {
        "cpu_s": cpu_s,
        "wall_s": max(wall_s, LEAST_PATIENCE * cpu_s),
        "memory_mb": given.memory_mb or own.memory_mb,
        "processes": own.processes if given.processes is None else given.processes,
    }


def with_files(project: Project, texts: Mapping[str, str]) -> Project:
    """Return the project with other texts as what evolves."""
    return replace(project, evolving=dict(texts))


def _evaluator_named(given: ProjectFile, files: Mapping[str, bytes]) -> ProjectFile:
    """Name the evaluator as ShinkaEvolve does if that file alone is there."""
    if "file" in given.evaluator.model_fields_set or EVALUATOR in files or SHINKA_EVALUATOR not in files:
        return given
    return given.model_copy(
        update={"evaluator": given.evaluator.model_copy(update={"file": SHINKA_EVALUATOR})}
    )


def _initial(files: Mapping[str, bytes], where: str) -> list[str]:
    top = [PurePosixPath(name) for name in files if "/" not in name]
    stems = [path.stem for path in top if path.stem.startswith(INIT) and path.suffix not in SETTINGS]
    stem = next((stem for stem in (INITIAL, SHINKA_INITIAL, *stems) if stem in stems), "")
    result = [str(path) for path in top if path.stem == stem]
    if len(result) != 1:
        got = ", ".join(result) or f"none; the folder has {', '.join(sorted(files)[:8]) or 'no file'}"
        raise InputError(
            f"{where} has no initial program",
            wanted=f"one file {INITIAL}.*, or [program] files in {TOML}",
            got=got,
            do="add it",
        )
    return result


def _require_runnable(project: Project, where: str) -> None:
    program = project.given.program
    if project.mode == "separate" and not project.run_argv() and not program.entry:
        wanted = '[program] run = "./program", or entry = "function"'
        raise InputError(f"{where}: nothing says how the program runs", wanted=wanted, do="fix project.toml")
    if program.entry and (not project.python or len(project.evolving) != 1):
        raise InputError(
            f"{where}: entry {program.entry!r} cannot be called",
            wanted="one Python file that evolves",
            do="use run instead",
        )
    if (program.entry or program.run or program.build) and project.mode != "separate":
        what = f"{where}: build, run and entry are of a program that runs apart"
        raise InputError(what, wanted='[evaluator] mode = "separate"', do="fix project.toml")
    if project.mode == "calls" and (len(project.evolving) != 1 or not project.python):
        raise InputError(
            f"{where}: a program that is called in another process",
            wanted="one Python file that evolves",
            do='use mode = "imports"',
        )
    if program.build and not program.built:
        raise InputError(
            f"{where}: what the build makes is not named",
            wanted='[program] built = ["program"]',
            do="fix project.toml",
        )
    for name in program.built:
        plain_name(name)
    if missing := [
        name for name in program.needs if name not in project.files or name == project.given.evaluator.file
    ]:
        wanted = "files of the project, not the evaluator"
        raise InputError(
            f"{where}: the program cannot have {missing[0]}", wanted=wanted, do="fix [program] needs"
        )


def _project_file(data: bytes, where: str) -> ProjectFile:
    try:
        return ProjectFile.model_validate(parse_toml(data, name=f"{where}/{TOML}"))
    except Unparsable as error:
        raise InputError(f"{where}/{TOML} is no TOML", got=error.got, do="fix the file") from None
    except ValidationError as error:
        first = error.errors()[0]
        place, got = ".".join(map(str, first["loc"])), f"{first['msg']} ({first['input']!r})"[:200]
        raise InputError(
            f"{where}/{TOML}: {place} cannot be used", got=got, do="docs/programs.md has the fields"
        ) from None


def project_folders(own: ProgramsSettings, *seeds: Path) -> list[Path]:
    """Return the folders of the projects there are, by name: those the setting names, else those in
    `programs` of each folder of seeds, of which a later one replaces those of the same name before it.

    Raises:
        InputError: a folder that the setting names is not there, or two of one name.
    """
    if named := [Path(part.strip()).expanduser() for part in own.projects.split(",") if part.strip()]:
        if missing := [item for item in named if not item.is_dir()]:
            raise InputError(
                f"there is no project folder {missing[0]}",
                wanted="folders in EVOLAKE_PROGRAMS__PROJECTS",
                do="fix the setting",
            )
        result = named
    else:
        result = list(
            {
                path.name: path
                for folder in seeds
                for path in (folder / "programs").glob("*")
                if is_project(path)
            }.values()
        )
    by_name = {item.resolve().name: item for item in result}
    if len(by_name) < len(result):
        raise InputError(
            "two projects have one name", got=", ".join(map(str, result)), do="rename one of the folders"
        )
    return [by_name[name] for name in sorted(by_name)]


def find_project(given: str, own: ProgramsSettings, seeds: Sequence[Path]) -> Path:
    """Return the folder of a project that a user names: by its folder, or by the name that `evolake programs
    new` was given.

    A folder that is a project comes first. The names are those of the setting, then those in `programs` of
    each folder of seeds, the last first.
    """
    path = Path(given)
    if is_project(path) or path.name != given:
        return path
    named = [Path(part.strip()).expanduser() for part in own.projects.split(",") if part.strip()]
    places = [
        *(item for item in named if item.resolve().name == given),
        *(folder / "programs" / given for folder in reversed(seeds)),
    ]
    return next((place for place in places if place.is_dir()), path)


def is_project(path: Path) -> bool:
    """Return whether a folder looks like a project."""
    evaluators = (EVALUATOR, SHINKA_EVALUATOR)
    return path.is_dir() and (
        (path / TOML).is_file()
        or (any((path / file).is_file() for file in evaluators) and any(path.glob(f"{INIT}*.*")))
    )


def stages_in(evaluator: str) -> Sequence[str]:
    """Return the stages that an evaluator's text defines."""
    return [name for name in STAGES if re.search(rf"^(async )?def {name}\b", evaluator, re.MULTILINE)]
