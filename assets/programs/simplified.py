"""Simplify each project's champion after its contest: what is shown and written out in its place, if it is
shorter and no worse beyond the noise. The population does not change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.programs.line import archive, line, project_named
from assets.store import LineStore
from evolake.errors import HostBusy
from evolake.lake import preceding
from evolake.programs.settings import ProgramsSettings
from evolake.programs.tables import MEASURED, PROGRAMS, SIMPLIFIED
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.programs.evolution.population import Row
    from evolake.programs.model.project import Project

ROWS, SIDE = "simplified_programs", "simplified"


@line.asset(deps=[line.incoming], schema=SIMPLIFIED, kinds={"bubblewrap"})
def simplified(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    projects: pl.DataFrame,
    candidates: pl.DataFrame,
    champion: pl.DataFrame,
) -> pl.DataFrame:
    """Find the shortest version of each champion that is no worse: in the jail, through all gates, compared
    under the held-out seeds of the contest. One that was simplified in an earlier cycle stays so."""
    store = LineStore(line, context, lake)
    known = {row["program_id"]: row for row in (*archive(store).rows(), *candidates.to_dicts())}
    decisions = {row["project"]: row for row in champion.to_dicts()}
    rows: list[dict[str, Any]] = []
    programs: list[Row] = []
    measured: list[Row] = []
    for row in projects.sort("project").to_dicts():
        project = project_named(store, row["project"], row["blob_sha"], row["mode"])
        decision = decisions[project.name]
        holder = known[decision["holder_id"]]
        before, made = earlier(store, holder)
        if before is None or not before["complete"]:
            before, made, held = simplify(store, project, holder, decision, before, made)
            measured += held
        rows.append(before | {"cycle": store.cycle})
        programs += [made] if made is not None else []
        store.log(f"{project.name}: {before['reason']}")
    store.extra(MEASURED, measured, "simplified_heldout")
    store.extra(PROGRAMS, programs, ROWS)
    new = [row for row in programs if row["cycle"] == store.cycle]
    store.artifacts(new)
    store.derivations(
        {
            "child_id": row["program_id"],
            "parent_id": parent,
            "operator": row["operator"],
            "weight": 1.0,
            "cycle": store.cycle,
        }
        for row in new
        for parent in row["parents"]
    )
    store.tell({row["project"]: f"{row['simplified_size']} of {row['size']} characters" for row in rows})
    return SIMPLIFIED.frame(rows)


def earlier(store: LineStore, holder: Row) -> tuple[dict[str, Any] | None, Row | None]:
    """Return the row of SIMPLIFIED of the cycle before, and the program, if it is about the same champion."""
    last = preceding(store.cycle)
    if last is None or store.lake.record(line.name, store.asset, last) is None:
        return None, None
    rows = store.lake.read(line.name, store.asset, last).filter(pl.col("program_id") == holder["program_id"])
    if not rows.height:
        return None, None
    before = rows.to_dicts()[0] | {"cpu_s": 0.0}
    programs = store.lake.read(line.name, ROWS, last)
    made = programs.filter(pl.col("program_id") == before["simplified_id"]).to_dicts()
    return before, made[0] if made else None


def simplify(
    store: LineStore,
    project: Project,
    holder: Row,
    decision: Mapping[str, Any],
    before: Mapping[str, Any] | None,
    made: Row | None,
) -> tuple[dict[str, Any], Row | None, list[Row]]:
    """Return the row of SIMPLIFIED, the simplified program if there is one, and its held-out evaluations.
    before, made: of an earlier cycle that ended before it had tried everything."""
    from evolake.programs.evolution.budgeted_search import BudgetedEvaluator, SearchSetup, evaluated_under
    from evolake.programs.evolution.champion_simplifying import SIMPLIFY, compared, simplified
    from evolake.programs.evolution.outcome import measured_rows
    from evolake.programs.evolution.population import Birth, cell_of, program_row, texts_bytes, texts_of
    from evolake.programs.search.simplifying import block_characters

    settings, own = store.settings, store.settings.of(ProgramsSettings)
    texts = texts_of(store.blobs, (made or holder)["files_sha"])
    row: dict[str, Any] = {
        "project": project.name,
        "program_id": holder["program_id"],
        "simplified_id": made["program_id"] if made else None,
        "size": holder["size"],
        "simplified_size": made["size"] if made else holder["size"],
        "trials": before["trials"] if before else 0,
        "cpu_s": 0.0,
        "complete": False,
        "reason": before["reason"] if before else "not tried: EVOLAKE_PROGRAMS__SIMPLIFY_S is 0",
    }
    row |= {name: before[name] for name in ("pairs", "difference")} if before else {}
    if not own.simplify_s:
        return row, made, []
    if not holder["parents"]:
        return row | {"complete": True, "reason": "not tried: it is the initial program"}, None, []
    evaluator = BudgetedEvaluator(
        project, own, workers=settings.workers, mode=settings.jail, seconds=own.simplify_s
    )
    setup = SearchSetup(
        project, own, evaluator, holder, store.rules(), store.blobs, settings.seed, settings.workers
    )
    with evaluator:
        found, candidate = simplified(setup, holder, texts, decision["noise"])
        seconds = evaluator.seconds_spent
    row |= {"trials": row["trials"] + found.trials, "cpu_s": seconds, "complete": found.complete}
    if candidate is None:
        why = "nothing shorter is as good" if found.complete else "nothing shorter was found in its time"
        return row | ({} if made else {"reason": why}), made, []
    heldout = store.read("heldout").filter(pl.col("project") == project.name)
    side = "challenger" if decision["wins"] else "champion"
    champion = heldout.filter(pl.col("side") == side).to_dicts()
    try:
        done = evaluated_under(project, own, found.texts, [item["seed"] for item in champion], settings.jail)
    except HostBusy as error:
        return row | {"complete": False, "reason": f"unknown: {error.what}"}, made, []
    held = measured_rows(project, candidate.program_id, done, store.cycle, "heldout", SIDE)
    verdict = compared(
        project, held, champion, decision["noise"], store.seeds.generator(f"simplified/{project.name}")
    )
    row |= {"pairs": verdict.pairs, "difference": verdict.difference, "reason": verdict.reason}
    row |= {"simplified_size": block_characters(found.texts)}
    if not verdict.holds:
        return row | {"complete": True}, made, held
    idea = f"simplified from {holder['program_id'][:12]}"
    birth = Birth(store.cycle, 0, holder["number"], SIMPLIFY, [holder["program_id"]], holder["origin"], idea)
    sha = store.blobs.put(texts_bytes(found.texts))
    program = program_row(project, found.texts, birth, files_sha=sha, size=row["simplified_size"])
    program |= {
        "state": "retired",
        "score": candidate.score,
        "metrics": json.dumps(dict(candidate.metrics), sort_keys=True),
        "cell": cell_of(project, candidate.metrics, row["simplified_size"]),
    }
    return row | {"simplified_id": program["program_id"]}, program, held
