"""A cycle of programs up to its gates of record: open it, run its generations, publish the candidates, and
judge each by the rules in force, on the evidence that its evaluation left."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.added_seeds import Admit, Arrival, Seedling, admit_seeds
from assets.programs.line import archive, line, project_named, rules, work_notes
from assets.progress import report
from assets.proposals import roles_of
from assets.store import LineStore
from evolake.errors import InputError
from evolake.lake import RULES, VERDICTS, preceding
from evolake.lake.schemas import ADDED_SEEDS
from evolake.programs.settings import APART, ProgramsSettings
from evolake.programs.tables import (
    ENTRY_AUDITS,
    FAILED_PROPOSALS,
    GATED,
    JOURNAL,
    MEASURED,
    PINNED,
    PROGRAMS,
    PROJECTS,
)
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.agents import Agents
    from evolake.gates import GateResult
    from evolake.programs.evolution.outcome import Context, WorkNotes
    from evolake.programs.evolution.population import Islands, Population
    from evolake.programs.evolution.search_memory import GenerationEntry, SearchMemory
    from evolake.programs.evolution.writer_session import SessionWriter
    from evolake.programs.model.project import Project
    from evolake.programs.sandbox.evaluating import Evaluator


@line.asset(deps=[line.incoming], schema=PROJECTS)
def projects(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
    """Read the projects of the cycle, as they were when they entered. Opens the cycle, and takes in new
    ones."""
    from evolake.lake.added_seeds import seeds_of
    from evolake.programs.evolution.added_seeds import SEEDS
    from evolake.programs.evolution.population import Population

    store = LineStore(line, context, lake)
    opened, sealed = store.open_cycle(), Population.of(store.population())
    pinned: dict[str, dict[str, Any]] = dict(sealed.value(PINNED, {}))
    items = seeds_of(SEEDS, store.settings)
    lying = {item.name: item.sha for item in items}
    admit_seeds(store, sealed, lambda: items, "programs", admitting(store, pinned))
    for note in store.rows(ADDED_SEEDS.name):
        if note["state"] == "accepted":
            pinned[note["name"]] = {
                "cycle": store.cycle,
                "sha": note["seed_sha"],
                "blob": note["blob_sha"],
                "initial": note["artifact_id"],
            }
    population = archive(store)
    rows: list[dict[str, Any]] = []
    audits = EntryAudits(store)
    for name, pin in sorted(pinned.items()):
        project = project_named(store, name, pin["blob"])
        changed = name in lying and lying[name] != pin["sha"]
        note = (
            f"its folder has changed since cycle {pin['cycle']}: rename the folder to start again with it"
            if changed
            else ""
        )
        if note:
            store.warn(f"project {name}: {note}")
        guard = "" if project.protected else f"score not protected: {project.open_because}"
        forged = audits.of(project)
        rows.append(
            {
                "project": name,
                "cycle": store.cycle,
                "project_sha": pin["sha"],
                "blob_sha": pin["blob"],
                "initial_id": pin["initial"],
                "mode": project.mode,
                "score_name": project.score_name,
                "higher_is_better": project.higher_is_better,
                "living": len(population.rows(name, "accepted", "champion")),
                "note": "; ".join(filter(None, (note, guard, forged))),
            }
        )
    store.extra(ENTRY_AUDITS, audits.rows)
    store.tell(
        opened.metadata()
        | {"projects": len(rows), "not_protected": sum(row["mode"] == "imports" for row in rows)}
        | {"forged": sum(bool(row["findings"]) for row in audits.rows)}
    )
    return PROJECTS.frame(rows)


class EntryAudits:
    """What attacks found of each project when it entered: read from the cycle before, from an earlier run of
    this cycle, or made now. Each that is made is published as soon as it is done."""

    def __init__(self, store: LineStore):
        self.store, self.own = store, store.settings.of(ProgramsSettings)
        self.rows: list[dict[str, Any]] = []
        cycles = [cycle for cycle in (preceding(store.cycle), store.cycle) if cycle is not None]
        held = [
            row
            for cycle in cycles
            if store.lake.record(line.name, ENTRY_AUDITS.name, cycle) is not None
            for row in store.lake.read(line.name, ENTRY_AUDITS.name, cycle).to_dicts()
        ]
        self.known = {
            row["key"]: row
            | {"cycle": store.cycle, "cpu_s": row["cpu_s"] if row["cycle"] == store.cycle else 0.0}
            for row in held
        }

    def of(self, project: Project) -> str:
        """Return in words how the score of a project can be forged; "" if no attack did it, or none was to be
        tried."""
        from evolake.programs.audit.entering import entry_audit, entry_key, in_words

        if not self.own.audit_s:
            return ""
        row = self.known.get(entry_key(project, self.own, self.store.settings))
        if row is None:
            self.store.log(f"{project.name}: attacks on its evaluator, for {self.own.audit_s:g} s at most")
            row = entry_audit(project, self.own, self.store.settings) | {"cycle": self.store.cycle}
            self.store.extra(ENTRY_AUDITS, [*self.rows, row])
        self.rows.append(row)
        return in_words(row)


def admitting(store: LineStore, pinned: Mapping[str, Any]) -> Admit:
    """Return what becomes of a project that immigrates: its initial program goes through all gates."""
    from evolake.programs.evolution.added_seeds import admit

    def arriving(seed: Seedling) -> Arrival:
        assert seed.blob_sha is not None, "what could not be kept is not judged"
        if seed.name in pinned:
            held = pinned[seed.name]["cycle"]
            what = f"a project {seed.name} with other files is in the line since cycle {held}"
            raise InputError(what, do="rename the folder to start again with it")
        project = project_named(store, seed.name, seed.blob_sha)
        row, results = admit(
            project,
            store.settings.of(ProgramsSettings),
            store.rules(),
            store.blobs,
            cycle=store.cycle,
            run_id=store.run_id,
            root_seed=store.settings.seed,
            mode=store.settings.jail,
        )
        return Arrival(row, results.verdicts)

    return arriving


@line.asset(deps=[line.incoming], schema=JOURNAL, kinds={"bubblewrap"})
def generations(
    context: dg.AssetExecutionContext, lake: LakeResource, projects: pl.DataFrame
) -> pl.DataFrame:
    """Run the generations of every project, each recorded as soon as it is done: a killed run continues after
    the last one noted."""
    from evolake.agents import open_agents
    from evolake.agents.calls import count_outcomes
    from evolake.programs.evolution.search_memory import failed_rows, read_entry
    from evolake.programs.evolution.writer_session import check_writer

    store = LineStore(line, context, lake)
    check_writer(store.settings.of(ProgramsSettings), store.settings.backend)
    noted = (
        {(row["project"], row["generation"]): row for row in store.rows("notes")}
        if store.has("notes")
        else {}
    )
    rows: list[dict[str, Any]] = []
    population = archive(store)
    with open_agents(store.settings, store.lake.root, store.cycle, store.run_id, line=line.name) as agents:
        for project in projects.sort("project").to_dicts():
            for row in of_project(store, agents, population, project, noted):
                rows.append(row)
                store.extra(JOURNAL, rows, "notes")
    entries = [read_entry(store.blobs.get(row["entry_sha"])) for row in rows]
    calls = [call for entry in entries for call in entry.calls]
    turns = [turn for entry in entries for turn in entry.turns]
    if count_outcomes(calls, roles_of(line, store.asset), turns).failed:
        store.extra(JOURNAL, (), "notes")  # so that the next run asks anew
    store.called(calls, turns=turns)
    store.extra(MEASURED, (row for entry in entries for row in entry.measured), "measured")
    store.extra(FAILED_PROPOSALS, failed_rows(rows, entries))
    made = [row for entry in entries for row in entry.programs]
    reasons = [why for entry in entries for why in entry.unanswered]
    store.tell(
        {
            "generations": len(rows),
            "candidates": len(made),
            "passed": sum(row["state"] != "blocked" for row in made),
            "repeated": sum(entry.repeated for entry in entries),
            "unanswered": len(reasons),
            "unanswered_why": "; ".join(dict.fromkeys(reasons)) or "none",
            "backend": store.settings.backend,
        }
    )
    return JOURNAL.frame(rows)


SHOWN_S = 1.0
"""Seconds after which it is reported again how far the generations are: a report is an event of the run."""


def of_project(
    store: LineStore,
    agents: Agents,
    population: Population,
    project: Mapping[str, Any],
    noted: Mapping[tuple[str, int], Mapping[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Yield the rows of JOURNAL of one project, one by one as they are done."""
    from evolake.programs.evolution.budgeted_search import processor_seconds
    from evolake.programs.evolution.search_memory import entry_bytes, read_entry
    from evolake.programs.sandbox.evaluating import Evaluator

    name, settings, own = project["project"], store.settings, store.settings.of(ProgramsSettings)
    built = project_named(store, name, project["blob_sha"], project["mode"])
    key = facts_key(store, population, project)
    memory = memory_of(store, agents, population, name)
    wanted = generations_left(store, built, memory)
    islands = islands_at_start(built, own, memory)
    entries: list[GenerationEntry] = []
    shown = -SHOWN_S
    with (
        Evaluator(built, own, workers=settings.workers, mode=settings.jail) as evaluator,
        sessions(store, agents) as session,
    ):
        context = context_of(store, agents, evaluator, session)
        for generation in range(1, wanted + 1):
            note = noted.get((name, generation))
            if note is not None and note["key"] == key:
                entry, sha = read_entry(store.blobs.get(note["entry_sha"])), note["entry_sha"]
                seconds = note.get("cpu_s")
                islands.rows = {row["program_id"]: row for row in entry.islands}
            else:
                begun = processor_seconds()
                entry = next_generation(context, islands, generation, memory, entries)
                seconds = max(0.0, processor_seconds() - begun)
                sha = store.blobs.put(entry_bytes(entry))
            entries.append(entry)
            best = islands.ranked(islands.rows.values())[0]
            if generation == wanted or time.monotonic() > shown + SHOWN_S:
                found = f"best {built.score_name} {best['score']:.6g}"
                so_far = f"{name}, {len(entry.programs)} candidates, {found}"
                store.progress("generation done:", generation, wanted, so_far)
                shown = time.monotonic()
            yield {
                "cycle": store.cycle,
                "project": name,
                "generation": generation,
                "key": key,
                "entry_sha": sha,
                "cpu_s": seconds,
            }


def generations_left(store: LineStore, project: Project, memory: SearchMemory) -> int:
    """Return how many generations the cycle runs: those of the settings, or fewer if config.yaml, which
    counts candidates, allows no more."""
    own, iterations = store.settings.of(ProgramsSettings), project.config.iterations
    if iterations is None:
        return own.generations_per_cycle
    left = max(iterations - sum(row["generation"] > 0 for row in memory.rows), 0)
    store.log(f"{project.name}: config.yaml allows {iterations} iterations, {left} are left")
    return min(own.generations_per_cycle, -(-left // own.candidates_per_generation))


def islands_at_start(project: Project, own: ProgramsSettings, memory: SearchMemory) -> Islands:
    """Return the living programs of a project when the cycle begins."""
    from evolake.programs.evolution.population import Islands

    living = [row for row in memory.rows if row["state"] in ("accepted", "champion")]
    champion = {memory.champion: {"state": "champion"}}
    return Islands(
        project, own, {row["program_id"]: row | champion.get(row["program_id"], {}) for row in living}
    )


POLISHES = "polish_notes"
LONGEST_NOTE = 240


def polishes_of(store: LineStore, project: Project) -> WorkNotes:
    """Return what polishes of a project have found in this cycle, and what keeps more."""
    from evolake.jail.protocol import one_line

    notes = work_notes(store, POLISHES, project.name)

    def note(place: int, key: str, state: Mapping[str, Any]) -> None:
        notes.note(place, key, state)
        sign = 1 if project.higher_is_better else -1
        best = "nothing yet" if state["score"] is None else f"{sign * state['score']:.9g}"
        by = one_line(state["by"], LONGEST_NOTE)
        text = f"{project.name}: {state['seconds']:.0f} s of a polish by {by}, best {best}"
        store.log(text)
        report(text)

    return replace(notes, note=note)


def context_of(
    store: LineStore, agents: Agents, evaluator: Evaluator, session: SessionWriter | None
) -> Context:
    """Return what the generations of one project share."""
    from evolake.programs.evolution.outcome import Context

    settings = store.settings
    return Context(
        evaluator,
        evaluator.own,
        agents,
        store.blobs,
        store.rules(),
        store.cycle,
        store.run_id,
        root_seed=settings.seed,
        workers=settings.workers,
        guidance=store.guidance(),
        session=session,
        waves=settings.agents.waves,
        turns=settings.agents.session.turns,
        polishes=polishes_of(store, evaluator.project),
    )


def next_generation(
    context: Context,
    islands: Islands,
    generation: int,
    memory: SearchMemory,
    entries: Sequence[GenerationEntry],
) -> GenerationEntry:
    """Run a generation. memory: of the project before the cycle. entries: of the cycle's earlier
    generations."""
    from evolake.programs.evolution.generations import run_generation
    from evolake.programs.evolution.outcome import SCRATCH

    rows = [*memory.rows, *(row for entry in entries for row in entry.programs)]
    failed = [row | {"cycle": context.cycle} for entry in entries for row in entry.unmade]
    measured = [
        (row["program_id"], json.loads(row["artifacts"]))
        for entry in entries
        for row in entry.measured
        if row["artifacts"] != "{}" and row["purpose"] != SCRATCH
    ]
    return run_generation(
        context,
        islands,
        generation,
        next_number=1 + max((row["number"] for row in rows), default=-1),
        seen={row["program_id"] for row in rows},
        artifacts=dict(measured),
        memory=replace(memory, rows=rows, failed_proposals=[*memory.failed_proposals, *failed]),
    )


def memory_of(store: LineStore, agents: Agents, population: Population, name: str) -> SearchMemory:
    """Return what is known of a project when the cycle begins."""
    from evolake.programs.evolution.search_memory import CONTESTS, FAILED_BEFORE, SearchMemory, recorded_by

    return SearchMemory(
        population.rows(name),
        population.value(FAILED_BEFORE, {}).get(name, []),
        population.value(CONTESTS, {}).get(name),
        population.champion(name)["program_id"],
        recorded_by(agents, name),
    )


@contextmanager
def sessions(store: LineStore, agents: Agents) -> Generator[SessionWriter | None]:
    """Who writes in sessions, with the jail of its tools; None if children are written otherwise."""
    from evolake.jail import open_pool
    from evolake.programs.evolution.writer_session import SessionWriter, writes_in_sessions

    if not writes_in_sessions(store.settings.of(ProgramsSettings), store.settings.backend):
        yield None
        return

    with open_pool(workers=1, preload=(), mode=store.settings.jail) as pool:
        yield SessionWriter(agents, pool.call)


def facts_key(store: LineStore, population: Population, project: Mapping[str, Any]) -> str:
    """Return what the generations of a project depend on."""
    from evolake import __version__
    from evolake.canonical_json import key_of

    settings = store.settings
    living = [
        [row["program_id"], row["state"], row["islands"], row["score"]]
        for row in population.rows(project["project"])
    ]
    return key_of(
        {
            "settings": settings.of(ProgramsSettings).model_dump(exclude=APART),
            "seed": settings.seed,
            "backend": settings.backend,
            "cycle": store.cycle,
            "project": project["project_sha"],
            "meeting": project["mode"],
            "rules": store.rules().hash,
            "guidance": store.guidance(),
            "living": living,
            "version": __version__,
            "jail": settings.jail,
        },
        ascii_only=True,
    )


@line.asset(schema=PROGRAMS)
def candidates(
    context: dg.AssetExecutionContext, lake: LakeResource, generations: pl.DataFrame
) -> pl.DataFrame:
    """Every program that was made in the cycle, as its generation left it."""
    store = LineStore(line, context, lake)
    entries = entries_of(store, generations)
    rows = [row for entry in entries for row in entry.programs]
    store.artifacts(rows, "candidate")
    store.derivations(row for entry in entries for row in entry.derivations)
    if not rows:
        store.warn("this cycle has no candidate; the earlier programs stay")
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["operator"]] = counts.get(row["operator"], 0) + 1
    store.tell(
        {"candidates": len(rows)} | {f"by_{operator}": count for operator, count in sorted(counts.items())}
    )
    return PROGRAMS.frame(rows)


def entries_of(store: LineStore, generations: pl.DataFrame) -> list[GenerationEntry]:
    """Return what each generation made, in order."""
    from evolake.programs.evolution.search_memory import read_entry

    return [
        read_entry(store.blobs.get(row["entry_sha"]))
        for row in generations.sort("project", "generation").to_dicts()
    ]


@line.asset(deps=[rules], schema=GATED)
def accepted(
    context: dg.AssetExecutionContext, lake: LakeResource, generations: pl.DataFrame, candidates: pl.DataFrame
) -> pl.DataFrame:
    """Which programs passed every gate. Nothing is run again: rules judge the evidence that is stored."""
    import evolake.programs.gates  # noqa: F401  # pyright: ignore[reportUnusedImport]  (it registers the checkers)
    from evolake.gates import replay_gate
    from evolake.programs.gate_specs import GATES

    store = LineStore(line, context, lake)
    ruleset = store.rules()
    seen: dict[str, dict[str, str]] = {}
    for entry in entries_of(store, generations):
        for verdict in entry.verdicts:
            seen.setdefault(verdict["artifact_id"], {})[verdict["gate"]] = verdict["evidence_sha"]
    rows: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    for candidate in candidates.to_dicts():
        shas = seen.get(candidate["program_id"], {})
        results: list[GateResult] = []
        for gate in GATES:
            if gate.name not in shas:
                break
            evidence = json.loads(store.blobs.get(shas[gate.name]))
            results.append(
                replay_gate(
                    gate,
                    evidence,
                    ruleset,
                    artifact_id=candidate["program_id"],
                    cycle=store.cycle,
                    run_id=store.run_id,
                    evidence_sha=shas[gate.name],
                )
            )
            if not results[-1].passed:
                break
        objection = next((verdict for result in results if (verdict := result.blocked_by)), None)
        rows.append(
            {
                "program_id": candidate["program_id"],
                "cycle": store.cycle,
                "project": candidate["project"],
                "passed": objection is None and len(results) == len(GATES),
                "gate": objection.gate if objection else None,
                "rule_id": objection.rule_id if objection else None,
                "reason": objection.reason if objection else None,
                "evidence_sha": objection.evidence_sha if objection else None,
            }
        )
        verdicts += [verdict.row() for result in results for verdict in result.verdicts]
    store.side(VERDICTS, verdicts)
    store.side(RULES, ruleset.rows())
    passed = sum(row["passed"] for row in rows)
    context.add_output_metadata(
        {
            "passed": passed,
            "blocked": len(rows) - passed,
            "evidence": f"{len(verdicts)} verdicts on stored evidence",
        }
    )
    return GATED.frame(rows)
