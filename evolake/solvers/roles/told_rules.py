"""The rules as roles hear of them, and as operators heed them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evolake.gates import Rule, Ruleset
from evolake.gates.boundary import contained
from evolake.solvers.roles.models import Forbidden, with_short_ids


def told_rules(ruleset: Ruleset) -> list[Rule]:
    """The rules that roles may hear of. Of the holdout no role hears, not even that there is one."""
    return [rule for rule in ruleset.rules if rule.gate != "holdout"]


def rule_texts(ruleset: Ruleset) -> list[str]:
    """The rules in words, for roles; variants that a learned one names go by their short ids."""
    return [f"{rule.id}: {with_short_ids(' '.join(rule.text.split()))}"[:600] for rule in told_rules(ruleset)]


def forbidden_edits(ruleset: Ruleset) -> list[Forbidden]:
    """The learned rules that operators can heed by themselves; one whose parameters are of another shape is left to its gate."""
    found = [contained(_forbidden, rule.parameters) for rule in ruleset.rules if rule.check == "solvers.forbidden_edit"]
    return [item for item in found if isinstance(item, Forbidden)]


def _forbidden(item: Mapping[str, Any]) -> Forbidden:
    return Forbidden(
        edit=str(item.get("edit", "")), base=str(item.get("base", "")),
        parameters={name: list(bounds) for name, bounds in dict(item.get("parameters") or {}).items()},
    )
