"""The population of a project: its rows from cycle to cycle, which are added and change state and are never
removed; its islands; and the order of programs.

On each island are the best program of every cell of features (MAP-Elites, Mouret and Clune 2015) and the best
ones over all. Several metrics rank by non-dominated sorting and crowding distance, as NSGA-II has them (Deb
et al. 2002).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from evolake.lake import BlobStore
from evolake.lake.population import Tables
from evolake.programs.model.program_text import cut
from evolake.programs.model.project import FeatureSection, Project, program_id
from evolake.programs.settings import ProgramsSettings
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
    return dict(stored_texts(blobs, sha))


@lru_cache(maxsize=1024)
def stored_texts(blobs: BlobStore, sha: str) -> Mapping[str, str]:
    """Return what `texts_of` returns; the same object each time, not to be changed."""
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


def fronts(points: np.ndarray) -> np.ndarray:
    """Return the number of each point's front, 0 for those that no other dominates: as good in every column,
    and better in one.

    points: (n, metrics), higher is better.
    """
    as_good: np.ndarray = np.all(points[:, None, :] >= points[None, :, :], axis=2)
    dominates = as_good & ~as_good.T
    ranks = np.full(len(points), -1)
    rank = 0
    while (left := ranks < 0).any():
        ranks[left & ~dominates[left].any(axis=0)] = rank
        rank += 1
    return ranks


def crowding(points: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Return how far each point's neighbours on its front are from each other, summed over metrics as shares
    of the front's range; infinite at the ends of a front."""
    result = np.zeros(len(points))
    for rank in np.unique(ranks):
        members = np.flatnonzero(ranks == rank)
        for column in points[members].T:
            order = np.argsort(column, kind="stable")
            spread = column[order[-1]] - column[order[0]]
            if spread > 0:
                gaps = np.concatenate([[np.inf], (column[order[2:]] - column[order[:-2]]) / spread, [np.inf]])
                result[members[order]] += gaps[: len(members)]
    return result


SIZE_BINS_PER_OCTAVE = 2
EXPLORE = 0.3
"""Probability that a parent is any of its island, not one of the best."""


def islands_of(project: Project, own: ProgramsSettings) -> int:
    """Return how many islands a project has."""
    return project.config.islands or own.islands


def block_size(texts: Mapping[str, str]) -> int:
    """Return the number of characters of the blocks."""
    return sum(len(block) for name, text in texts.items() for block in cut(text, name).blocks)


def cell_of(project: Project, metrics: Mapping[str, float], size: int) -> str:
    """Return the bins of a program's features: those of project.toml; else those of config.yaml's that are
    metrics, between 0 and 1; else its size."""
    features = dict(project.given.features)
    if not features and project.config.features:
        bins = project.config.bins or 10
        features = {
            name: FeatureSection(low=0, high=1, bins=bins)
            for name in project.config.features
            if name in metrics
        }
    if not features:
        return str(round(SIZE_BINS_PER_OCTAVE * math.log2(max(size, 1))))
    return ",".join(
        str(_bin(feature, float(size) if name == "size" else metrics.get(name, feature.low)))
        for name, feature in features.items()
    )


def _bin(feature: FeatureSection, value: float) -> int:
    width = (feature.high - feature.low) / feature.bins or 1.0
    return int(min(max(math.floor((value - feature.low) / width), 0), feature.bins - 1))


def merit(project: Project, row: Mapping[str, Any]) -> float:
    """Return the score, such that higher is better."""
    return row["score"] if project.higher_is_better else -row["score"]


def dominates(project: Project, row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether a row is as good as another in every declared metric, and better in one."""
    point, beaten = _point(row, project.metrics), _point(other, project.metrics)
    return (
        point is not None
        and beaten is not None
        and point != beaten
        and all(o >= p for o, p in zip(point, beaten, strict=True))
    )


@dataclass
class Islands:
    """The living programs of a project while a cycle continues."""

    project: Project
    own: ProgramsSettings
    rows: dict[str, Row] = field(default_factory=dict[str, Row])

    @property
    def count(self) -> int:
        """How many islands."""
        return islands_of(self.project, self.own)

    def on(self, island: int) -> list[Row]:
        """Return programs of an island, best first; of equal ones the shorter, then the older."""
        return self.ranked(row for row in self.rows.values() if island in row["islands"])

    def ranked(self, rows: Iterable[Row]) -> list[Row]:
        """Return rows best first: by the score; with several declared metrics by Pareto rank, then crowding
        distance."""
        by_score = sorted(rows, key=lambda row: (-merit(self.project, row), row["size"], row["number"]))
        if len(self.project.metrics) < 2 or len(by_score) < 2:
            return by_score
        points = [_point(row, self.project.metrics) for row in by_score]
        whole = [row for row, point in zip(by_score, points, strict=True) if point is not None]
        if not whole:
            return by_score
        measured = np.array([point for point in points if point is not None])
        ranks = fronts(measured)
        order = np.lexsort((-crowding(measured, ranks), ranks))
        return [whole[place] for place in order] + [
            row for row, point in zip(by_score, points, strict=True) if point is None
        ]

    def parents(self, island: int, random: np.random.Generator) -> tuple[Row, Row]:
        """Return a parent by rank, or with the probability `EXPLORE` any; and another one, if there is one,
        of any island with that probability."""
        here = self.on(island) or self.ranked(self.rows.values())
        elsewhere = self.ranked(self.rows.values()) if random.random() < EXPLORE else here
        return self._drawn(here, random), self._drawn(elsewhere, random)

    def _drawn(self, rows: Sequence[Row], random: np.random.Generator) -> Row:
        if random.random() < EXPLORE:
            return rows[int(random.integers(len(rows)))]
        return rows[min(int(random.geometric(0.4)) - 1, len(rows) - 1)]

    def admit(self, row: Row, island: int) -> Row:
        """Return the row of a program that passed its gates, as it is now: on the island where it is the best
        of its cell or among the best, else retired.

        Programs that it drives out are retired too.
        """
        self.rows[row["program_id"]] = row | {"state": "accepted", "islands": [island]}
        self._retire_beaten(island)
        return self.rows.get(row["program_id"]) or row | {"state": "retired", "islands": []}

    def _retire_beaten(self, island: int) -> None:
        here = self.on(island)
        best = {row["cell"]: row["program_id"] for row in reversed(here)}
        kept = set(best.values()) | {row["program_id"] for row in here[: self.own.elites]}
        for row in here:
            if row["program_id"] not in kept:
                left = [item for item in row["islands"] if item != island]
                if left or row["state"] == "champion":
                    self.rows[row["program_id"]] = row | {"islands": left}
                else:
                    del self.rows[row["program_id"]]

    def migrate(self) -> None:
        """Copy the best of each island to the next one."""
        best = (
            [here[0]["program_id"] for island in range(self.count) if (here := self.on(island))]
            if self.count > 1
            else []
        )
        for island, name in enumerate(best):
            row = self.rows[name]
            self.rows[name] = row | {"islands": sorted({*row["islands"], (island + 1) % self.count})}
        for island in range(self.count if best else 0):
            self._retire_beaten(island)

    def shrink(self, most: int) -> None:
        """No more than `most` programs, the best of them; the champion stays."""
        ranked = self.ranked(self.rows.values())
        kept = {row["program_id"] for row in ranked[:most]} | {
            row["program_id"] for row in ranked if row["state"] == "champion"
        }
        self.rows = {name: row for name, row in self.rows.items() if name in kept}

    def with_front(self) -> None:
        """Mark the Pareto front over the declared metrics."""
        best = self.front()
        self.rows = {name: row | {"front": name in best} for name, row in self.rows.items()}

    def front(self) -> set[str]:
        """Return ids of the living programs on the Pareto front over the declared metrics."""
        points = {
            name: point
            for name, row in self.rows.items()
            if (point := _point(row, self.project.metrics)) is not None
        }
        if not points:
            return set()
        return {
            name
            for name, rank in zip(points, fronts(np.array(list(points.values()))), strict=True)
            if rank == 0
        }


def _point(row: Mapping[str, Any], metrics: Mapping[str, str]) -> tuple[float, ...] | None:
    """Its declared metrics, higher is better; None where one is missing."""
    given = json.loads(row["metrics"])
    if any(name not in given for name in metrics):
        return (row["score"],) if len(metrics) == 1 else None
    return tuple(given[name] if way == "max" else -given[name] for name, way in metrics.items())
