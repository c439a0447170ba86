"""The post-mortem analyst and the rule writer: their classical answers, and the analyst as a session, which
reads whole diffs, what the gates said and the sources by tools; it has no classical answer.

Operators group incidents by what their variants changed: an edit that fell at one gate, or that lost
instances, is a finding; so is one that gained. The rule of a finding covers the values that failed and no
value that an accepted variant has. If no such range exists, the finding gives no rule, only advice. A
champion's edit becomes a rule only when a child that dropped it failed. What a learned rule blocked teaches
nothing beyond that rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import Field

from evolake.agents.roles import Role
from evolake.agents.session_roles import session_role
from evolake.solvers.roles.models import RESEARCH_GOAL, SHORT_ID, EditModel, RoleMessage
from evolake.solvers.roles.review_models import (
    AnalysisReply,
    AnalysisRequest,
    Finding,
    Incident,
    RuleReply,
    RuleRequest,
)
from evolake.solvers.roles.shown import families_text, stated
from evolake.solvers.rules.learned import PREFIX

FORBIDDEN_EDIT, KEPT_EDIT = "solvers.forbidden_edit", "solvers.kept_edit"
MOST_FINDINGS = 6
WIDER = 0.1


def analyse(request: AnalysisRequest, random: np.random.Generator) -> AnalysisReply:
    """Return one finding for each (base, changed edit, kind of incident), those with most evidence first."""
    groups: dict[tuple[str, str, str, str], list[Incident]] = {}
    for incident in (item for item in request.incidents if not item.cause.startswith(PREFIX)):
        for key in incident.changed or [""]:
            groups.setdefault((incident.base, key, incident.kind, incident.gate), []).append(incident)
    ranked = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    findings = [
        _finding(base, key, kind, gate, incidents) for (base, key, kind, gate), incidents in ranked if key
    ][:MOST_FINDINGS]
    counts = {
        kind: sum(item.kind == kind for item in request.incidents)
        for kind in ("blocked", "regressed", "improved")
    }
    return AnalysisReply(
        assessment=f"Cycle {request.cycle}: {request.accepted} accepted, "
        + ", ".join(f"{number} {kind}" for kind, number in counts.items())
        + ".",
        findings=findings,
    )


def write_rule(request: RuleRequest, random: np.random.Generator) -> RuleReply:
    """Return a range of the edit's values that failed (forbidden, failure), or that children keep the edit
    (champion)."""
    finding = request.finding
    kind, _, name = finding.subject.partition(":")
    incidents = [item for item in request.incidents if item.variant_id in finding.evidence]
    base = incidents[0].base if incidents else ""
    advice = RuleReply(
        name=_slug(finding.title),
        lesson=finding.lesson,
        check="",
        rationale=finding.explanation,
        evidence=finding.evidence,
    )
    if not name or not incidents:
        return advice
    if finding.lesson == "champion":
        dropped_it = [
            item.variant_id
            for item in request.incidents
            if finding.subject in item.lost and item.kind != "improved"
        ]
        rule = {"check": KEPT_EDIT, "parameters": {"edit": name, "base": base}, "evidence": dropped_it}
        return advice.model_copy(update=rule) if dropped_it else advice
    failed = [edit for item in incidents for edit in item.edits if edit.name == name and edit.kind == kind]
    accepted = [
        edit for edits in request.accepted for edit in edits if edit.name == name and edit.kind == kind
    ]
    ranges = free_ranges(failed, accepted)
    if ranges is None:
        return advice
    return advice.model_copy(
        update={"check": FORBIDDEN_EDIT, "parameters": {"edit": name, "parameters": ranges, "base": base}}
    )


def free_ranges(failed: Sequence[EditModel], accepted: Sequence[EditModel]) -> dict[str, list[float]] | None:
    """Return ranges that hold every failed edit, a tenth wider, and no accepted one; without accepted ones no
    range is needed ({}: the edit as such).

    None if nothing failed, or an accepted edit is between the failed ones.
    """
    if not failed:
        return None
    if not accepted:
        return {}
    boxes = {name: (min(values), max(values)) for name, values in _values(failed).items()}
    for slack in (WIDER, 0.0):
        box = {
            name: [low - slack * abs(low), high + slack * abs(high)] for name, (low, high) in boxes.items()
        }
        if not any(_inside(edit, box) for edit in accepted):
            return {
                name: [float(f"{bound:.6g}") if slack else bound for bound in bounds]
                for name, bounds in box.items()
            }
    return None


def _values(edits: Sequence[EditModel]) -> dict[str, list[float]]:
    result: dict[str, list[float]] = {}
    for edit in edits:
        for name, value in edit.parameters.items():
            result.setdefault(name, []).append(float(value))
    return result


def _inside(edit: EditModel, box: Mapping[str, Sequence[float]]) -> bool:
    return all(
        name in edit.parameters and box[name][0] <= float(edit.parameters[name]) <= box[name][1]
        for name in box
    )


def _finding(base: str, key: str, kind: str, gate: str, incidents: Sequence[Incident]) -> Finding:
    name = key.partition(":")[2]
    causes = ", ".join(sorted({item.cause for item in incidents if item.cause}))[:300]
    evidence = [item.variant_id for item in incidents]
    if kind == "improved":
        return Finding(
            title=f"{name} helps {base}"[:120],
            lesson="champion",
            subject=key[:120],
            evidence=evidence,
            explanation=f"{len(incidents)} variants with {name} did better than their parents. {causes}".strip(),
        )
    lesson = "forbidden" if gate in ("compliance", "build") else "failure"
    what = f"was blocked at {gate}" if kind == "blocked" else "did worse than the parent"
    return Finding(
        title=f"{name} on {base} {what}"[:120],
        lesson=lesson,
        subject=key[:120],
        evidence=evidence,
        explanation=f"{len(incidents)} variants that changed {name} fell so. {causes}".strip(),
    )


def _slug(text: str) -> str:
    return (
        "-".join("".join(letter if letter.isalnum() else " " for letter in text.lower()).split())[:48].strip(
            "-"
        )
        or "unnamed"
    )


def incident_head(item: Incident) -> str:
    """Return an incident in one line: who, where, why."""
    return (
        f"{item.variant_id} ({item.base}): {item.kind} at "
        f"{item.gate}{f' ({item.cause})' if item.cause else ''}"
    )


def _incident_text(item: Incident) -> str:
    return f"{incident_head(item)}\nfor: {item.hypothesis}\nsaid: {item.detail}\n{item.diff}".rstrip()


def _analysis_values(request: AnalysisRequest) -> Mapping[str, Any]:
    return {
        name: getattr(request, name) for name in ("goal", "cycle", "accepted", "earlier_findings")
    } | stated(
        {
            "incidents": "\n\n".join(_incident_text(item) for item in request.incidents),
            "champion": request.champion,
            "contests": "\n".join(request.contests),
            "families": families_text(request.families),
            "attempts": request.attempts,
        }
    )


def _rule_values(request: RuleRequest) -> Mapping[str, Any]:
    """Return the request with the incidents that the finding rests on, and of a champion's finding also those
    that failed."""
    champion = request.finding.lesson == "champion"
    named = [
        item
        for item in request.incidents
        if item.variant_id in request.finding.evidence or (champion and item.kind != "improved")
    ]
    return {
        "goal": request.goal,
        "finding": request.finding.model_dump(mode="json"),
        "rules": request.rules,
        "incidents": "\n\n".join(_incident_text(item) for item in named or request.incidents),
        "checkers": "\n".join(f"{item.name}: {item.meaning}" for item in request.checkers),
    }


def findings_fault(request: AnalysisRequest, reply: AnalysisReply) -> str:
    """Return which findings name no incident of the cycle, so that nothing could be done with them; "" if
    none."""
    known = {item.variant_id for item in request.incidents}
    faults = [
        f"finding {number} names no incident of this cycle in `evidence`; there are "
        f"{', '.join(sorted(known))}"
        for number, item in enumerate(reply.findings, start=1)
        if not known & {name[:SHORT_ID] for name in item.evidence}
    ]
    return "; ".join(faults)


ANALYST = Role(
    "solvers_analyst", AnalysisRequest, AnalysisReply, analyse, values=_analysis_values, fault=findings_fault
)
RULE_WRITER = Role("solvers_rule_writer", RuleRequest, RuleReply, write_rule, values=_rule_values)


class IncidentCard(RoleMessage):
    """An incident by its files in the workspace."""

    variant_id: str
    base: str
    kind: str
    gate: str
    cause: str
    files: list[str]


class AnalysisSessionRequest(RoleMessage):
    """What the session is for, and what it starts from."""

    goal: str = RESEARCH_GOAL
    cycle: str
    incidents: list[IncidentCard]
    accepted: int = Field(description="variants that passed all gates")
    earlier_findings: list[str]
    champion: str = Field(default="", description="short id of the champion after this cycle's contests")
    contests: list[str] = Field(default_factory=list, description="contests in words, this cycle's last")
    sources: list[str] = Field(
        description="folders with the sources of the solvers that the variants descend from"
    )


def _prompt_values(request: AnalysisSessionRequest) -> dict[str, Any]:
    heads = [
        f"{item.variant_id} ({item.base}): {item.kind} at "
        f"{item.gate}{f' ({item.cause})' if item.cause else ''}"
        for item in request.incidents
    ]
    return {
        name: getattr(request, name) for name in ("goal", "cycle", "accepted", "earlier_findings", "sources")
    } | stated(
        {"incidents": "\n".join(heads), "champion": request.champion, "contests": "\n".join(request.contests)}
    )


ANALYST_SESSION = session_role(
    "solvers_analyst_session",
    AnalysisSessionRequest,
    AnalysisReply,
    setting="EVOLAKE_SOLVERS__ANALYST",
    values=_prompt_values,
)
"""What one cycle teaches, from its files."""
