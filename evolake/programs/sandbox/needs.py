"""What the jails of a project are shown beyond the system: programs and folders of the host, and an
environment of packages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evolake.errors import InputError
from evolake.jail.backends import backend
from evolake.jail.bubblewrap import View
from evolake.jail.toolbox import host_programs
from evolake.programs.model.project import TOML, Project
from evolake.programs.sandbox.packages import environment_of
from evolake.programs.settings import ProgramsSettings


@dataclass(frozen=True)
class Needs:
    """shown: place in the jail -> file or folder of the host. path: folders of PATH beyond the usual ones.
    packages: folders of Python packages. programs: whether the project names programs of the host."""

    shown: Mapping[str, Path] = field(default_factory=dict[str, Path])
    path: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    programs: bool = False

    @property
    def words(self) -> str:
        """Why an evaluation cannot be forked from a warm jail, which shows none of this; "" if nothing is
        needed."""
        return "the project needs programs, folders or packages" if self != Needs() else ""

    @property
    def view(self) -> View:
        """What the jail of a Python function sees: no program, since it may execute none."""
        return View(
            places={place: self.shown[place] for place in self.packages if place in self.shown},
            packages=self.packages,
        )


def needs_of(project: Project, own: ProgramsSettings, mode: str | None = None) -> Needs:
    """Find what a project names in `[jail]` and its requirements.txt. mode: of the jail; the weaker one sees
    the whole host anyway.

    Raises:
        InputError: a program is not installed, or a folder is not there or not allowed.
    """
    given, where = project.given.jail, f"project {project.name}"
    found = host_programs(given.programs, where)
    packages = [str(folder)] if (folder := environment_of(project)) is not None and folder.is_dir() else []
    shown = (
        found.places
        | {name: _folder(name, own, where) for name in given.folders}
        | {name: Path(name) for name in packages}
    )
    return Needs(
        shown if backend(mode).mode == "bubblewrap" else {}, found.path, tuple(packages), bool(given.programs)
    )


def _folder(name: str, own: ProgramsSettings, where: str) -> Path:
    """Return the folder of the host behind a name in `[jail] folders`. A project may be a stranger's, so that
    the user says where such folders may be.
    """
    path = Path(name)
    allowed = [Path(part.strip()) for part in own.jail_folders.split(",") if part.strip()]
    real = path.resolve()
    if not path.is_absolute() or not any(real.is_relative_to(item.resolve()) for item in allowed):
        raise InputError(
            f"{where}: the folder {name} may not be shown in a jail",
            wanted=f"a folder in {', '.join(map(str, allowed)) or 'none'}",
            got=str(real),
            do=(
                f"EVOLAKE_PROGRAMS__JAIL_FOLDERS={','.join([*map(str, allowed), name])} if its files are "
                "no secret"
            ),
        )
    if not real.is_dir():
        raise InputError(
            f"{where}: there is no folder {name}",
            wanted="folders of this machine in [jail] folders",
            do=f"correct {TOML}",
        )
    return real
