"""What the jails of a project are shown beyond the system: programs and folders of the host, and the packages
of its requirements.txt, in an environment that is named by the content of that file. Only wheels are
installed, so that no code of a package runs on the host. pip's own settings say from where."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from evolake.errors import InputError
from evolake.jail.backends import backend
from evolake.jail.bubblewrap import View
from evolake.jail.toolbox import host_programs
from evolake.programs.model.project import TOML, Project
from evolake.programs.settings import ProgramsSettings

FILE = "requirements.txt"
LONGEST_S = 1800


def requirements_of(project: Project) -> list[Requirement]:
    """Return the requirements of a project that apply to this Python; also those of its evaluator that it
    does not state, as far as they are known.

    Raises:
        InputError: a line is no plain requirement: an option of pip, a path or an address.
    """
    result: list[Requirement] = []
    for number, line in enumerate(
        project.files.get(FILE, b"").decode("utf-8", "replace").removeprefix("\ufeff").splitlines(), 1
    ):
        text = line.partition(" #")[0].strip()
        if not text or text.startswith("#"):
            continue
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            requirement = None
        if requirement is None or requirement.url:
            raise InputError(
                f"{FILE} of project {project.name}, line {number}, cannot be used",
                wanted="a name with versions, such as numpy>=2",
                got=repr(text[:120]),
                do="correct the line; where packages come from is said by pip's own settings",
            )
        if requirement.marker is None or requirement.marker.evaluate():
            result.append(requirement)
    result += [
        Requirement(package)
        for module, package in WHOLE.items()
        if module.search(project.files[project.given.evaluator.file])
        and package not in {item.name for item in result}
    ]
    return result


WHOLE = {re.compile(rb"^\s*(?:from|import) shinka\.(?!core\b)\w", re.MULTILINE): "shinka-evolve"}
"""What an evaluator imports of another tool beyond what `sandbox.shinka` does in its place -> its package."""


def missing_here(project: Project) -> list[Requirement]:
    """Return the requirements that the packages next to evolake do not meet."""
    return [item for item in requirements_of(project) if not _met(item)]


def _met(requirement: Requirement) -> bool:
    try:
        version = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return requirement.specifier.contains(version, prereleases=True)


def environment_of(project: Project) -> Path | None:
    """Return the folder of a project's packages, whether it is there or not; None if it needs none but those
    next to evolake."""
    try:
        missing = missing_here(project)
    except InputError:  # `check` says so; the project may do without
        return None
    if not missing:
        return None
    content = "\n".join(sorted(map(str, missing)))
    key = hashlib.sha256(
        f"{sys.implementation.cache_tag} {os.uname().machine}\n{content}".encode()
    ).hexdigest()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "evolake" / "environments" / key[:32]


def not_installed(project: Project) -> list[str]:
    """Return the requirements that neither the packages next to evolake nor the project's environment meet.

    Raises:
        InputError: as `requirements_of`.
    """
    missing = missing_here(project)
    folder = environment_of(project)
    return [] if folder is not None and folder.is_dir() else [str(item) for item in missing]


def install(project: Project) -> Path | None:
    """Install what a project lacks into its environment, with what that depends on; return its folder, None
    if nothing is lacking. One that is there stays.

    Raises:
        InputError: pip could not install them.
    """
    requirements, folder = missing_here(project), environment_of(project)
    if folder is None or folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="install-", dir=folder.parent) as parent:
        target = Path(parent) / "packages"
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--only-binary",
            ":all:",
            "--disable-pip-version-check",
            "--no-input",
        ]
        command += ["--target", str(target), *map(str, requirements)]
        failed = f"the packages of project {project.name} cannot be installed"
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=LONGEST_S, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise InputError(failed, got=str(error)[:300], do="check that pip works") from None
        if done.returncode != 0:
            lines = (
                [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
                or done.stderr.splitlines()[-1:]
                or ["no message"]
            )
            raise InputError(
                failed,
                wanted=f"wheels of {', '.join(map(str, requirements))}",
                got=lines[-1][:300],
                do=f"correct {FILE}, or pip's settings (pip config list)",
            )
        target.chmod(0o755)
        try:
            target.rename(folder)
        except OSError:  # another process was first
            shutil.rmtree(target, ignore_errors=True)
    return folder


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
