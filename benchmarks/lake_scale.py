"""A lake of 1,000 sealed cycles, 10^5 artifacts and 10^6 lineage rows: what opening it, asking it and adding
to it takes.

    python benchmarks/lake_scale.py                 the lake that docs/team-lake.md has the figures of: minutes, and some gigabytes, removed again
    python benchmarks/lake_scale.py --cycles 50     a smaller lake
    python benchmarks/lake_scale.py --keep DIR      keeps it there; a lake that is there already is measured as it is

The lake is that of the line `solvers`: every table that the line has, each with a part for every cycle,
written with the lake's own encoding, hashes, logs and seals, and without waiting for the disk. Each figure is
from a process of its own: seconds of the processor, on the clock, and the goal. All is measured twice, as the
lake was written and after `evolake lake compact`, which stays done; opening also without checkpoints.
"""  # noqa: E501

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
from bench import SHORT

from evolake.cli.sql import all_tables
from evolake.lake import Lake, TableSchema, disk, lake_format, manifest_lines, population_version, side_table
from evolake.lake import seals as seal_files
from evolake.lake.chained import encode as chained
from evolake.lake.hashing import content_hash
from evolake.lake.layout import Partition
from evolake.lake.manifest_lines import COMMIT, INTENT, ManifestEntry, Record
from evolake.lake.parquet import encode
from evolake.lake.publish import as_record
from evolake.lake.schemas import AGENT_CALLS, ARTIFACTS, CHAMPIONS, DERIVATIONS, EVALUATIONS, RULES, VERDICTS
from evolake.lake.seals import Seal

LINE = "solvers"
COOKBOOK = Path(__file__).resolve().parents[1] / "sql" / "cookbook"
GOALS = {
    "open the catalogue": 2.0,
    "ancestry of the champion": 1.0,
    "evolake status": 3.0,
    "chain check of the newest cycle": 1.0,
}
QUERY_GOAL = 5.0
ANCESTRY = "SELECT * FROM ancestors((SELECT arg_max(artifact_id, cycle) FROM champions WHERE line = $line))"
ALL_ONCE = "every question once, which gathers parts"
"""The first questions after many cycles write files below cache/parts (evolake.lake.gathered); the figures
after it are of those that find them."""
LIMIT_S = 3600
PARAMETERS = {
    "line": LINE,
    "run_id": "run-0500",
    "gate_no": "2",
    "rule_id": "rule-1",
    "before": "1",
    "after": "2",
    "since": "2026-01-01",
}


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


def main() -> None:
    """Synthesizes where nothing is, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cycles", type=int, default=5 if SHORT else 1000)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure, given.keep)
        return
    with tempfile.TemporaryDirectory() as folder:
        root = given.keep or Path(folder) / "lake"
        if not root.exists():
            start = time.perf_counter()
            synthesize(root, given.cycles)
            print(f"synthesized {given.cycles} cycles in {time.perf_counter() - start:.0f} s")
        files = sum(1 for path in (root / "tables").rglob("*") if path.is_file())
        print(f"{files} files below tables/")
        shutil.rmtree(root / "cache", ignore_errors=True)
        run_measurement("open, without checkpoints", root, None)
        run_measurement("publish one more cycle", root, None)
        for state in ("as it was written", "compacted")[: 1 if SHORT else 2]:
            print(f"-- {state}")
            if state == "compacted":
                run_measurement("compact", root, None)
                print(
                    f"{sum(1 for path in (root / 'tables').rglob('*') if path.is_file())} files below tables/"
                )
            run_measurement(ALL_ONCE, root, None)
            for name, goal in GOALS.items():
                run_measurement(name, root, goal)
            for path in [] if SHORT else sorted(COOKBOOK.glob("*.sql")):
                run_measurement(f"cookbook/{path.name}", root, QUERY_GOAL)
            run_measurement("publish one more cycle", root, None)


def run_measurement(name: str, root: Path, goal: float | None) -> None:
    """Run one measurement in a separate process and print its line."""
    command = [sys.executable, __file__, "--keep", str(root), "--measure", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        print(f"{name:40} more than {LIMIT_S} s", flush=True)
        return
    if done.returncode:
        print(f"{name:40} failed: {done.stderr.strip().splitlines()[-1]}", flush=True)
        return
    result = json.loads(done.stdout.splitlines()[-1])
    against = "" if goal is None else f"   goal {goal:g} s, {'met' if result['cpu_s'] < goal else 'MISSED'}"
    print(
        f"{name:40} cpu {result['cpu_s']:7.2f} s  (clock {result['wall_s']:8.2f} s){against}   "
        f"{result['note']}",
        flush=True,
    )


def measure(name: str, root: Path) -> None:
    """One measurement, printed as one JSON line; imports are not counted, but for `evolake status`, which is
    a whole command."""
    from evolake.cli.sql import all_tables
    from evolake.lake import Catalogue, Lake
    from evolake.lake.catalogue import SQL_ROOT

    def opened() -> Catalogue:
        return Catalogue(Lake(root), all_tables())

    def spent() -> float:
        return sum(
            item.ru_utime + item.ru_stime
            for item in (
                resource.getrusage(resource.RUSAGE_SELF),
                resource.getrusage(resource.RUSAGE_CHILDREN),
            )
        )

    if name.startswith("cookbook/") or name == "ancestry of the champion":
        text, catalogue = ANCESTRY if name.startswith("ancestry") else (SQL_ROOT / name).read_text(), opened()
        given = {key: value for key, value in PARAMETERS.items() if f"${key}" in text}
        work = lambda: f"{len(catalogue.query(text, given).rows)} rows"  # noqa: E731
    elif name == ALL_ONCE:
        catalogue = opened()
        texts = [ANCESTRY, *(path.read_text() for path in sorted((SQL_ROOT / "cookbook").glob("*.sql")))]

        def work() -> str:
            for text in texts:
                catalogue.query(text, {key: value for key, value in PARAMETERS.items() if f"${key}" in text})
            return f"{sum(1 for _ in (root / 'cache' / 'parts').rglob('*.parquet'))} files"

    elif name == "compact":
        from evolake.lake.compact import compact

        work = lambda: f"{sum(table.parts for table in compact(Lake(root)))} parts"  # noqa: E731
    elif name.startswith("open"):
        work = lambda: f"{len(opened().views())} views"  # noqa: E731
    elif name == "evolake status":
        import os

        environment = {**os.environ, "EVOLAKE_LAKE": str(root)}
        run = [str(Path(sys.executable).with_name("evolake")), "status"]
        asked = {"env": environment, "capture_output": True, "text": True, "check": True}
        work = lambda: subprocess.run(run, **asked).stdout.splitlines()[0]  # noqa: E731
    elif name == "chain check of the newest cycle":
        lake = Lake(root)
        newest = lake.seals.cycles(LINE)[-1]
        work = lambda: f"cycle {newest}: {Lake(root).seals.broken_link(LINE, newest) or 'holds'}"  # noqa: E731
    else:
        work = lambda: synthesize_next(root)  # noqa: E731
    start, cpu = time.perf_counter(), spent()
    note = work()
    print(json.dumps({"wall_s": time.perf_counter() - start, "cpu_s": spent() - cpu, "note": note}))


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


if __name__ == "__main__":
    main()
