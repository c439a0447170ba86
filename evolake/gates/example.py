"""A complete rule of a line, as a place to start from: the checker and parameters of one of the line's rules,
under a new id."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from evolake.errors import InputError
from evolake.gates.checkers import CHECKERS
from evolake.gates.known import KnownChecker, known_checkers, known_gates, near
from evolake.gates.rules import Rule, Ruleset, parse_rule

PLACEHOLDERS = {"int": 1, "float": 1.0, "bool": True, "str": "CHANGE-ME"}
"""Type of a parameter -> what a new rule gives it if no rule shows a value."""
IN_THE_ID = 10
"""How much more a word counts that is in a rule's id, checker or gate than one that only its meaning has."""


def example_rule(ruleset: Ruleset, name: str, check: str | None = None, gate: str | None = None) -> str:
    """Return the text of a rule file to start from.

    It judges as the rule of the ruleset does that fits the name best; of those that fit equally well, the one
    with the fewest and plainest parameters. If no rule names the checker yet, its parameters get
    placeholders.

    Args:
        name: what its id ends with. check: the checker that it names; None for any. gate: the gate that it is
            of; None for any.

    Raises:
        InputError: a rule has this id already, the name makes no id, there is no such gate or checker, or no
            gate can be found for the checker.
    """
    line, rule_id = ruleset.line, f"{ruleset.line}-{name}"
    if rule_id in {rule.id for rule in (*ruleset.rules, *ruleset.guidance)}:
        raise InputError(f"the line {line} has a rule {rule_id!r} already", wanted="a file of another name")
    gates, checkers = [spec.name for spec in known_gates(line)], known_checkers(line)
    if gate is not None and gate not in gates:
        raise near(f"the line {line} has no gate {gate!r}", gate, gates)
    if check is not None and check not in checkers:
        raise near(f"no checker of the line {line} is called {check!r}", check, checkers)
    named = [rule for rule in ruleset.rules if check in (None, rule.check) and gate in (None, rule.gate)]
    if named:
        base = min(
            named,
            key=lambda rule: (
                -_fit(rule, name, checkers),
                not rule.parameters,
                len(json.dumps(rule.parameters)),
                rule.id,
            ),
        )
        kind, of, names, parameters = base.kind, base.gate, base.check, base.parameters
        start = f"Unchanged, it judges as {base.id} does: change the parameters, or name another checker"
    elif check is not None:
        kind, of, names = "static", gate or _gate_of(ruleset, name, check, gates), check
        parameters = {
            item.name: _placeholder(item.type) for item in checkers[check].parameters if item.required
        }
        start = (
            "No rule names this checker yet: check the gate and change the parameters, which are "
            "placeholders, or name another checker"
        )
    else:
        do = (
            f"evolake rules new --line {line} --gate {gate} --check CHECKER FILE; `evolake rules checkers "
            f"--line {line}` lists the checkers"
        )
        raise InputError(
            f"no rule of the line {line} is of the gate {gate}, so there is none to start from",
            wanted="--check CHECKER",
            do=do,
        )
    text = f"""---
id: {rule_id}
version: 1
kind: {kind}
gate: {of}
check: {names}
parameters: {json.dumps(parameters)}
---
Say here why the rule exists. What it asks: {checkers[names].meaning if names in checkers else names}
{start}
(`evolake rules checkers --line {line}`), and raise `version` when its meaning changes.
"""
    parse_rule(text, f"{name}.md")
    return text


def _words(text: str) -> set[str]:
    """Return the words of a name or a sentence, without endings that plurals and verbs have. Short ones say
    nothing of what a rule is about."""
    return {
        re.sub(r"(s|es|ed|ing)$", "", word) for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 3
    }


def _fit(rule: Rule, name: str, checkers: dict[str, KnownChecker]) -> int:
    """Return how well a rule fits the name of a new one, by the words that both have."""
    asked = _words(name)
    names = _words(
        f"{rule.id} {rule.check} {rule.gate}".replace(rule.id.partition("-")[0], " ").replace("_", " ")
    )
    meaning = checkers[rule.check].meaning if rule.check in checkers else ""
    return IN_THE_ID * _shared(asked, names) + _shared(
        asked, _words(f"{meaning} {' '.join(rule.parameters)}".replace("_", " "))
    )


def _shared(asked: set[str], known: set[str]) -> int:
    """Return how many of the asked words are known, or begin a known one ("short" begins "shortest")."""
    return sum(
        word in known or any(len(word) > 4 and other.startswith(word) for other in known) for word in asked
    )


def _gate_of(ruleset: Ruleset, name: str, check: str, gates: Sequence[str]) -> str:
    """Return the gate of a checker that no rule names: the one in the new rule's name, else the one of more
    rules than any other, of those whose checkers are in its module or package.

    Raises:
        InputError: neither says which.
    """
    hinted = [gate for gate in gates if _words(gate) & _words(name)]
    module = CHECKERS[check].__module__
    for place in (module, module.rpartition(".")[0]):
        rules = [
            rule
            for rule in ruleset.rules
            if rule.check in CHECKERS and CHECKERS[rule.check].__module__.startswith(place)
        ]
        if len(hinted) != 1 and rules:
            counts = Counter(rule.gate for rule in rules).most_common(2)
            hinted = [counts[0][0]] if len(counts) == 1 or counts[0][1] > counts[1][1] else []
    if len(hinted) != 1:
        what = f"no rule of the line {ruleset.line} names the checker {check!r}, so its gate is not known"
        do = f"evolake rules new --line {ruleset.line} --check {check} --gate GATE FILE"
        raise InputError(what, wanted=f"--gate GATE, one of {', '.join(gates)}", do=do)
    return hinted[0]


def _placeholder(kind: str) -> Any:
    if kind.startswith(("Sequence", "list", "tuple")):
        return []
    return (
        {} if kind.startswith(("Mapping", "dict")) else PLACEHOLDERS.get(kind.partition(" ")[0], "CHANGE-ME")
    )
