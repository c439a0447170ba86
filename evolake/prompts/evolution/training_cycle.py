"""Run the iterations of one cycle, resumable: each is noted with its checkpoint before the next begins.

A note is a blob: rows of the line's tables and the population after the iteration; calls of roles; the
policy's checkpoint. A cycle that was killed continues after the last iteration whose key is still the same:
the key stands for everything the iterations depend on. So nothing that was sampled, paid for or learnt is
done twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from evolake.agents import Agents
from evolake.canonical_json import canonical_json, key_of
from evolake.prompts.edit_memory import SearchMemory
from evolake.prompts.evolution.iteration import ARMS, TABLES, IterationContext, Iterations, run_iteration
from evolake.prompts.evolution.population import Population, population_of
from evolake.prompts.model.library import load_library
from evolake.prompts.model.protocol import Policy, Problem
from evolake.prompts.model.recipes import recipe_of
from evolake.prompts.model.scoring import judge_with
from evolake.prompts.policies.models import with_dtype
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import ARCHIVE
from evolake.prompts.tools import corpus_of

if TYPE_CHECKING:
    from evolake.lake import BlobStore
    from evolake.settings import Settings


def entry_bytes(done: Iterations) -> bytes:
    """Return an iteration as canonical JSON; `read_entry` reads it back to the same values."""
    return canonical_json(
        {
            "rows": {name: done.rows[name] for name in TABLES},
            "population": {name: frame.to_dicts() for name, frame in done.population.frames().items()},
        }
    ).encode()


def read_entry(data: bytes) -> Iterations:
    """Return the iteration that `entry_bytes` wrote."""
    value = json.loads(data)
    return Iterations(
        population_of({name: schema.frame(value["population"][name]) for name, schema in ARCHIVE.items()}),
        value["rows"],
    )


OF_NO_ITERATION = (
    "heldout_samples",
    "duel_problems",
    "duel_samples",
    "iterations_per_cycle",
    "threads",
    "vllm_url",
    "vllm_folder",
    "families_share",
    "families_success",
)
"""Settings that no iteration depends on. `threads` may change the last bits of sums; a cycle that was begun
continues with the threads there are."""


@dataclass(frozen=True)
class Notes:
    """What an earlier run of the cycle noted (rows of JOURNAL), and how to note more: called with all rows so
    far. facts: what notes must have been made of to hold, as `facts_of` gives it. blobs: where their entries
    and checkpoints are. memory: edits, duels and objections of earlier cycles."""

    rows: Sequence[Mapping[str, Any]]
    write: Callable[[list[dict[str, Any]]], None]
    facts: Mapping[str, Any]
    blobs: BlobStore
    memory: SearchMemory = field(default_factory=SearchMemory)


def facts_of(
    settings: Settings,
    population: Population,
    problems: pl.DataFrame,
    *,
    guidance: Sequence[str],
    cycle: str,
    memory: SearchMemory = SearchMemory(),
) -> dict[str, Any]:
    """Return everything that the iterations depend on, as JSON values; hashes where it is large. Operators do
    not read the memory.

    Raises:
        InputError: the corpus cannot be read.
    """
    library, corpus = settings.seeds / "prompts" / "library.json", corpus_of(settings.of(PromptsSettings))
    known = {"memory": memory.sha} if settings.backend == "model" and memory != SearchMemory() else {}
    return (
        ({"corpus": corpus} if corpus else {})
        | known
        | {
            "seed": settings.seed,
            "prompts": with_dtype(settings.of(PromptsSettings)).model_dump(
                mode="json", exclude=set(OF_NO_ITERATION)
            ),
            "backend": settings.backend,
            "models": settings.models,
            "guidance": list(guidance),
            "cycle": cycle,
            "library": _sha(library.read_bytes()),
            "problems": _frame_sha(problems),
            "population": {name: _frame_sha(frame) for name, frame in population.frames().items()},
        }
    )


def train(
    population: Population,
    policy: Policy,
    problems: Sequence[Problem],
    notes: Notes,
    *,
    agents: Agents,
    settings: Settings,
    guidance: Sequence[str],
    checkpoint: str | None,
) -> list[dict[str, Any]]:
    """Return all iterations of the cycle; gives rows of JOURNAL.

    Args:
        policy: before any update. checkpoint: blob of the policy that enters the cycle; None means the base
            model.

    Raises:
        InputError, AgentUnavailable, BudgetExhausted: as `run_iteration` does. What was noted before stays.
    """
    facts, blobs, cycle = notes.facts, notes.blobs, notes.facts["cycle"]
    own, rows = (
        settings.of(PromptsSettings),
        _standing(blobs, checkpoint, facts, notes.rows, settings.of(PromptsSettings).iterations_per_cycle),
    )
    if len(rows) == own.iterations_per_cycle:
        return rows
    if rows:
        population, checkpoint = (
            read_entry(blobs.get(rows[-1]["entry_sha"])).population,
            rows[-1]["checkpoint_sha"],
        )
    if checkpoint is not None and policy.learns:
        policy.load(blobs.get(checkpoint))
    judge, library = (
        judge_with(recipe_of(own), own.answer_format, own.format_bonus),
        load_library(settings.seeds / "prompts"),
    )
    edited = [edit for row in rows for edit in read_entry(blobs.get(row["entry_sha"])).rows["edits"]]
    context = IterationContext(
        agents,
        judge,
        own,
        library,
        cycle,
        settings.seed,
        guidance,
        notes.memory.followed_by(edited),
        settings.agents.waves,
    )
    known: set[str] = set()
    while len(rows) < own.iterations_per_cycle:
        key = _key(facts, rows, checkpoint)
        done = run_iteration(population, policy, problems, context, turn=len(rows) + 1)
        if ARMS[own.arm].learn:
            checkpoint = blobs.put(policy.save())
            done = done.with_checkpoint(checkpoint)
        calls = [*agents.rows(), *calls_of(policy)]
        rows.append(
            {
                "cycle": cycle,
                "number": len(rows) + 1,
                "key": key,
                "entry_sha": blobs.put(entry_bytes(done)),
                "checkpoint_sha": checkpoint,
                "calls_sha": blobs.put(
                    canonical_json([call for call in calls if call["call_id"] not in known]).encode()
                ),
            }
        )
        known |= {call["call_id"] for call in calls}
        population = done.population
        context = replace(context, memory=context.memory.followed_by(done.rows["edits"]))
        notes.write(rows)
    return rows


def calls_of(policy: Policy) -> list[dict[str, Any]]:
    """Return rows of AGENT_CALLS of a policy behind an endpoint; none for one on this machine."""
    agents = getattr(policy, "agents", None)
    return [] if agents is None else agents.rows()


def _standing(
    blobs: BlobStore,
    checkpoint: str | None,
    facts: Mapping[str, Any],
    result: Sequence[Mapping[str, Any]],
    wanted: int,
) -> list[dict[str, Any]]:
    """Return the notes that still hold: from the first on, each made of what is there now, with all its
    blobs."""
    rows: list[dict[str, Any]] = []
    for row in sorted(result, key=lambda row: row["number"])[:wanted]:
        kept = [row[name] for name in ("entry_sha", "checkpoint_sha", "calls_sha") if row[name] is not None]
        if (
            row["number"] != len(rows) + 1
            or row["key"] != _key(facts, rows, checkpoint)
            or not all(blobs.has(sha) for sha in kept)
        ):
            break
        rows.append(dict(row))
        checkpoint = row["checkpoint_sha"]
    return rows


def _key(facts: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], checkpoint: str | None) -> str:
    return key_of({**facts, "after": rows[-1]["entry_sha"] if rows else None, "checkpoint": checkpoint})


def _frame_sha(frame: pl.DataFrame) -> str:
    return _sha(frame.write_json().encode())


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
