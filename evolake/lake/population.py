"""What enters a cycle: a fixed set of typed tables, one of them `state` (name, value as JSON). Every line's
Population is one of these.

Two ways to bring rows in, and they mean the same in every line: `add` takes rows whose key is new, so that
what is there stays as it is; `updated` puts a row of a key that is there in its place. Everything is
immutable: a change gives a new population. A line that has cells instead of cycles has the one row of its
table `study`.

Splits by lineage have two sides, none of which shares an ancestor with the other. An artifact is on the side
of its roots, the ancestors without parents. One whose roots are of both sides is on neither: it would tie
them together, and where operators compose freely, ties make one lineage of nearly everything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import polars as pl

from evolake.errors import InputError
from evolake.lake.schemas import TableSchema
from evolake.lake.store import Lake

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Tables:
    """Base of a line's population: a dataclass with a frame for each of `schemas`, in their order."""

    schemas: ClassVar[Mapping[str, TableSchema]]

    @classmethod
    def empty(cls) -> Self:
        """Without rows."""
        return cls(**{name: schema.empty() for name, schema in cls.schemas.items()})

    @classmethod
    def of(cls, tables: Mapping[str, pl.DataFrame]) -> Self:
        """From the published tables.

        Raises:
            InputError: a table does not fit its schema.
        """
        return cls(**{name: schema.validate(tables[name]) for name, schema in cls.schemas.items()})

    def frames(self) -> dict[str, pl.DataFrame]:
        """Return table name -> frame, as they are published."""
        return {name: getattr(self, name) for name in self.schemas}

    def add(self, **tables: Iterable[Row]) -> Self:
        """Return the archive with rows appended to the named tables. A row whose key (`TableSchema.keys`) is
        there already is not
        added: the first stays."""
        grown = {}
        for name, rows in tables.items():
            joined = pl.concat([getattr(self, name), self.schemas[name].frame(rows)])
            grown[name] = joined.unique(
                subset=list(self.schemas[name].keys), keep="first", maintain_order=True
            )
        return replace(self, **grown)

    def updated(self, **tables: Iterable[Row]) -> Self:
        """Return the archive with rows put into the named tables: of one key the last row stays, in the place
        of the first."""
        changed = {}
        for name, rows in tables.items():
            schema = self.schemas[name]
            held = {
                tuple(row.get(key) for key in schema.keys): row
                for row in [*getattr(self, name).to_dicts(), *rows]
            }
            changed[name] = schema.frame(held.values())
        return replace(self, **changed)

    def with_tables(self, **tables: Iterable[Row]) -> Self:
        """Return the archive with whole tables replaced."""
        return replace(self, **{name: self.schemas[name].frame(rows) for name, rows in tables.items()})

    def value(self, name: str, default: Any = None) -> Any:
        """Return one entry of the state."""
        result = self.frames()["state"].filter(pl.col("name") == name)["value"].to_list()
        return json.loads(result[0]) if result else default

    def with_values(self, **values: Any) -> Self:
        """Return the archive with entries of the state set; the others stay. Entries are kept in name
        order."""
        held = dict(self.frames()["state"].iter_rows()) | {
            name: json.dumps(value, sort_keys=True) for name, value in values.items()
        }
        return self.with_tables(state=({"name": name, "value": held[name]} for name in sorted(held)))


@dataclass(frozen=True)
class Archive(Tables):
    """Base of a population whose first table has the line's artifacts, each in a `state` and with its id as
    the key."""

    derivations: pl.DataFrame
    state: pl.DataFrame

    @property
    def _artifacts(self) -> tuple[pl.DataFrame, str]:
        name = next(iter(self.schemas))
        return getattr(self, name), self.schemas[name].keys[0]

    def rows(self, *states: str) -> list[dict[str, Any]]:
        """Return rows of the artifacts in one of `states` (all without any), in the order they came."""
        table, _ = self._artifacts
        return (table.filter(pl.col("state").is_in(states)) if states else table).to_dicts()

    def row(self, artifact_id: str) -> dict[str, Any]:
        """Return the row of one artifact. Raises KeyError if there is none."""
        table, key = self._artifacts
        for row in table.filter(pl.col(key) == artifact_id).to_dicts():
            return row
        raise KeyError(artifact_id)

    @property
    def champion_id(self) -> str | None:
        """The champion, if there is one."""
        champions = self.rows("champion")
        return champions[0][self._artifacts[1]] if champions else None


def roots_of(parents: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """Return artifact -> those without parents that it descends from, itself where it has none.

    parents: artifact -> its parents. A parent that is not among the artifacts is a root: it left the lake.
    """
    result: dict[str, frozenset[str]] = {}
    for artifact in parents:
        path = [artifact]
        while path:
            item = path[-1]
            above = parents.get(item) or ()
            missing = [parent for parent in above if parent not in result and parent not in path]
            if missing:
                path.append(missing[0])
            else:
                result[item] = frozenset[str]().union(
                    *(result.get(parent, frozenset()) for parent in above)
                ) or frozenset({item})
                path.pop()
    return result


def held(artifact: str, roots: Mapping[str, Collection[str]], is_held: Callable[[str], bool]) -> bool | None:
    """Return whether all roots of an artifact are held out; None where some are and some are not.

    Args:
        roots: as of `roots_of`; an artifact that is not among them is its own root. is_held: of a root's id
            alone, so that a later set moves none.
    """
    sides = {is_held(root) for root in roots.get(artifact) or (artifact,)}
    return sides.pop() if len(sides) == 1 else None


def record_before(lake: Lake, line: str) -> dict[str, Any]:
    """Return the row, empty if no study was run."""
    return lake.read(line, "study").row(0, named=True) if lake.record(line, "study") else {}


def current_record(lake: Lake, line: str, command: str) -> dict[str, Any]:
    """Return the row. command: what runs a study.

    Raises:
        InputError: none was run in this lake.
    """
    if not (record := record_before(lake, line)):
        raise InputError(f"this lake holds no {line} study", got=str(lake.root), do=f"run one: {command}")
    return record


def with_earlier(
    record: Mapping[str, Any], study_sha: str, arms: Sequence[str], seeds: Sequence[int], known: Sequence[str]
) -> tuple[Sequence[str], Sequence[int]]:
    """Return (arms, seeds) with those that an earlier run of the same study had. known: every arm there is,
    in order."""
    if record.get("study_sha") != study_sha:
        return arms, seeds
    return [arm for arm in known if arm in {*arms, *record["arms"]}], sorted({*seeds, *record["seeds"]})
