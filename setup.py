"""Say how evolake is packed; everything else about it is in pyproject.toml.

In the repository `pipelines`, `assets`, `resources`, `sql`, `deploy` and `data_lake` are at the top. Such
common names must not be top-level names in site-packages: in a wheel they are folders of `evolake/_project`,
which `evolake.project.enter` puts on the path of the processes that load the definitions. A checkout that is
installed in place (`pip install -e`) keeps them where they are.

Only tracked files are packed: a user's own seeds, caches and drafts are in the same folders and stay out.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
INSIDE = "evolake._project"
WIRING = find_packages(include=["pipelines*", "assets*", "resources*"])
SCIENCE = find_packages(include=["evolake*"])
OF_USERS = ("data_lake/seeds/programs/", "data_lake/seeds/prompts/roots/", "data_lake/seeds/solvers/own/")
"""Folders of seeds in which nothing is shipped: `evolake seeds add` and `evolake programs new` write
there."""
SUFFIXES = {
    ".c",
    ".css",
    ".csv",
    ".diff",
    ".dockerignore",
    ".example",
    ".h",
    ".j2",
    ".json",
    ".jsonl",
    ".md",
    ".py",
    ".service",
    ".sh",
    ".sql",
    ".toml",
    ".xz",
    ".yaml",
    "",
}
"""Of what is packed if neither git nor a manifest says what is tracked."""


def packed_files() -> Callable[[str], bool]:
    """Return the test that a path, relative to this folder, passes if it is packed.

    In a source distribution its own manifest decides, in a checkout git's index does. A tree without either,
    such as a downloaded archive, is packed by place and suffix.
    """
    manifest = HERE / "evolake.egg-info" / "SOURCES.txt"
    if (HERE / "PKG-INFO").is_file() and manifest.is_file():
        return frozenset(
            Path(line).as_posix() for line in manifest.read_text(encoding="utf-8").splitlines()
        ).__contains__
    if (HERE / ".git").exists():
        listed = (
            subprocess.run(["git", "-C", str(HERE), "ls-files", "-z"], capture_output=True, check=False)
            if shutil.which("git")
            else None
        )
        if listed is not None and listed.returncode == 0:
            return frozenset(listed.stdout.decode("utf-8", "surrogateescape").split("\0")).__contains__
        print(
            "warning: git cannot say which files are tracked; files are packed by place and suffix",
            file=sys.stderr,
        )
    return looks_shipped


def looks_shipped(name: str) -> bool:
    """Return True if a path has the place and the suffix of a file that is shipped."""
    path = PurePosixPath(name)
    hidden = any(part.startswith(".") or part == "__pycache__" for part in path.parts)
    return not hidden and not name.startswith(OF_USERS) and path.suffix in SUFFIXES


PACKED = packed_files()


def only_packed(paths: Iterable[str]) -> list[str]:
    """Return the paths that are packed. They are relative to this folder, which is the current one during a
    build."""
    return [path for path in paths if PACKED(Path(path).as_posix())]


class TrackedOnly(build_py):
    """The files of a wheel: tracked modules and data, and nothing that an earlier build left behind."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        found = super().find_package_modules(package, package_dir)
        return found if self.editable_mode else [item for item in found if only_packed([item[2]])]

    def find_data_files(self, package: str, src_dir: str) -> list[str]:
        found = super().find_data_files(package, src_dir)
        return found if self.editable_mode else only_packed(found)


class TrackedSource(sdist):
    """The files of a source distribution: what is tracked, and the metadata that setuptools writes."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        written = [path for path in files if path.startswith("evolake.egg-info") or path == "setup.cfg"]
        super().make_release_tree(base_dir, [*only_packed(files), *written])


class InPlace(editable_wheel):
    """An editable installation: the packages under the names that they have in the repository."""

    def finalize_options(self) -> None:
        self.distribution.packages = [*SCIENCE, *WIRING]
        self.distribution.package_dir = {}
        super().finalize_options()


options: dict[str, Any] = {
    "packages": [*SCIENCE, INSIDE, *(f"{INSIDE}.{name}" for name in WIRING)],
    "package_dir": {INSIDE: "."},
    "package_data": {
        "evolake": ["**/*"],
        INSIDE: ["sql/**/*", "deploy/**/*", "data_lake/README.md", "data_lake/seeds/**/*"],
    },
    "exclude_package_data": {"": ["**/__pycache__/*"]},
    "include_package_data": False,
    "script_name": Path(__file__).name,  # which is no module of the folder it lies in
    "cmdclass": {"build_py": TrackedOnly, "editable_wheel": InPlace, "sdist": TrackedSource},
}
setup(**options)
