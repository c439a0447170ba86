"""A synthetic lake of the line `solvers` with any number of cycles, for lake_scale.py: real tables, logs,
records, seals; made-up rows."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from evolake.cli.known_tables import all_tables
from evolake.lake import (
    Lake,
    TableSchema,
    disk,
    lake_format,
    manifest_lines,
    population_version,
    seal_files,
    side_table,
)
from evolake.lake.chained import encode as chained
from evolake.lake.hashing import content_hash
from evolake.lake.layout import Partition
from evolake.lake.manifest_lines import COMMIT, INTENT, ManifestEntry, Record
from evolake.lake.parquet import encode
from evolake.lake.publish import as_record
from evolake.lake.schemas import AGENT_CALLS, ARTIFACTS, CHAMPIONS, DERIVATIONS, EVALUATIONS, RULES, VERDICTS
from evolake.lake.seal_files import Seal

LINE = "solvers"
ARTIFACTS_PER_CYCLE, PARENTS, ROWS = 100, 10, 8
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SIDES: tuple[tuple[str, TableSchema, int], ...] = (
    ("variants", ARTIFACTS, ARTIFACTS_PER_CYCLE),
    ("variants", DERIVATIONS, ARTIFACTS_PER_CYCLE * PARENTS),
    ("survivors", ARTIFACTS, 20),
    ("compliance", VERDICTS, ARTIFACTS_PER_CYCLE),
    ("binaries", VERDICTS, ARTIFACTS_PER_CYCLE),
    ("smoke", VERDICTS, ARTIFACTS_PER_CYCLE),
    ("correctness", VERDICTS, ARTIFACTS_PER_CYCLE),
    ("benchmark_runs", EVALUATIONS, 200),
    ("plan", AGENT_CALLS, 10),
    ("variants", AGENT_CALLS, ARTIFACTS_PER_CYCLE),
    ("champion", CHAMPIONS, 1),
    ("rule_proposals", RULES, 2),
)
"""Side tables of a cycle: asset, table, rows."""


def synthesize(root: Path, cycles: int) -> None:
    """Write the lake: what `Lake.publish` and `Lake.seals` would have written, table after table and without
    waiting for the disk."""
    disk.make_folder(root)
    lake_format.mark(root)
    versions: dict[int, dict[str, str]] = {number: {} for number in range(1, cycles + 2)}
    for asset, schema, rows in _tables():
        last = cycles + 1 if asset.startswith("incoming_") else cycles
        log, no, chain = b"", 0, ""
        for number in range(1, last + 1):
            intent = _part(
                Partition(root, LINE, asset, f"{number:04d}"), _frame(asset, schema, number, rows), schema
            )
            if asset.startswith("incoming_"):
                versions[number][asset] = intent.record.content_sha
            for event in (INTENT, COMMIT):
                no += 1
                line, chain = chained(manifest_lines.body_of(replace(intent, event=event), root), no, chain)
                log += line
        Partition(root, LINE, asset, None).manifest.write_bytes(log)
    _seal(root, versions)


def synthesize_next(root: Path) -> str:
    """Publish one more part of each side table as a cycle does, through `Lake.publish`; return what the logs
    grew by."""
    lake = Lake(root)
    number = int(lake.cycles(LINE, side_table("champion", CHAMPIONS))[-1]) + 1
    before = _log_bytes(root)
    for asset, schema, rows in ((side_table(name, table), table, rows) for name, table, rows in SIDES):
        lake.publish(
            LINE,
            asset,
            _frame(asset, schema, number, rows),
            cycle=f"{number:04d}",
            run_id=f"run-{number:04d}",
            schema=schema,
        )
    return f"{len(SIDES)} parts, logs grew by {_log_bytes(root) - before} bytes"


def _log_bytes(root: Path) -> int:
    return sum(path.stat().st_size for path in root.glob("tables/*/*/_manifest.jsonl"))


def _tables() -> list[tuple[str, TableSchema, int]]:
    own = [(asset, schema, ROWS) for (line, asset), schema in all_tables().items() if line == LINE]
    return own + [(side_table(asset, schema), schema, rows) for asset, schema, rows in SIDES]


def _part(partition: Partition, frame: pl.DataFrame, schema: TableSchema) -> ManifestEntry:
    data = encode(frame)
    record = Record(
        line=LINE,
        asset=partition.asset,
        cycle=partition.cycle,
        path=partition.part,
        rows=frame.height,
        content_sha=content_hash(frame, schema.provenance),
        file_sha=hashlib.sha256(data).hexdigest(),
        schema_name=schema.name,
        schema_version=schema.version,
        run_id=f"run-{partition.cycle}",
        created_at=NOW,
    )
    intent = ManifestEntry(
        INTENT,
        1,
        len(data),
        {name: str(kind) for name, kind in frame.schema.items()},
        record,
        schema.provenance,
    )
    partition.folder.mkdir(parents=True)
    partition.part.write_bytes(data)
    partition.record.write_bytes(as_record(intent, partition.root))
    return intent


def _seal(root: Path, versions: dict[int, dict[str, str]]) -> None:
    folder, before, log, no, chain = root / "seals" / LINE, None, b"", 0, ""
    folder.mkdir(parents=True)
    for number, tables in versions.items():
        version = population_version(tables)
        seal = Seal(
            LINE, f"{number:04d}", "sealed", version, before, f"run-{number:04d}", NOW.isoformat(), tables
        )
        (folder / f"{number:04d}.json").write_bytes(seal_files.encode(seal))
        no, before = no + 1, version
        line, chain = chained(seal_files.entry(seal), no, chain)
        log += line
    seal_files.journal(folder).write_bytes(log)


def _id(number: int, index: int) -> str:
    """Return the id of artifact `index` of a cycle; those of cycle 0 stand for the seeds."""
    return hashlib.sha256(f"{number}/{index}".encode()).hexdigest()


def _frame(asset: str, schema: TableSchema, number: int, rows: int) -> pl.DataFrame:
    return schema.frame(
        [
            {name: _value(asset, name, kind, number, row) for name, kind in schema.columns.items()}
            for row in range(rows)
        ]
    )


def _value(asset: str, name: str, kind: Any, number: int, row: int) -> Any:
    """Return a value for one column: ids that join, a few words that the questions ask for, and otherwise any
    value of the type."""
    child = row // PARENTS if asset.endswith("__derivations") else row % ARTIFACTS_PER_CYCLE
    known = {
        "artifact_id": _id(number, child),
        "variant_id": _id(number, child),
        "child_id": _id(number, child),
        "parent_id": _id(max(number - 1 - row % 3, 0), (row * 7) % ARTIFACTS_PER_CYCLE),
        "cycle": f"{number:04d}",
        "line": LINE,
        "state": "accepted" if asset.startswith("survivors") or row % 3 else "blocked",
        "outcome": "pass" if row % 5 else "block",
        "content_sha": _id(number, child),
        "kind": "variant",
        "call_id": f"{asset}/{number}/{row}",
        "instance": f"formula-{row}",
        "rule_id": f"rule-{row % 3}",
        "rule_version": str(1 + number % 2),
        "version": "1" if kind == pl.String else 1,
        "created_at": NOW,
        "status": "sat",
        "weight": 1 / PARENTS,
        "run_id": f"run-{number:04d}",
    }
    if name in known and (kind != pl.Float64 or name == "weight"):
        return known[name]
    return _any_value(kind, name, number, row)


def _any_value(kind: Any, name: str, number: int, row: int) -> Any:
    if kind == pl.String:
        return f"{name} {row % 7}"
    if kind == pl.Boolean:
        return row % 2 == 0
    if kind.is_integer():
        return number + row
    if kind.is_float():
        return number / (row + 1)
    return NOW if kind.is_temporal() else None
