"""Find a whole conflict of a refuted assignment: constraints that cannot hold together with some of its
values, none of them to spare.

The core that `certifier` gives is a violated constraint: the assignment is asserted as a whole, and one
constraint is enough to contradict it. Here the assignment's values are members of the conflict like the
constraints, and are the first to go. What stays are several constraints if they exclude a value only
together, perhaps some that the assignment itself satisfies: with x1=5, both c1: x1 + x2 >= 8 and c2: x1 - x2
>= 3 can hold, but not together. Domains hold throughout and are not members, but for a value outside its own
domain, which is a conflict with that bound.

A conflict without any value would say that the problem has no solution, which is what a claim `unsat` is to
find out. So it is sought among constraints that can hold together: all of them in a satisfiable problem, else
as many as can be added, one after the other, to one that the assignment violates. There is none only if each
violated constraint is out of reach within the domains by itself.

Solver and enumeration must agree on each conflict before anyone sees it (`agrees`). Which of several
conflicts is found follows from a hash of the assignment, as in `certifier`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from evolake.errors import MachineryError
from evolake.repair.certifier import (
    REFUTED,
    VALUE_MARK,
    Certification,
    Certifier,
    Conflicts,
    minimal_core,
    shuffled,
)
from evolake.repair.labels import MAX_VISITS, enumerate_feasible
from evolake.repair.problems import Claim, Malformed, Problem, Variable


@dataclass(frozen=True)
class Conflict:
    """`constraints`: ids of constraints, or the one bound that a value is outside of. `values`: variables
    whose values belong to the conflict."""

    constraints: tuple[str, ...]
    values: tuple[str, ...]


def certify_whole(certifier: Certifier, problem: Problem, candidate: Claim | Malformed) -> Certification:
    """Do as `Certifier.certify`, but the core of a refuted assignment is a whole conflict, with its `values`.

    If none was found and agreed on within the limits, the core is the one that `certify` gives and `values`
    is None; the reason says so.

    Raises:
        MachineryError: as `certify`, and where solver and enumeration disagree about the conflict.
    """
    result = certifier.certify(problem, candidate)
    if result.verdict != REFUTED or not isinstance(candidate, Claim) or candidate.assignment is None:
        return result
    conflict = find_conflict(certifier, problem, candidate.assignment)
    if conflict is None:
        return replace(result, reason=f"{result.reason}; no whole conflict was agreed on within the limits")
    return replace(
        result,
        core=conflict.constraints,
        values=conflict.values,
        reason=_in_words(conflict, candidate.assignment),
    )


def find_conflict(
    certifier: Certifier, problem: Problem, assignment: Mapping[str, int], *, max_visits: int = MAX_VISITS
) -> Conflict | None:
    """Return a minimal conflict of an assignment that breaks some constraint or bound; None where solver or
    enumeration do not know within their limits.

    Raises:
        MachineryError: solver and enumeration disagree.
    """
    outside = {
        item.name: item for item in problem.variables if not item.low <= assignment[item.name] <= item.high
    }
    if outside:
        item = outside[shuffled(outside, assignment)[0]]
        return Conflict((item.bound_id,), () if item.low > item.high else (item.name,))
    with certifier.assuming(problem, assignment) as conflicts:
        result = _minimal(problem, assignment, conflicts)
    return result if result and agrees(problem, assignment, result, max_visits=max_visits) else None


def agrees(
    problem: Problem, assignment: Mapping[str, int], conflict: Conflict, *, max_visits: int = MAX_VISITS
) -> bool:
    """Return whether the interval enumeration, which shares nothing with the solver, finds the same: no
    solution of the conflict, one without each member.

    Args:
        conflict: of constraints alone, not of a bound.
        max_visits: partial assignments that each enumeration may look at; where that is not enough, the
            answer is False.

    Raises:
        MachineryError: it finds the contrary.
    """
    members = [*conflict.constraints, *(VALUE_MARK + name for name in conflict.values)]
    for dropped in (None, *members):
        kept = [name for name in members if name != dropped]
        try:
            feasible = enumerate_feasible(_part(problem, assignment, kept), max_visits=max_visits)
        except ValueError:  # too large for its arithmetic
            return False
        if feasible is None:
            return False
        if feasible != (dropped is not None):
            raise MachineryError(
                f"Z3 and the enumeration disagree about problem {problem.id}",
                wanted=f"no solution of {', '.join(members)}, but one of each part",
                got=f"{'a' if feasible else 'no'} solution of {', '.join(kept)} with {dict(assignment)}",
                do="keep the problem and report it",
            )
    return True


def _minimal(problem: Problem, assignment: Mapping[str, int], conflicts: Conflicts) -> Conflict | None:
    bounds = [item.bound_id for item in problem.variables]

    def ask(part: Sequence[str]) -> bool | None:
        return conflicts([*bounds, *part])

    names = shuffled([item.id for item in problem.constraints], assignment)
    violated = set(problem.violated(assignment))
    together = names if ask(names) is False else _grown(names, violated, ask)
    if not together:
        alone = [name for name in names if name in violated and ask([name])]
        return Conflict((alone[0],), ()) if alone else None
    core = minimal_core([*together, *(VALUE_MARK + name for name in shuffled(assignment, assignment))], ask)
    if not core.minimal:
        return None
    return Conflict(
        tuple(item.id for item in problem.constraints if item.id in core.members),
        tuple(item.name for item in problem.variables if VALUE_MARK + item.name in core.members),
    )


def _grown(names: Sequence[str], violated: Collection[str], ask: Conflicts) -> list[str]:
    """Constraints that can hold together, the first of them violated; [] if no violated one can hold by
    itself, or the solver does not know."""
    first = next((name for name in names if name in violated and ask([name]) is False), None)
    if first is None:
        return []
    together = [first]
    for name in names:
        if name != first and ask([*together, name]) is False:
            together.append(name)
    return together


def _part(problem: Problem, assignment: Mapping[str, int], kept: Collection[str]) -> Problem:
    """Return the problem with the named constraints alone, the variables that occur in them, and the named
    values in place of their domains."""
    constraints = tuple(
        replace(item, terms=tuple((name, factor) for name, factor in item.terms if factor))
        for item in problem.constraints
        if item.id in kept
    )
    occurring = {name for item in constraints for name, _ in item.terms}
    variables = tuple(
        _held(item, assignment) if VALUE_MARK + item.name in kept else item
        for item in problem.variables
        if item.name in occurring
    )
    return replace(problem, variables=variables, constraints=constraints)


def _held(variable: Variable, assignment: Mapping[str, int]) -> Variable:
    return replace(variable, low=assignment[variable.name], high=assignment[variable.name])


def _in_words(conflict: Conflict, assignment: Mapping[str, int]) -> str:
    constraints = ", ".join(conflict.constraints)
    if not conflict.values:
        return f"no assignment within the domains satisfies {constraints}"
    values = ", ".join(f"{name}={assignment[name]}" for name in conflict.values)
    return f"no assignment with {values} satisfies {constraints}"
