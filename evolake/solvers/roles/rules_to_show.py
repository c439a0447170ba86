"""The rules as roles hear of them, and as operators heed them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evolake.gates import Rule, Ruleset
from evolake.gates.boundary import contained
from evolake.solvers.roles.models import Forbidden, with_short_ids

_SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z])")
STAGES_OF_RUNS = ("smoke", "correctness", "stability", "benchmark", "duel")
STATED_BY_PROMPTS = ("solvers-project-goal", "solvers-self-evolution", "solvers-evaluation-protocol")
KNOWN_TO_MODELS = ("solvers-domain-knowledge",)
"""Shipped texts with what any textbook says; a version of a user's own is shown."""
SHIPPED = "solvers-"
LONGEST_LINE = 130
"""Characters of a rule in a prompt."""
_HELD_OUT = re.compile(r"held[ -]out|holdout", re.IGNORECASE)


@dataclass(frozen=True)
class ShownRules:
    """The rules as planner and coder are shown them. texts: what blocks a variant. knowledge: of solvers. forbidden: what operators must heed.
    lines: the texts short, one line a rule, for a prompt. names: shorter still, a line for each gate."""

    texts: Sequence[str] = ()
    knowledge: Sequence[str] = ()
    forbidden: Sequence[Forbidden] = ()
    lines: Sequence[str] = ()
    names: Sequence[str] = ()


def shown_rules(ruleset: Ruleset) -> ShownRules:
    """Return the rules as roles are shown them."""
    return ShownRules(
        rule_texts(ruleset),
        prompt_knowledge(ruleset),
        forbidden_edits(ruleset),
        rule_lines(ruleset),
        rule_names(ruleset),
    )


def rules_to_show(ruleset: Ruleset) -> list[Rule]:
    """Return the rules that roles may hear of. Of the holdout no role hears, not even that there is one."""
    return [rule for rule in ruleset.rules if rule.gate != "holdout"]


def rule_texts(ruleset: Ruleset) -> list[str]:
    """Return the rules in words, for roles; variants that a learned one names go by their short ids."""
    return [
        f"{rule.id}: {with_short_ids(' '.join(rule.text.split()))}"[:600] for rule in rules_to_show(ruleset)
    ]


def rule_lines(ruleset: Ruleset) -> list[str]:
    """Return the rules short: one line for each rule on code and build, its first sentence; of a stage of
    runs one line with the names of its rules.

    A gate's objection, and the file of a session, has a rule's whole text.
    """
    rules = rules_to_show(ruleset)
    stages = {
        rule.gate: [other.id for other in rules if other.gate == rule.gate]
        for rule in rules
        if rule.gate in STAGES_OF_RUNS
    }
    lines = [
        f"{rule.id.removeprefix(SHIPPED)}: {_first_sentence(with_short_ids(rule.text))}"
        for rule in rules
        if rule.gate not in STAGES_OF_RUNS
    ]
    return [*lines, *(_stage_line(gate, ids) for gate, ids in stages.items())]


def rule_names(ruleset: Ruleset) -> list[str]:
    """Return the rules by name, a line for each gate; those that were learnt in a line each, since no name
    says what they block."""
    rules = rules_to_show(ruleset)
    gates = {
        rule.gate: [other.id for other in rules if other.gate == rule.gate and other.kind != "learned"]
        for rule in rules
    }
    learned = [
        f"{rule.id}: {_first_sentence(with_short_ids(rule.text))}" for rule in rules if rule.kind == "learned"
    ]
    return [*(_stage_line(gate, ids) for gate, ids in gates.items() if ids), *learned]


def refused_rules(proposals: Sequence[Mapping[str, Any]], most: int = 6) -> list[str]:
    """Return the newest proposals that did not come into force, with the reason. proposals: rows of
    RULE_PROPOSALS, the oldest first."""
    refused = [row for row in proposals if row["state"] != "active"]
    return [
        f"not in force: {row['rule_id']} ({row['state']}): {with_short_ids(row['reason'] or '')}"[:300]
        for row in refused[-most:]
    ]


def prompt_knowledge(ruleset: Ruleset) -> list[str]:
    """Return the guidance for a prompt: without the shipped texts on goal, cycle and evaluation, which each
    prompt states itself, and without what models know."""
    kept = [
        rule
        for rule in ruleset.guidance
        if rule.version > 1 or rule.id not in (*STATED_BY_PROMPTS, *KNOWN_TO_MODELS)
    ]
    return knowledge_texts(replace(ruleset, guidance=tuple(kept)))


def _stage_line(gate: str | None, ids: Sequence[str]) -> str:
    return f"at {gate}: {', '.join(name.removeprefix(SHIPPED) for name in ids)}"


def _first_sentence(text: str) -> str:
    sentence = _SENTENCE.split(" ".join(text.split()), maxsplit=1)[0]
    return sentence if len(sentence) <= LONGEST_LINE else f"{sentence[: LONGEST_LINE - 3]}..."


def knowledge_texts(ruleset: Ruleset) -> list[str]:
    """Return what is known of solvers and of this evolution: the rules of kind guidance, in their own words,
    without a sentence on the holdout."""
    texts = [
        "\n".join(line for line in _SENTENCE.split(rule.text.strip()) if not _HELD_OUT.search(line))
        for rule in ruleset.guidance
    ]
    return [
        with_short_ids(f"{rule.id}:\n{text}")
        for rule, text in zip(ruleset.guidance, texts, strict=True)
        if text
    ]


def forbidden_edits(ruleset: Ruleset) -> list[Forbidden]:
    """Return the learned rules that operators can heed by themselves; one whose parameters are of another
    shape is left to its gate."""
    result = [
        contained(_forbidden, rule.parameters)
        for rule in ruleset.rules
        if rule.check == "solvers.forbidden_edit"
    ]
    return [item for item in result if isinstance(item, Forbidden)]


def _forbidden(item: Mapping[str, Any]) -> Forbidden:
    return Forbidden(
        edit=str(item.get("edit", "")),
        base=str(item.get("base", "")),
        parameters={name: list(bounds) for name, bounds in dict(item.get("parameters") or {}).items()},
    )
