"""The archive of the programs line: what enters a cycle and what leaves it. Rows are added and states change;
no row is removed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from evolake.lake import BlobStore
from evolake.lake.population import Tables
from evolake.programs.model.project import Project, program_id
from evolake.programs.tables import ARCHIVE

Row = dict[str, Any]
LIVING = ("accepted", "champion")


@dataclass(frozen=True)
class Population(Tables):
    """The tables of the archive, each a frame of its schema in `tables.ARCHIVE`."""

    schemas = ARCHIVE

    programs: pl.DataFrame
    derivations: pl.DataFrame
    state: pl.DataFrame

    def rows(self, project: str | None = None, *states: str) -> list[Row]:
        """Return rows of PROGRAMS of a project (None: of all) in one of `states` (all without any), in order
        of their numbers."""
        result = self.programs if project is None else self.programs.filter(pl.col("project") == project)
        return (
            (result.filter(pl.col("state").is_in(states)) if states else result)
            .sort("project", "number")
            .to_dicts()
        )

    def projects(self) -> list[str]:
        """Return projects with a program that lives, by name."""
        return sorted({row["project"] for row in self.rows(None, *LIVING)})

    def champion(self, project: str) -> Row:
        """Return the row of a project's champion: before the first cycle its initial program. Raises KeyError
        if there is no such project."""
        for row in self.rows(project, "champion"):
            return row
        return self.initial(project)

    def initial(self, project: str) -> Row:
        """Return the row of a project's initial program. Raises KeyError where it has none."""
        for row in self.rows(project):
            if row["operator"] == "initial":
                return row
        raise KeyError(project)


def texts_bytes(texts: Mapping[str, str]) -> bytes:
    """Return texts as they are stored."""
    return json.dumps(dict(texts), sort_keys=False, ensure_ascii=False).encode("utf-8", "surrogatepass")


def texts_of(blobs: BlobStore, sha: str) -> dict[str, str]:
    """Return path -> text of a stored program, the main file first."""
    return json.loads(blobs.get(sha).decode("utf-8", "surrogatepass"))


@dataclass(frozen=True)
class Birth:
    """When and how a program was made. parents: program ids. origin: the backend, or the project of an
    initial program. idea: of its author."""

    cycle: str
    generation: int
    number: int
    operator: str
    parents: Sequence[str]
    origin: str
    idea: str = ""


def program_row(
    project: Project, texts: Mapping[str, str], birth: Birth, *, files_sha: str, size: int
) -> Row:
    """Return a row of PROGRAMS of a program that nothing is known of yet."""
    return {
        "program_id": program_id(project.name, texts),
        "project": project.name,
        "cycle": birth.cycle,
        "generation": birth.generation,
        "number": birth.number,
        "state": "candidate",
        "islands": [],
        "operator": birth.operator,
        "parents": list(birth.parents),
        "files_sha": files_sha,
        "score": None,
        "metrics": "{}",
        "cell": "",
        "size": size,
        "front": False,
        "protected": project.protected,
        "origin": birth.origin,
        "reason": None,
        "idea": birth.idea or None,
        "cpu_s": None,
    }
