"""Files of the paper's framework into a lake (`evolake designs import`), and from there into a cycle.

As with a merge, nothing of a sealed cycle is touched: the bundle carries the first cycle that may see it, and
the opening asset of that cycle takes it in. Its designs meet the gates of this line like any added seed and
are measured here. Its objectives meet theirs in the asset `objectives`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evolake.agents.guidance import next_cycle
from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.framework_files import Framework, find_files, read_framework
from evolake.designs.evolution.objective_writing import WRITTEN, with_genome
from evolake.designs.evolution.population import Population, texts_of
from evolake.designs.evolution.proposals import Candidate, Judge, design_row, judged, store_candidate
from evolake.designs.genome.open_genome import OpenGenome
from evolake.designs.model.boundary import alone
from evolake.designs.tables import IMPORTS, OBJECTIVES_READ
from evolake.gates import Verdict
from evolake.lake import Lake, TableSchema

ORIGIN = "import"
LOCK, LOCK_WAIT_S = "imports", 10.0
NO_DESIGN = -1
"""Number in the note of a bundle that has no design."""

Row = dict[str, Any]
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
