"""The roles of the study: a request type, its classical proposer and a prompt file each.

The prompts differ in what they show and in nothing else: task, contract and reply are the same words. Every
value of a prompt is made from the request. `repair_informed` is `repair_plain` to a model, which reads the
constraints in both; only the operators distinguish them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evolake.agents import Role
from evolake.repair.arms import operators
from evolake.repair.arms.views import (
    Answer,
    CandidateReply,
    ConflictedAttempt,
    ConflictRequest,
    CoreRequest,
    DirectedRequest,
    GenericRequest,
    PlainRequest,
    ProblemView,
    RefutedAttempt,
    Request,
    in_words,
)
from evolake.repair.names import ARMS, INFORMED, WHOLE_CONFLICT

GENERIC = "the previous assignment did not satisfy all constraints"
NOT_CERTIFIED = "the previous answer was not certified"
UNREADABLE = "the previous answer could not be read"


def _problem(problem: ProblemView) -> dict[str, Any]:
    variables = [f"{low} <= {name} <= {high}, integer" for name, (low, high) in problem.variables.items()]
    return {
        "variables": variables,
        "constraints": [in_words(problem, item.id) for item in problem.constraints] or ["none"],
    }


def _answer_text(answer: Answer | None) -> str:
    if answer is None:
        return "(unreadable)"
    return (
        "unsat"
        if answer.assignment is None
        else ", ".join(f"{name}={value}" for name, value in answer.assignment.items())
    )


def _plain(request: Any) -> Mapping[str, Any]:
    return _problem(request.problem)


def _generic(request: Any) -> Mapping[str, Any]:
    def said(answer: Answer | None) -> str:
        if answer is None:
            return UNREADABLE
        if answer.assignment is None:
            return NOT_CERTIFIED
        return GENERIC

    attempts = [f"{_answer_text(item.answer)}: {said(item.answer)}" for item in request.attempts]
    return _problem(request.problem) | {"attempts": attempts or ["none so far"]}


def _core(request: Any) -> Mapping[str, Any]:
    attempts = [
        f"{_answer_text(item.answer)}: {_refuted(request.problem, item)}" for item in request.attempts
    ]
    return _problem(request.problem) | {"attempts": attempts or ["none so far"]}


def _refuted(problem: ProblemView, item: RefutedAttempt) -> str:
    if item.outcome == "unreadable":
        return UNREADABLE
    if item.core:
        return (
            f"the solver refuted it; {_why(item)}: {'; '.join(in_words(problem, name) for name in item.core)}"
        )
    return "the solver refuted it: the problem is satisfiable" if item.outcome == "refuted" else NOT_CERTIFIED


def _why(item: RefutedAttempt) -> str:
    """Return what the constraints named after it are."""
    if (
        not isinstance(item, ConflictedAttempt)
        or item.values is None
        or item.answer is None
        or item.answer.assignment is None
    ):
        return "violated"
    values = ", ".join(f"{name}={item.answer.assignment[name]}" for name in item.values)
    many = "all of" if len(item.core) > 1 else "the constraint"
    return f"no assignment {f'with {values}' if values else 'within the domains'} satisfies {many}"


def _directed(request: Any) -> Mapping[str, Any]:
    return _problem(request.problem) | {
        "base": _answer_text(request.base) if request.base else "none yet",
        "conflicts": [in_words(request.problem, name) for name in request.conflicts] or ["none so far"],
        "revise": ", ".join(request.revise) or "any variable",
        "keep": ", ".join(request.keep) or "none",
        "claims": "A claim `unsat` was refuted: the problem is satisfiable."
        if request.unsat_refuted
        else "No claim `unsat` has been refuted.",
    }


PLAIN = Role("repair_plain", PlainRequest, CandidateReply, operators.propose_plain, values=_plain)
GENERIC_FEEDBACK = Role(
    "repair_generic", GenericRequest, CandidateReply, operators.propose_generic, values=_generic
)
CORE_FEEDBACK = Role("repair_core", CoreRequest, CandidateReply, operators.propose_core, values=_core)
CONFLICT_FEEDBACK = Role(
    "repair_conflict",
    ConflictRequest,
    CandidateReply,
    operators.propose_conflict,
    prompt="repair_core",
    values=_core,
)
INFORMED_PLAIN = Role(
    "repair_informed",
    PlainRequest,
    CandidateReply,
    operators.propose_informed,
    prompt="repair_plain",
    values=_plain,
)
DIRECTED = Role(
    "repair_directed", DirectedRequest, CandidateReply, operators.propose_directed, values=_directed
)
ROLES: dict[str, Role[Any, CandidateReply]] = {
    **dict(zip(ARMS, (PLAIN, PLAIN, GENERIC_FEEDBACK, CORE_FEEDBACK, DIRECTED), strict=True)),
    WHOLE_CONFLICT: CONFLICT_FEEDBACK,
    INFORMED: INFORMED_PLAIN,
}


def role_of(arm: str, request: Request) -> Role[Any, CandidateReply]:
    """Return the role that serves an arm. Raises TypeError where the request is one that the arm may not
    make."""
    role = ROLES[arm]
    if type(request) is not role.request:
        raise TypeError(f"arm {arm} may ask with {role.request.__name__} only (got {type(request).__name__})")
    return role
