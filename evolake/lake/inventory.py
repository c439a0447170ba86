"""The parts that the manifests name: current and superseded, each with where it lies and whether it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evolake.errors import CorruptPart, LakeError
from evolake.lake import disk, layout
from evolake.lake.layout import Partition, manifests
from evolake.lake.manifest import Entry, PartitionLog, Record
from evolake.lake.schemas import shared_table_of
from evolake.lake.store import Lake


@dataclass(frozen=True)
class Part:
    """One part of a table.

    Attributes:
        path: where it lies. columns: name -> type, as the manifest has them.
        state: current, superseded, missing (current, and gone), damaged (current, of another size than it should have) or lost (superseded,
            and gone).
    """

    partition: Partition
    record: Record
    path: Path
    columns: Mapping[str, str]
    state: Literal["current", "superseded", "missing", "damaged", "lost"]

    @property
    def line(self) -> str:
        return self.partition.line

    @property
    def asset(self) -> str:
        return self.partition.asset

    @property
    def readable(self) -> bool:
        """Whether it is worth opening; whether its bytes are right only `verify` knows."""
        return self.state in ("current", "superseded")

    @property
    def superseded(self) -> bool:
        return self.state in ("superseded", "lost")

    @property
    def shared_table(self) -> str | None:
        return shared_table_of(self.partition.asset)

    def verify(self, lake: Lake) -> None:
        """Raises CorruptPart where the bytes are not those of the manifest; they are in quarantine then."""
        if not self.superseded:
            lake.verifier.settle(self.partition)
            return
        got = lake.verifier.shas.of(self.path)
        if got == self.record.file_sha:
            return
        disk.make_folder(self.partition.quarantine)
        aside = self.partition.quarantine / f"history-{self.path.name}"
        disk.replace(self.path, aside)
        raise CorruptPart(
            f"the superseded part {self.path} of {self.partition} is damaged", wanted=f"sha256 {self.record.file_sha}",
            got=f"sha256 {got}; it has been moved to {aside}", do="run the query again; it goes on without these superseded rows",
        )


@dataclass(frozen=True)
class Inventory:
    """Every part of the lake by its manifests, in the order of line, asset, cycle, superseded parts before the current one; and the tables whose
    manifest cannot be believed: (line, asset) -> why. Of those, the parts that are still known are among the others.
    """

    parts: list[Part]
    damaged: dict[tuple[str, str], LakeError]


def take_inventory(lake: Lake) -> Inventory:
    """What the lake holds; a table that is damaged is told, never left out."""
    parts: list[Part] = []
    damaged: dict[tuple[str, str], LakeError] = {}
    for line, asset, _ in manifests(lake.root):
        try:
            parts += _of_table(lake, Partition(lake.root, line, asset, None))
        except LakeError as error:
            damaged[line, asset] = error
    return Inventory(parts, damaged)


def _of_table(lake: Lake, table: Partition) -> list[Part]:
    """The parts of one table. The manifest is read once; a partition of which it alone cannot say what it holds is settled."""
    line, asset = table.line, table.asset
    cycles = lake.cycles(line, asset) or [None]
    logs = lake.manifests.load(table.manifest)
    sizes = layout.part_sizes(table.asset_folder)
    parts: list[Part] = []
    for cycle in cycles:
        partition, log = Partition(lake.root, line, asset, cycle), logs.get(cycle, PartitionLog((), ()))
        if log.committed is None or log.pending:
            record = lake.record(line, asset, cycle)
            log = lake.verifier.log(partition)
            if record is None:
                continue
            current = next(entry for entry in (*log.pending, *reversed(log.commits)) if entry.record == record)
        else:
            current = log.committed
        if len(log.commits) > 1 or log.pending:
            parts += _superseded(partition, log, current)
        size = sizes.get(cycle)
        state = "missing" if size is None else "current" if size == current.size else "damaged"
        parts.append(Part(partition, current.record, current.record.path, current.columns, state))
    return parts


def _superseded(partition: Partition, log: PartitionLog, current: Entry) -> list[Part]:
    """What a partition held before, oldest first; content that came again counts once."""
    parts, seen = [], {current.record.content_sha}
    for entry in reversed(log.commits):
        if entry.record.content_sha not in seen:
            seen.add(entry.record.content_sha)
            path = partition.history(entry.token, entry.record.file_sha)
            parts.append(Part(partition, entry.record, path, entry.columns, "superseded" if path.exists() else "lost"))
    return parts[::-1]
