"""Merging workspaces: the objectives that vote in another lake, with their ancestors.

They come with a bundle of designs (`merge`), in the unpartitioned part `designs/merged_objectives`. The cycle
that takes the bundle in takes them through its own gate, on its own results: one that does not hold here
stays as a blocked row. An objective is its text: its id and its genome are made of that here, whatever the
other lake says, and one that is here already is no second one. Its age counts from here, and no multiplier
comes along: both say how it fared among other objectives.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from evolake.designs.evolution.experiments import LINE
from evolake.designs.evolution.objective_writing import with_genome
from evolake.designs.evolution.population import Population
from evolake.designs.model.boundary import alone
from evolake.designs.tables import MERGED_OBJECTIVES
from evolake.lake import Lake
from evolake.objectives.source import objective_id

ASSET = "merged_objectives"
COPIED = (
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
        | {name: row[name] for name in COPIED}
        for number, row in enumerate(rows.values())
    ]


def keep_bundle(lake: Lake, rows: list[dict[str, Any]], run_id: str) -> None:
    """Publish a bundle's objectives next to those of earlier bundles. Doing it twice changes nothing."""
    if rows:
        others = [row for row in _rows(lake) if row["bundle_id"] != rows[0]["bundle_id"]]
        lake.publish(
            LINE,
            ASSET,
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
        (row for row in _rows(lake) if row["bundle_id"] in bundles),
        key=lambda row: (row["bundle_id"], row["number"]),
    )
    own = {(row["bundle_id"], row["objective_id"]): _own_id(row) for row in rows}
    for row in rows:
        name = own[row["bundle_id"], row["objective_id"]]
        if name in here:
            continue
        here.add(name)
        made = with_genome(
            {name: row[name] for name in COPIED}
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


def _rows(lake: Lake) -> list[dict[str, Any]]:
    return [] if lake.record(LINE, ASSET) is None else lake.read(LINE, ASSET).to_dicts()
