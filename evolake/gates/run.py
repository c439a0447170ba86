"""Running gates: cheapest first, stop at the first block, every step a verdict row.

A gate collects evidence (this may run the jail) and its rules judge that evidence. Evidence that could not be had because our machinery failed is
an exception and never a verdict; evidence that says the candidate failed is judged like any other. Whatever else comes up while one candidate is
judged is its block (see `boundary`): the first rule of the gate says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.gates.boundary import Raised, contained
from evolake.gates.checkers import Finding, apply
from evolake.gates.rules import Ruleset
from evolake.gates.verdict import Verdict


@dataclass(frozen=True)
class Gate:
    """`collect(candidate) -> evidence`; the rules with this gate's name judge it."""

    number: int
    name: str
    collect: Callable[[Any], Mapping[str, Any]]


def judge(candidate: Any, gates: Sequence[Gate], ruleset: Ruleset, *, artifact_id: str, cycle: str, run_id: str) -> list[Verdict]:
    """Verdicts of `candidate`, one a rule, in order of gates; rules after the first block are not run.

    A gate without a rule is an error of ours (ValueError): a gate that cannot block is no gate. Machinery failures and rules that cannot be used
    (InputError) pass through.
    """
    verdicts: list[Verdict] = []
    pinned = ruleset.hash
    for gate in sorted(gates, key=lambda gate: gate.number):
        rules = ruleset.of_gate(gate.name)
        if not rules:
            raise ValueError(f"gate {gate.name!r} of line {ruleset.line!r} has no rule")
        collected = contained(gate.collect, candidate)
        evidence = collected.evidence() if isinstance(collected, Raised) else collected
        for rule in rules:
            found = contained(apply, rule.check, evidence, rule.parameters)
            finding = Finding(found.reason) if isinstance(found, Raised) else found
            verdicts.append(
                Verdict(
                    artifact_id=artifact_id, cycle=cycle, gate_no=gate.number, gate=gate.name, rule_id=rule.id, rule_version=str(rule.version),
                    ruleset_hash=pinned, outcome="block" if finding else "pass", reason=finding.reason if finding else "",
                    evidence_sha=finding.evidence_sha if finding else None, run_id=run_id,
                )
            )
            if finding:
                return verdicts
    return verdicts


def passed(verdicts: Sequence[Verdict], gates: Sequence[Gate]) -> bool:
    """True where every gate has a verdict and all verdicts are passes: a missing verdict is not a pass."""
    judged = {verdict.gate for verdict in verdicts}
    return judged >= {gate.name for gate in gates} and all(verdict.outcome == "pass" for verdict in verdicts)
