"""What dumb searches find next to the line's search: those of the setting `searches`, over the literals of
each project's program, in a share of the processor seconds that the cycle's generations took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.cycle import FIRST_CYCLE
from assets.programs.line import archive, line, project_named, work_notes
from assets.store import LineStore
from evolake.errors import HostBusy
from evolake.lake import preceding
from evolake.programs.settings import APART, ProgramsSettings
from evolake.programs.tables import BASELINE, MEASURED
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.programs.evolution.budgeted_search import SearchState
    from evolake.programs.evolution.population import Row
    from evolake.programs.model.project import Project

SIDE = "baseline"
NOTES = "baseline_notes"
"""Table of how far the searches of the cycle are: a run that is killed in one continues with it."""


@line.asset(deps=[line.incoming], schema=BASELINE, kinds={"bubblewrap"})
def baseline(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    projects: pl.DataFrame,
    generations: pl.DataFrame,
    champion: pl.DataFrame,
) -> pl.DataFrame:
    """Search each project dumbly, from where the cycle before ended. The best that is found is measured under
    the held-out seeds of the cycle's contest, so that it can be compared with the champion."""
    store = LineStore(line, context, lake)
    population, heldout = archive(store), store.read("heldout")
    if "cpu_s" not in generations.columns:  # of a cycle that an older version ran
        generations = generations.with_columns(cpu_s=0.0)
    rows: list[dict[str, Any]] = []
    measured: list[Row] = []
    for row in projects.sort("project").to_dicts():
        project = project_named(store, row["project"], row["blob_sha"], row["mode"])
        initial = population.initial(project.name)
        seconds = float(generations.filter(pl.col("project") == project.name)["cpu_s"].sum())
        searches = store.settings.of(ProgramsSettings).search_names
        found = [search_row(store, project, initial, search, seconds) for search in searches]
        best = max(found, key=lambda item: item["score"] * (1 if project.higher_is_better else -1))
        done = measured_rows_of(store, project, best, heldout.filter(pl.col("project") == project.name))
        scores = [item["score"] for item in done]
        if scores and None not in scores:
            best |= {"heldout_mean": sum(scores) / len(scores), "heldout_seeds": len(scores)}
        rows += found
        measured += [item for item in done if item["side"] == SIDE]
    store.extra(MEASURED, measured, "baseline_heldout")
    store.tell({f"{row['project']} {row['search']}": row["score"] for row in rows})
    return BASELINE.frame(rows)


def search_row(
    store: LineStore, project: Project, initial: Row, search: str, line_s: float
) -> dict[str, Any]:
    """Return a row of BASELINE without a held-out score, after the search has had its share of the cycle.
    line_s: processor seconds of the line's search in the cycle."""
    from evolake.programs.evolution.budgeted_search import SearchState
    from evolake.programs.evolution.population import texts_bytes, texts_of
    from evolake.programs.model.project import program_id

    before = row_before(store, project, search)
    start = SearchState(project.evolving, initial["score"])
    total = 0.0 if store.cycle in (FIRST_CYCLE, initial["cycle"]) else None
    if before is not None:
        total = before["line_total_cpu_s"]
        start = SearchState(texts_of(store.blobs, before["files_sha"]), before["score"])
    own = store.settings.of(ProgramsSettings)
    share, searches = own.baseline_share, len(own.search_names)
    state = searched(store, project, initial, search, start, share * line_s / searches)
    return {
        "cycle": store.cycle,
        "project": project.name,
        "search": search,
        "program_id": program_id(project.name, state.texts),
        "files_sha": store.blobs.put(texts_bytes(state.texts)),
        "score": state.score,
        "evaluations": state.evaluations,
        "cpu_s": state.seconds,
        "line_cpu_s": line_s,
        "share": share,
        "total_cpu_s": (before["total_cpu_s"] if before else 0.0) + state.seconds,
        "line_total_cpu_s": None if total is None else total + line_s,
    }


def row_before(store: LineStore, project: Project, search: str) -> dict[str, Any] | None:
    """Return the row of the cycle before; None if there is none."""
    last = preceding(store.cycle)
    if last is None or store.lake.record(line.name, store.asset, last) is None:
        return None
    rows = store.lake.read(line.name, store.asset, last)
    found = rows.filter((pl.col("project") == project.name) & (pl.col("search") == search)).to_dicts()
    return found[0] if found else None


def searched(
    store: LineStore, project: Project, initial: Row, search: str, start: SearchState, seconds: float
) -> SearchState:
    """Return where a search ends that has so many processor seconds in the cycle. What a killed run has noted
    of it counts."""
    from evolake import __version__
    from evolake.canonical_json import key_of
    from evolake.programs.evolution.budgeted_search import (
        BudgetedEvaluator,
        SearchSetup,
        SearchState,
        continued,
    )

    settings, own, rules = store.settings, store.settings.of(ProgramsSettings), store.rules()
    facts = {
        "project": project.sha,
        "search": search,
        "meeting": project.mode,
        "settings": own.model_dump(exclude=APART),
        "start": asdict(start),
        "seed": settings.seed,
        "rules": rules.hash,
        "jail": settings.jail,
        "version": __version__,
    }
    key, place = key_of(facts, ascii_only=True), own.search_names.index(search)
    notes = work_notes(store, NOTES, project.name)
    if (noted := notes.held.get((place, key))) is not None:
        start = SearchState(**noted)
    if (left := seconds - start.seconds) <= 0:
        return start
    evaluator = BudgetedEvaluator(project, own, workers=settings.workers, mode=settings.jail, seconds=left)
    setup = SearchSetup(project, own, evaluator, initial, rules, store.blobs, settings.seed, settings.workers)
    with evaluator:
        return continued(
            setup, search, start, store.cycle, lambda state: notes.note(place, key, asdict(state))
        )


def measured_rows_of(
    store: LineStore, project: Project, best: Mapping[str, Any], heldout: pl.DataFrame
) -> list[Row]:
    """Return rows of MEASURED of a program under the held-out seeds of the project's contest: those of the
    contest if it was in it, else new ones; none on a host that is too busy. heldout: of the project."""
    from evolake.programs.evolution.budgeted_search import evaluated_under
    from evolake.programs.evolution.outcome import measured_rows
    from evolake.programs.evolution.population import texts_of

    seeds = heldout.filter(pl.col("side") == "champion")["seed"].to_list()
    there = heldout.filter((pl.col("program_id") == best["program_id"]) & (pl.col("side") != "again"))
    if there["seed"].to_list() == seeds:
        return there.to_dicts()
    own, texts = store.settings.of(ProgramsSettings), texts_of(store.blobs, best["files_sha"])
    try:
        done = evaluated_under(project, own, texts, seeds, store.settings.jail)
    except HostBusy as error:
        store.warn(f"{project.name}: the baseline has no held-out score: {error.what}")
        return []
    return measured_rows(project, best["program_id"], done, store.cycle, "heldout", SIDE)
