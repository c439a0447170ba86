"""Tables: the manifest as a log, and the parts that are there against it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evolake.lake import checkpoint, disk, layout, packs
from evolake.lake.audit import parts
from evolake.lake.audit.findings import BACKUP, Finding
from evolake.lake.audit.manifest_repair import repair_manifest
from evolake.lake.layout import Partition
from evolake.lake.manifest import Manifest
from evolake.lake.store import Lake


def check(lake: Lake, fast: bool) -> Iterator[Finding]:
    """Yield findings of all tables; `fast` reads manifests and records, and of the parts only how large they
    are."""
    for line, asset, path in layout.manifests(lake.root):
        result = lake.manifests.reread(path)
        where = path.relative_to(lake.root).as_posix()
        yield from _checkpoint(lake, path, result)
        for fault in result.log.faults:
            yield Finding(
                "manifest",
                f"the manifest of {line}/{asset} is damaged at line {fault.at}",
                where,
                fault.wanted,
                fault.got,
                BACKUP,
                repair=lambda path=path: repair_manifest(lake, path),
            )
        unknown = [
            part for part in layout.parts(path.parent) if layout.cycle_of(part) not in result.partitions
        ]
        for part in unknown:
            yield Finding(
                "manifest",
                f"the manifest of {line}/{asset} has lost a part",
                part.relative_to(lake.root).as_posix(),
                "a line of the manifest",
                "no manifest" if not result.log.bodies else "none",
                f"materialize {Partition(lake.root, line, asset, layout.cycle_of(part))} again",
                repair=lambda path=path: repair_manifest(lake, path),
            )
        named = {lake.root / body["path"] for body in result.partitions.packs}
        strays = [file for file in packs.files(path.parent) if file not in named]
        lost = [
            body
            for body in result.partitions.packs
            if any(not _known(result, *member) for member in body["members"])
        ]
        for body in lost:
            yield Finding(
                "manifest",
                f"the manifest of {line}/{asset} has lost parts of a file of many cycles",
                body["path"],
                "a commit of each",
                "not of all",
                BACKUP,
                repair=lambda path=path: repair_manifest(lake, path),
            )
        for file in strays:
            yield Finding(
                "leftover",
                f"a file of many cycles of {line}/{asset} that the manifest does not name",
                file.relative_to(lake.root).as_posix(),
                "a line of the manifest",
                "none",
                "run `evolake lake compact`, which puts it into quarantine, unless the manifest has lost "
                "lines",
                repair=(lambda path=path: repair_manifest(lake, path))
                if result.log.faults or not result.log.no
                else None,
            )
        if result.log.faults or unknown or lost:
            continue  # what the parts should be is only known once the manifest is whole
        for cycle in result.partitions:
            yield from parts.check_partition(lake, Partition(lake.root, line, asset, cycle), fast)
        yield from parts.check_history(lake, line, asset, result.partitions, fast)


def _known(result: Manifest, cycle: str, token: int, rows: int) -> bool:
    """Return whether the manifest has the commit of a part that is in a file of many cycles."""
    log = result.partitions.get(cycle)
    return log is not None and any(
        entry.token == token and entry.record.rows == rows for entry in log.commits
    )


def _checkpoint(lake: Lake, manifest: Path, result: Manifest) -> Iterator[Finding]:
    """Yield findings of a manifest's checkpoint, which is not used unless it fits: it says what the lines
    say, or fits other lines."""
    read = checkpoint.read(manifest)
    path = checkpoint.path_of(manifest)
    if read is None:
        return
    name = f"{manifest.parent.parent.name}/{manifest.parent.name}"
    what, got = f"the checkpoint of the manifest of {name}", read if isinstance(read, str) else None
    if not isinstance(read, str):
        summary, stored = read
        data = disk.read(manifest) if manifest.exists() else b""
        if not checkpoint.fits(summary, data):
            got = "it is of other lines"
        elif not result.log.faults and not lake.manifests.same(manifest, data[: stored.size], stored):
            yield Finding(
                "checkpoint",
                f"{what} does not say what its lines say",
                path.relative_to(lake.root).as_posix(),
                "the manifest's first lines",
                "other rows",
                "remove it",
                repair=lambda: _drop(path),
            )
            return
    if got:
        yield Finding(
            "checkpoint",
            f"{what} is of no use, and is not used",
            path.relative_to(lake.root).as_posix(),
            "one that fits the manifest",
            got,
            "nothing: it is made again",
            note=True,
            repair=lambda: _drop(path),
        )


def _drop(path: Path) -> str:
    disk.remove(path)
    return f"checkpoint {path.name} removed; it is made again"
