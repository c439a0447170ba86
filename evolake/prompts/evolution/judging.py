"""A child through its gates: `form` (its lineage holds, its size, that it is new), then `leak` (no problem in it, trained on or held out)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import evolake.prompts.evolution.checkers  # noqa: F401  (registers what the rules name)
from evolake.gates import Gate, Raised, Ruleset, Verdict, contained, judge, passed
from evolake.prompts.evolution.population import Population
from evolake.prompts.model.edits import Hunk, apply, copies
from evolake.prompts.model.prompt import SystemPrompt, from_json

GATES = (Gate(0, "form", lambda evidence: evidence["form"]), Gate(1, "leak", lambda evidence: evidence["leak"]))


@dataclass(frozen=True)
class Judged:
    """A child after its gates. evidence: gate -> what its rules judged."""

    prompt_id: str
    verdicts: tuple[Verdict, ...]
    accepted: bool
    evidence: Mapping[str, Any]

    @property
    def blocked_by(self) -> Verdict | None:
        """The verdict that blocked it."""
        return next((verdict for verdict in self.verdicts if verdict.outcome != "pass"), None)


def examine(
    child: Mapping[str, Any], population: Population, edits: Sequence[Mapping[str, Any]], problems: Sequence[Mapping[str, Any]], ruleset: Ruleset, *,
    cycle: str, run_id: str,
) -> Judged:
    """Judge one child.

    Args:
        child: its row of PROMPTS. population: with all prompts that are older. edits: rows of EDITS of the cycle. problems: rows of PROBLEMS.

    What a child's texts make our code raise is its block (evolake.gates.boundary).
    """
    evidence = {"form": _storable(_form, child, population, edits), "leak": _storable(_leak, child, problems)}
    verdicts = tuple(judge(evidence, GATES, ruleset, artifact_id=child["prompt_id"], cycle=cycle, run_id=run_id))
    return Judged(child["prompt_id"], verdicts, passed(verdicts, GATES), evidence)


def replay(parent: SystemPrompt, edits: Iterable[Mapping[str, Any]]) -> tuple[SystemPrompt | None, str]:
    """(the parent after the hunks that these rows of EDITS say were applied, ""), or (None, the first objection).

    Order as in `mutation`: what the local steps add, then the plan, then what the local steps modify. A crossover has one step.
    """
    rows = sorted((row for row in edits if row["applied"]), key=lambda row: row["number"])
    adds = [row for row in rows if row["step"] == "local" and row["kind"] == "add"]
    rest = [row for row in rows if row["step"] != "local"] + [row for row in rows if row["step"] == "local" and row["kind"] != "add"]
    prompt = parent
    for part in (adds, rest):
        done = apply(prompt, [Hunk(row["kind"], tuple(row["targets"]), row["text"]) for row in part])
        if refused := [outcome.reason for outcome in done.outcomes if not outcome.applied]:
            return None, refused[0]
        prompt = done.prompt
    return prompt, ""


def _form(child: Mapping[str, Any], population: Population, edits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    prompt = from_json(child["principles"])
    own = [row for row in edits if row["child_id"] == child["prompt_id"] and row["operator"] == child["operator"]]
    parent = own[0]["prompt_id"] if own else child["parents"][0]
    replayed, objection = replay(population.prompt(parent), own)
    older = [row for row in population.rows() if row["number"] < child["number"]]
    same = [row["prompt_id"] for row in older if from_json(row["principles"]).texts == prompt.texts]
    return {
        "prompt_id": child["prompt_id"], "parent": parent, "replayed": replayed.prompt_id if replayed else None, "objection": objection,
        "principles": [[one.id, one.text] for one in prompt.principles], "same_as": same[0] if same else None,
    }


def _leak(child: Mapping[str, Any], problems: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    prompt = from_json(child["principles"])
    texts = {split: [row["text"] for row in problems if row["split"] == split] for split in ("heldout", "train")}
    found = [[one.id, split] for one in prompt.principles for split, theirs in texts.items() if copies(one.text, theirs)]
    return {"prompt_id": child["prompt_id"], "copies": found, "problems": {split: len(theirs) for split, theirs in texts.items()}}


def _storable(collect: Callable[..., Mapping[str, Any]], *arguments: Any) -> Mapping[str, Any]:
    """Evidence that a blob can hold, or why there is none."""

    def collected() -> Mapping[str, Any]:
        found = collect(*arguments)
        evidence_bytes(found)
        return found

    found = contained(collected)
    return found.evidence() if isinstance(found, Raised) else found


def evidence_bytes(evidence: Mapping[str, Any]) -> bytes:
    """Evidence as it is stored: canonical JSON."""
    return json.dumps(evidence, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
