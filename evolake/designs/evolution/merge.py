"""Merge workspaces: the best designs of another lake, with their complete genealogy, and the objectives that
vote there (paper, section S3.3).

`import_lake` copies the blobs and appends the rows, as one bundle, to the unpartitioned parts
`designs/merged` and `designs/merged_objectives`. Nothing of a sealed cycle is touched: the bundle carries the
first cycle that may see it, and the opening asset of that cycle takes it in (`admit_merges`). So the seals
stay a hash chain and an old cycle re-materializes as it was.

What comes in: the chosen designs, after this lake's own gates, as `accepted` with origin `merge`; their
ancestors, with all edges. An ancestor that was alive there passes the gates and enters as `accepted` too, but
at most `alive` of them, those that rank best there, since the line has no limit on its population; the
others, and those that were dead, are `retired`. Experiments do not come along, for they were run on the other
lake's instances: a merged design is measured here like any other.

Objectives (`admitted_objectives`) pass this lake's gate, on its own results: one that does not hold here
stays as a blocked row. An objective is its text: its id and its genome are made of that here, and one that is
here already is no second one. Its age counts from here, and no multiplier comes along: both say how it fared
among other objectives.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.agents.guidance import next_cycle
from evolake.designs.evolution.attempts import idea_of
from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.line_state import standings
from evolake.designs.evolution.objective_writing import with_genome
from evolake.designs.evolution.population import LIVE, Population, archive_asset, read_population, texts_of
from evolake.designs.evolution.proposals import Candidate, Judge, design_row, judged, store_candidate
from evolake.designs.genome.open_genome import read_genome
from evolake.designs.model.boundary import alone
from evolake.designs.tables import MERGED, MERGED_OBJECTIVES
from evolake.errors import InputError
from evolake.gates import Verdict
from evolake.lake import Lake
from evolake.objectives.source import objective_id

OBJECTIVES_ASSET = "merged_objectives"
COPIED_OF_OBJECTIVES = (
    "objective_id",
    "family",
    "parameters",
    "description",
    "source",
    "operator",
    "genome",
    "parents",
    "reason",
)


def voting_with_ancestors(population: Population) -> dict[str, dict[str, Any]]:
    """Return objective id -> row of OBJECTIVES, of all that vote and whatever they descend from, in the order
    they came."""
    rows = {row["objective_id"]: row for row in population.objectives.to_dicts()}
    waiting = [name for name, row in rows.items() if row["state"] == "accepted"]
    result: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in rows and name not in result:
            result.add(name)
            waiting += json.loads(rows[name]["parents"] or "{}")
    return {name: row for name, row in rows.items() if name in result}


def bundle_rows(rows: Mapping[str, Mapping[str, Any]], bundle: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return rows of MERGED_OBJECTIVES. bundle: bundle_id, since_cycle, imported_from and source_cycle."""
    return [
        {**bundle, "number": number, "voted": row["state"] == "accepted"}
        | {name: row[name] for name in COPIED_OF_OBJECTIVES}
        for number, row in enumerate(rows.values())
    ]


def keep_bundle(lake: Lake, rows: list[dict[str, Any]], run_id: str) -> None:
    """Publish a bundle's objectives next to those of earlier bundles. Doing it twice changes nothing."""
    if rows:
        others = [row for row in _objective_rows(lake) if row["bundle_id"] != rows[0]["bundle_id"]]
        lake.publish(
            LINE,
            OBJECTIVES_ASSET,
            MERGED_OBJECTIVES.frame([*others, *rows]),
            cycle=None,
            run_id=run_id,
            schema=MERGED_OBJECTIVES,
        )


def admitted_objectives(
    lake: Lake, population: Population, bundles: Collection[str], cycle: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return rows of OBJECTIVES that the bundles bring and that are not here: those to be judged, and
    ancestors that did not vote there.

    Args:
        population: of this lake, with whatever else is new. bundles: ids of those that `cycle` takes in.
    """
    here = set(population.objectives["objective_id"].to_list())
    judged: list[dict[str, Any]] = []
    blocked: list[dict[str, Any]] = []
    rows = sorted(
        (row for row in _objective_rows(lake) if row["bundle_id"] in bundles),
        key=lambda row: (row["bundle_id"], row["number"]),
    )
    own = {(row["bundle_id"], row["objective_id"]): _own_id(row) for row in rows}
    for row in rows:
        name = own[row["bundle_id"], row["objective_id"]]
        if name in here:
            continue
        here.add(name)
        made = with_genome(
            {name: row[name] for name in COPIED_OF_OBJECTIVES}
            | {
                "objective_id": name,
                "state": "accepted",
                "cycle": cycle,
                "created_round": int(cycle),
                "multiplier": 1.0,
                "origin": "merge",
                "imported_from": row["imported_from"],
                "parents": _own_parents(row, own),
                "reason": None,
            }
        )
        if row["voted"]:
            judged.append(made)
        else:
            blocked.append(made | {"state": "blocked", "reason": made["reason"] or row["reason"]})
    return judged, blocked


def _own_id(row: Mapping[str, Any]) -> str:
    """Return the id of a row's text; what it is called there where it has none."""
    return alone(lambda: objective_id(row["source"]), lambda reason: row["objective_id"])


def _own_parents(row: Mapping[str, Any], own: Mapping[tuple[str, str], str]) -> str | None:
    """Return the row's parents by the ids that they have here."""
    if not row["parents"]:
        return None
    shares: dict[str, float] = {}
    for parent, share in json.loads(row["parents"]).items():
        name = own.get((row["bundle_id"], parent), parent)
        shares[name] = shares.get(name, 0.0) + share
    return json.dumps(shares, sort_keys=True)


def _objective_rows(lake: Lake) -> list[dict[str, Any]]:
    return [] if lake.record(LINE, OBJECTIVES_ASSET) is None else lake.read(LINE, OBJECTIVES_ASSET).to_dicts()


ASSET = "merged"
ALIVE = 20
"""Ancestors that stay alive if nothing else is said."""
COPIED = (
    "title",
    "origin",
    "operator",
    "rationale",
    "source_sha",
    "traced_sha",
    "graph_sha",
    "key",
    "genome",
    "hyper",
    "hyper_values",
    "tuned",
    "key_insight",
    "success_level",
)


@dataclass(frozen=True)
class Imported:
    """What `import_lake` did. alive: of the ancestors; objectives: that vote there. `new` is False when the
    very same bundle was there already."""

    bundle_id: str
    since_cycle: str
    source_cycle: str
    chosen: list[str]
    ancestors: int
    alive: int
    objectives: int
    new: bool


@dataclass(frozen=True)
class Admitted:
    """What the opening asset takes over: the archive with the bundles in it, the rows it added, the verdicts
    of those that may live."""

    population: Population
    designs: list[dict[str, Any]]
    derivations: list[dict[str, Any]]
    verdicts: list[Verdict]
    bundles: list[str]


def import_lake(
    lake: Lake, other_root: Path, *, top: int = 5, alive: int = ALIVE, run_id: str = "merge"
) -> Imported:
    """Bring the `top` designs of another lake, all their ancestors and its objectives into this one. Doing
    it twice changes nothing.

    Args:
        alive: how many ancestors that are alive there stay alive, at most.

    Raises:
        InputError: `other_root` is no lake with a ranked designs line, is this very lake, `top` is not
            positive, or `alive` is negative.
    """
    if top < 1:
        raise InputError("nothing to merge", wanted="--top of at least 1", got=str(top))
    if alive < 0:
        raise InputError("ancestors cannot be kept alive", wanted="--alive of at least 0", got=str(alive))
    other, cycle = _opened(lake, Path(other_root))
    population = read_population(other, cycle)
    ranked = [row["design_id"] for row in standings(population)]
    order = ranked[:top]
    if not order:
        raise InputError(
            f"the lake {other.root} has no design to merge", wanted="at least one accepted design", got="none"
        )
    ids = genealogy(order, population.edges())
    living = set(population.designs_in(*LIVE)["design_id"].to_list())
    kept = [design_id for design_id in ranked[top:] if design_id in ids and design_id in living][:alive]
    objectives = voting_with_ancestors(population)
    voting = sum(row["state"] == "accepted" for row in objectives.values())
    bundle_id = hashlib.sha256(
        json.dumps([order, sorted(ids), kept, sorted(objectives)]).encode()
    ).hexdigest()
    known = _rows(lake)
    held = [row for row in known if row["bundle_id"] == bundle_id]
    if held:
        return Imported(
            bundle_id,
            held[0]["since_cycle"],
            held[0]["source_cycle"],
            order,
            len(ids) - len(order),
            len(kept),
            voting,
            new=False,
        )
    since = next_cycle(lake, LINE)
    bundle = {"bundle_id": bundle_id, "since_cycle": since, "source_cycle": cycle}
    parents = _parents(population)
    rows = []
    for design_id in sorted(ids):
        row = population.row(design_id)
        for sha in (row["source_sha"], row["traced_sha"]):
            if sha is not None:
                lake.blobs.put(other.blobs.get(sha))
        chosen = design_id in order
        rows.append(
            {
                **bundle,
                "source": other.root.name,
                "design_id": design_id,
                "chosen": chosen,
                "alive": chosen or design_id in kept,
                "place": order.index(design_id) + 1 if chosen else None,
                "parents": json.dumps(parents.get(design_id, [])),
                **{name: row[name] for name in COPIED},
            }
        )
    keep_bundle(
        lake, bundle_rows(objectives, bundle | {"imported_from": other.root.name}), run_id
    )  # first: a bundle is there once its designs are
    lake.publish(LINE, ASSET, MERGED.frame([*known, *rows]), cycle=None, run_id=run_id, schema=MERGED)
    return Imported(bundle_id, since, cycle, order, len(ids) - len(order), len(kept), voting, new=True)


def pending_merges(lake: Lake, population: Population, cycle: str) -> list[dict[str, Any]]:
    """Return rows of MERGED that `cycle` may see and its population has not taken in yet."""
    taken = set(population.value("merged_bundles", []))
    return [row for row in _rows(lake) if row["since_cycle"] <= cycle and row["bundle_id"] not in taken]


def entered_merges(lake: Lake, before: Population, opened: Population, cycle: str) -> set[str]:
    """Return ids of the bundles that the opening of `cycle` has taken in: those that were pending and all of
    whose designs are there since.

    One that came while the cycle opened stays pending. before: the population that entered the cycle. opened:
    that of after its opening.
    """
    here = set(opened.designs["design_id"].to_list())
    rows = pending_merges(lake, before, cycle)
    return {row["bundle_id"] for row in rows} - {
        row["bundle_id"] for row in rows if row["design_id"] not in here
    }


def admit_merges(lake: Lake, population: Population, judge: Judge, cycle: str) -> Admitted:
    """Return the population with every pending bundle taken in; unchanged, and the lists empty, when there is
    none."""
    rows = pending_merges(lake, population, cycle)
    texts = texts_of(lake)
    designs: list[dict[str, Any]] = []
    derivations: list[dict[str, Any]] = []
    verdicts: list[Verdict] = []
    known = dict(population.graphs())
    here = set(population.designs["design_id"].to_list())
    for row in sorted(
        rows,
        key=lambda item: (item["bundle_id"], item["place"] is None, item["place"] or 0, item["design_id"]),
    ):
        if row["design_id"] in here:
            continue
        here.add(row["design_id"])
        derivations += [{"child_id": row["design_id"], **edge} for edge in json.loads(row["parents"])]
        if not row["chosen"] and not row["alive"]:
            designs.append(_design(row, cycle, "retired"))
            continue
        result = judged(_candidate(row, texts(row["source_sha"])), known, judge)
        verdicts += result.examined.verdicts if result.examined else ()
        if result.design_id == row["design_id"] and result.accepted:
            designs.append(_design(row, cycle, "accepted"))
        else:
            designs.append(_design(row, cycle, "retired"))
            if result.design_id not in here:
                here.add(result.design_id)
                designs.append(
                    design_row(result, cycle, *store_candidate(lake.blobs, result))
                    | {"imported_from": row["source"]}
                )
                derivations.append(
                    {
                        "child_id": result.design_id,
                        "parent_id": row["design_id"],
                        "operator": "merge",
                        "weight": 1.0,
                        "cycle": cycle,
                    }
                )
        if result.traced is not None and result.accepted:
            known[result.traced.graph_sha] = result.design_id
    bundles = sorted({row["bundle_id"] for row in rows})
    if not bundles:
        return Admitted(population, [], [], [], [])
    grown = population.admit(designs, derivations)
    taken = sorted({*population.value("merged_bundles", []), *bundles})
    return Admitted(grown.with_values(merged_bundles=taken), designs, derivations, verdicts, bundles)


def genealogy(ids: Sequence[str], edges: Sequence[tuple[str, str, float]]) -> set[str]:
    """Return `ids` and all their ancestors. `edges`: (child, parent, weight)."""
    parents: dict[str, list[str]] = {}
    for child, parent, _ in edges:
        parents.setdefault(child, []).append(parent)
    result, waiting = set(ids), list(ids)
    while waiting:
        for parent in parents.get(waiting.pop(), []):
            if parent not in result:
                result.add(parent)
                waiting.append(parent)
    return result


def _opened(lake: Lake, other_root: Path) -> tuple[Lake, str]:
    """Return the other lake and the last cycle whose entering population is sealed there."""
    wanted = "the data folder of another evolake project, with a sealed cycle of the line designs"
    if not other_root.is_dir():
        raise InputError(
            f"there is no lake at {other_root}",
            wanted=wanted,
            got="no such folder" if not other_root.exists() else "no folder",
        )
    if other_root.resolve() == lake.root.resolve():
        raise InputError("a lake cannot be merged into itself", wanted="another lake", got=str(other_root))
    other = Lake(other_root)
    published = set(other.cycles(LINE, archive_asset("designs")))
    for cycle in reversed(other.seals.cycles(LINE)):
        seal = other.seals.read(LINE, cycle)
        if seal is not None and seal.state == "sealed" and cycle in published:
            return other, cycle
    raise InputError(
        f"{other_root} holds no designs to merge",
        wanted=wanted,
        got="no sealed population",
        do="run at least one cycle there first",
    )


def _rows(lake: Lake) -> list[dict[str, Any]]:
    return [] if lake.record(LINE, ASSET) is None else lake.read(LINE, ASSET).to_dicts()


def _parents(population: Population) -> dict[str, list[dict[str, Any]]]:
    result: dict[str, list[dict[str, Any]]] = {}
    for row in population.derivations.to_dicts():
        edge = {name: row[name] for name in ("parent_id", "operator", "weight", "cycle")}
        result.setdefault(row["child_id"], []).append(edge)
    return result


def _design(row: Mapping[str, Any], cycle: str, state: str) -> dict[str, Any]:
    """Return a row of DESIGNS for an imported design. What it was made by is kept; that it was merged is its
    origin."""
    copied = {name: row[name] for name in COPIED}
    return copied | {
        "design_id": row["design_id"],
        "state": state,
        "cycle": cycle,
        "origin": "merge",
        "direction_id": None,
        "reason": None,
        "imported_from": row["source"],
        "idea": idea_of(row["rationale"]) or None,
    }


def _candidate(row: Mapping[str, Any], source: str) -> Candidate:
    return Candidate(
        source=source,
        hyper=json.loads(row["hyper"] or "{}"),
        genome=read_genome(row["genome"]) if row["genome"] else None,
        title=row["title"],
        operator="merge",
        origin="merge",
        rationale=row["rationale"] or "",
        direction_id=None,
        weights=(),
    )
