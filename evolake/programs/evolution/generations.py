"""The generations of one project in one cycle: parents drawn on islands, children proposed, judged side by side, and taken into the archive."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import evolake.programs.gates.checkers  # noqa: F401  (registers what the rules name)
from evolake.agents import AgentFailure, Reply
from evolake.canonical_json import canonical_json
from evolake.errors import HostBusy
from evolake.gates import GateResults, Ruleset, run_gates
from evolake.gates.in_turn import in_turn, side_by_side
from evolake.lake import BlobStore
from evolake.programs.evolution.archive import Islands, block_size, cell_of
from evolake.programs.evolution.context import LINE, Context
from evolake.programs.evolution.generation_entry import GenerationEntry
from evolake.programs.evolution.population import Birth, Row, program_row, texts_bytes, texts_of
from evolake.programs.evolution.tried_programs import Tried, parents_for_operators, tried_programs
from evolake.programs.gates.collecting import Candidate, bare_text, behaviour
from evolake.programs.gates.specs import GATES
from evolake.programs.model.blocks import BadBlocks
from evolake.programs.model.project import Project, program_id
from evolake.programs.roles.writer import NOTHING, WRITER, Measured, WriterReply, WriterRequest, applied
from evolake.programs.sandbox.evaluating import Evaluation, host, score_of, shown_metrics
from evolake.seeds import child_seed, generator

MOST_RELATIVES, MOST_BEST, MOST_FAILURES = 24, 3, 5
UNKNOWN = "unknown: the host was too busy to evaluate it, so nothing was judged; it may be proposed again"
"""Reason of a proposal that came to nothing because of the host. It is no verdict: the program has no row, and no later cycle takes it for known."""


@dataclass
class Item:
    """A candidate on its way: its row, its texts as gates see them, the island that it is for, the call that it came of."""

    row: Row
    candidate: Candidate
    island: int
    call_id: str


def judge(candidate: Candidate, ruleset: Ruleset, blobs: BlobStore, *, cycle: str, run_id: str) -> GateResults:
    """A program through its gates. What its texts make our code raise is its block."""
    return run_gates(
        candidate, GATES, ruleset, artifact_id=candidate.program_id, cycle=cycle, run_id=run_id, write=evidence_bytes,
        store=lambda evidence: blobs.put(evidence_bytes(evidence)),
    )


def evidence_bytes(evidence: Mapping[str, Any]) -> bytes:
    """Evidence as it is stored."""
    return canonical_json(evidence, ascii_only=True).encode()


def judged_row(row: Row, candidate: Candidate, results: GateResults) -> Row:
    """A row of PROGRAMS after its gates: accepted with score and cell, or blocked with the reason."""
    if (objection := results.blocked_by) is not None:
        return row | {"state": "blocked", "reason": f"{objection.gate}: {objection.reason}"}
    metrics = candidate.metrics
    return row | {
        "state": "accepted", "score": candidate.score, "metrics": json.dumps(metrics, sort_keys=True),
        "cell": cell_of(candidate.project, metrics, row["size"]),
    }


def measured_rows(
    project: Project, program: str, evaluations: Sequence[Evaluation], cycle: str, purpose: str = "search", side: str = "",
) -> list[Row]:
    """Rows of MEASURED."""
    return [
        {
            "cycle": cycle, "project": project.name, "program_id": program, "purpose": purpose, "side": side, "seed": evaluation.seed,
            "status": evaluation.status, "score": score_of(project, evaluation) if evaluation.ok else None,
            "metrics": json.dumps(dict(evaluation.metrics), sort_keys=True),
            "artifacts": json.dumps(dict(evaluation.artifacts) | ({"reason": evaluation.reason} if evaluation.reason else {}), sort_keys=True),
            "stage": evaluation.stage, "cpu_s": evaluation.cpu_s, "wall_s": evaluation.wall_s, "peak_mb": evaluation.peak_mb,
            "protected": project.protected, "host": host(),
        }
        for evaluation in evaluations
    ]


@dataclass(frozen=True)
class Asked:
    """A child that is asked for. place: in its generation."""

    place: int
    island: int
    parents: tuple[Row, Row]
    request: WriterRequest


def run_generation(
    context: Context, islands: Islands, generation: int, *, next_number: int, seen: set[str], failures: Sequence[str], artifacts: Mapping[str, Any],
    history: Sequence[Row] = (),
) -> GenerationEntry:
    """One generation. `islands` and `seen` are changed.

    Operators propose a few children at a time, so that they know how those before them scored. A model is asked for all children at once.

    Args:
        next_number: of the project's next program. seen: ids of all its programs. failures: why recent candidates were blocked.
        artifacts: program -> what its evaluation handed on. history: rows of all its programs before this generation, in order.
    """
    count = context.own.candidates_per_generation
    operators = context.agents.backend.name == "operators"
    size = context.own.batch if operators else count
    history, entry = list(history) or islands.ranked(islands.rows.values()), GenerationEntry()
    for first in range(0, count, size):
        tried = tried_programs([*history, *entry.programs], islands, context.blobs) if operators else None
        asked = [
            _ask(context, islands, generation, place, failures, artifacts, tried) for place in range(first, min(first + size, count))
        ]
        entry = entry.followed_by(_run_batch(context, islands, generation, asked, next_number + len(entry.programs), seen))
    programs = [_after(row, islands) for row in entry.programs]
    return replace(entry, programs=programs, islands=list(islands.rows.values()))


def _ask(
    context: Context, islands: Islands, generation: int, place: int, failures: Sequence[str], artifacts: Mapping[str, Any], tried: Tried | None,
) -> Asked:
    """A child that is asked for: its parents and the request. tried: what operators learn from; None for a model."""
    island = place % islands.count
    random = generator(context.root_seed, LINE, context.cycle, f"parents/{context.project.name}/{generation}", place)
    if tried is None:
        parents = islands.parents(island, random)
        return Asked(place, island, parents, request_for(context, islands, parents, failures, artifacts))
    parents, numbers_only = parents_for_operators(tried, islands, island, random)
    request = request_for(context, islands, parents, failures, artifacts)
    learnt = {"trials": list(tried.programs), "place": tried.place(parents[0]), "numbers_only": numbers_only}
    return Asked(place, island, parents, request.model_copy(update=learnt))


def _run_batch(context: Context, islands: Islands, generation: int, asked: Sequence[Asked], next_number: int, seen: set[str]) -> GenerationEntry:
    """What children that are asked for together become."""
    purpose = f"child/{context.project.name}/{generation}"
    seeds = [child_seed(context.root_seed, LINE, context.cycle, purpose, item.place) for item in asked]
    before, turned = len(context.agents.rows()), len(context.agents.turns())
    replies = written(context, asked, seeds)
    items, derivations, unanswered, repeated = [], [], [], 0
    living = {behaviour(json.loads(row["metrics"])): row["program_id"] for row in islands.rows.values()}
    known = {bare_text(texts_of(context.blobs, row["files_sha"])): row["program_id"] for row in islands.rows.values()}
    for question, reply in zip(asked, replies, strict=True):
        texts = child_texts(reply.value, question.request.parent.files)
        if isinstance(texts, str):
            unanswered.append(texts)
            continue
        name = program_id(context.project.name, texts)
        if name in seen:
            repeated += 1
            continue
        seen.add(name)
        row, lines = child_row(context, reply.value, texts, question.parents, generation, next_number + len(items))
        derivations += lines
        items.append(Item(row, Candidate(texts, name, context.evaluator, context.seeds(), known, living), question.island, reply.call_id))

    def judge_item(item: Item) -> GateResults | HostBusy:
        try:
            return judge(item.candidate, context.ruleset, context.blobs, cycle=context.cycle, run_id=context.run_id)
        except HostBusy as error:
            return error

    results = in_turn(
        items, lambda some: side_by_side(judge_item, some, context.workers),
        still=_still, settle=_settler(islands),
    )
    ended = list(zip(items, results, strict=True))
    items = [item for item, result in ended if not isinstance(result, HostBusy)]
    busy = [item for item, result in ended if isinstance(result, HostBusy)]
    unanswered += [UNKNOWN for _ in busy]
    seen -= {item.candidate.program_id for item in busy}
    for item in items:
        context.agents.assign(item.call_id, item.candidate.program_id)
    calls, turns = context.agents.rows()[before:], context.agents.turns()[turned:]
    programs = [item.row for item in items]
    measured = [row for item in items for row in measured_rows(context.project, item.candidate.program_id, _evaluations(item), context.cycle)]
    verdicts = [verdict.row() for result in results if not isinstance(result, HostBusy) for verdict in result.verdicts]
    derivations = [line for line in derivations if line["child_id"] in {item.candidate.program_id for item in items}]
    return GenerationEntry(programs, verdicts, measured, derivations, calls, [], repeated, unanswered, turns)


def written(context: Context, asked: Sequence[Asked], seeds: Sequence[int]) -> list[Reply[WriterReply | AgentFailure]]:
    """Return a reply to each request, by calls, many at once, or by one session after another."""
    if context.session is None:
        return context.agents.call_many(WRITER, [item.request for item in asked], seeds=seeds, attempts=[item.place for item in asked])
    return [
        context.session.write(context, item.request, seed=seed, attempt=item.place) for item, seed in zip(asked, seeds, strict=True)
    ]


def request_for(
    context: Context, islands: Islands, parents: tuple[Row, Row], failures: Sequence[str], artifacts: Mapping[str, Any],
) -> WriterRequest:
    """What a writer is asked for one child."""
    project, (parent, other) = context.project, parents
    ranked = islands.ranked(islands.rows.values())
    relatives = [row for row in ranked[:MOST_RELATIVES] if row["program_id"] != parent["program_id"]]
    goal = "; ".join(f"{name}: {'higher' if way == 'max' else 'lower'} is better" for name, way in project.metrics.items())
    return WriterRequest(
        project=project.name, instructions="\n".join(filter(None, (project.given.description, project.config.instructions))), goal=goal,
        parent=_measured(context, parent), artifacts=dict(artifacts.get(parent["program_id"], {})),
        best=[_measured(context, row) for row in ranked[:MOST_BEST] if row["program_id"] != parent["program_id"]],
        failures=list(failures)[-MOST_FAILURES:], guidance=list(context.guidance),
        other=texts_of(context.blobs, other["files_sha"]) if other["program_id"] != parent["program_id"] else None,
        relatives=[texts_of(context.blobs, row["files_sha"]) for row in relatives], scores=[row["score"] for row in relatives],
        maximize=project.higher_is_better,
    )


def child_texts(reply: WriterReply | AgentFailure, parent: Mapping[str, str]) -> dict[str, str] | str:
    """The texts of a child, or why there is none."""
    if isinstance(reply, AgentFailure):
        return f"{reply.status}: {reply.reason}"
    if reply.operator == NOTHING:
        return "no operator found anything to change"
    return applied(reply, parent)


def child_row(
    context: Context, reply: WriterReply | AgentFailure, texts: Mapping[str, str], parents: tuple[Row, Row], generation: int, number: int,
) -> tuple[Row, list[Row]]:
    """(row of PROGRAMS, rows of DERIVATIONS) of a child."""
    operators = context.agents.backend.name == "operators"
    operator = reply.operator if operators and isinstance(reply, WriterReply) else "model"
    share = {parents[0]["program_id"]: 1.0}
    if operator == "crossover" and parents[1]["program_id"] != parents[0]["program_id"]:
        share = {parents[0]["program_id"]: 0.5, parents[1]["program_id"]: 0.5}
    birth = Birth(context.cycle, generation, number, operator, list(share), context.agents.backend.name)
    row = program_row(context.project, texts, birth, files_sha=context.blobs.put(texts_bytes(texts)), size=size_of(texts))
    lines = [
        {"child_id": row["program_id"], "parent_id": parent, "operator": operator, "weight": weight, "cycle": context.cycle}
        for parent, weight in share.items()
    ]
    return row, lines


def size_of(texts: Mapping[str, str]) -> int:
    """Characters of the blocks; of texts whose marks are broken, all characters."""
    try:
        return block_size(texts)
    except BadBlocks:
        return sum(map(len, texts.values()))


def _measured(context: Context, row: Row) -> Measured:
    return Measured(score=row["score"], metrics=shown_metrics(json.loads(row["metrics"])), files=texts_of(context.blobs, row["files_sha"]))


def _still(item: Item, result: GateResults | HostBusy) -> GateResults | HostBusy | None:
    """A result holds unless a candidate before it in the generation has its text or its behaviour: then the gates are asked again, about evaluations
    that are there."""
    candidate = item.candidate
    if isinstance(result, HostBusy) or not result.accepted:
        return result
    taken = candidate.known.get(bare_text(candidate.texts)) or candidate.living.get(behaviour(candidate.metrics))
    return None if taken not in (None, candidate.program_id) else result


def _settler(islands: Islands) -> Callable[[Item, GateResults | HostBusy], None]:
    def settle(item: Item, result: GateResults | HostBusy) -> None:
        if isinstance(result, HostBusy):
            return
        candidate = item.candidate
        item.row = judged_row(item.row, candidate, result)
        if result.accepted:
            dict_of(candidate.known)[bare_text(candidate.texts)] = candidate.program_id
            dict_of(candidate.living)[behaviour(candidate.metrics)] = candidate.program_id
            item.row = islands.admit(item.row, item.island)

    return settle


def dict_of(held: Mapping[str, str]) -> dict[str, str]:
    """What the candidates of a generation share, to be written by the one thread that settles them."""
    assert isinstance(held, dict)
    return held


def _after(row: Row, islands: Islands) -> Row:
    """A candidate's row at the end of the generation: a later one may have driven it out."""
    if row["state"] != "accepted":
        return row
    return islands.rows.get(row["program_id"], row | {"state": "retired", "islands": []})


def _evaluations(item: Item) -> list[Evaluation]:
    """Its evaluations; none where a gate before them blocked it."""
    return item.candidate.__dict__.get("evaluations", [])
