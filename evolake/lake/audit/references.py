"""What refers to what: seals to the parts that are their population, cycles to the tables that they filled,
rows to blobs."""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl

from evolake.errors import LakeError
from evolake.lake import disk
from evolake.lake.audit import blobs
from evolake.lake.audit.findings import AGAIN, Finding
from evolake.lake.schemas import SHARED, shared_table_of
from evolake.lake.seals import following, preceding
from evolake.lake.store import Lake
from evolake.lines import lines

UNDECLARED = frozenset(
    {"source_sha", "traced_sha", "diff_sha", "entry_sha", "calls_sha", "checkpoint_sha", "record_sha"}
)
"""Columns that name blobs in the tables of a line that is not installed here."""
_ANY_SHA = re.compile(rb"[0-9a-f]{64}")


def check(lake: Lake, fast: bool) -> Iterator[Finding]:
    """Yield findings of all references; `fast` leaves out those of rows to blobs."""
    for line in lake.seals.lines():
        yield from _seals(lake, line)
    yield from _gaps(lake)
    if not fast:
        yield from _blobs(lake)


def _seals(lake: Lake, line: str) -> Iterator[Finding]:
    for cycle in lake.seals.cycles(line):
        try:
            seal = lake.seals.read(line, cycle)
            tables = dict(seal.tables) if seal and seal.state == "sealed" else {}
        except LakeError:
            continue  # a finding of the seals
        for table, sha in tables.items():
            asset, _, other = table.partition("@")
            try:
                record = lake.record(line, asset, other or cycle)
            except LakeError:
                continue  # a finding of the tables
            except ValueError:
                record = None
            if record is None or record.content_sha != sha:
                before = preceding(cycle)
                yield Finding(
                    "reference",
                    f"the population that was sealed for cycle {cycle} of {line} is not what the table "
                    f"{asset} holds",
                    f"seals/{line}/{cycle}.json",
                    f"content {sha}",
                    f"content {record.content_sha}" if record else "no such cycle of the table",
                    f"materialize the group {line} from cycle {before} on again"
                    if before
                    else f"materialize the seeds of {line} again",
                )


def _gaps(lake: Lake) -> Iterator[Finding]:
    """Sealed cycles that a table lacks though it has those around: its manifest may have lost them."""
    for line, asset in lake.assets():
        try:
            there = set(lake.cycles(line, asset))
            whole = lake.seals.whole_up_to(line)
            done = [cycle for cycle in lake.seals.cycles(line) if int(following(cycle)) <= whole]
        except LakeError:
            continue  # a finding of its own
        for cycle in done:
            if (
                there
                and cycle not in there
                and min(there) < cycle
                and (asset == "opened" or cycle < max(there))
            ):
                yield Finding(
                    "reference",
                    f"cycle {cycle} of {line} is sealed, and the table {asset} has nothing of it",
                    f"tables/{line}/{asset}",
                    f"a part of cycle {cycle}, as of the cycles around it",
                    "none",
                    f"materialize cycle {cycle} of {line} again",
                    note=asset != "opened",
                )


def _blob_columns() -> dict[tuple[str, str], frozenset[str]]:
    """Return (line, asset) -> the columns that name blobs, of every table that an installed line knows."""
    tables = {
        (spec.name, asset): schema
        for spec in lines().values()
        if spec.tables
        for asset, schema in spec.tables.load().items()
    }
    return {place: schema.blobs for place, schema in tables.items()}


def _blobs(lake: Lake) -> Iterator[Finding]:
    declared = _blob_columns()
    there = {
        path.parent.name + path.name
        for path in blobs.files(lake.root / "blobs")
        if not path.name.startswith(".tmp-")
    }
    named: set[str] = set()
    for line, asset in lake.assets():
        try:
            frame = lake.read(line, asset)
        except LakeError:
            continue  # a finding of the tables
        shared = shared_table_of(asset)
        blobs_of = SHARED[shared].blobs if shared else declared.get((line, asset), UNDECLARED)
        blobs_of -= {"content_sha"}  # a blob in most lines, an id in others: see below
        for column in (name for name, kind in frame.schema.items() if kind == pl.String):
            values = set(frame.get_column(column).drop_nulls().unique().to_list())
            shas = {value for value in values if len(value) == 64 and _ANY_SHA.fullmatch(value.encode())}
            named |= shas
            in_artifacts = shared == "artifacts" and column == "content_sha" and shas & there
            if column in blobs_of or in_artifacts:
                for sha in sorted(shas - there):
                    yield Finding(
                        "reference",
                        f"{line}/{asset} names a blob that is not there",
                        f"blobs/{sha[:2]}/{sha[2:]}",
                        f"the blob that {column} names",
                        "no file",
                        AGAIN,
                    )
    if unnamed := there - named - _named_in_files(lake):
        yield Finding(
            "reference",
            f"{len(unnamed)} blobs are named by no row of any table",
            "blobs",
            "a row that names each",
            sorted(unnamed)[0],
            "nothing: runs that were cut off leave some, and blobs may name each other",
            note=True,
        )


def _named_in_files(lake: Lake) -> set[str]:
    result: set[str] = set()
    with disk.as_lake_error("what was fetched cannot be read", "the names of its blobs"):
        for path in blobs.files(lake.root / "fetched"):
            result |= {sha.decode() for sha in _ANY_SHA.findall(disk.read(path))}
    return result
