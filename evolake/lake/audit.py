"""Audit a whole lake, byte for byte and reference by reference, and repair what provably can be.

    for finding in audit(lake): ...            every check
    for finding in audit(lake, fast=True): ... no bytes of parts and blobs are read
    repair(lake)                               repairs, looks again, and says what it did

The checks: tables against their manifest, each partition against its own (unfinished publications, bytes and
rows, its record, what it superseded, its token), blobs against their names, seals against the journal of
their line, references from seals to parts, cycles to tables and rows to blobs, and temporary files of dead
writers. Callers that know more kinds of files (the call cache, fetched sources) pass further checks.

Nothing is changed by an audit. A repair only appends to logs, puts back what the lake itself knows to the
byte, and moves what is damaged to quarantine; each step can be cut off anywhere and done again. What a live
writer has in hand is left alone. A whole journal has the last word about seals; one that has lost lines is
believed again when every seal that is there has a check sum that holds and is at least as new as what the
journal still says of its cycle.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import polars as pl
from filelock import FileLock, Timeout

from evolake.errors import EvolakeError, LakeError, MachineryError
from evolake.lake import chained, checkpoint, disk, lake_format, layout, packs, seals
from evolake.lake import repair as part_repair
from evolake.lake.layout import Partition
from evolake.lake.locks import hold
from evolake.lake.manifest import Manifest, PartitionLog
from evolake.lake.manifest_lines import ManifestEntry
from evolake.lake.packs import Packed
from evolake.lake.repair import read_record, repair_manifest
from evolake.lake.schemas import SHARED, shared_table_of
from evolake.lake.seals import Seal, following, preceding
from evolake.lake.secret import SECRET_FILE, SECRET_FOLDER, lake_secret
from evolake.lake.store import Lake, content_of
from evolake.lines import lines
from evolake.reading.json_text import DIGITS
from evolake.settings import PROFILE_FILE, profile_names

AGAIN = "materialize it again"
BACKUP = "restore it from a backup"


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be.

    Attributes:
        kind: what sort of thing: format, profile, secret, seal, journal, manifest, checkpoint, unfinished,
            part, record, superseded, token, blob, reference, leftover, tape, fetched or machinery.
        what: a sentence. where: the file, below the lake's root. wanted, got: in words.
        mend: what puts it right, where `--repair` does not.
        note: worth knowing, and no damage: it does not count.
        repair: puts it right, provably, and says what it did; None where only a person can. Does nothing when
            it is done already.
    """

    kind: str
    what: str
    where: str
    wanted: str
    got: str
    mend: str
    note: bool = False
    repair: Callable[[], str] | None = field(default=None, compare=False, repr=False)

    def row(self) -> dict[str, str | bool]:
        """For `--json`."""
        names = ("kind", "what", "where", "wanted", "got", "mend", "note")
        return {name: getattr(self, name) for name in names} | {"repairable": self.repair is not None}


@dataclass(frozen=True)
class Audit:
    """All findings, and what was done: (where, what was done, or why it was not)."""

    findings: tuple[Finding, ...]
    done: tuple[tuple[str, str], ...] = ()

    @property
    def verdict(self) -> Literal["clean", "findings"]:
        """Whether anything but notes is left."""
        return "findings" if any(not finding.note for finding in self.findings) else "clean"


def check_root(lake: Lake, fast: bool) -> Iterator[Finding]:
    """Yield findings of the small files at the lake's root; `fast` makes no difference."""
    try:
        lake_format.check(lake.root)
    except LakeError as damage:
        yield Finding(
            "format", damage.what, lake_format.MARKER, damage.wanted or "", damage.got or "", damage.do or ""
        )
    if (lake.root / SECRET_FOLDER / SECRET_FILE).exists():
        try:
            lake_secret(lake.root)
        except MachineryError as damage:
            where = f"{SECRET_FOLDER}/{SECRET_FILE}"
            what = "the lake's secret is damaged"
            yield Finding("secret", what, where, damage.wanted or "", damage.got or "", damage.do or "")
    with disk.as_lake_error(f"{lake.root} cannot be read", f"its {PROFILE_FILE}"):
        try:
            noted = disk.read(lake.root / PROFILE_FILE)
        except FileNotFoundError:
            noted = b""
    names = profile_names()
    if noted not in [f"{name}\n".encode() for name in names] and (noted or any(lake.seals.lines())):
        yield Finding(
            "profile",
            "the profile that the lake continues with is no profile" if noted else "the profile is missing",
            PROFILE_FILE,
            f"one line: {', '.join(names)}",
            repr(noted[:80]) if noted else "no file",
            "write the profile that the lake was evolved under into it, or pass --profile once",
            note=not noted,
        )


_PLACE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{62}")


def check_blobs(lake: Lake, fast: bool) -> Iterator[Finding]:
    """Yield findings of all blobs; `fast` looks at their names alone."""
    root = lake.root / "blobs"
    for path in files(root):
        place = path.relative_to(root).as_posix()
        where = f"blobs/{place}"
        if path.name.startswith(".tmp-"):
            continue
        if not _PLACE.fullmatch(place):
            yield Finding(
                "blob",
                "a file among the blobs has no blob's name",
                where,
                "64 hexadecimal digits",
                place,
                "move it away",
            )
        elif not fast:
            wanted, got = place.replace("/", ""), disk.file_sha(path)
            if got != wanted:
                yield Finding(
                    "blob",
                    f"the blob {wanted[:12]} is damaged",
                    where,
                    f"sha256 {wanted}",
                    f"sha256 {got}",
                    AGAIN,
                    repair=lambda path=path, wanted=wanted: _put_aside(lake, path, wanted),
                )


def files(folder: Path) -> Iterator[Path]:
    """Yield every file below a folder, in order. A folder that cannot be read is an error."""
    with disk.as_lake_error(f"{folder} cannot be listed", "the files of the lake"):
        for name in disk.names(folder):
            path = folder / name
            if path.is_dir() and not path.is_symlink():
                yield from files(path)
            else:
                yield path


def _put_aside(lake: Lake, path: Path, wanted: str) -> str:
    with disk.as_lake_error(f"the blob {path} cannot be put aside", "to move it to quarantine"):
        got = hashlib.sha256(disk.read(path)).hexdigest() if path.exists() else wanted
        if got == wanted:
            return "was repaired already"
        aside = lake.blobs.put_aside(path, got)
    return f"damaged blob moved to {aside.relative_to(lake.root)}"


FOLDERS = (
    "tables",
    "blobs",
    "seals",
    "locks",
    "tape",
    "fetched",
    "quarantine",
    "cache/manifests",
    "cache/parts",
)
OLD_ENOUGH_S = 600.0
_OF_PROCESS = re.compile(r"\.tmp-(\d+)(-|$)")


def check_leftovers(lake: Lake, fast: bool) -> Iterator[Finding]:
    """Yield findings of all temporary files; `fast` makes no difference."""
    for result in (sorted(lake.root.glob(".tmp-*")), *(files(lake.root / name) for name in FOLDERS)):
        for path in result:
            if path.name.startswith(".tmp-") and _is_stale(lake, path):
                where = path.relative_to(lake.root).as_posix()
                yield Finding(
                    "leftover",
                    "a dead writer left a temporary file",
                    where,
                    "no file",
                    f"{path.name}",
                    "remove it",
                    repair=lambda path=path: _remove(lake, path),
                )


def _is_stale(lake: Lake, path: Path) -> bool:
    """Return whether a temporary file has no writer. A part's writer holds the partition's lock. Of the
    others some name their process; no write of the rest takes ten minutes."""
    try:
        age = time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return False
    if partition := _partition(lake, path):
        return not partition.lock.with_suffix(".holder").exists() or age > OLD_ENOUGH_S
    process = _OF_PROCESS.match(path.name)
    return age > OLD_ENOUGH_S or (process is not None and not _alive(int(process[1])))


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _partition(lake: Lake, path: Path) -> Partition | None:
    """Return the partition in whose folder a file is, None where it is elsewhere."""
    steps = path.relative_to(lake.root).parts
    if (
        steps[0] != "tables"
        or len(steps) not in (4, 5)
        or (len(steps) == 5 and not steps[3].startswith("cycle="))
    ):
        return None
    return Partition(
        lake.root, steps[1], steps[2], steps[3].removeprefix("cycle=") if len(steps) == 5 else None
    )


def _remove(lake: Lake, path: Path) -> str:
    partition = _partition(lake, path)
    with disk.as_lake_error(f"{path} cannot be removed", "to remove a dead writer's file"):
        if partition:
            with hold(partition.lock, what=str(partition), run_id="verify", timeout_s=0):
                disk.remove(path)
        else:
            disk.remove(path)
    return "removed a dead writer's temporary file"


UNDECLARED = frozenset(
    {"source_sha", "traced_sha", "diff_sha", "entry_sha", "calls_sha", "checkpoint_sha", "record_sha"}
)
"""Columns that name blobs in the tables of a line that is not installed here."""
_ANY_SHA = re.compile(rb"[0-9a-f]{64}")


def check_references(lake: Lake, fast: bool) -> Iterator[Finding]:
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
        for path in files(lake.root / "blobs")
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
        for path in files(lake.root / "fetched"):
            result |= {sha.decode() for sha in _ANY_SHA.findall(disk.read(path))}
    return result


def check_seals(lake: Lake, fast: bool) -> Iterator[Finding]:
    """Yield findings of all seals; `fast` makes no difference, they are small."""
    for line in lake.seals.lines():
        yield from _line(lake, line)


def _line(lake: Lake, line: str) -> Iterator[Finding]:
    log, known = lake.seals.journal(line)
    journal = seals.journal(lake.seals.folder(line))
    read = {cycle: _file(lake.seals.path(line, cycle), line, cycle) for cycle in lake.seals.cycles(line)}
    where = str(journal.relative_to(lake.root))
    if log is None:
        yield from _without_journal(lake, line, read, where)
        return
    newer = [seal for cycle in read if (seal := _newer(read[cycle], known.get(cycle, []))) is not None]
    whole = all(not isinstance(result, str) for result in read.values()) or not log.faults
    for fault in log.faults:
        yield Finding(
            "journal",
            f"the journal of the seals of {line} is damaged at line {fault.at}",
            where,
            fault.wanted,
            fault.got,
            BACKUP,
            repair=(lambda: _mend(lake, line, newer)) if whole else None,
        )
    if newer and not log.faults:
        yield Finding(
            "journal",
            f"the journal of the seals of {line} has lost its end",
            where,
            f"the seal of cycle {newer[0].cycle} of {newer[0].at}",
            "no line for it",
            BACKUP,
            repair=lambda: _mend(lake, line, newer),
        )
    for cycle, results in read.items():
        path = lake.seals.path(line, cycle)
        last = known.get(cycle, [None])[-1]
        if results == last or (isinstance(results, Seal) and results in newer):
            continue
        if isinstance(results, str):
            got = results
        elif results is None:
            got = "no file"
        else:
            got = f"an older seal, of {results.at}"
        wanted = (
            f"the seal of {last.at}, {last.state}" if last else "a seal that the journal of the line knows"
        )
        yield Finding(
            "seal",
            f"the seal of {line}, cycle {cycle}, is not the one that was written last",
            str(path.relative_to(lake.root)),
            wanted,
            got,
            f"move it away and materialize the cycle before {cycle} again",
            repair=(lambda path=path, last=last: _put_back(path, last)) if last and not log.faults else None,
        )


def _file(path: Path, line: str, cycle: str) -> Seal | str | None:
    """Return the seal in a file, None if there is none, or why it is not one."""
    try:
        return seals.decode(disk.read(path), line, cycle)
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as error:
        return str(error)


def _newer(result: Seal | str | None, known: list[Seal]) -> Seal | None:
    """Return a whole seal of which the journal has lost the line: it is newer than all that the journal knows
    of its cycle."""
    if isinstance(result, Seal) and result not in known and (not known or result.at > known[-1].at):
        return result
    return None


def _without_journal(
    lake: Lake, line: str, read: dict[str, Seal | str | None], where: str
) -> Iterator[Finding]:
    for cycle, result in read.items():
        if isinstance(result, str):
            path = str(lake.seals.path(line, cycle).relative_to(lake.root))
            mend = f"move it away and materialize the cycle before {cycle} again"
            yield Finding(
                "seal",
                f"the seal of {line}, cycle {cycle}, is damaged",
                path,
                "a seal of that line and cycle",
                result,
                mend,
            )
    whole = [results for results in read.values() if isinstance(results, Seal)]
    if len(whole) < len(read):
        return
    if whole:
        yield Finding(
            "journal",
            f"the journal of the seals of {line} is gone",
            where,
            "every seal that was ever made",
            "no file",
            BACKUP,
            repair=lambda: _mend(lake, line, whole),
        )


def _mend(lake: Lake, line: str, whole: list[Seal]) -> str:
    """Add to a line's journal the seals that it lacks, and acknowledge what is broken in it."""
    log, known = lake.seals.journal(line)
    lacking = [seal for seal in whole if seal not in known.get(seal.cycle, [])]
    bodies = [seals.entry(seal) for seal in lacking]
    faults = log.faults if log else ()
    if faults:
        bodies.append({"event": chained.MENDED, "faults": [fault.name for fault in faults]})
    if not bodies:
        return "was repaired already"
    with disk.as_lake_error(f"the journal of {line} cannot be repaired", "to append to it"):
        lake.seals.note(line, bodies)
    return f"journal of {line}: {len(lacking)} seals noted again, {len(faults)} breaks acknowledged"


def _put_back(path: Path, seal: Seal) -> str:
    with disk.as_lake_error(f"the seal {path} cannot be put back", "to write what the journal says"):
        try:
            if seals.decode(disk.read(path), seal.line, seal.cycle) == seal:
                return "was repaired already"
        except (ValueError, FileNotFoundError):
            pass
        if path.is_dir():
            raise LakeError(f"{path} is a folder", got="move it away")
        disk.write_atomic(path, seals.encode(seal), tag="repair")
    return (
        f"seal of {seal.line}, cycle {seal.cycle}: put back as the journal has it ({seal.state}, {seal.at})"
    )


def check_partition(lake: Lake, partition: Partition, fast: bool) -> Iterator[Finding]:
    """Yield findings of one partition that the manifest names. A partition whose writer is running is left
    alone."""
    if _busy(partition):
        return
    log = lake.verifier.log(partition)
    where = partition.part.relative_to(lake.root).as_posix()
    if log.pending:
        yield Finding(
            "unfinished",
            f"a publication of {partition} was cut off",
            where,
            "a commit after each intent",
            f"an intent of run {log.pending[0].record.run_id} without one",
            f"materialize {partition} again",
            repair=lambda: part_repair.finish(lake, partition),
        )
    if log.committed is None and not partition.part.exists():
        return
    place = log.place_of(log.committed) if log.committed and not partition.part.exists() else None
    if place:
        yield from _in_file(lake, partition, log, place, fast)
        yield from _token(lake, partition, log)
        return
    held, got = _held(lake, partition, log, fast)
    if held is None:
        wanted = log.committed.record.file_sha if log.committed else "nothing"
        source = part_repair.copy_of(lake, partition, wanted)
        mends = source is not None or partition.part.exists()
        yield Finding(
            "part",
            f"the part of {partition} is {'damaged' if partition.part.exists() else 'missing'}",
            where,
            f"sha256 {wanted}",
            got,
            f"materialize {partition} again",
            repair=(lambda: part_repair.put_right(lake, partition)) if mends else None,
        )
        return
    yield from _record(lake, partition, held)
    yield from _token(lake, partition, log)
    if not fast and (summary := _rows(partition, held)):
        yield Finding(
            "part",
            f"the rows of {partition} are not those that its record names",
            where,
            *summary,
            f"materialize {partition} again",
        )


def _in_file(
    lake: Lake, partition: Partition, log: PartitionLog, place: Packed, fast: bool
) -> Iterator[Finding]:
    """Yield findings of a part that is in a file with others."""
    where = place.path.relative_to(lake.root).as_posix()
    try:
        got = (
            f"{place.path.stat().st_size} bytes" if fast else disk.as_found(lake.verifier.shas.of(place.path))
        )
    except FileNotFoundError:
        got = "no file"
    wanted = f"{place.size} bytes" if fast else f"sha256 {place.file_sha}"
    if got != wanted:
        yield Finding(
            "part",
            f"the file that holds {partition} with others is damaged or missing",
            where,
            wanted,
            got,
            BACKUP,
        )
    elif not fast:
        try:
            lake.read(partition.line, partition.asset, partition.cycle)
        except LakeError as error:
            yield Finding(
                "part",
                f"the rows of {partition} are not those that its record names",
                where,
                error.wanted or "",
                error.got or "",
                f"materialize {partition} again",
            )


def _held(
    lake: Lake, partition: Partition, log: PartitionLog, fast: bool
) -> tuple[ManifestEntry | None, str]:
    """Return (the entry whose bytes the partition holds, what it holds). Fast: by size."""
    candidates = [entry for entry in (log.committed, *log.pending) if entry is not None]
    try:
        if fast:
            size = partition.part.stat().st_size
            return next((entry for entry in candidates if entry.size == size), None), f"{size} bytes"
        sha = disk.file_sha(partition.part)
        return next((entry for entry in candidates if entry.record.file_sha == sha), None), disk.as_found(sha)
    except FileNotFoundError:
        return None, "no file"


def _record(lake: Lake, partition: Partition, held: ManifestEntry) -> Iterator[Finding]:
    result = read_record(partition)
    if result is None or (result.record != held.record and result.token <= held.token):
        yield Finding(
            "record",
            f"the record next to the part of {partition} is "
            f"{'damaged or gone' if result is None else 'of another part'}",
            partition.record.relative_to(lake.root).as_posix(),
            f"the record of token {held.token}",
            "none" if result is None else f"token {result.token}",
            BACKUP,
            repair=lambda: part_repair.write_record(lake, partition),
        )


def _token(lake: Lake, partition: Partition, log: PartitionLog) -> Iterator[Finding]:
    try:
        text = disk.read(partition.token)
    except FileNotFoundError:
        return
    if not text.isdigit() or len(text) > DIGITS or int(text) < log.last_token:
        yield Finding(
            "token",
            f"the counter of the writers of {partition} is damaged",
            partition.token.relative_to(lake.root).as_posix(),
            f"a number of at least {log.last_token}",
            repr(text[:40]),
            BACKUP,
            repair=lambda: part_repair.write_token(lake, partition),
        )


def _rows(partition: Partition, held: ManifestEntry) -> tuple[str, str] | None:
    """(wanted, got) where the rows are not those of the content hash."""
    with partition.part.open("rb") as opened:
        frame = pl.read_parquet(opened)
    got = content_of(held, frame)
    if frame.height != held.record.rows:
        return f"{held.record.rows} rows", f"{frame.height} rows"
    return (
        None if got == held.record.content_sha else (f"content {held.record.content_sha}", f"content {got}")
    )


def check_history(
    lake: Lake, line: str, asset: str, partitions: Mapping[str | None, PartitionLog], fast: bool
) -> Iterator[Finding]:
    """Yield findings of the superseded parts of one table."""
    folder = Partition(lake.root, line, asset, None).asset_folder / layout.HISTORY
    wanted: set[Path] = set()
    for cycle, log in partitions.items():
        partition = Partition(lake.root, line, asset, cycle)
        for entry in log.commits[:-1]:
            place = log.place_of(entry)
            path = place.path if place else partition.history(entry.token, entry.record.file_sha)
            wanted.add(path)
            got = _superseded(
                path, (place.size, place.file_sha) if place else (entry.size, entry.record.file_sha), fast
            )
            if got and not (got == "no file" and part_repair.known_lost(partition, entry.record.file_sha)):
                yield Finding(
                    "superseded",
                    f"superseded rows of {partition} are {'lost' if got == 'no file' else 'damaged'}",
                    path.relative_to(lake.root).as_posix(),
                    f"sha256 {entry.record.file_sha}",
                    got,
                    BACKUP,
                    repair=lambda partition=partition, entry=entry: part_repair.repair_superseded(
                        lake, partition, entry
                    ),
                )
    with disk.as_lake_error(f"{folder} cannot be listed", "the superseded parts"):
        for path in (
            folder / name / file
            for name in ["", *disk.names(folder)]
            if (folder / name).is_dir()
            for file in disk.names(folder / name)
        ):
            # a publisher gives the part a second name before it replaces it; until then, and after a crash
            # there, that name is early and not stray
            if (
                path.suffix == ".parquet"
                and path not in wanted
                and not any(_is_early(path, log) for log in partitions.values())
            ):
                cycle = path.parent.name.removeprefix("cycle=") if path.parent != folder else None
                yield Finding(
                    "superseded",
                    f"a superseded part of {line}/{asset} of which the manifest knows nothing",
                    path.relative_to(lake.root).as_posix(),
                    "a line of the manifest",
                    "none",
                    BACKUP,
                    repair=lambda path=path, cycle=cycle: part_repair.put_stray_aside(
                        lake, Partition(lake.root, line, asset, cycle), path
                    ),
                )


def _is_early(path: Path, log: PartitionLog) -> bool:
    last = log.committed
    return last is not None and path.name == f"{last.token:06d}-{last.record.file_sha[:16]}.parquet"


def _superseded(path: Path, wanted: tuple[int, str], fast: bool) -> str | None:
    """Return what is wrong with the file of a superseded part, None if nothing is. wanted: its bytes and
    sha256."""
    try:
        if fast:
            return None if path.stat().st_size == wanted[0] else f"{path.stat().st_size} bytes"
        sha = disk.file_sha(path)
        return None if sha == wanted[1] else disk.as_found(sha)
    except FileNotFoundError:
        return "no file"


def _busy(partition: Partition) -> bool:
    """Return whether a writer holds the partition now."""
    if not partition.lock.exists():
        return False
    try:
        with FileLock(partition.lock, timeout=0, thread_local=False, fallback_to_soft=False):
            return False
    except Timeout:
        return True


def check_tables(lake: Lake, fast: bool) -> Iterator[Finding]:
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
            yield from check_partition(lake, Partition(lake.root, line, asset, cycle), fast)
        yield from check_history(lake, line, asset, result.partitions, fast)


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


__all__ = ["Audit", "Finding", "audit", "repair"]

Check = Callable[[Lake, bool], Iterable[Finding]]
CHECKS: tuple[Check, ...] = (
    check_root,
    check_seals,
    check_tables,
    check_blobs,
    check_references,
    check_leftovers,
)
MOST_PASSES = 4


def audit(lake: Lake, *, fast: bool = False, more: Iterable[Check] = ()) -> Iterator[Finding]:
    """Yield everything that is not as it should be.

    Args:
        fast: without the bytes of parts and blobs: sizes, logs, seals, what is missing and what is left over.
        more: further checks: (lake, fast) -> findings.
    """
    for check in (*CHECKS, *more):
        try:
            with disk.as_lake_error(f"{lake.root} cannot be read", "files where files belong"):
                yield from check(lake, fast)
        except EvolakeError as error:
            mend = error.do or "fix the disk and verify again"
            yield Finding(
                "machinery", error.what, "", error.wanted or "a readable lake", error.got or "", mend
            )


def repair(lake: Lake, *, more: Iterable[Check] = ()) -> Audit:
    """Repair what can be repaired, and return what was done and what is left.

    What is repaired may uncover more (a manifest that can be read again names its parts), so the audit is
    repeated until nothing changes.
    """
    done: list[tuple[str, str]] = []
    more = tuple(more)
    for _ in range(MOST_PASSES):
        left = tuple(audit(Lake(lake.root, checked=False), more=more))
        acted = False
        for finding in left:
            if finding.repair is not None:
                try:
                    done.append((finding.where, finding.repair()))
                    acted = True
                except EvolakeError as error:
                    done.append((finding.where, f"not repaired: {error.what}: {error.got}"))
        if not acted:
            return Audit(left, tuple(done))
    return Audit(tuple(audit(Lake(lake.root, checked=False), more=more)), tuple(done))
