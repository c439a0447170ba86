"""How evolake is packed; everything else about it stands in pyproject.toml.

In the repository `pipelines`, `assets`, `resources`, `sql`, `deploy` and `data_lake` lie at the top. Such common names must not stand bare in
site-packages: in a wheel they are folders of `evolake/_project`, which `evolake.project.enter` puts on the path of the processes that load the
definitions. A checkout that is installed in place (`pip install -e`) keeps them where they are.
"""

from pathlib import Path
from typing import Any

from setuptools import find_packages, setup
from setuptools.command.editable_wheel import editable_wheel

INSIDE = "evolake._project"
WIRING = find_packages(include=["pipelines*", "assets*", "resources*"])
SCIENCE = find_packages(include=["evolake*"])


class InPlace(editable_wheel):
    """An editable installation: the packages under the names that they have in the repository."""

    def finalize_options(self) -> None:
        self.distribution.packages = [*SCIENCE, *WIRING]
        self.distribution.package_dir = {}
        super().finalize_options()


options: dict[str, Any] = {
    "packages": [*SCIENCE, INSIDE, *(f"{INSIDE}.{name}" for name in WIRING)],
    "package_dir": {INSIDE: "."},
    "package_data": {"evolake": ["**/*"], INSIDE: ["sql/**/*", "deploy/**/*", "data_lake/README.md", "data_lake/seeds/**/*"]},
    "exclude_package_data": {"": ["**/__pycache__/*"]},
    "include_package_data": False,
    "script_name": Path(__file__).name,  # which is no module of the folder it lies in
    "cmdclass": {"editable_wheel": InPlace},
}
setup(**options)
