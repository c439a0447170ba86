"""The rules of one line, pinned by their hash and held to the gates and checkers that the line has.
`evolake.rule_files` reads the files."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evolake.gates.checkers import require_known
from evolake.rule_files import (
    GUIDANCE,
    KINDS,
    LARGEST_RULE,
    Rule,
    files_hash,
    hash_of_rules,
    parse_rule,
    read_rules,
)

__all__ = ["GUIDANCE", "KINDS", "LARGEST_RULE", "Rule", "Ruleset", "files_hash", "load_rules", "parse_rule"]


@dataclass(frozen=True)
class Ruleset:
    """The rules of one line, pinned: `rules` judge, `guidance` is prose for agents. Both in order of their
    ids."""

    line: str
    rules: tuple[Rule, ...]
    guidance: tuple[Rule, ...] = ()

    @property
    def hash(self) -> str:
        """64 hex digits over the meaning of every rule."""
        return hash_of_rules(self.rules)

    def hash_of(self, gates: Collection[str]) -> str:
        """Return 64 hex digits over the meaning of the rules of `gates`: what a verdict of one of them
        depends on."""
        return hash_of_rules(rule for rule in self.rules if rule.gate in gates)

    def judged(self, gate: str, ruleset_hash: str) -> bool:
        """Return whether a verdict of `gate` with this hash was given by these rules."""
        return ruleset_hash == self.hash_of((gate,))

    @property
    def lessons(self) -> dict[str, str]:
        """Id -> lesson of the rules that have one."""
        return {rule.id: rule.lesson for rule in self.rules if rule.lesson}

    def of_gate(self, gate: str) -> tuple[Rule, ...]:
        """Return the rules that `gate` applies, in order of their ids."""
        return tuple(rule for rule in self.rules if rule.gate == gate)

    def joined(self, rules: tuple[Rule, ...]) -> Ruleset:
        """Return this ruleset with `rules` in it; one that has the id of a rule here replaces it."""
        merged = {rule.id: rule for rule in (*self.rules, *rules)}
        return replace(self, rules=tuple(merged[name] for name in sorted(merged)))

    def rows(self) -> list[dict[str, Any]]:
        """Return rows of the shared `rules` table."""
        return [
            {
                "rule_id": rule.id,
                "version": str(rule.version),
                "text_sha": rule.text_sha,
                "since_cycle": rule.since_cycle,
                "kind": rule.kind,
            }
            for rule in sorted((*self.rules, *self.guidance), key=lambda rule: rule.id)
        ]


def load_rules(folder: Path, line: str) -> Ruleset:
    """Return all rules of `line`: the files `folder/<line>/*.md`, by id.

    Raises:
        InputError: no such folder, no rule in it, an unreadable file, two rules of one id, or one that names
            a gate, checker or parameter that the line does not have.
    """
    rules = read_rules(folder / line, line)
    judging = tuple(rule for rule in rules if rule.kind != GUIDANCE)
    require_known(line, ((rule.path, rule.gate, rule.check, rule.parameters) for rule in judging))
    return Ruleset(line=line, rules=judging, guidance=tuple(rule for rule in rules if rule.kind == GUIDANCE))
