"""The generations of one project in one cycle: draw parents on islands, propose children, judge them side by
side, and take them into the archive."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np

from evolake.agents import AgentFailure
from evolake.agents.attempts import SiblingNote, direction_of, waves
from evolake.agents.fences import clean
from evolake.canonical_json import canonical_json
from evolake.errors import HostBusy
from evolake.gates import GateResults, Ruleset, run_gates
from evolake.gates.run import in_turn, side_by_side
from evolake.lake import BlobStore
from evolake.programs.evolution.outcome import LINE, Context, candidate_rows
from evolake.programs.evolution.polished import asks_for_polish, polish_cost, polished
from evolake.programs.evolution.population import (
    Birth,
    Islands,
    Row,
    block_size,
    cell_of,
    merit,
    program_row,
    texts_bytes,
    texts_of,
)
from evolake.programs.evolution.search_memory import (
    REPEATED,
    SHORT_ID,
    GenerationEntry,
    Recorded,
    SearchMemory,
    Tried,
    contest_text,
    front_lines,
    parent_for_model,
    parents_for_operators,
    tried_programs,
    worth_showing,
)
from evolake.programs.evolution.writer_calls import Draft, limits_text, replies_to, revised
from evolake.programs.gate_specs import GATES
from evolake.programs.gates import Candidate, bare_text, behaviour
from evolake.programs.model.program_text import BadBlocks
from evolake.programs.model.project import program_id
from evolake.programs.roles import (
    COMBINE,
    DIRECTIONS,
    NOTHING,
    Measured,
    WriterReply,
    WriterRequest,
    applied,
    failed_idea,
)
from evolake.programs.sandbox.evaluating import shown_metrics
from evolake.seeds import child_seed, generator

MOST_BEST, LONGEST_NOTE = 2, 700
GIVEN_UP = 3
"""Authors who withdrew from a program with the best known score, after whom none is asked."""
UNKNOWN = "unknown: the host was too busy to evaluate it, so nothing was judged; it may be proposed again"
"""Reason of a proposal that came to nothing because of the host. It is no verdict: the program has no row,
and no later cycle takes it for known."""


def judge(
    candidate: Candidate, ruleset: Ruleset, blobs: BlobStore, *, cycle: str, run_id: str
) -> GateResults:
    """Return a program through its gates. What its texts make our code raise is its block."""
    return run_gates(
        candidate,
        GATES,
        ruleset,
        artifact_id=candidate.program_id,
        cycle=cycle,
        run_id=run_id,
        write=evidence_bytes,
        store=lambda evidence: blobs.put(evidence_bytes(evidence)),
    )


def evidence_bytes(evidence: Mapping[str, Any]) -> bytes:
    """Return evidence as it is stored."""
    return canonical_json(evidence, ascii_only=True).encode()


def judged_row(row: Row, candidate: Candidate, results: GateResults) -> Row:
    """Return a row of PROGRAMS after its gates: accepted with score and cell, or blocked with the reason."""
    if done := candidate.evaluations:
        row = row | {"cpu_s": sum(item.cpu_s for item in done) / len(done)}
    if (objection := results.blocked_by) is not None:
        return row | {"state": "blocked", "reason": f"{objection.gate}: {objection.reason}"}
    metrics = candidate.metrics
    return row | {
        "state": "accepted",
        "score": candidate.score,
        "metrics": json.dumps(metrics, sort_keys=True),
        "cell": cell_of(candidate.project, metrics, row["size"]),
    }


@dataclass(frozen=True)
class Asked:
    """A child that is asked for. place: in its generation."""

    place: int
    island: int
    parents: tuple[Row, Row]
    request: WriterRequest


@dataclass
class Item:
    """A candidate on its way: what was asked, its rows, its texts as gates see them, the calls it came of."""

    asked: Asked
    row: Row
    derivations: list[Row]
    candidate: Candidate
    call_ids: list[str]


def run_generation(
    context: Context,
    islands: Islands,
    generation: int,
    *,
    next_number: int,
    seen: set[str],
    artifacts: Mapping[str, Any],
    memory: SearchMemory = SearchMemory(),
) -> GenerationEntry:
    """Run one generation. `islands` and `seen` are changed.

    Operators propose a few children at a time, so that they know how those before them scored. A model is
    asked in waves, and is sent what the waves before it brought; sessions are held one after another, each is
    a wave.

    Args:
        next_number: of the project's next program. seen: ids of all its programs. artifacts: program -> what
            its evaluation handed on.
        memory: what is known of the project before this generation.
    """
    count = context.own.candidates_per_generation
    if not memory.rows:
        memory = replace(memory, rows=islands.ranked(islands.rows.values()))
    operators, entry, notes = context.agents.backend.name == "operators", GenerationEntry(), list[str]()
    for places in _batches(context, count, operators=operators):
        rows = [*memory.rows, *entry.programs]
        if not operators and given_up(islands, [*memory.failed_proposals, *entry.unmade]):
            break
        if operators:
            tried = tried_programs(rows, islands, context.blobs)
            asked = [
                _ask_operators(context, islands, generation, place, artifacts, tried) for place in places
            ]
        else:
            # children of this generation are in the notes, not a second time in the table of attempts
            asked = [
                _ask_model(context, islands, generation, place, artifacts, memory, notes) for place in places
            ]
        done = _run_batch(
            context, islands, generation, asked, next_number + len(entry.programs), seen, memory.recorded
        )
        if not operators:
            notes += sibling_notes(done, rows, islands)
        entry = entry.followed_by(done)
    programs = [_after(row, islands) for row in entry.programs]
    return replace(entry, programs=programs, islands=list(islands.rows.values()))


def _batches(context: Context, count: int, *, operators: bool) -> list[range]:
    """Return the places of the children that are asked for together."""
    if operators:
        return [
            range(first, min(first + context.own.batch, count))
            for first in range(0, count, context.own.batch)
        ]
    return waves(count, context.waves if context.session is None else count)


def _ask_operators(
    context: Context,
    islands: Islands,
    generation: int,
    place: int,
    artifacts: Mapping[str, Any],
    tried: Tried,
) -> Asked:
    """Return a child that operators are asked for. tried: what they learn from."""
    island = place % islands.count
    random = _parent_random(context, generation, place)
    cost = polish_cost(context, islands.ranked(islands.rows.values())[0])
    parents, only = parents_for_operators(tried, islands, island, random, cost)
    request = operators_request(context, islands, parents, artifacts)
    learnt: dict[str, Any] = {
        "trials": tried.trials,
        "tried": tried.name,
        "place": tried.place(parents[0]),
        "only": only,
        "polish_cost": cost,
    }
    return Asked(place, island, parents, request.model_copy(update=learnt))


def _ask_model(
    context: Context,
    islands: Islands,
    generation: int,
    place: int,
    artifacts: Mapping[str, Any],
    memory: SearchMemory,
    notes: Sequence[str],
) -> Asked:
    """Return a child that a model is asked for. notes: what its siblings of earlier waves proposed and
    got."""
    initial = next((row for row in memory.rows if row["operator"] == "initial"), None)
    parent, why = parent_for_model(islands, place, initial, _parent_random(context, generation, place))
    count = context.own.candidates_per_generation
    asked_before = ((int(context.cycle) - 1) * context.own.generations_per_cycle + generation - 1) * count
    base = operators_request(context, islands, (parent, parent), artifacts)
    ranked = islands.ranked(islands.rows.values())
    front = islands.front() if len(context.project.metrics) > 1 else set[str]()
    others = [
        row
        for row in ranked
        if row["program_id"] != parent["program_id"] and worth_showing(islands, row, ranked[0], initial)
    ]
    shown = [
        *others[:MOST_BEST],
        *(
            row
            for row in others[MOST_BEST:]
            if row["program_id"] == memory.champion and row["program_id"] not in front
        ),
    ]
    directions = [direction for direction in DIRECTIONS if shown or direction != COMBINE]
    direction = direction_of(directions, asked_before + place)
    if reached(islands, parent):
        direction = ""
        why += " It reaches the best known value: withdraw without a run unless you know what may exceed it."
    sibling = SiblingNote(number=place + 1, count=count, direction=direction, siblings=list(notes))
    request = base.model_copy(
        update={
            "parent": _measured(context, parent, memory),
            "parent_reason": why,
            "best": [_measured(context, row, memory) for row in shown],
            "limits": limits_text(context),
            "generation": f"This is generation {generation} of {context.own.generations_per_cycle} in cycle "
            f"{context.cycle}.",
            "contest": contest_text(memory, islands),
            "front": front_lines(islands),
            "attempts": memory.attempts(islands, sibling.direction),
            "sibling": sibling,
            "other": None,
        }
    )
    return Asked(place, place % islands.count, (parent, parent), request)


def reached(islands: Islands, row: Row) -> bool:
    """Return whether a program's score is the best known one of its project, to the digits that the project
    gives, or better; False where it gives none."""
    known = islands.project.given.construction.best
    if known is None or row["score"] is None:
        return False
    unit = 10.0 ** int(Decimal(repr(known)).as_tuple().exponent)
    return merit(islands.project, row) >= merit(islands.project, {"score": known}) - unit


def given_up(islands: Islands, failed: Sequence[Row]) -> bool:
    """Return whether no further author is asked: the best program reaches the best known score, and
    `GIVEN_UP` authors who were asked to change it have withdrawn. failed: proposals of all cycles that came
    to no program."""
    best = islands.ranked(islands.rows.values())[0]
    withdrew = [
        row
        for row in failed
        if row.get("parent_id") == best["program_id"] and row["reason"].startswith("withdrawn")
    ]
    return len(withdrew) >= GIVEN_UP and reached(islands, best)


def _parent_random(context: Context, generation: int, place: int) -> np.random.Generator:
    return generator(
        context.root_seed, LINE, context.cycle, f"parents/{context.project.name}/{generation}", place
    )


def sibling_notes(entry: GenerationEntry, rows: Sequence[Row], islands: Islands) -> list[str]:
    """Return what each proposal of a wave tried and got, a line each. rows: of the programs before it."""
    known = {row["program_id"]: row for row in rows}
    notes = [
        f"{row['idea']} -> no program: {row['reason']}" if row["idea"] else row["reason"]
        for row in entry.unmade
    ]
    for row in entry.programs:
        parent = known.get(row["parents"][0])
        gain = (
            ""
            if row["score"] is None or parent is None
            else f" ({merit(islands.project, row) - merit(islands.project, parent):+.3g})"
        )
        got = (
            f"blocked by {row['reason']}" if row["state"] == "blocked" else f"score {row['score']:.9g}{gain}"
        )
        notes.append(f"{row['idea'] or '(no idea given)'} -> {got}")
    return [clean(" ".join(note.split()))[:LONGEST_NOTE] for note in notes]


def _run_batch(
    context: Context,
    islands: Islands,
    generation: int,
    asked: Sequence[Asked],
    next_number: int,
    seen: set[str],
    recorded: Recorded,
) -> GenerationEntry:
    """Return what children that are asked for together become."""
    before, turned = context.agents.count(), len(context.agents.turns())
    drafts, trials = written(context, generation, asked, recorded)
    pairs = list(zip(asked, drafts, strict=True))
    items, failed_proposals = _made(context, islands, generation, pairs, next_number, seen)
    judged, busy = _judged(context, islands, items)
    seen -= {item.candidate.program_id for item in busy}
    failed_proposals += [_failed_row(context, item.asked, UNKNOWN, item.row["idea"] or "") for item in busy]
    for item, _ in judged:
        for call_id in item.call_ids:
            context.agents.assign(call_id, item.candidate.program_id)
    unanswered = [row["reason"] for row in failed_proposals if row["reason"] != REPEATED]
    return GenerationEntry(
        programs=[item.row for item, _ in judged],
        verdicts=[verdict.row() for _, result in judged for verdict in result.verdicts],
        measured=trials
        + [row for item, _ in judged for row in candidate_rows(context, item.candidate, "search", "")],
        derivations=[line for item, _ in judged for line in item.derivations],
        calls=context.agents.rows(before),
        repeated=len(failed_proposals) - len(unanswered),
        unanswered=unanswered,
        turns=context.agents.turns()[turned:],
        unmade=failed_proposals,
    )


def _made(
    context: Context,
    islands: Islands,
    generation: int,
    pairs: Sequence[tuple[Asked, Draft]],
    next_number: int,
    seen: set[str],
) -> tuple[list[Item], list[Row]]:
    """Return the drafts that are new programs, added to `seen`, and rows of the proposals that failed."""
    items: list[Item] = []
    failed_proposals: list[Row] = []
    rows = islands.rows.values()
    known = {bare_text(texts_of(context.blobs, row["files_sha"])): row["program_id"] for row in rows}
    living = {behaviour(json.loads(row["metrics"])): row["program_id"] for row in rows}
    for asked, draft in pairs:
        reply = draft.reply
        texts = child_texts(reply.value, draft.request.parent.files)
        if isinstance(texts, str):
            failed_proposals.append(_failed_row(context, asked, *failed_idea(texts)))
            continue
        name = program_id(context.project.name, texts)
        if name in seen:
            failed_proposals.append(_failed_row(context, asked, REPEATED, _idea(reply.value)))
            continue
        seen.add(name)
        number = next_number + len(items)
        row, lines = child_row(context, reply.value, texts, asked.parents, generation, number)
        done = draft.candidate.evaluations if draft.candidate and draft.candidate.program_id == name else ()
        candidate = Candidate(texts, name, context.evaluator, context.seeds(), known, living, done)
        items.append(
            Item(asked, row, lines, candidate, list(filter(None, (reply.call_id, draft.other_call))))
        )
    return items, failed_proposals


def _judged(
    context: Context, islands: Islands, items: Sequence[Item]
) -> tuple[list[tuple[Item, GateResults]], list[Item]]:
    """Judge candidates and take them into the archive, in order; return those with results, and those of
    which the host was too busy to know anything."""

    def judge_item(item: Item) -> GateResults | HostBusy:
        try:
            return judge(
                item.candidate, context.ruleset, context.blobs, cycle=context.cycle, run_id=context.run_id
            )
        except HostBusy as error:
            return error

    results = in_turn(
        items,
        lambda some: side_by_side(judge_item, some, context.workers),
        still=_still,
        record=partial(_record, islands),
    )
    ended = list(zip(items, results, strict=True))
    judged = [(item, result) for item, result in ended if not isinstance(result, HostBusy)]
    return judged, [item for item, result in ended if isinstance(result, HostBusy)]


def written(
    context: Context, generation: int, asked: Sequence[Asked], recorded: Recorded
) -> tuple[list[Draft], list[Row]]:
    """Return a draft for each request, by calls, many at the same time, or by one session after another; and
    rows of evaluations that authors asked for."""
    trials: list[Row] = []
    purpose = f"child/{context.project.name}/{generation}"
    seeds = [child_seed(context.root_seed, LINE, context.cycle, purpose, item.place) for item in asked]
    sides = [f"{generation}/{item.place}" for item in asked]
    if context.session is not None:
        replies = [
            context.session.write(
                context,
                item.request,
                seed=seed,
                attempt=item.place,
                side=side,
                keep=lambda rows: trials.extend(map(dict, rows)),
            )
            for item, seed, side in zip(asked, seeds, sides, strict=True)
        ]
    else:
        replies = replies_to(
            context.agents,
            [item.request for item in asked],
            seeds=seeds,
            numbers=[item.place for item in asked],
            most=1 if context.agents.backend.name == "operators" else context.own.candidates_per_call,
        )
        operators = context.agents.backend.name == "operators"
        if operators and any(asks_for_polish(reply.value) for reply in replies):
            places = [(generation - 1) * context.own.candidates_per_generation + item.place for item in asked]
            wanted = list(zip([item.request for item in asked], replies, seeds, places, strict=True))
            done = side_by_side(lambda given: polished(context, *given), wanted, context.workers)
            replies, trials = [reply for reply, _ in done], [row for _, rows in done for row in rows]
    drafts = [
        Draft(item.request, reply, seed, item.place, side)
        for item, reply, seed, side in zip(asked, replies, seeds, sides, strict=True)
    ]
    if context.session is None and context.own.revisions and context.agents.backend.name != "operators":
        revised(context, drafts, recorded)
        trials = [row for draft in drafts for row in draft.trials]
    return drafts, trials


def operators_request(
    context: Context, islands: Islands, parents: tuple[Row, Row], artifacts: Mapping[str, Any]
) -> WriterRequest:
    """Return what operators are asked for one child, and the part of a model's request that does not depend
    on its siblings."""
    project, (parent, other) = context.project, parents
    goal = "; ".join(
        f"{name}: {'higher' if way == 'max' else 'lower'} is better" for name, way in project.metrics.items()
    )
    return WriterRequest(
        project=project.name,
        instructions="\n".join(filter(None, (project.given.description, project.config.instructions))),
        goal=goal,
        parent=_measured(context, parent),
        artifacts=dict(artifacts.get(parent["program_id"], {})),
        guidance=list(context.guidance),
        other=texts_of(context.blobs, other["files_sha"])
        if other["program_id"] != parent["program_id"]
        else None,
    )


def _failed_row(context: Context, question: Asked, reason: str, idea: str) -> Row:
    operator = "operators" if context.agents.backend.name == "operators" else "model"
    return {
        "reason": reason,
        "idea": idea,
        "operator": operator,
        "parent_id": question.parents[0]["program_id"],
    }


def _idea(reply: WriterReply | AgentFailure) -> str:
    return reply.idea if isinstance(reply, WriterReply) else ""


def child_texts(reply: WriterReply | AgentFailure, parent: Mapping[str, str]) -> dict[str, str] | str:
    """Return the texts of a child, or why there is none."""
    if isinstance(reply, AgentFailure):
        return f"{reply.status}: {reply.reason}"
    if reply.operator == NOTHING:
        return "no operator found anything to change"
    return applied(reply, parent)


def child_row(
    context: Context,
    reply: WriterReply | AgentFailure,
    texts: Mapping[str, str],
    parents: tuple[Row, Row],
    generation: int,
    number: int,
) -> tuple[Row, list[Row]]:
    """Return (row of PROGRAMS, rows of DERIVATIONS) of a child."""
    operators = context.agents.backend.name == "operators"
    operator = reply.operator if operators and isinstance(reply, WriterReply) else "model"
    share = {parents[0]["program_id"]: 1.0}
    if operator == "crossover" and parents[1]["program_id"] != parents[0]["program_id"]:
        share = {parents[0]["program_id"]: 0.5, parents[1]["program_id"]: 0.5}
    birth = Birth(
        context.cycle, generation, number, operator, list(share), context.agents.backend.name, _idea(reply)
    )
    row = program_row(
        context.project, texts, birth, files_sha=context.blobs.put(texts_bytes(texts)), size=size_of(texts)
    )
    lines = [
        {
            "child_id": row["program_id"],
            "parent_id": parent,
            "operator": operator,
            "weight": weight,
            "cycle": context.cycle,
        }
        for parent, weight in share.items()
    ]
    return row, lines


def size_of(texts: Mapping[str, str]) -> int:
    """Return the number of characters of the blocks; of texts whose marks are broken, all characters."""
    try:
        return block_size(texts)
    except BadBlocks:
        return sum(map(len, texts.values()))


def _measured(context: Context, row: Row, memory: SearchMemory | None = None) -> Measured:
    return Measured(
        name=row["program_id"][:SHORT_ID],
        score=row["score"],
        metrics=shown_metrics(json.loads(row["metrics"])),
        idea=row.get("idea") or "",
        files=texts_of(context.blobs, row["files_sha"]),
        seconds=memory.seconds(row) if memory else None,
    )


def _still(item: Item, result: GateResults | HostBusy) -> GateResults | HostBusy | None:
    """Return the result if it is still valid. It is unless a candidate before it in the generation has its
    text or its behaviour: then the gates are asked again, about evaluations that are there."""
    candidate = item.candidate
    if isinstance(result, HostBusy) or not result.accepted:
        return result
    taken = candidate.known.get(bare_text(candidate.texts)) or candidate.living.get(
        behaviour(candidate.metrics)
    )
    return None if taken not in (None, candidate.program_id) else result


def _record(islands: Islands, item: Item, result: GateResults | HostBusy) -> None:
    if isinstance(result, HostBusy):
        return
    candidate = item.candidate
    item.row = judged_row(item.row, candidate, result)
    if result.accepted:
        candidate.known[bare_text(candidate.texts)] = candidate.program_id
        candidate.living[behaviour(candidate.metrics)] = candidate.program_id
        item.row = islands.admit(item.row, item.asked.island)


def _after(row: Row, islands: Islands) -> Row:
    """Return a candidate's row at the end of the generation: a later one may have driven it out."""
    if row["state"] != "accepted":
        return row
    return islands.rows.get(row["program_id"], row | {"state": "retired", "islands": []})
