"""The roles of a study, each with a request type, a prompt file and a classical proposer: a seeded stochastic
replacement for a model, so that the study runs without one.

The proposer is no solver and must not become one: it reads the fields of its request and nothing else, and it
looks at a constraint only if the request says that a core named it. Without feedback it samples the box
uniformly. With a core it starts from the refuted answer and repairs the named constraints one variable at a
time, each step a random named constraint that is broken, a random variable of it and a random value that
repairs it (coordinate repair, in the manner of WalkSAT: Selman, Kautz and Cohen, 1994). Now and then it
claims `unsat`: blindly with a small probability, and with a larger one if the named constraints could not be
repaired together; never again if its request shows that such a claim failed. Of a whole conflict, whose
constraints cannot hold together with some of the answer's values, it leaves one value in each that the
assignment would meet again, and repairs the constraints as those of a core. If a conflict names no value, it
claims `unsat`.

The informed proposer gets no feedback and looks at all constraints: it repairs a uniform sample by the same
procedure. It is the control that separates what feedback is worth from what reading the problem is worth.
Rows of both say `backend = operators`: their rates say how the arms compare for this proposer, and nothing
about any model.

The prompts differ in what they show and in nothing else: task, contract and reply are the same words. Every
value is made from the request. `repair_informed` is `repair_plain` to a model, which reads the constraints in
both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evolake.agents import Role
from evolake.repair.arm_views import (
    Answer,
    CandidateReply,
    ConflictedAttempt,
    ConflictRequest,
    ConstraintView,
    CoreRequest,
    DirectedRequest,
    GenericRequest,
    PlainRequest,
    ProblemView,
    RefutedAttempt,
    Request,
    constraint_of,
    in_words,
    variables_of,
)
from evolake.repair.names import ARMS, INFORMED, NAMED, SHUFFLED, WHOLE_CONFLICT
from evolake.repair.problems import DOMAIN_MARK, Constraint

BLIND_UNSAT = 0.05
DOUBTFUL_UNSAT = 0.5
REPAIR_STEPS = 40
FRESH_DRAWS = 20


def propose_plain(request: PlainRequest, random: np.random.Generator) -> CandidateReply:
    """Return a blind guess."""
    return _guess(request.problem, random, may_claim=True)


def propose_informed(request: PlainRequest, random: np.random.Generator) -> CandidateReply:
    """Return a guess, repaired for all constraints of the problem."""
    guess = _guess(request.problem, random, may_claim=False)
    if guess.assignment is None:
        return guess
    names = [item.id for item in request.problem.constraints]
    return _repaired(
        request.problem, guess.assignment, names, variables_of(request.problem, names), random, may_claim=True
    )


def propose_generic(request: GenericRequest, random: np.random.Generator) -> CandidateReply:
    """Return a guess that repeats no earlier answer."""
    answers = [item.answer for item in request.attempts if item.answer]
    may_claim = all(answer.status == "sat" for answer in answers)
    known = [answer.assignment for answer in answers if answer.assignment]
    reply = _guess(request.problem, random, may_claim=may_claim)
    for _ in range(FRESH_DRAWS):
        if reply.assignment not in known:
            break
        reply = _guess(request.problem, random, may_claim=may_claim)
    return reply


def propose_core(request: CoreRequest, random: np.random.Generator) -> CandidateReply:
    """Return a repair of the newest assignment, for all cores that its chain was shown."""
    base, conflicts, may_claim = _earlier_attempts(request)
    if base is None:
        return _guess(request.problem, random, may_claim=may_claim)
    return _repaired(
        request.problem,
        base,
        conflicts,
        variables_of(request.problem, conflicts),
        random,
        may_claim=may_claim,
    )


def propose_conflict(request: ConflictRequest, random: np.random.Generator) -> CandidateReply:
    """Return a repair of the newest assignment, for all conflicts that its chain was shown: each loses a
    value, and its constraints are repaired."""
    base, conflicts, may_claim = _earlier_attempts(request)
    if base is None:
        return _guess(request.problem, random, may_claim=may_claim)
    excluded = [
        {name: item.answer.assignment[name] for name in item.values}
        for item in request.attempts
        if item.values is not None and item.answer and item.answer.assignment
    ]
    return _repaired(
        request.problem,
        base,
        conflicts,
        variables_of(request.problem, conflicts),
        random,
        may_claim=may_claim,
        excluded=excluded,
    )


def propose_directed(request: DirectedRequest, random: np.random.Generator) -> CandidateReply:
    """Return a repair of the base answer for all recent cores, which moves only what is to be revised."""
    may_claim = not request.unsat_refuted
    if request.base is None or request.base.assignment is None:
        return _guess(request.problem, random, may_claim=may_claim)
    return _repaired(
        request.problem,
        request.base.assignment,
        request.conflicts,
        request.revise,
        random,
        may_claim=may_claim,
    )


def _earlier_attempts(
    request: CoreRequest | ConflictRequest,
) -> tuple[dict[str, int] | None, list[str], bool]:
    """Return (the newest assignment, ids of all constraints in conflict that the chain was shown, whether it
    may still claim that there is no answer)."""
    answers = [item.answer for item in request.attempts if item.answer]
    base = next((answer.assignment for answer in reversed(answers) if answer.assignment), None)
    conflicts = list(dict.fromkeys(name for item in request.attempts for name in item.core))
    return base, conflicts, all(answer.status == "sat" for answer in answers)


def _guess(problem: ProblemView, random: np.random.Generator, *, may_claim: bool) -> CandidateReply:
    if may_claim and random.random() < BLIND_UNSAT:
        return CandidateReply.unsat()
    if any(low > high for low, high in problem.variables.values()):
        return CandidateReply.unsat()
    draws = {name: int(random.integers(low, high + 1)) for name, (low, high) in problem.variables.items()}
    return CandidateReply.sat(draws)


def _repaired(
    problem: ProblemView,
    base: Mapping[str, int],
    conflicts: Sequence[str],
    revise: Sequence[str],
    random: np.random.Generator,
    *,
    may_claim: bool,
    excluded: Sequence[Mapping[str, int]] = (),
) -> CandidateReply:
    """`excluded`: values that must not come together again; {}: that nothing can hold."""
    if may_claim and (random.random() < BLIND_UNSAT or {} in excluded):
        return CandidateReply.unsat()
    assignment, free = dict(base), set(revise)
    for name in conflicts:
        if name.startswith(DOMAIN_MARK):
            _into_domain(problem, name.removeprefix(DOMAIN_MARK), assignment, random)
    named = [item for item in problem.constraints if item.id in set(conflicts)]
    constraints = {item.id: constraint_of(item) for item in named}
    for _ in range(REPAIR_STEPS):
        broken = [item for item in named if not constraints[item.id].holds(assignment)]
        met = [values for values in excluded if values and values.items() <= assignment.items()]
        if not broken and not met:
            break
        place = int(random.integers(len(broken) + len(met)))
        if place < len(broken):
            _mend(problem, broken[place], constraints, free, assignment, random)
        else:
            _leave(problem, met[place - len(broken)], assignment, random)
    else:
        if may_claim and random.random() < DOUBTFUL_UNSAT:
            return CandidateReply.unsat()
    return CandidateReply.sat(assignment)


def _into_domain(
    problem: ProblemView, variable: str, assignment: dict[str, int], random: np.random.Generator
) -> None:
    low, high = problem.variables[variable]
    if low <= high and not low <= assignment[variable] <= high:
        assignment[variable] = int(random.integers(low, high + 1))


def _leave(
    problem: ProblemView, values: Mapping[str, int], assignment: dict[str, int], random: np.random.Generator
) -> None:
    """Move one of the variables to another value of its domain; none if none has another."""
    movable = [name for name in values if problem.variables[name][0] < problem.variables[name][1]]
    if not movable:
        return
    name = movable[int(random.integers(len(movable)))]
    low, high = problem.variables[name]
    drawn = low + int(random.integers(high - low))
    assignment[name] = drawn + (drawn >= values[name])


def _mend(
    problem: ProblemView,
    item: ConstraintView,
    constraints: Mapping[str, Constraint],
    free: set[str],
    assignment: dict[str, int],
    random: np.random.Generator,
) -> None:
    """Move one variable of a broken constraint to a value that fixes it, or as near to one as its domain
    allows."""
    movable = [
        name
        for name, factor in item.coef.items()
        if factor and name in free and problem.variables[name][0] <= problem.variables[name][1]
    ]
    if not movable:
        return
    name = movable[int(random.integers(len(movable)))]
    low, high = problem.variables[name]
    values = range(low, high + 1)
    misses = [
        _miss(constraints[item.id].value({**assignment, name: value}) - item.rhs, item.op) for value in values
    ]
    least = min(misses)
    fits = [value for value, miss in zip(values, misses, strict=True) if miss == least]
    assignment[name] = fits[int(random.integers(len(fits)))]


def _miss(difference: int, op: str) -> int:
    """By how much a constraint is missed; 0 where it holds."""
    if op == "<=":
        return max(0, difference)
    if op == ">=":
        return max(0, -difference)
    return abs(difference)


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


PLAIN = Role("repair_plain", PlainRequest, CandidateReply, propose_plain, values=_plain)
GENERIC_FEEDBACK = Role("repair_generic", GenericRequest, CandidateReply, propose_generic, values=_generic)
CORE_FEEDBACK = Role("repair_core", CoreRequest, CandidateReply, propose_core, values=_core)
CONFLICT_FEEDBACK = Role(
    "repair_conflict", ConflictRequest, CandidateReply, propose_conflict, prompt="repair_core", values=_core
)
INFORMED_PLAIN = Role(
    "repair_informed", PlainRequest, CandidateReply, propose_informed, prompt="repair_plain", values=_plain
)
DIRECTED = Role("repair_directed", DirectedRequest, CandidateReply, propose_directed, values=_directed)
ROLES: dict[str, Role[Any, CandidateReply]] = {
    **dict(zip(ARMS, (PLAIN, PLAIN, GENERIC_FEEDBACK, CORE_FEEDBACK, DIRECTED), strict=True)),
    WHOLE_CONFLICT: CONFLICT_FEEDBACK,
    INFORMED: INFORMED_PLAIN,
    **dict.fromkeys((*NAMED, SHUFFLED), CORE_FEEDBACK),
}


def role_of(arm: str, request: Request) -> Role[Any, CandidateReply]:
    """Return the role that serves an arm. Raises TypeError where the request is one that the arm may not
    make."""
    role = ROLES[arm]
    if type(request) is not role.request:
        raise TypeError(f"arm {arm} may ask with {role.request.__name__} only (got {type(request).__name__})")
    return role
