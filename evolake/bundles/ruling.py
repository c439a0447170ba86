"""By which rules a bundle is judged: those that it was judged by when it was made, said next to those that
are installed.

A rule of a bundle is another's text. So it is taken only where it names the checker of an installed rule of
the same id, and differs from that one in nothing but numbers, truth values and what is left out: patterns and
lists of words, which a stranger could make cost hours, are those that are installed or none. What is not
taken is said. A gate for which no rule is left is asked by the installed rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evolake.bundles.container import RULES, Bundle
from evolake.bundles.exporting import VERDICTS
from evolake.bundles.model import Judging, Said
from evolake.errors import InputError
from evolake.gate_spec import GateSpec, gate_named
from evolake.gates.rules import Rule, Ruleset, parse_rule

if TYPE_CHECKING:
    from evolake.gates import GateResults

WHAT = "rules"


@dataclass(frozen=True)
class Ruling:
    """asked: what judges. said: every difference from what is installed."""

    asked: Ruleset
    said: list[Said]


def ruling(bundle: Bundle, installed: Ruleset, gates: Sequence[str]) -> Ruling:
    """Return what judges a bundle of the line of `installed`. gates: that it meets.

    Raises:
        ValueError: its rules cannot be read, or are not those that its verdicts name.
    """
    summary = _stated_rules(bundle)
    own = {rule.id: rule for rule in installed.rules}
    taken: dict[str, Rule] = {}
    said: list[Said] = []
    for name, entry in sorted(summary.items()):
        if entry["member"] is None:
            said.append(
                Said(
                    WHAT,
                    "note",
                    f"{name} version {entry['version']}: the bundle has no text of it; the installed one "
                    "is asked",
                )
            )
            if name in own:
                taken[name] = own[name]
            continue
        rule = _rule_text(bundle, name, entry)
        if rule.gate not in gates:
            said.append(Said(WHAT, "hashed", f"{name} is of the gate {rule.gate}, which is not asked again"))
        elif name in own and own[name].meaning == rule.meaning:
            taken[name] = rule
        elif name in own and _is_like(own[name], rule):
            taken[name] = rule
            said.append(
                Said(
                    WHAT,
                    "note",
                    f"{name}: judged by the bundle's {_rule_in_brief(rule)}; installed is "
                    f"{_rule_in_brief(own[name])}",
                )
            )
        else:
            why = "brings its own texts" if name in own else "is not installed"
            said.append(
                Said(
                    WHAT,
                    "hashed",
                    f"{name} version {rule.version} ({rule.check}) {why}: it was not asked again",
                )
            )
    asked = {rule.gate for rule in taken.values()}
    for rule in installed.rules:
        if rule.id not in summary and rule.gate in asked:
            said.append(Said(WHAT, "note", f"{rule.id} is installed, and the bundle was not judged by it"))
    for gate in gates:
        if gate not in asked:
            taken |= {rule.id: rule for rule in installed.of_gate(gate)}
            said.append(
                Said(WHAT, "note", f"the bundle has no rule of the gate {gate}: the installed ones are asked")
            )
    return Ruling(Ruleset(installed.line, tuple(taken[name] for name in sorted(taken))), said)


def _stated_rules(bundle: Bundle) -> Mapping[str, Mapping[str, Any]]:
    """Return rule -> what the bundle says of it."""
    judged = bundle.read(VERDICTS)
    rules, verdicts = (
        judged.get(name) if isinstance(judged, dict) else None for name in ("rules", "verdicts")
    )
    if not isinstance(rules, dict) or not isinstance(verdicts, list):
        raise ValueError("it does not say which rules it passed")
    for row in verdicts:
        if not isinstance(row, dict) or row.get("rule_id") not in rules or row.get("outcome") != "pass":
            raise ValueError(
                f"its own verdicts say: {row.get('gate')}: {row.get('reason')}"
                if isinstance(row, dict)
                else "its verdicts are no rows"
            )
    named = {
        f"{RULES}{name}.md"
        for name, entry in rules.items()
        if isinstance(entry, dict) and entry.get("member")
    }
    if named != {name for name in bundle.members if name.startswith(RULES)}:
        raise ValueError("its rules are not those that its verdicts name")
    if not all(
        isinstance(entry, dict) and {"version", "sha256", "member"} <= set(entry) for entry in rules.values()
    ):
        raise ValueError("what it says of its rules cannot be read")
    return rules


def _rule_text(bundle: Bundle, name: str, entry: Mapping[str, Any]) -> Rule:
    try:
        rule = parse_rule(bundle.members[f"{RULES}{name}.md"].decode("utf-8"), f"{name}.md")
    except (InputError, UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"its rule {name} cannot be read: {error}") from None
    if rule.id != name or str(rule.version) != str(entry["version"]):
        raise ValueError(
            f"its rule {name} is {rule.id} version {rule.version}, and its verdicts name version "
            f"{entry['version']}"
        )
    return rule


def _is_like(installed: Rule, rule: Rule) -> bool:
    """Return whether a rule judges as an installed one but for numbers."""
    same = (installed.gate, installed.check) == (rule.gate, rule.check) and set(rule.parameters) <= set(
        installed.parameters
    )
    return same and all(
        _numbers_alone(value, installed.parameters[name]) for name, value in rule.parameters.items()
    )


def _numbers_alone(value: Any, installed: Any) -> bool:
    return value == installed or value is None or isinstance(value, (bool, int, float))


def _rule_in_brief(rule: Rule) -> str:
    return f"version {rule.version} {json.dumps(rule.parameters, sort_keys=True)[:300]}"


def all_pass(gates: Sequence[GateSpec]) -> str:
    """Return the clause on an artifact that every gate of its line passes."""
    return f"all {len(gates)} pass it ({', '.join(gate.name for gate in gates)})"


def gates_again(
    judging: Judging, gates: Sequence[GateSpec], done: GateResults, holds: str, *notes: Said
) -> Iterator[Said]:
    """Yield what the gates say of an artifact that went through them again: by the rules that it is judged
    by, then by the installed ones.

    Args:
        gates: those of the line. done: what came of them here. holds: said if all of them pass it; `notes`
            follow it.
    """
    if (objection := done.blocked_by) is not None:
        yield Said("gates", "fails", f"{objection.gate} blocks it: {objection.rule_id}: {objection.reason}")
        return
    yield Said("gates", "holds", holds)
    yield from notes
    if {rule.meaning for rule in judging.asked.rules} != {rule.meaning for rule in judging.installed.rules}:
        yield _under_installed(judging, gates, done)


def _under_installed(judging: Judging, gates: Sequence[GateSpec], done: GateResults) -> Said:
    """Return what the installed rules say of the evidence that was just collected."""
    from evolake.gates import replay_gate

    for result in done.results:
        again = replay_gate(
            gate_named(gates, result.gate),
            result.evidence,
            judging.installed,
            artifact_id=judging.artifact_id,
            cycle="bundle",
            run_id="bundle",
        )
        if (objection := again.blocked_by) is not None:
            return Said(
                "installed rules",
                "note",
                f"the installed rules would block it: {objection.rule_id}: {objection.reason}",
            )
    return Said("installed rules", "note", "the installed rules pass it, too")
