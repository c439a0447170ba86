"""Tables: the manifest as a log, and the parts that lie there against it."""

from __future__ import annotations

from collections.abc import Iterator

from evolake.lake import layout
from evolake.lake.audit import parts
from evolake.lake.audit.findings import BACKUP, Finding
from evolake.lake.audit.manifest_repair import mend_manifest
from evolake.lake.layout import Partition
from evolake.lake.store import Lake


def check(lake: Lake, fast: bool) -> Iterator[Finding]:
    """Findings of all tables; `fast` reads manifests and records, and of the parts only how large they are."""
    for line, asset, path in layout.manifests(lake.root):
        found = lake.manifests.look(path)
        where = path.relative_to(lake.root).as_posix()
        for fault in found.log.faults:
            yield Finding(
                "manifest", f"the manifest of {line}/{asset} is damaged at line {fault.at}", where, fault.wanted, fault.got, BACKUP,
                repair=lambda path=path: mend_manifest(lake, path),
            )
        unknown = [part for part in layout.parts(path.parent) if layout.cycle_of(part) not in found.partitions]
        for part in unknown:
            yield Finding(
                "manifest", f"the manifest of {line}/{asset} has lost a part", part.relative_to(lake.root).as_posix(), "a line of the manifest",
                "no manifest" if not found.log.bodies else "none", f"materialize {Partition(lake.root, line, asset, layout.cycle_of(part))} again",
                repair=lambda path=path: mend_manifest(lake, path),
            )
        if found.log.faults or unknown:
            continue  # what the parts should be is only known once the manifest is whole
        for cycle in found.partitions:
            yield from parts.check_partition(lake, Partition(lake.root, line, asset, cycle), fast)
        yield from parts.check_history(lake, line, asset, found.partitions, fast)

