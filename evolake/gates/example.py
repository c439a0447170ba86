"""A complete rule of a line, as a place to start from: the checker and parameters of one of its own, under a new id."""

from __future__ import annotations

import json

from evolake.errors import InputError
from evolake.gates.known import known_checkers
from evolake.gates.rules import Ruleset, parse_rule


def example_rule(ruleset: Ruleset, name: str, check: str | None = None) -> str:
    """The text of a rule file that judges as one of the ruleset does, the one with the fewest and plainest parameters.

    Args:
        name: what its id ends with. check: the checker that it names; None for any.

    Raises:
        InputError: a rule has this id already, the name makes no id, or no rule names that checker.
    """
    rule_id = f"{ruleset.line}-{name}"
    if rule_id in {rule.id for rule in (*ruleset.rules, *ruleset.guidance)}:
        raise InputError(f"the line {ruleset.line} has a rule {rule_id!r} already", wanted="a file of another name")
    named = [rule for rule in ruleset.rules if check in (None, rule.check)]
    if not named:
        raise InputError(
            f"no rule of the line {ruleset.line} names the checker {check!r}, so there is none to start from", wanted="a checker of a rule",
            do=f"see `evolake rules checkers --line {ruleset.line}`; without --check a rule of another checker is written, to be changed",
        )
    base = min(named, key=lambda rule: (not rule.parameters, len(json.dumps(rule.parameters)), rule.id))
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
