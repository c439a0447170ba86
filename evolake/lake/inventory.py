"""The parts that the manifests name: current and superseded, each with where it lies and whether it is there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evolake.errors import CorruptPart
from evolake.lake import disk
from evolake.lake.layout import Partition, manifests
from evolake.lake.manifest import Record
from evolake.lake.schemas import shared_table_of
from evolake.lake.store import Lake


@dataclass(frozen=True)
class Part:
    """One part. `state` is current, superseded, missing (a current part that is gone) or lost (a superseded one that is)."""

    partition: Partition
    record: Record
    path: Path
    state: Literal["current", "superseded", "missing", "lost"]

    @property
    def line(self) -> str:
        return self.partition.line

    @property
    def asset(self) -> str:
        return self.partition.asset

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


def take_inventory(lake: Lake) -> list[Part]:
    """Every part of the lake by its manifests, in the order of line, asset, cycle; superseded parts before the current one."""
    parts = []
    for line, asset, _ in manifests(lake.root):
        for cycle in lake.cycles(line, asset) or [None]:
            parts += _of_partition(lake, Partition(lake.root, line, asset, cycle))
    return parts


def _of_partition(lake: Lake, partition: Partition) -> list[Part]:
    current = lake.record(partition.line, partition.asset, partition.cycle)
    if current is None:
        return []
    parts, seen = [], {current.content_sha}
    for entry in reversed(lake.verifier.log(partition).commits):
        if entry.record.content_sha in seen:
            continue
        seen.add(entry.record.content_sha)
        path = partition.history(entry.token, entry.record.file_sha)
        parts.append(Part(partition, entry.record, path, "superseded" if path.exists() else "lost"))
    parts.reverse()
    return [*parts, Part(partition, current, partition.part, "current" if partition.part.exists() else "missing")]
