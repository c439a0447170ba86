"""What roles are shown as text: standings, results by family, sources and code, one line an item and
nothing that was not measured; and the rules as roles hear of them, and as operators heed them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evolake.gates import Rule, Ruleset
from evolake.gates.boundary import contained
from evolake.solvers.roles.models import (
    Excerpt,
    FamilyResult,
    Forbidden,
    SourceFile,
    SourceTree,
    Standing,
    Tried,
    with_short_ids,
)

_COLUMNS: Mapping[str, str] = {
    "rank": "rank",
    "consensus": "consensus",
    "visits": "visits",
    "solved": "solved",
    "instances": "of",
    "solved_sat": "SAT solved",
    "instances_sat": "SAT of",
    "solved_unsat": "UNSAT solved",
    "instances_unsat": "UNSAT of",
    "best_of_all": "fastest on",
    "additionally_solved": "beyond seeds",
    "wrong": "wrong",
    "vbs_mismatch": "contradicted",
    "unproved": "unproved",
    "failed": "failed runs",
    "checked_share": "proofs checked",
    "memory_mb": "mean MiB",
    "memory_max_mb": "most MiB",
    "par2": "PAR-2 s",
    "par2_sat": "PAR-2 SAT s",
    "par2_unsat": "PAR-2 UNSAT s",
}
"""Field of a Standing -> head of its column."""
LONGEST_CHANGE = 200


def stated(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts, each empty one as `none`."""
    return {name: text or "none" for name, text in texts.items()}


def standings_text(standings: Sequence[Standing], champion: str = "") -> str:
    """Return a line for each variant. Columns in which nothing was measured, or everything is zero, are left
    out.

    Args:
        champion: short id of the champion, which is marked; "" for none.
    """
    fields = [name for name in _COLUMNS if any(getattr(item, name) for item in standings)]
    found = {share for item in standings for share, count in item.solved_within.items() if count}
    shares = sorted(found, key=lambda share: (len(share), share))
    head = [
        "id",
        "title",
        "base",
        "made by",
        *(_COLUMNS[name] for name in fields),
        *(f"within {share}" for share in shares),
    ]
    rows = [
        [
            item.variant_id + (" (champion)" if item.variant_id == champion else ""),
            _cell(item.title),
            item.base,
            item.operator,
            *(_figure(getattr(item, name)) for name in fields),
            *(_figure(item.solved_within.get(share)) for share in shares),
        ]
        for item in standings
    ]
    changes = [f"{item.variant_id} changes: {text}" for item in standings if (text := _changes(item))]
    return "\n".join([*(" | ".join(row) for row in [head, *rows]), *changes])


def families_text(families: Sequence[FamilyResult]) -> str:
    """Return, for each family of formulas, what each variant solves of it and what its runs took."""
    lines = []
    for family in families:
        lines.append(f"{family.family} ({family.instances}):")
        for variant, solved in family.solved.items():
            parts = [f"solved {solved:g}"]
            parts += [f"{family.conflicts[variant]:.3g} conflicts"] if variant in family.conflicts else []
            parts += [f"{family.cpu_s[variant]:.3g} s"] if variant in family.cpu_s else []
            parts += [f"PAR-2 {family.seconds[variant]:.3g} s"] if variant in family.seconds else []
            parts += (
                [f"{family.checked[variant]:.0%} of proofs checked"]
                if family.checked.get(variant, 1) < 1
                else []
            )
            lines.append(f"  {variant}: {', '.join(parts)}")
    return "\n".join(lines)


def sources_text(trees: Sequence[SourceTree]) -> str:
    """Return the files of each tree with their functions, one line a file."""
    return "\n".join(
        line for tree in trees for line in (f"{tree.variant_id} ({tree.base})", *_file_lines(tree.files))
    )


def outline_text(files: Sequence[SourceFile]) -> str:
    """Return one line a file: path, number of lines, functions with their first lines."""
    return "\n".join(_file_lines(files))


def code_text(excerpts: Sequence[Excerpt]) -> str:
    """Return excerpts as they are, each below a line that names its file and first line."""
    return "\n".join(f"=== {item.path} from line {item.first_line}\n{item.text}" for item in excerpts)


def first_excerpts(excerpts: Sequence[Excerpt], most: int) -> list[Excerpt]:
    """Return the first excerpts that come to at most `most` characters together, each as a whole; one that
    does not fit is passed over."""
    kept: list[Excerpt] = []
    for item in excerpts:
        if sum(len(other.text) for other in kept) + len(item.text) <= most:
            kept.append(item)
    return kept


def diffs_text(tried: Sequence[Tried]) -> str:
    """Return each attempt in a line, and its diff below; what has no diff says why."""
    parts = []
    for item in tried:
        named = (
            f"{item.variant_id or 'no variant'} ({item.title or item.hypothesis[:80]}), child of "
            f"{item.parent_id}: {item.outcome}"
        )
        if item.gate:
            why = f" at {item.gate}: {item.reason}"
        elif item.reason:
            why = f": {item.reason}"
        else:
            why = ""
        places = f"\nchanged {'; '.join(item.places)}" if item.places else ""
        parts.append(f"{named}{why}{places}\n{item.diff}".rstrip())
    return "\n\n".join(parts)


def change_values(request: Any) -> dict[str, Any]:
    """Return what every coder is sent of a change, as prompt values. request: a CodeRequest or a request of a
    session."""
    lent = (
        f"of another code base, {request.second_base}: carry its idea over, not its text\n"
        if request.second_base
        else ""
    )
    second = f"{lent}{request.second_parent_diff}"
    plain = ("goal", "hypothesis", "instructions", "base", "rules", "knowledge", "conditions", "note")
    return {name: getattr(request, name) for name in plain} | stated(
        {
            "parent": standings_text([request.parent], request.champion),
            "parent_diff": request.parent_diff,
            "second_parent": second,
            "contests": "\n".join(request.contests),
            "families": families_text(request.families),
            "tried": diffs_text(request.tried),
        }
    )


def _file_lines(files: Sequence[SourceFile]) -> list[str]:
    """Return a line for each file with functions to name; the others of a folder in one line, with their
    numbers of lines."""
    lines, plain = list[str](), dict[str, list[str]]()
    for item in files:
        if functions := _functions_of(item):
            lines.append(f"  {item.path} ({item.lines} lines) {' '.join(functions)}")
        else:
            folder, _, name = item.path.rpartition("/")
            plain.setdefault(folder, []).append(f"{name} {item.lines}")
    return [*lines, *(f"  {folder}/: {', '.join(names)}" for folder, names in plain.items())]


def _functions_of(item: SourceFile) -> list[str]:
    """Return the functions of a source file, without the class that it is named for; of a header none: it is
    shown whole to the role that names it."""
    stem, _, kind = item.path.rpartition("/")[2].rpartition(".")
    return [] if kind.startswith("h") else [name.removeprefix(f"{stem}::") for name in item.functions]


def _changes(item: Standing) -> str:
    return "; ".join(item.edits) or _cell(item.changed[:LONGEST_CHANGE])


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def _figure(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


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
