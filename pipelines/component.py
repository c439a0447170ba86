"""The component `evolake.Line`: lines of evolution in a Dagster project of somebody else, by a few lines of
YAML.

    type: evolake.Line
    attributes:
      lines: [families]
      lake: data_lake
      settings: {profile: demo}

One component holds all lines of a code location: they share resources, sensors and the lake.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import dagster as dg
from pydantic import BaseModel, Field

from assets.rules import note_loaded
from evolake.errors import InputError
from evolake.lines import lines as installed
from evolake.settings import PREFIX
from pipelines.lines import built_lines, built_studies
from pipelines.policy import define

FIRST = "families"
"""The line that `dg scaffold defs evolake.Line` writes if no other is named."""
_given: dict[str, str] = {}
"""Variable -> value that a component set in this process; what the environment had before stays."""
_built: dict[Path, Path] = {}
"""Root of a project -> the folder of its one component."""


class Scaffold(BaseModel):
    """What `dg scaffold defs evolake.Line FOLDER` may be given."""

    line: str = Field(default=FIRST, description="Line or study that the project gets.")


class LineScaffolder(dg.Scaffolder[Scaffold]):
    """Writes `defs.yaml` with one line, a lake in the project, and the small profile."""

    @classmethod
    def get_scaffold_params(cls) -> type[Scaffold]:
        """Return the options of the command."""
        return Scaffold

    def scaffold(self, request: dg.ScaffoldRequest[Scaffold]) -> None:
        """Write the file. Raises InputError if there is no such line."""
        _known([request.params.line])
        attributes = {"lines": [request.params.line], "lake": "data_lake", "settings": {"profile": "demo"}}
        dg.scaffold_component(request, attributes)


@dg.scaffold_with(LineScaffolder)
class Line(dg.Component, dg.Model, dg.Resolvable):
    """Lines of evolution, or studies, with their assets, checks, jobs, schedules and sensors.

    A run works on `lake`. A variable of the environment (EVOLAKE_PROFILE) is above `settings`, as everywhere.
    """

    lines: list[str] = Field(description="Names of lines and studies: `evolake doctor` lists them.")
    lake: str = Field(
        default="data_lake", description="Folder of the lake; a relative path starts at the project's root."
    )
    settings: dict[str, str | int | float | bool] = Field(
        default_factory=dict[str, str | int | float | bool],
        description="Settings by name, nested names with a dot: `profile: demo`, `designs.batch: 20`.",
    )

    @classmethod
    def get_spec(cls) -> dg.ComponentTypeSpec:
        """Return what `dg list components` and the UI's Docs show."""
        return dg.ComponentTypeSpec(
            description="A line of evolution: propose, gates, evaluate, rank, seal, one partition a cycle.",
            tags=["evolution"],
        )

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Return the definitions of the lines.

        Raises:
            InputError: a name is no line, or the project has such a component already.
        """
        _known(self.lines)
        first = _built.setdefault(context.project_root, context.path)
        if first != context.path and (first / "defs.yaml").exists():
            raise InputError(
                "a project has one component evolake.Line",
                got=f"{first} and {context.path}",
                do="name all lines in `lines` of one of them, and delete the other",
            )
        _built[context.project_root] = context.path
        lake = context.project_root / self.lake
        apply({"lake": str(lake), **self.settings})
        lines, studies = built_lines(self.lines), built_studies(self.lines)
        note_loaded([built.line for built in lines])
        return define(lines, studies)


def apply(settings: Mapping[str, object]) -> None:
    """Set the variables of `settings`, by dotted name, for this process and those that it starts. A variable
    that the environment had is left alone."""
    for name, value in settings.items():
        variable = PREFIX + name.upper().replace(".", "__")
        if os.environ.get(variable) == _given.get(variable):
            os.environ[variable] = _given[variable] = str(value)


def _known(names: list[str]) -> None:
    unknown = [name for name in names if name not in installed()]
    if unknown or not names:
        raise InputError(
            f"evolake.Line: no line {unknown[0]!r}" if unknown else "evolake.Line: `lines` is empty",
            wanted=f"some of: {', '.join(installed())}",
            do="fix `lines` in defs.yaml",
        )
