"""The parts that the manifests name: current and superseded, each with where it is and whether it is there;
and whether a lake can be worked in, before any work: it can be written to, and every manifest can be
believed."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import polars as pl

from evolake.errors import CorruptPart, LakeError
from evolake.lake import disk, layout
from evolake.lake.chained import VERIFY
from evolake.lake.layout import Partition, manifests
from evolake.lake.manifest import PartitionLog
from evolake.lake.manifest_lines import ManifestEntry, Record
from evolake.lake.packs import Packed
from evolake.lake.schemas import PARTS, shared_table_of
from evolake.lake.store import Lake

PROBE_BYTES = 1 << 16


def damaged_tables(root: Path) -> dict[str, LakeError]:
    """Return `<line>.<asset>` -> why, of each table whose manifest cannot be believed. A table that is being
    published now is none."""
    return {f"{line}.{asset}": error for (line, asset), error in take_inventory(Lake(root)).damaged.items()}


def check_ready(root: Path, lines: Container[str] | None = None) -> None:
    """Raise unless cycles of some lines (None: of any) can be run in the lake.

    Raises:
        InputError: the lake is of another format, or no folder. LakeError: it cannot be written to, or a
            table of the lines is damaged.
    """
    Lake(root)
    check_writable(root)
    damaged = {
        table: error
        for table, error in damaged_tables(root).items()
        if lines is None or table.partition(".")[0] in lines
    }
    if damaged:
        table, error = next(iter(damaged.items()))
        more = f", and {len(damaged) - 1} more tables" if len(damaged) > 1 else ""
        raise LakeError(
            f"the table {table} of the lake is damaged{more}: {error.what}",
            wanted=error.wanted,
            got=error.got,
            do=VERIFY,
        )


def check_writable(root: Path) -> None:
    """Raise unless a file can be written at the lake's root, which is made if it is missing. Raises
    LakeError."""
    probe = root / f".tmp-{os.getpid()}-{secrets.token_hex(4)}-probe"
    with disk.as_lake_error(
        f"the lake {root} cannot be written to", "a folder that this user may write to, with space"
    ):
        disk.make_folder(root)
        try:
            disk.write_new(probe, bytes(PROBE_BYTES))
        finally:
            disk.discard(probe)


State = Literal["current", "superseded", "missing", "damaged", "lost"]


@dataclass(frozen=True)
class Part:
    """One part of a table.

    Attributes:
        path: where it is. columns: name -> type, as the manifest has them.
        state: current, superseded, missing (current, and gone), damaged (current, of another size than it
            should have) or lost (superseded, and gone).
        place: where in `path` it is, if with others.
    """

    partition: Partition
    record: Record
    path: Path
    columns: Mapping[str, str]
    state: State
    place: Packed | None = None

    @property
    def line(self) -> str:
        """Return the line's name."""
        return self.partition.line

    @property
    def asset(self) -> str:
        """Return the table's name."""
        return self.partition.asset

    @property
    def readable(self) -> bool:
        """Whether it is worth opening; whether its bytes are right only `verify` knows."""
        return self.state in ("current", "superseded")

    @property
    def superseded(self) -> bool:
        """Return whether a newer part has replaced it."""
        return self.state in ("superseded", "lost")

    @property
    def file_sha(self) -> str:
        """sha256 of the file at `path`."""
        return self.place.file_sha if self.place else self.record.file_sha

    @property
    def shared_table(self) -> str | None:
        """Return the shared table that the part belongs to, or None."""
        return shared_table_of(self.partition.asset)

    def verify(self, lake: Lake) -> None:
        """Raise CorruptPart if the bytes are not those of the manifest; they are in quarantine then."""
        if not self.superseded:
            lake.verifier.resolve(self.partition)
            return
        got = lake.verifier.shas.of(self.path)
        if got == self.file_sha:
            return
        disk.make_folder(self.partition.quarantine)
        aside = self.partition.quarantine / f"history-{self.path.name}"
        disk.replace(self.path, aside)
        raise CorruptPart(
            f"the superseded part {self.path} of {self.partition} is damaged",
            wanted=f"sha256 {self.file_sha}",
            got=f"sha256 {got}; it has been moved to {aside}",
            do="run the query again; it continues without these superseded rows",
        )


class TableParts:
    """The parts of one table, in the order of cycles, superseded parts before the current one.

    What a checkpoint has in columns stays in columns: a `Part` is made of it when `parts` is asked for.

    Attributes:
        line, asset: the table. odd: the parts of cycles that are more than one commit; of those in columns
            none.
    """

    def __init__(self, lake: Lake, table: Partition, plain: pl.DataFrame, odd: list[Part]):
        self._root, self.line, self.asset, self.odd = lake.root, table.line, table.asset, odd
        self._plain = plain  # COLUMNS of a checkpoint, with `state`; empty, as without a checkpoint, it is not asked: each query has its price  # noqa: E501
        self._lake = lake

    def __len__(self) -> int:
        return self._plain.height + len(self.odd)

    @cached_property
    def parts(self) -> list[Part]:
        """All of them, each as one."""
        return sorted([*self._made(), *self.odd], key=lambda part: part.partition.cycle or "")

    def _made(self) -> Iterator[Part]:
        logs = self._lake.manifests.look(
            Partition(self._root, self.line, self.asset, None).manifest
        ).partitions
        for cycle, state, path in (
            self._plain.select("cycle", "state", "path").rows() if self._plain.height else ()
        ):
            log = logs[cycle]
            assert log.committed is not None
            place = log.place_of(log.committed)
            place = place if place and self._root / path == place.path else None
            yield _part(Partition(self._root, self.line, self.asset, cycle), place, log.committed, state)

    def paths_by_columns(self) -> Iterator[tuple[dict[str, str], list[Path]]]:
        """(columns, files that may be opened) of each set of columns that current parts have."""
        result: dict[str, list[Path]] = {}
        if self._plain.height:
            known = (
                self._plain.filter(pl.col("state") == "current")
                .group_by("columns", maintain_order=True)
                .agg("path")
            )
            result = {columns: [self._root / path for path in paths] for columns, paths in known.rows()}
        for part in self.odd:
            if part.readable and not part.superseded:
                result.setdefault(json.dumps(dict(part.columns)), []).append(part.path)
        return ((json.loads(columns), paths) for columns, paths in result.items())

    def frame(self) -> pl.DataFrame:
        """Return one row per part, as `parts` of SQL has it."""
        if not self._plain.height:
            return self._odd_rows().sort("cycle", nulls_last=False, maintain_order=True)
        at = pl.col("created_at").str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%:z", time_unit="us", time_zone="UTC")
        plain = self._plain.with_columns(
            at,
            line=pl.lit(self.line),
            asset=pl.lit(self.asset),
            path=pl.lit(f"{self._root}/") + pl.col("path"),
        ).select(list(PARTS.columns))
        return pl.concat([plain, self._odd_rows()]).sort("cycle", nulls_last=False, maintain_order=True)

    def _odd_rows(self) -> pl.DataFrame:
        rows = [
            {
                "line": part.line,
                "asset": part.asset,
                "cycle": part.partition.cycle,
                "state": part.state,
                "rows": part.record.rows,
                "content_sha": part.record.content_sha,
                "file_sha": part.record.file_sha,
                "schema_name": part.record.schema_name,
                "schema_version": part.record.schema_version,
                "run_id": part.record.run_id,
                "created_at": part.record.created_at,
                "path": str(part.path),
            }
            for part in self.odd
        ]
        return pl.DataFrame(rows, schema=dict(PARTS.columns))


@dataclass(frozen=True)
class Inventory:
    """Every table of the lake by its manifest, in the order of line and asset; and those whose manifest
    cannot be believed: (line, asset) -> why."""

    tables: list[TableParts]
    damaged: dict[tuple[str, str], LakeError]

    @property
    def parts(self) -> list[Part]:
        """The parts of all tables."""
        return [part for table in self.tables for part in table.parts]


def take_inventory(lake: Lake) -> Inventory:
    """Return what the lake holds; a table that is damaged is shown, never left out."""
    tables: list[TableParts] = []
    damaged: dict[tuple[str, str], LakeError] = {}
    for line, asset, _ in manifests(lake.root):
        try:
            tables.append(_of_table(lake, Partition(lake.root, line, asset, None)))
        except LakeError as error:
            damaged[line, asset] = error
    return Inventory(tables, damaged)


def _of_table(lake: Lake, table: Partition) -> TableParts:
    """Return the parts of one table. The manifest is read once; a partition of which it alone cannot say what
    it holds is resolved."""
    line, asset = table.line, table.asset
    logs = lake.manifests.load(table.manifest)
    sizes: dict[str | None, int] = dict(layout.part_sizes(table.asset_folder))
    for cycle in sizes:
        if cycle not in logs:
            lake.verifier.resolve(
                Partition(lake.root, line, asset, cycle)
            )  # says that the manifest has lost it
    logs = lake.manifests.load(table.manifest)
    plain, others = logs.plain()
    files: dict[Path, int | None] = {}
    states, paths = [], []
    for cycle, token, size, path in zip(
        *(plain[name].to_list() for name in ("cycle", "token", "size", "path")), strict=True
    ):
        place = logs.packed_of(cycle).get(token) if cycle not in sizes else None
        states.append(_state(place, sizes.get(cycle), size, files))
        paths.append(path if place is None else place.path.relative_to(lake.root).as_posix())
    if plain.height:
        plain = plain.with_columns(
            state=pl.Series(states, dtype=pl.String), path=pl.Series(paths, dtype=pl.String)
        )
    odd: list[Part] = []
    for cycle in others:
        partition, log = Partition(lake.root, line, asset, cycle), logs[cycle]
        if log.committed is None or log.pending:
            record = lake.record(line, asset, cycle)
            log = lake.verifier.log(partition)
            if record is None:
                continue
            current = next(
                entry for entry in (*log.pending, *reversed(log.commits)) if entry.record == record
            )
        else:
            current = log.committed
        if len(log.commits) > 1 or log.pending:
            odd += _superseded(partition, log, current)
        place = log.place_of(current) if cycle not in sizes else None
        odd.append(_part(partition, place, current, _state(place, sizes.get(cycle), current.size, files)))
    return TableParts(lake, table, plain, odd)


def _state(place: Packed | None, there: int | None, size: int, files: dict[Path, int | None]) -> State:
    """Return what a current part's file is by its size. files: sizes of the files of many cycles that were
    asked for before."""
    if place is not None:
        if place.path not in files:
            files[place.path] = place.path.stat().st_size if place.path.exists() else None
        there, size = files[place.path], place.size
    if there is None:
        return "missing"
    if there == size:
        return "current"
    return "damaged"


def _part(partition: Partition, place: Packed | None, entry: ManifestEntry, state: State) -> Part:
    return Part(
        partition, entry.record, place.path if place else entry.record.path, entry.columns, state, place
    )


def _superseded(partition: Partition, log: PartitionLog, current: ManifestEntry) -> list[Part]:
    """Return what a partition held before, oldest first; content that came again counts once."""
    parts, seen = [], {current.record.content_sha}
    for entry in reversed(log.commits):
        if entry.record.content_sha not in seen:
            seen.add(entry.record.content_sha)
            place = log.place_of(entry)
            path = place.path if place else partition.history(entry.token, entry.record.file_sha)
            parts.append(
                Part(
                    partition,
                    entry.record,
                    path,
                    entry.columns,
                    "superseded" if path.exists() else "lost",
                    place,
                )
            )
    return parts[::-1]
