"""Run gates: cheapest first, stop at the first block, every step a verdict row (what one rule of one gate
said of one artifact).

A gate collects evidence (this may run the jail) and its rules judge that evidence. Evidence that could not be
had because our machinery failed is an exception and never a verdict; evidence that says the candidate failed
is judged like any other. Whatever else comes up while one candidate is judged is its block (see `boundary`):
the first rule of the gate says so. `run_gates` takes a candidate through its gates; `replay_gate` asks the
rules of one gate about stored evidence, so that a changed rule is judged again without running anything.

Candidates are judged side by side, with the results of judging one after another (`in_turn`). What a
judgement depends on from those before it in the cycle (duplicates, what is taken) is little and cheap. So all
are judged concurrently under what holds at the start; then, in their order, each result is held against what
those before it have left, and the few that this changes are judged again. What comes out depends on neither
the number of workers nor on who ends first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from evolake.gate_spec import GateSpec
from evolake.gates.boundary import Raised, contained, raised_in
from evolake.gates.checkers import Finding, apply
from evolake.gates.rules import Ruleset

VerdictOutcome = Literal["pass", "block", "error", "skip"]
OUTCOMES = get_args(VerdictOutcome)


@dataclass(frozen=True)
class Verdict:
    """`outcome` error means that the gate itself could not judge (its reason says why); it never counts as a
    pass."""

    artifact_id: str
    cycle: str
    gate_no: int
    gate: str
    rule_id: str
    rule_version: str
    ruleset_hash: str
    outcome: VerdictOutcome
    reason: str
    evidence_sha: str | None
    run_id: str

    def __post_init__(self) -> None:
        if self.outcome not in OUTCOMES:
            raise ValueError(f"outcome must be one of {OUTCOMES} (got {self.outcome!r})")

    def row(self) -> dict[str, Any]:
        """Return the verdict as a row of the `verdicts` table."""
        return dict(vars(self))


@dataclass(frozen=True)
class GateResult:
    """One gate on one candidate. evidence: what its rules judged. evidence_sha: its blob, where it is stored.
    reused: it was stored already."""

    gate: str
    verdicts: tuple[Verdict, ...]
    evidence: Mapping[str, Any]
    evidence_sha: str | None = None
    reused: bool = False

    @property
    def passed(self) -> bool:
        """Whether every rule of the gate passed it."""
        return all(verdict.outcome == "pass" for verdict in self.verdicts)

    @property
    def blocked_by(self) -> Verdict | None:
        """The verdict that blocked it; None where it passed."""
        return next((verdict for verdict in self.verdicts if verdict.outcome != "pass"), None)


@dataclass(frozen=True)
class GateResults:
    """A candidate after its gates, in order, as far as it came. accepted: every gate passed it; to be stopped
    early is no pass."""

    artifact_id: str
    results: tuple[GateResult, ...]
    accepted: bool

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Of all gates that it met, in order."""
        return tuple(verdict for result in self.results for verdict in result.verdicts)

    @property
    def blocked_by(self) -> Verdict | None:
        """The verdict that blocked it; None where all it met were passes."""
        return next((verdict for verdict in self.verdicts if verdict.outcome != "pass"), None)

    @property
    def evidence(self) -> dict[str, Mapping[str, Any]]:
        """Gate -> what its rules judged."""
        return {result.gate: result.evidence for result in self.results}


def gate_outcomes(verdicts: Iterable[Mapping[str, Any]], key: str = "artifact_id") -> list[dict[str, Any]]:
    """Return what each gate said of each candidate, from rows of VERDICTS: its id (as `key`), gate, passed,
    and the rule, reason and evidence of a block.
    """
    result: dict[tuple[str, str], dict[str, Any]] = {}
    for verdict in verdicts:
        place = (verdict["artifact_id"], verdict["gate"])
        said = result.setdefault(
            place,
            {
                key: place[0],
                "gate": place[1],
                "passed": True,
                "rule_id": None,
                "reason": None,
                "evidence_sha": None,
            },
        )
        if verdict["outcome"] != "pass" and said["passed"]:
            said |= {
                "passed": False,
                **{name: verdict[name] for name in ("rule_id", "reason", "evidence_sha")},
            }
    return list(result.values())


def passed_gates(verdicts: Iterable[Mapping[str, Any]], gates: Iterable[str]) -> set[str]:
    """Return ids of the candidates that each of `gates` has passed, from rows of VERDICTS; a missing verdict
    is no pass."""
    wanted, passed = set(gates), {}
    for said in gate_outcomes(verdicts):
        if said["passed"]:
            passed.setdefault(said["artifact_id"], set()).add(said["gate"])
    return {artifact_id for artifact_id, names in passed.items() if names >= wanted}


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


Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(work: Callable[[Item], Result], items: Sequence[Item], workers: int) -> list[Result]:
    """Return `work` of each item by at most `workers` threads, in the order of the items. Of what is raised,
    that of the earliest item; what has not begun by then is not begun. One worker is a thread too, so that a
    candidate meets a stack of the same depth however many there are.
    """
    with ThreadPoolExecutor(max_workers=max(1, workers), thread_name_prefix="evolake-candidate") as threads:
        return list(threads.map(work, items))


def in_turn(
    items: Sequence[Item],
    judge_all: Callable[[Sequence[Item]], Sequence[Result]],
    *,
    still: Callable[[Item, Result], Result | None],
    record: Callable[[Item, Result], None],
) -> list[Result]:
    """Return results as if each item were judged and recorded before the next is judged, in the order of the
    items.

    Args:
        judge_all: judges items side by side (`side_by_side`, or the workers of a cluster), each as if it came
            next. Reads what `record` writes.
        still: returns the result as it is under the current state if it is still valid, else None.
        `record`: records for later items what a result changes. Called in order, by this thread.
    """
    results = list(judge_all(items))
    for place, item in enumerate(items):
        valid = still(item, results[place])
        if valid is not None:
            results[place] = valid
        else:
            # Whatever else is outdated by now is judged beside it, so that the workers have more than one
            # item.
            outdated = [
                place,
                *(
                    later
                    for later in range(place + 1, len(items))
                    if still(items[later], results[later]) is None
                ),
            ]
            for number, result in zip(
                outdated, judge_all([items[number] for number in outdated]), strict=True
            ):
                results[number] = result
        record(item, results[place])
    return results
