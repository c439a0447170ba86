"""Import files of the paper's framework into a lake (`evolake designs import`), and from there into a cycle.

As with a merge, nothing of a sealed cycle is touched: the bundle carries the first cycle that may see it, and
the opening asset of that cycle takes it in. Its designs meet the gates of this line like any added seed and
are measured here; its objectives meet theirs in the asset `objectives`. Nothing of the files is run here;
what cannot be used has a reason.

The public code (github.com/yuanhangzhang98/LLM_meta_optimization) fixes where they are. Folders carry the
name of a workspace behind an underscore, or none of them does:

    solvers/solver_N.py                        the file of design N
    objectives/objective_N.py                  the function of objective N
    objectives/metadata.json                   a description of each objective, by its number
    domain_knowledge/objective_baseline.py     objective 0, where `objectives` lacks it
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evolake.agents.guidance import next_cycle
from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.objective_writing import WRITTEN, with_genome
from evolake.designs.evolution.population import Population, texts_of
from evolake.designs.evolution.proposals import Candidate, Judge, design_row, judged, store_candidate
from evolake.designs.genome.open_genome import OpenGenome
from evolake.designs.model.boundary import alone
from evolake.designs.tables import IMPORTS, OBJECTIVES_READ
from evolake.errors import InputError
from evolake.gates import Verdict
from evolake.lake import Lake, TableSchema
from evolake.objectives.source import objective_id
from evolake.reading import Unparsable, Unreadable, parse_json, read_text, reason

MAX_BYTES = 1024 * 1024
BASELINE_OBJECTIVE = Path("domain_knowledge/objective_baseline.py")

Row = dict[str, Any]


@dataclass(frozen=True)
class Files:
    """Where they are. suffix: of the workspace, `_22` or empty."""

    root: Path
    suffix: str

    @property
    def source(self) -> str:
        """What rows name it by."""
        return (self.root.resolve().name or "root") + self.suffix

    def folder(self, name: str) -> Path:
        """Return one of its folders."""
        return self.root / f"{name}{self.suffix}"


@dataclass(frozen=True)
class Framework:
    """Rows without what the import adds (bundle, source, cycle). sources: number of a design -> text of its
    file."""

    designs: list[Row]
    sources: dict[int, str]
    objectives: list[Row]

    def bundle_id(self) -> str:
        """Return sha256 over everything that was read, wherever it was."""
        held = [self.designs, sorted(self.sources.items()), self.objectives]
        return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()


def find_files(given: Path) -> Files:
    """Return the files below a folder: its one folder `solvers` or `solvers_WORKSPACE` with solver_N.py in
    it. Raises InputError."""
    found = (
        sorted({path.parent for path in given.glob("solvers*/solver_*.py") if path.is_file()})
        if given.is_dir()
        else []
    )
    if len(found) != 1:
        got = ", ".join(path.name for path in found) or (
            "no solvers*/solver_N.py in it" if given.is_dir() else "no such folder"
        )
        raise InputError(
            f"no one folder of solvers of the paper's framework in {given}",
            wanted="one folder solvers or solvers_WORKSPACE with solver_N.py in it",
            got=got,
            do="give the folder above it; of several workspaces, copy one to a separate folder",
        )
    name, mark, workspace = found[0].name.partition("_")
    if name != "solvers":
        raise InputError(
            f"{found[0]} is no folder of solvers",
            wanted="solvers or solvers_WORKSPACE",
            got=found[0].name,
            do="rename it",
        )
    return Files(found[0].resolve().parent, mark + workspace)


def read_framework(files: Files) -> Framework:
    """Return everything that the files say. Raises InputError if metadata.json is no JSON object."""
    designs: list[Row] = []
    sources: dict[int, str] = {}
    for number, path in _numbered(files.folder("solvers"), "solver").items():
        text, fault = _code(path)
        designs.append({"original_id": number, **_state(fault)})
        if not fault:
            sources[number] = text
    return Framework(designs, sources, _objectives(files))


def _objectives(files: Files) -> list[Row]:
    paths = _numbered(files.folder("objectives"), "objective")
    baseline = files.root / BASELINE_OBJECTIVE
    if baseline.is_file():
        paths = {0: baseline} | paths
    described = _metadata(files.folder("objectives") / "metadata.json")
    rows = []
    for number, path in sorted(paths.items()):
        code, fault = _code(path)
        entry = described.get(str(number))
        text = entry.get("description") if isinstance(entry, dict) else None
        if not isinstance(text, str) or not text.strip():
            text = f"objective {number} of another search"
        row: Row = {"original_id": number, "description": text.encode(errors="replace").decode()}
        row |= {} if fault else {"code": code, "objective_id": objective_id(code)}
        rows.append(row | _state(fault))
    return rows


def _numbered(folder: Path, name: str) -> dict[int, Path]:
    """Return number -> path of the files `name`_N.py, by number."""
    result = {
        int(match.group(1)): path
        for path in sorted(folder.glob(f"{name}_*.py"))
        if (match := re.fullmatch(rf"{name}_([0-9]{{1,9}})", path.stem))
    }
    return dict(sorted(result.items()))


def _metadata(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        held = parse_json(read_text(path, MAX_BYTES), name=path.name, characters=MAX_BYTES)
        got = f"a {type(held).__name__}"
    except Unparsable as error:
        held, got = None, f"no JSON: {error.got}"
    except (OSError, Unreadable) as error:
        held, got = None, reason(error)
    if not isinstance(held, dict):
        raise InputError(
            f"{path} cannot be read",
            wanted='one JSON object: {"1": {"description": ...}, ...}',
            got=got,
            do="repair or remove it",
        )
    return held


def _code(path: Path) -> tuple[str, str]:
    """Return (text of a Python file, "") or ("", why it cannot be used)."""
    try:
        text = read_text(path, MAX_BYTES)
    except (OSError, Unreadable) as error:
        return "", f"{path.name} cannot be read: {reason(error)}"
    return (text, "") if text.strip() else ("", f"{path.name} is empty")


def _state(fault: str) -> Row:
    return {"state": "malformed" if fault else "read", "reason": fault or None}


ORIGIN = "import"
LOCK, LOCK_WAIT_S = "imports", 10.0
NO_DESIGN = -1
"""Number in the note of a bundle that has no design."""

Recognise = Callable[[str], OpenGenome | None]


@dataclass(frozen=True)
class Brought:
    """What `import_framework` did. new: False where the very same bundle was there already. counts: table ->
    (rows that were read, malformed rows)."""

    bundle_id: str
    source: str
    since_cycle: str
    counts: dict[str, tuple[int, int]]
    new: bool


@dataclass(frozen=True)
class Arrived:
    """What the opening asset takes over: the archive with the bundles in it, the rows that it added, their
    verdicts, and one note per design that came, or per bundle that has none (`ARRIVALS`)."""

    population: Population
    designs: list[Row]
    verdicts: list[Verdict]
    notes: list[Row]
    bundles: list[str]


def import_framework(lake: Lake, path: Path, *, run_id: str = "import") -> Brought:
    """Bring solvers and objectives of the paper's framework in. Doing it twice changes nothing.

    Raises:
        InputError: the folder has none, or its metadata.json cannot be read. PartitionBusy: another import is
            running.
    """
    files = find_files(path)
    read = read_framework(files)
    bundle = read.bundle_id()
    counts = {"designs": _counted(read.designs), "objectives": _counted(read.objectives)}
    with lake.line_lock(LOCK, run_id=run_id, timeout_s=LOCK_WAIT_S):
        if held := [row for row in rows_of(lake, IMPORTS) if row["bundle_id"] == bundle]:
            return Brought(bundle, held[0]["source"], held[0]["since_cycle"], counts, new=False)
        entering = {"bundle_id": bundle, "source": files.source, "since_cycle": next_cycle(lake, LINE)}
        _publish(lake, OBJECTIVES_READ, [entering | row for row in read.objectives], bundle, run_id)
        _publish(
            lake, IMPORTS, [entering | row for row in _with_blobs(lake, read)], bundle, run_id
        )  # last: by it the bundle is there
    return Brought(bundle, files.source, entering["since_cycle"], counts, new=True)


def rows_of(lake: Lake, schema: TableSchema) -> list[Row]:
    """Return rows of a table of this module; none in a lake that nothing was imported into."""
    return [] if lake.record(LINE, schema.name) is None else lake.read(LINE, schema.name).to_dicts()


def pending_bundles(lake: Lake, population: Population, cycle: str) -> list[str]:
    """Return bundles that `cycle` may see and its population has not taken in yet, by id."""
    taken = set(population.value("imported_bundles", []))
    return sorted({row["bundle_id"] for row in rows_of(lake, IMPORTS) if row["since_cycle"] <= cycle} - taken)


def admit_imports(
    lake: Lake, population: Population, judge: Judge, cycle: str, recognise: Recognise = lambda source: None
) -> Arrived:
    """Return the population with the designs of every pending bundle; unchanged, and the lists empty, if
    there is none.

    A file that is here already stays what it is; one that computes the same as another is blocked as a
    duplicate. recognise: the genome that computes what
    a file does, if there is one; asked of those that passed the gates, and what it raises is none.
    """
    bundles = pending_bundles(lake, population, cycle)
    if not bundles:
        return Arrived(population, [], [], [], [])
    rows = [row for row in rows_of(lake, IMPORTS) if row["bundle_id"] in bundles and row["state"] == "read"]
    texts, known = texts_of(lake), dict(population.graphs())
    usable = [
        row
        for row in population.designs.to_dicts()
        if row["state"] != "blocked" and row["hyper"] in (None, "{}")
    ]
    present = {row["source_sha"]: row["design_id"] for row in usable}
    here = set(population.designs["design_id"].to_list())
    arrived = Arrived(
        population,
        [],
        [],
        [
            {
                "cycle": cycle,
                "bundle_id": bundle,
                "original_id": NO_DESIGN,
                "design_id": None,
                "state": "empty",
                "reason": "none of its designs can be read",
            }
            for bundle in bundles
            if bundle not in {row["bundle_id"] for row in rows}
        ],
        bundles,
    )
    for row in sorted(rows, key=lambda item: (item["bundle_id"], item["original_id"])):
        note = {"cycle": cycle, "bundle_id": row["bundle_id"], "original_id": row["original_id"]}
        if row["source_sha"] in present:
            arrived.notes.append(
                note | {"design_id": present[row["source_sha"]], "state": "present", "reason": None}
            )
            continue
        source = texts(row["source_sha"])
        done = judged(_candidate(row, source), known, judge)
        if done.accepted:
            done = replace(done, genome=alone(lambda text=source: recognise(text), lambda reason: None))
        arrived.verdicts.extend(done.examined.verdicts)
        kept = design_row(done, cycle, *store_candidate(lake.blobs, done)) | {"imported_from": row["source"]}
        arrived.notes.append(note | {name: kept[name] for name in ("design_id", "state", "reason")})
        if kept["design_id"] not in here:
            here.add(kept["design_id"])
            arrived.designs.append(kept)
        if done.accepted and done.traced is not None:
            known[done.traced.graph_sha] = present[row["source_sha"]] = done.design_id
    return replace(arrived, population=population.admit(arrived.designs, []))


def taken_in(population: Population, bundles: list[str]) -> list[str]:
    """Return the state's list of bundles after a cycle that took these in."""
    return sorted({*population.value("imported_bundles", []), *bundles})


def imported_objectives(
    lake: Lake, population: Population, bundles: Collection[str], cycle: str
) -> list[Row]:
    """Return rows of OBJECTIVES for what bundles bring, not judged yet. They begin to vote in this cycle, at
    a multiplier of 1.

    bundles: ids of those that the opening of `cycle` took in.
    """
    taken = set(population.objectives["objective_id"].to_list())
    result: dict[str, Row] = {}
    for row in rows_of(lake, OBJECTIVES_READ):
        if row["bundle_id"] in bundles and row["state"] == "read" and row["objective_id"] not in taken:
            result.setdefault(
                row["objective_id"],
                with_genome(
                    {
                        "objective_id": row["objective_id"],
                        "state": "accepted",
                        "cycle": cycle,
                        "created_round": int(cycle),
                        "family": WRITTEN,
                        "parameters": json.dumps({"original_id": row["original_id"]}),
                        "description": row["description"],
                        "source": row["code"],
                        "multiplier": 1.0,
                        "origin": ORIGIN,
                        "reason": None,
                        "imported_from": row["source"],
                        "operator": None,
                        "parents": None,
                    }
                ),
            )
    return list(result.values())


def _candidate(row: Mapping[str, Any], source: str) -> Candidate:
    return Candidate(
        source=source,
        hyper={},
        genome=None,
        title=f"solver {row['original_id']}",
        operator=ORIGIN,
        origin=ORIGIN,
        rationale=f"Design {row['original_id']} of {row['source']}.",
        direction_id=None,
        weights=(),
    )


def _with_blobs(lake: Lake, read: Framework) -> list[Row]:
    return [
        row
        | {
            "source_sha": lake.blobs.put(read.sources[row["original_id"]].encode())
            if row["original_id"] in read.sources
            else None
        }
        for row in read.designs
    ]


def _publish(lake: Lake, schema: TableSchema, new: list[Row], bundle: str, run_id: str) -> None:
    """Append. Rows of the bundle that are there are those of an import that was cut off."""
    known = [row for row in rows_of(lake, schema) if row["bundle_id"] != bundle]
    lake.publish(LINE, schema.name, schema.frame([*known, *new]), cycle=None, run_id=run_id, schema=schema)


def _counted(rows: list[Row]) -> tuple[int, int]:
    malformed = sum(row["state"] == "malformed" for row in rows)
    return len(rows) - malformed, malformed
