"""A complete rule of a line, as a place to start from: the checker and parameters of one of its own, under a new id."""

from __future__ import annotations

import json

from evolake.errors import InputError
from evolake.gates.known import known_checkers
from evolake.gates.rules import Ruleset, parse_rule


def example_rule(ruleset: Ruleset, name: str) -> str:
    """The text of a rule file that judges as one of the ruleset does, the one with the fewest and plainest parameters.

    Args:
        name: what its id ends with.

    Raises:
        InputError: a rule has this id already, or the name makes no id.
    """
    rule_id = f"{ruleset.line}-{name}"
    if rule_id in {rule.id for rule in (*ruleset.rules, *ruleset.guidance)}:
        raise InputError(f"the line {ruleset.line} has a rule {rule_id!r} already", wanted="a file of another name")
    base = min((rule for rule in ruleset.rules if rule.parameters), key=lambda rule: (len(json.dumps(rule.parameters)), rule.id), default=None)
    base = base or ruleset.rules[0]
    checker = known_checkers(ruleset.line).get(base.check)
    text = f"""---
id: {rule_id}
version: 1
kind: {base.kind}
gate: {base.gate}
check: {base.check}
parameters: {json.dumps(base.parameters)}
---
Say here why the rule exists. What it asks: {checker.meaning if checker else base.check}
As it stands it judges as {base.id} does: change the parameters, or name another checker
(`evolake rules checkers --line {ruleset.line}`), and raise `version` when its meaning changes.
"""
    parse_rule(text, f"{name}.md")
    return text
