"""Read finished runs of other tools by their layouts (docs/audit.md), without their packages.

What is read is data of strangers: nothing of it is executed, every file has a limit, and a state that holds
anything but plain values is not read.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import math
import pickle
import pickletools
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.reading import Unparsable, Unreadable, parse_json, read_bytes, read_text, reason
from evolake.reading.files import open_regular
from evolake.scratch import Scratch

MOST_PROGRAMS = 100_000
STATE_BYTES, PROGRAM_BYTES = 1 << 30, 32 << 20


@dataclass(frozen=True)
class Candidate:
    """A program of a run. number: its place in the order of birth. score: as the tool recorded it, higher is
    better unless a trace says otherwise; None if it failed or none is recorded. metrics: further numbers of
    it."""

    program_id: str
    parents: tuple[str, ...]
    text: str = field(repr=False)
    score: float | None
    number: int
    operator: str = "model"
    metrics: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class Run:
    """A finished run. tool: name. candidates: in the order of birth, without copies on other islands.
    best_id: of the best program, as the tool has it, else by its score; "" if no score is recorded. suffix:
    of its files. evaluations: how many the run had at least, as far as it says so."""

    tool: str
    candidates: tuple[Candidate, ...]
    best_id: str
    suffix: str = ".py"
    notes: tuple[str, ...] = ()
    evaluations: int = 0

    @property
    def best(self) -> Candidate | None:
        """The best program; None if no score is recorded."""
        return next((item for item in self.candidates if item.program_id == self.best_id), None)


def read_run(path: Path) -> Run | None:
    """Return the run at a path; None if nothing there looks like one.

    Raises:
        InputError: it looks like a run and cannot be read, or holds no program.
    """
    for tool, find, read in LAYOUTS:
        if (found := find(path)) is None:
            continue
        try:
            run = read(found)
        except FORM as error:
            got = f"a value of another form ({type(error).__name__}: {error})"
            raise _unreadable(tool, found, got) from None
        except (Unparsable, Unreadable, OSError, sqlite3.Error, ValueError) as error:
            got = f"{error.what}: {error.got}" if isinstance(error, Unparsable) else reason(error)
            raise _unreadable(tool, found, got or str(error)) from None
        if not run.candidates:
            raise InputError(f"the {tool} run at {found} holds no program", do="name a finished run")
        return run
    return None


FORM = (LookupError, TypeError, AttributeError, RecursionError, EOFError, pickle.UnpicklingError)
"""Exceptions by which reading data of another form ends."""


def _unreadable(tool: str, found: Path, got: str) -> InputError:
    do = "check that the run is whole; docs/audit.md has the layouts"
    return InputError(f"the {tool} run at {found} cannot be read", got=got, do=do)


def _number(value: Any) -> float | None:
    fine = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    return float(value) if fine and math.isfinite(value) else None


def _numbers(metrics: Any) -> dict[str, float]:
    """Return the numbers of a table of metrics, by name."""
    held = metrics.items() if isinstance(metrics, dict) else ()
    return {str(name): number for name, value in held if (number := _number(value)) is not None}


def _json(path: Path) -> Any:
    return parse_json(read_bytes(path, PROGRAM_BYTES), name=path.name)


def _run(
    tool: str,
    found: Iterable[tuple[Any, Any, Any, Any, str]],
    best: str = "",
    metrics: Mapping[str, Any] | None = None,
    copies: Mapping[str, str] = {},
    evaluations: int = 0,
    **more: Any,
) -> Run:
    """Return a run of (id, parents, text, score, operator) in the order of birth. metrics: id -> table of
    further numbers. copies: id -> id of the program that it is a copy of; if the run holds that, the copy is
    left out, and its children are that one's."""
    result: list[Candidate] = []
    known: dict[str, str] = {}
    for program_id, parents, text, score, operator in found:
        if len(result) == MOST_PROGRAMS:
            raise ValueError(f"more than {MOST_PROGRAMS:,} programs")
        if not isinstance(text, str) or not text.strip() or str(program_id) in known:
            continue
        if (original := copies.get(str(program_id), "")) in known:
            known[str(program_id)] = known[original]
            continue
        kept = tuple(known[str(parent)] for parent in parents if str(parent) in known)
        known[str(program_id)] = str(program_id)
        numbers = _numbers((metrics or {}).get(str(program_id)))
        made = Candidate(str(program_id), kept, text, _number(score), len(result), operator, numbers)
        result.append(made)
    scored = [item for item in result if item.score is not None]
    top = max(scored, key=lambda item: item.score or 0.0).program_id if scored else ""
    return Run(tool, tuple(result), known.get(best, top), evaluations=max(evaluations, len(result)), **more)


def _checkpoint(path: Path) -> Path | None:
    """Return a checkpoint of OpenEvolve, or the folder of a run's checkpoints."""
    if _is_checkpoint(path):
        return path
    folders = (path, path / "checkpoints", path / "openevolve_output" / "checkpoints")
    return next((folder for folder in folders if folder.is_dir() and _checkpoints(folder)), None)


def _is_checkpoint(path: Path) -> bool:
    return (path / "metadata.json").is_file() and (path / "programs").is_dir()


def _checkpoints(folder: Path) -> list[Path]:
    """Return the checkpoints in a folder, the newest first."""
    names = [re.fullmatch(r"checkpoint_(\d{1,9})", item.name) for item in folder.glob("checkpoint_*")]
    numbered = sorted((int(name[1]), name[0]) for name in names if name)
    return [folder / name for _, name in reversed(numbered) if (folder / name / "programs").is_dir()]


def _openevolve(path: Path) -> Run:
    """Read all checkpoints of a run, as each holds only the programs that were alive then, and its best
    program, which may be younger than they."""
    alone = _is_checkpoint(path)
    folders = [path] if alone else _checkpoints(path)
    files: dict[str, Path] = {}
    for folder in folders:
        for file in sorted((folder / "programs").glob("*.json"))[: MOST_PROGRAMS + 1 - len(files)]:
            files.setdefault(file.name, file)
    entries: list[dict[str, Any]] = [_json(file) for file in files.values()]
    newest = folders[0]
    metadata = _json(newest / "metadata.json") if (newest / "metadata.json").is_file() else {}
    best = str(metadata.get("best_program_id") or "")
    for place in (newest, *(() if alone else (path.parent / "best",))):
        own, info = place / "best_program.py", place / "best_program_info.json"
        if own.is_file() and info.is_file():
            said = _json(info)
            best = str(said.get("id") or best)
            if best not in {str(entry["id"]) for entry in entries}:
                entries.append({**said, "id": best, "code": read_text(own)})
    # an iteration says less: copies that migrate have the first one
    entries.sort(key=lambda entry: _number(entry.get("timestamp")) or 0.0)
    language = str(next((entry.get("language") for entry in entries), "") or "python")
    found = [
        (entry["id"], (entry.get("parent_id"),), entry.get("code"), _score_in(entry.get("metrics")), "model")
        for entry in entries
    ]
    copies = {
        str(entry["id"]): str(entry.get("parent_id"))
        for entry in entries
        if (entry.get("metadata") or {}).get("migrant")
    }
    iterations = int(_number(metadata.get("last_iteration")) or 0)
    suffix = ".py" if language == "python" else ""
    metrics = {str(entry["id"]): entry.get("metrics") for entry in entries}
    most = min(iterations, MOST_PROGRAMS)
    return _run("OpenEvolve", found, best, metrics, copies, most, suffix=suffix)


def _score_in(metrics: Any) -> float | None:
    """Return combined_score of a table of metrics, else the mean of its numbers, as OpenEvolve has it."""
    if not isinstance(metrics, dict):
        return None
    if (score := _number(metrics.get("combined_score"))) is not None:
        return score
    numbers = [number for value in metrics.values() if (number := _number(value)) is not None]
    return math.fsum(numbers) / len(numbers) if numbers else None


def _database(path: Path) -> Path | None:
    """Return an SQLite file with a table of programs: the file itself, or one in the folder."""
    if path.is_dir():
        files = sorted([*path.glob("*.sqlite"), *path.glob("*.db")])
    else:
        files = [path] if path.is_file() else []
    return next((file for file in files if _is_sqlite(file)), None)


def _is_sqlite(path: Path) -> bool:
    with contextlib.suppress(OSError, Unreadable), open_regular(path) as file:
        return file.read(16) == b"SQLite format 3\0"
    return False


COLUMNS = (
    "id", "parent_id", "code", "combined_score", "correct", "generation", "language", "metadata",
    "public_metrics",
)  # fmt: skip
COPIES = {"_is_island_copy": "_original_program_id", "_spawned_island": "_spawned_from_program_id"}
"""Names in a program's metadata: that it is a copy, and of which program."""


def _shinka(path: Path) -> Run:
    """Read a copy, with what was not yet merged into the file."""
    with Scratch("audit") as folder:
        copy = Path(folder) / "run.sqlite"
        for ending in ("", "-wal"):
            source = Path(f"{path}{ending}")
            if source.is_file():
                if source.stat().st_size > STATE_BYTES:
                    raise ValueError(f"{source.name} is larger than {STATE_BYTES >> 30} GiB")
                shutil.copyfile(source, f"{copy}{ending}")
        with contextlib.closing(sqlite3.connect(copy)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            kind = connection.execute("SELECT type FROM sqlite_master WHERE name = 'programs'").fetchone()
            if kind != ("table",):
                raise ValueError("it has no table `programs`")
            held = {row[1] for row in connection.execute("PRAGMA table_info(programs)")}
            if not {"id", "code", "combined_score"} <= held:
                raise ValueError("its table `programs` has no columns id, code and combined_score")
            shown = ", ".join(name if name in held else f"NULL AS {name}" for name in COLUMNS)
            order = "generation, timestamp" if {"generation", "timestamp"} <= held else "rowid"
            rows = connection.execute(
                f"SELECT {shown} FROM programs ORDER BY {order} LIMIT ?", (MOST_PROGRAMS + 1,)
            ).fetchall()
    found = [
        (row[0], (row[1],), row[2], row[3] if row[4] in (1, None, True) else None, "model") for row in rows
    ]
    copies = {str(row[0]): original for row in rows if (original := _original(row[7]))}
    language = next((str(row[6]) for row in rows if row[6]), "python")
    metrics = {str(row[0]): _table(row[8]) for row in rows}
    suffix = ".py" if language == "python" else ""
    return _run("ShinkaEvolve", found, metrics=metrics, copies=copies, suffix=suffix)


def _table(text: Any) -> Any:
    """Return the value of a JSON text; None if it is none."""
    try:
        return parse_json(str(text).encode("utf-8", "replace"), name="metrics") if text else None
    except Unparsable:
        return None


def _original(metadata: Any) -> str:
    """Return the id of the program that one is a copy of, by its metadata; "" if it is none."""
    known = _table(metadata)
    marks = [name for name in COPIES if isinstance(known, dict) and known.get(name)]
    return str(known.get(COPIES[marks[0]]) or "") if marks else ""


PUTS = ("PUT", "LONG_BINPUT")
"""Steps of a pickle that name any place of a table, which is made as large as that."""


class _PlainUnpickler(pickle.Unpickler):
    """Reads plain values alone: a class or function, by which a pickle could execute something, is
    refused."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Return a set's class, the only one that a state needs."""
        if (module_name, global_name) in (("builtins", "set"), ("builtins", "frozenset")):
            return {"set": set, "frozenset": frozenset}[global_name]
        raise ValueError(f"it holds an object of {module_name}.{global_name}, which is not read")


def _gepa_folder(path: Path) -> Path | None:
    return path if any((path / name).is_file() for name in ("gepa_state.bin", "candidates.json")) else None


def _gepa(path: Path) -> Run:
    notes: list[str] = []
    if (path / "gepa_state.bin").is_file():
        try:
            data = read_bytes(path / "gepa_state.bin", STATE_BYTES)
            if any(
                item.name in PUTS and (place or 0) > len(data) for item, place, _ in pickletools.genops(data)
            ):
                raise ValueError("it asks for more memory than it can fill")
            state = _PlainUnpickler(io.BytesIO(data)).load()
            return _gepa_state(state)
        except (*FORM, ValueError) as error:
            if not (path / "candidates.json").is_file():
                raise
            notes.append(f"gepa_state.bin is not read ({error}), so that no scores and parents are known")
    entries = _json(path / "candidates.json")
    found = [(place, (), _components(entry), None, "model") for place, entry in enumerate(entries)]
    return _run("GEPA", found, suffix=".txt", notes=tuple(notes or ["candidates.json holds no scores"]))


def _gepa_state(state: Mapping[str, Any]) -> Run:
    found: list[tuple[Any, Any, Any, Any, str]] = []
    scores, parents = state["prog_candidate_val_subscores"], state["parent_program_for_candidate"]
    for place, entry in enumerate(state["program_candidates"]):
        some = scores[place]
        values = [_number(value) for value in (some.values() if isinstance(some, dict) else some)]
        numbers = [value for value in values if value is not None]
        mean = math.fsum(numbers) / len(numbers) if numbers else None
        found.append((place, parents[place], _components(entry), mean, "model"))
    proposals = int(_number(state.get("i")) or 0) + 1  # it counts them from 0
    return _run("GEPA", found, evaluations=min(proposals, MOST_PROGRAMS), suffix=".txt")


def _components(entry: Any) -> str:
    """Return the text of a candidate: its one component, or all of them under their names."""
    if not isinstance(entry, dict):
        raise TypeError("a candidate is no table of texts")
    if len(entry) == 1:
        return str(next(iter(entry.values())))
    return "\n".join(f"# {name}\n{text}" for name, text in entry.items())


def _samples(path: Path) -> Path | None:
    """Return a run's folder of samples; of several runs in a folder, the newest by its name."""
    runs = [*sorted(path.glob("*/samples"), reverse=True), *sorted(path.glob("logs/*/samples"), reverse=True)]
    places = (path, path / "samples", *runs) if path.is_dir() else ()
    return next((place for place in places if any(place.glob("samples_*~*.json"))), None)


def _llm4ad(path: Path) -> Run:
    entries: list[dict[str, Any]] = []
    for file in path.glob("samples_*~*.json"):
        entries += _json(file)
    entries.sort(key=lambda entry: int(entry["sample_order"]))
    found = [
        (
            entry["sample_order"],
            (),
            entry.get("program") or entry.get("function"),
            entry.get("score"),
            "model",
        )
        for entry in entries
    ]
    return _run("LLM4AD", found, notes=("its samples name no parents",))


def _islands(path: Path) -> Path | None:
    found = path.is_dir() and any(
        item.name.isdecimal() and any(item.glob("best_sol.*")) for item in path.iterdir()
    )
    return path if found else None


def _codeevolve(path: Path) -> Run:
    files = [
        file for item in sorted(path.iterdir()) if item.name.isdecimal() for file in item.glob("best_sol.*")
    ]
    found = [(f"island {file.parent.name}", (), read_text(file), None, "model") for file in files]
    notes = (
        "only the best program of each island is read: its checkpoints hold objects, which are not loaded",
    )
    return _run("CodeEvolve", found, suffix=files[0].suffix, notes=notes)


TRACE, RECORDS = "trace.json", "candidates.jsonl"
SHA = re.compile(r"[0-9a-f]{64}")


def _trace_folder(path: Path) -> Path | None:
    return path if (path / TRACE).is_file() and (path / RECORDS).is_file() else None


def _trace(path: Path) -> Run:
    """Read a trace of evolake (docs/traces.md)."""
    head = _json(path / TRACE)
    if (head["format"], head["version"]) != ("evolake-trace", 1):
        raise ValueError("it is no trace of version 1")
    if len(head["projects"]) > 1:
        names = ", ".join(map(str, head["projects"]))
        raise ValueError(f"it holds several projects ({names}): evolake lake trace --project writes one")
    found: list[tuple[Any, Any, Any, Any, str]] = []
    metrics: dict[str, Any] = {}
    suffix, size, best, held = ".txt", 0, ("", False, -math.inf, ""), 0
    with open_regular(path / RECORDS) as file:
        for line in iter(lambda: file.readline(PROGRAM_BYTES + 1), b""):
            if len(line) > PROGRAM_BYTES or len(found) > MOST_PROGRAMS:
                raise ValueError(f"{RECORDS} is longer than a trace may be")
            entry, held = parse_json(line, name=RECORDS), held + 1
            if entry["kind"] != head["kind"] or not entry["files"]:
                continue
            name, sha = next(iter(entry["files"].items()))
            if not SHA.fullmatch(str(sha)):
                raise ValueError(f"a text is called {str(sha)[:80]!r}, and not by its sha256")
            data = read_bytes(path / "blobs" / sha[:2] / sha, PROGRAM_BYTES)
            if (size := size + len(data)) > STATE_BYTES:
                raise ValueError(f"its texts have more than {STATE_BYTES >> 30} GiB")
            if hashlib.sha256(data).hexdigest() != sha:
                raise ValueError(f"the text {sha[:12]} has another sha256")
            score, suffix = _number(entry["score"]), Path(str(name)).suffix or ".txt"
            parents = tuple(parent["id"] for parent in entry["parents"])
            text = data.decode("utf-8", "replace")
            found.append((entry["id"], parents, text, score, str(entry["operator"] or "initial")))
            sign = 1 if entry["higher_is_better"] else -1
            merit = -math.inf if score is None else sign * score
            title = max(map(str, entry["champion_in"]), default="")
            own = (title, entry["state"] == "champion", merit, str(entry["id"]))
            best = max(best, own, key=lambda item: item[:3])
            facts = entry["facts"].get("metrics")
            metrics[str(entry["id"])] = _table(facts) if isinstance(facts, str) else facts
    if held != head["candidates"]:
        raise ValueError(f"{RECORDS} has {held:,} records, and {TRACE} states {head['candidates']}")
    return _run("evolake", found, best[3], metrics, suffix=suffix)


LAYOUTS: tuple[tuple[str, Callable[[Path], Path | None], Callable[[Path], Run]], ...] = (
    ("evolake", _trace_folder, _trace),
    ("OpenEvolve", _checkpoint, _openevolve),
    ("ShinkaEvolve", _database, _shinka),
    ("GEPA", _gepa_folder, _gepa),
    ("LLM4AD", _samples, _llm4ad),
    ("CodeEvolve", _islands, _codeevolve),
)
