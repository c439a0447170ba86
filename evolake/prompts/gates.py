"""The gates of a system prompt: `form` (its lineage holds, its size, that it is new), then `leak` (no problem
in it, trained on or held out); and the checks that rules name, which are pure functions of the collected
evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evolake import gates
from evolake.canonical_json import canonical_json
from evolake.gate_spec import Evidence
from evolake.gates import Finding, GateResults, Ruleset, checker
from evolake.gates.stored import Find, StoredEvidence, by_sha
from evolake.prompts.evolution.population import Population
from evolake.prompts.gate_specs import GATES
from evolake.prompts.model.prompt import Hunk, SystemPrompt, apply, copies, from_json

if TYPE_CHECKING:
    from evolake.lake import Lake


@checker("prompts.strict_edits")
def strict_edits(evidence: Evidence) -> Finding | None:
    """Check that the applied hunks, replayed on the parent, give the child."""
    if evidence["replayed"] is None:
        return Finding(
            f"the hunks recorded as applied do not apply to {evidence['parent'][:12]}: "
            f"{evidence['objection']}"
        )
    if evidence["replayed"] != evidence["prompt_id"]:
        return Finding(
            f"the hunks recorded as applied make {evidence['replayed'][:12]} of "
            f"{evidence['parent'][:12]}, which is another prompt"
        )
    return None


@checker("prompts.size")
def size(evidence: Evidence, most_principles: int, most_characters: int) -> Finding | None:
    """No more principles, and none longer, than allowed."""
    principles = evidence["principles"]
    if not 1 <= len(principles) <= most_principles:
        return Finding(f"{len(principles)} principles, wanted 1 to {most_principles}")
    for name, text in principles:
        if len(text) > most_characters:
            return Finding(f"principle {name} has {len(text)} characters, {most_characters} are allowed")
    return None


@checker("prompts.new")
def new(evidence: Evidence) -> Finding | None:
    """No earlier prompt has the same texts."""
    return Finding(f"it says the same as {evidence['same_as'][:12]}") if evidence["same_as"] else None


@checker("prompts.no_problem_texts")
def no_problem_texts(evidence: Evidence) -> Finding | None:
    """No principle copies a problem."""
    for name, split in evidence["copies"]:
        return Finding(f"principle {name} copies a problem of the split {split}")
    return None


def evidence_of_cycle(lake: Lake, cycle: str | None) -> Find:
    """Return how the evidence of one cycle is found: one blob holds what all gates saw of a child. That of an
    added root is not stored."""
    stored = by_sha(lake, cycle)

    def find(artifact: str, gate: str, shas: Mapping[str, str]) -> Evidence | None:
        whole = next((stored(artifact, name, shas) for name in shas), None)
        return (whole or {}).get(gate)

    return find


STORED = StoredEvidence(find=evidence_of_cycle)


@dataclass(frozen=True)
class Newborn:
    """A child as its gates see it: its row of PROMPTS, the population with all prompts that are older, rows
    of EDITS and PROBLEMS of the cycle."""

    child: Mapping[str, Any]
    population: Population
    edits: Sequence[Mapping[str, Any]]
    problems: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class ChildResults(GateResults):
    """A child after its gates. seen: gate -> what its rules judge, of every gate: it is cheap, and is stored
    whatever blocks the child."""

    seen: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def run_gates(newborn: Newborn, ruleset: Ruleset, *, cycle: str, run_id: str) -> ChildResults:
    """Judge one child. What its texts make our code raise is its block (evolake.gates.boundary)."""
    seen = {gate.name: gates.collected(gate.collector(), newborn, write=evidence_bytes) for gate in GATES}
    stored = [replace(gate, collect=lambda _, name=gate.name: seen[name]) for gate in GATES]
    done = gates.run_gates(
        newborn, stored, ruleset, artifact_id=newborn.child["prompt_id"], cycle=cycle, run_id=run_id
    )
    return ChildResults(done.artifact_id, done.results, done.accepted, seen)


def replay(parent: SystemPrompt, edits: Iterable[Mapping[str, Any]]) -> tuple[SystemPrompt | None, str]:
    """Return (the parent after the hunks that these rows of EDITS say were applied, ""), or (None, the first
    objection).

    Order as in `mutation`: what the local steps add, then the plan, then what the local steps modify. A
    crossover has one step.
    """
    rows = sorted((row for row in edits if row["applied"]), key=lambda row: row["number"])
    adds = [row for row in rows if row["step"] == "local" and row["kind"] == "add"]
    rest = [row for row in rows if row["step"] != "local"] + [
        row for row in rows if row["step"] == "local" and row["kind"] != "add"
    ]
    prompt = parent
    for part in (adds, rest):
        done = apply(prompt, [Hunk(row["kind"], tuple(row["targets"]), row["text"]) for row in part])
        if refused := [outcome.reason for outcome in done.outcomes if not outcome.applied]:
            return None, refused[0]
        prompt = done.prompt
    return prompt, ""


def form(newborn: Newborn) -> dict[str, Any]:
    """Return its lineage replayed from its edits, its principles, and an older prompt that says the same."""
    child, population, edits = newborn.child, newborn.population, newborn.edits
    prompt = from_json(child["principles"])
    own = [
        row for row in edits if row["child_id"] == child["prompt_id"] and row["operator"] == child["operator"]
    ]
    if own:
        parent = own[0]["prompt_id"]
    elif child["parents"]:
        parent = child["parents"][0]
    else:
        parent = None
    replayed, objection = (
        replay(population.prompt(parent), own) if parent else (prompt, "")
    )  # a root has no lineage
    older = [row for row in population.rows() if row["number"] < child["number"]]
    same = [row["prompt_id"] for row in older if from_json(row["principles"]).texts == prompt.texts]
    return {
        "prompt_id": child["prompt_id"],
        "parent": parent,
        "replayed": replayed.prompt_id if replayed else None,
        "objection": objection,
        "principles": [[principle.id, principle.text] for principle in prompt.principles],
        "same_as": same[0] if same else None,
    }


def leak(newborn: Newborn) -> dict[str, Any]:
    """Return which principles hold the text of a problem, trained on or held out."""
    child, problems = newborn.child, newborn.problems
    prompt = from_json(child["principles"])
    texts = {
        split: [row["text"] for row in problems if row["split"] == split] for split in ("heldout", "train")
    }
    result = [
        [principle.id, split]
        for principle in prompt.principles
        for split, theirs in texts.items()
        if copies(principle.text, theirs)
    ]
    return {
        "prompt_id": child["prompt_id"],
        "copies": result,
        "problems": {split: len(theirs) for split, theirs in texts.items()},
    }


def evidence_bytes(evidence: Mapping[str, Any]) -> bytes:
    """Return evidence as it is stored: canonical JSON."""
    return canonical_json(evidence).encode()
