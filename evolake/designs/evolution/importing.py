"""A database of the paper's framework into a lake (`evolake designs import`), and from there into a cycle.

As with a merge, nothing of a sealed cycle is touched: the bundle carries the first cycle that may see it, and
the opening asset of that cycle takes it in. Its designs meet the gates of this line like any added seed and
are measured here; their parents become derivations. Its objectives meet theirs in the asset `objectives`. Its
results stay their own table: others report them. Its retrospectives are what planners read as data.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evolake.agents.guidance import next_cycle
from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.framework_files import find_files, find_solvers
from evolake.designs.evolution.framework_rows import Framework, read_framework
from evolake.designs.evolution.objective_writing import WRITTEN, with_genome
from evolake.designs.evolution.population import Population, texts_of
from evolake.designs.evolution.proposals import Candidate, Judge, design_row, judged, store_candidate
from evolake.designs.genome.variation import DesignGenome
from evolake.designs.model.boundary import alone
from evolake.designs.tables import IMPORTS, OBJECTIVES_READ, RESULTS, TEXTS
from evolake.gates import Verdict
from evolake.lake import Lake, TableSchema

ORIGIN = "import"
OTHERS = "others"
LOCK, LOCK_WAIT_S = "imports", 10.0
NO_DESIGN = -1
"""Number in the note of a bundle that has no design."""
TOLD = 12
"""Retrospectives that a planner is shown, the newest of each kind first."""
TOLD_CHARS = 1200

Row = dict[str, Any]
Recognise = Callable[[str], DesignGenome | None]


@dataclass(frozen=True)
class Brought:
    """What `import_database` did. new: False where the very same bundle was there already. counts: table ->
    (rows that were read, malformed rows)."""

    bundle_id: str
    source: str
    since_cycle: str
    counts: dict[str, tuple[int, int]]
    new: bool


@dataclass(frozen=True)
class Arrived:
    """What the opening asset takes over; as `merge.Admitted`, with one note per design that came, or per
    bundle that has none (`ARRIVALS`)."""

    population: Population
    designs: list[Row]
    derivations: list[Row]
    verdicts: list[Verdict]
    notes: list[Row]
    bundles: list[str]


def import_database(lake: Lake, path: Path, *, files_only: bool = False, run_id: str = "import") -> Brought:
    """Bring a database of the paper's framework in. Doing it twice changes nothing.

    files_only: the folder holds solvers and objectives and no database, as public copies of the framework do.

    Raises:
        InputError: it is none, or one of its files that must be right is not. PartitionBusy: another import
            is running.
    """
    files = find_solvers(path) if files_only else find_files(path)
    read = read_framework(files, files_only=files_only)
    bundle = read.bundle_id()
    tables = {
        "designs": read.designs,
        "results": read.results,
        "objectives": read.objectives,
        "texts": read.texts,
    }
    counts = {name: _counted(rows) for name, rows in tables.items()}
    with lake.line_lock(LOCK, run_id=run_id, timeout_s=LOCK_WAIT_S):
        if held := [row for row in rows_of(lake, IMPORTS) if row["bundle_id"] == bundle]:
            return Brought(bundle, held[0]["source"], held[0]["since_cycle"], counts, new=False)
        own = {"bundle_id": bundle, "source": files.source}
        entering = own | {"since_cycle": next_cycle(lake, LINE)}
        _publish(lake, RESULTS, [own | {"reported_by": OTHERS} | row for row in read.results], bundle, run_id)
        _publish(lake, OBJECTIVES_READ, [entering | row for row in read.objectives], bundle, run_id)
        _publish(lake, TEXTS, [entering | row for row in read.texts], bundle, run_id)
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
    duplicate, and its children descend from the one that was first. recognise: the genome that computes what
    a file does, if there is one; asked of those that passed the gates, and what it raises is none.
    """
    bundles = pending_bundles(lake, population, cycle)
    if not bundles:
        return Arrived(population, [], [], [], [], [])
    rows = [row for row in rows_of(lake, IMPORTS) if row["bundle_id"] in bundles and row["state"] == "read"]
    texts, known = texts_of(lake), dict(population.graphs())
    usable = [
        row
        for row in population.designs.to_dicts()
        if row["state"] != "blocked" and row["hyper"] in (None, "{}")
    ]
    present = {row["source_sha"]: row["design_id"] for row in usable}
    here = set(population.designs["design_id"].to_list())
    result: dict[tuple[str, int], str] = {}
    arrived = Arrived(
        population,
        [],
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
    made: dict[str, Row] = {}
    for row in sorted(rows, key=lambda item: (item["bundle_id"], item["original_id"])):
        place = (row["bundle_id"], row["original_id"])
        note = {"cycle": cycle, "bundle_id": row["bundle_id"], "original_id": row["original_id"]}
        if row["source_sha"] in present:
            result[place] = present[row["source_sha"]]
            arrived.notes.append(note | {"design_id": result[place], "state": "present", "reason": None})
            continue
        source = texts(row["source_sha"])
        done = judged(_candidate(row, source), known, judge)
        if done.accepted:
            done = replace(done, genome=alone(lambda text=source: recognise(text), lambda reason: None))
        arrived.verdicts.extend(done.examined.verdicts)
        twin = known.get(done.traced.graph_sha) if done.traced else None
        result[place] = twin or done.design_id
        kept = design_row(done, cycle, *store_candidate(lake.blobs, done), tuned=bool(row["tuned"])) | {
            "imported_from": row["source"],
            "key_insight": row["key_insight"],
            "success_level": row["success_level"],
        }
        arrived.notes.append(note | {name: kept[name] for name in ("design_id", "state", "reason")})
        if kept["design_id"] not in here:
            here.add(kept["design_id"])
            made[kept["design_id"]] = row
            arrived.designs.append(kept)
        if done.accepted and done.traced is not None:
            known[done.traced.graph_sha] = present[row["source_sha"]] = done.design_id
    arrived.derivations.extend(
        edge for child, row in made.items() for edge in _edges(child, row, result, cycle)
    )
    return replace(arrived, population=population.admit(arrived.designs, arrived.derivations))


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


def retrospectives(lake: Lake, cycle: str) -> list[str]:
    """Return what planners of a cycle are shown about what others' searches wrote, reviews first, then
    rounds, then single designs; the newest of each first.

    What a database that has grown since brings once more is shown once.
    """
    order = ("meta_review", "planner", "analysis")
    there = {row["bundle_id"] for row in rows_of(lake, IMPORTS)}
    held = [row for row in rows_of(lake, TEXTS) if row["bundle_id"] in there and row["since_cycle"] <= cycle]
    rows = list(
        {
            (row["source"], row["kind"], row["number"], row["text"]): row
            for row in held
            if row["state"] == "read" and row["text"]
        }.values()
    )
    rows.sort(key=lambda row: (order.index(row["kind"]), -row["number"], row["bundle_id"]))
    share = {kind: [row for row in rows if row["kind"] == kind][: TOLD // len(order)] for kind in order}
    return [
        f"{row['source']}, {row['kind']} {row['number']} ({row['title']}): {row['text'][:TOLD_CHARS]}"
        for kind in order
        for row in share[kind]
    ]


def _candidate(row: Mapping[str, Any], source: str) -> Candidate:
    rationale = f"Design {row['original_id']} of {row['source']}, round {row['round']} there."
    return Candidate(
        source=source,
        hyper={},
        genome=None,
        title=row["title"][:40],
        operator=ORIGIN,
        origin=ORIGIN,
        rationale=rationale,
        direction_id=None,
        weights=(),
    )


def _edges(
    child: str, row: Mapping[str, Any], result: Mapping[tuple[str, int], str], cycle: str
) -> list[Row]:
    """Rows of DERIVATIONS; parents that are not in the database, or did not come, are left out."""
    weights: dict[str, float] = {}
    for parent, weight in json.loads(row["parents"]):
        known = result.get((row["bundle_id"], int(parent)))
        if known is not None and known != child:
            weights[known] = weights.get(known, 0.0) + weight
    total = sum(weights.values())
    return [
        {"child_id": child, "parent_id": parent, "operator": ORIGIN, "weight": weight / total, "cycle": cycle}
        for parent, weight in weights.items()
        if total > 0
    ]


def _with_blobs(lake: Lake, read: Framework) -> list[Row]:
    return [
        row
        | {
            "source_sha": lake.blobs.put(read.sources[row["row"]].encode())
            if row["row"] in read.sources
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
