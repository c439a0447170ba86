"""Where evolake's own files are, and which project a command works on.

What evolake brings along (`pipelines`, `assets`, `resources`, `sql`, `deploy`, the seeds) is in the
repository or, of an installed package, in its folder `_project` (see setup.py), which is only ever read. A
project is where the lake and Dagster's home are: a folder that `evolake init` laid out, marked by
`evolake.toml`. EVOLAKE_PROJECT names it, else it is the nearest one from the current folder upwards, else the
repository.

    python -m evolake.project [--with=PID] MODULE ...    runs a module of `pipelines`, wherever that is

With --with it ends with the process PID, its parent, however that ends.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

from evolake.errors import InputError

_PACKAGE = Path(__file__).resolve().parent
PRIVATE = _PACKAGE / "_project"
"""Holds what came along with an installed package. Hidden in the jail: formulas, answers and rules are in
it."""
INSTALLED = PRIVATE.is_dir()
BROUGHT = PRIVATE if INSTALLED else _PACKAGE.parent
"""The folder that holds what evolake brings along."""
MARKER, VARIABLE = "evolake.toml", "EVOLAKE_PROJECT"
PATHS = ("EVOLAKE_LAKE", "EVOLAKE_SEEDS", VARIABLE, "DAGSTER_HOME")
"""Variables that are one path each."""
WIRING = ("pipelines", "assets", "resources")
INIT = "evolake init DIR, then work in DIR"
PR_SET_PDEATHSIG, WITH = 1, "--with="
IN_LAKE = "dagster_home"
"""Below a lake that is no project's: Dagster's home."""
UI = "dagster dev" if INSTALLED else "make dev"
"""What starts Dagster's UI."""


def find() -> Path | None:
    """Return the project's folder; None if there is none: evolake is installed, and none was laid out here.

    Raises:
        InputError: EVOLAKE_PROJECT names something else.
    """
    if named := os.environ.get(VARIABLE):
        folder = Path(named).absolute()
        if not (folder / MARKER).is_file() and folder != BROUGHT:
            raise InputError(
                f"{VARIABLE} names no project of evolake",
                wanted=f"a folder with {MARKER}",
                got=named,
                do=INIT,
            )
        return folder
    here = _current_folder()
    nearest = next((folder for folder in (here, *here.parents) if (folder / MARKER).is_file()), None)
    return nearest or (None if INSTALLED else BROUGHT)


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:  # it was deleted
        return Path("/")


def root() -> Path:
    """Return the project's folder.

    Raises:
        InputError: there is none.
    """
    if (result := find()) is None:
        raise InputError(
            "this is no project of evolake",
            wanted=f"a folder with {MARKER}, here or above; or the variable EVOLAKE_LAKE",
            got=str(_current_folder()),
            do=INIT,
        )
    return result


def home(lake: Path) -> Path:
    """Return DAGSTER_HOME, where Dagster keeps its runs: as it is set, else `.dagster` of the project whose
    `data_lake` it is, else `IN_LAKE`."""
    if named := os.environ.get("DAGSTER_HOME"):
        return Path(named)
    project = find()
    if project is not None and lake.resolve() == (project / "data_lake").resolve():
        return project / ".dagster"
    return lake.absolute() / IN_LAKE


def expand_homes() -> None:
    """Put the user's home for `~` in the variables that are paths: what sets them is not always a shell. That
    of an unknown user stays."""
    for name in PATHS:
        if os.environ.get(name, "").startswith("~"):
            os.environ[name] = os.path.expanduser(os.environ[name])  # noqa: PTH111  it raises for nobody


def install(extra: str = "") -> str:
    """Return the command that installs evolake, with one of its extras."""
    what = f"[{extra}]" if extra else ""
    return f"pip install 'evolake{what}'" if INSTALLED else f"pip install -c constraints.txt -e '.{what}'"


def command(module: str) -> list[str]:
    """Return the command that runs a module of `pipelines` as its own process, which ends with this one; its
    arguments follow."""
    return [sys.executable, "-P", "-m", "evolake.project", f"{WITH}{os.getpid()}", module]


def end_with(parent: int) -> None:
    """Let this process be killed when the thread that started it ends, also if that is killed. parent: the
    process that started this one."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was killed before
        os.kill(os.getpid(), signal.SIGKILL)


def enter(project: Path | None = None) -> None:
    """Make `pipelines`, `assets` and `resources` importable in this process, and `project` the project of it
    and of those that it starts.

    Raises:
        InputError: a package of another owner has one of these names here.
    """
    if project is not None:
        os.environ[VARIABLE] = str(project)
    place = str(BROUGHT)
    sys.path[:] = [place, *(entry for entry in sys.path if entry != place)]
    for name in WIRING:
        spec = find_spec(name)
        result = str(spec.origin or "a folder without __init__.py") if spec else "nothing"
        if not spec or not spec.origin or Path(spec.origin).resolve() != BROUGHT / name / "__init__.py":
            raise InputError(
                f"another package is named {name!r}",
                wanted=str(BROUGHT / name),
                got=result,
                do="uninstall or rename it, or install evolake into a separate environment",
            )


if __name__ == "__main__":
    enter()
    del sys.argv[0]
    if sys.argv[0].startswith(WITH):
        end_with(int(sys.argv.pop(0).removeprefix(WITH)))
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
