"""Running gates: cheapest first, stop at the first block, every step a verdict row.

A gate collects evidence (this may run the jail) and its rules judge that evidence. Evidence that could not be
had because our machinery failed is an exception and never a verdict; evidence that says the candidate failed
is judged like any other. Whatever else comes up while one candidate is judged is its block (see `boundary`):
the first rule of the gate says so.

`run_gates` takes a candidate through its gates; `replay_gate` asks the rules of one gate about evidence that
is there, so that a changed rule is judged again without running anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evolake.gate_spec import GateSpec
from evolake.gates.boundary import Raised, contained, raised_in
from evolake.gates.checkers import Finding, apply
from evolake.gates.result import GateResult, GateResults
from evolake.gates.rules import Ruleset
from evolake.gates.verdict import Verdict

Write = Callable[[Mapping[str, Any]], bytes]
"""Evidence as it is stored. Evidence that cannot be written is the candidate's fault, like all that comes up
while it is collected."""
Store = Callable[[Mapping[str, Any]], str]
"""Keeps evidence; gives its sha."""


def run_gates(
    candidate: Any,
    gates: Sequence[GateSpec],
    ruleset: Ruleset,
    *,
    artifact_id: str,
    cycle: str,
    run_id: str,
    write: Write | None = None,
    store: Store | None = None,
) -> GateResults:
    """Judge `candidate` by `gates` in order of their numbers, up to the first block.

    write: evidence that it cannot write is the candidate's fault. store: keeps evidence, also why there is
    none; verdicts name what it gives.

    Machinery failures and rules that cannot be used (InputError) pass through.
    """
    results: list[GateResult] = []
    for gate in sorted(gates, key=lambda gate: gate.number):
        evidence = collected(gate.collector(), candidate, write=write)
        sha = store(evidence) if store else None
        results.append(
            replay_gate(
                gate, evidence, ruleset, artifact_id=artifact_id, cycle=cycle, run_id=run_id, evidence_sha=sha
            )
        )
        if not results[-1].passed:
            break
    accepted = len(results) == len(gates) and all(result.passed for result in results)
    return GateResults(artifact_id, tuple(results), accepted)


def replay_gate(
    gate: GateSpec,
    evidence: Mapping[str, Any],
    ruleset: Ruleset,
    *,
    artifact_id: str,
    cycle: str,
    run_id: str,
    evidence_sha: str | None = None,
) -> GateResult:
    """Return what the rules of one gate say of evidence, as it was collected or stored; those after the first
    block are not asked.

    A gate without a rule is an error of ours (ValueError): a gate that cannot block is no gate. A rule that
    cannot be used raises InputError.
    """
    rules = ruleset.of_gate(gate.name)
    if not rules:
        raise ValueError(f"gate {gate.name!r} of line {ruleset.line!r} has no rule")
    of_gate = ruleset.hash_of((gate.name,))
    verdicts: list[Verdict] = []
    for rule in rules:
        result = contained(apply, rule.check, evidence, rule.parameters)
        finding = Finding(result.reason) if isinstance(result, Raised) else result
        verdicts.append(
            Verdict(
                artifact_id=artifact_id,
                cycle=cycle,
                gate_no=gate.number,
                gate=gate.name,
                rule_id=rule.id,
                rule_version=str(rule.version),
                ruleset_hash=of_gate,
                outcome="block" if finding else "pass",
                reason=finding.reason if finding else "",
                evidence_sha=(finding.evidence_sha if finding else None) or evidence_sha,
                run_id=run_id,
            )
        )
        if finding:
            break
    return GateResult(gate.name, tuple(verdicts), evidence, evidence_sha)


def collected(
    collect: Callable[..., Mapping[str, Any]], *arguments: Any, write: Write | None = None, **options: Any
) -> Mapping[str, Any]:
    """Return evidence of one candidate. What collecting or writing it raises is evidence that every rule
    blocks; machinery failures pass through."""

    def collecting() -> Mapping[str, Any]:
        evidence = collect(*arguments, **options)
        if write is not None:
            write(evidence)
        return evidence

    result = contained(collecting)
    return result.evidence() if isinstance(result, Raised) else result


def is_usable(gate: GateSpec, evidence: Mapping[str, Any]) -> bool:
    """Return whether stored evidence has all that the gate's rules ask for today. Why it could not be
    collected is enough."""
    return bool(raised_in(evidence)) or all(key in evidence for key in gate.evidence)
