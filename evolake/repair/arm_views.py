"""What each arm may see: one request type an arm's feedback, and nothing else gets into a prompt.

The information barrier is in these types. A certification is reduced to what an arm may remember by
`arm_states` the moment it is made; the requests below are built from that memory alone, and both the prompt
of a model and the classical operators read the request alone. Label, seed, id, size of the core, list of all
violations and counter-model have no field here.

    PlainRequest       the problem (one_shot, multi_no_feedback, multi_no_feedback_informed)
    GenericRequest     and its own earlier answers, each with the fact that it failed
                           (multi_generic_feedback)
    CoreRequest        and for each the core that refuted it, in words (multi_unsat_core_feedback), or what
                           a control names in its place
    ConflictRequest    and for each the whole conflict that refuted it, in words
                           (multi_whole_conflict_feedback)
    DirectedRequest    one base answer, recent cores, what to revise and what to keep (cd_vgs_core_rank)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, StrictInt

from evolake.repair.problems import DOMAIN_MARK, Constraint, Problem

Outcome = Literal["refuted", "undecided", "unreadable"]


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ConstraintView(Model):
    """One constraint: `coef` maps variables to coefficients."""

    id: str
    coef: dict[str, int]
    op: str
    rhs: int


class ProblemView(Model):
    """A problem without its id, label and seed."""

    variables: dict[str, tuple[int, int]]
    constraints: tuple[ConstraintView, ...]


class Answer(Model):
    """A well-formed earlier answer. `assignment` is None for the claim `unsat`."""

    status: Literal["sat", "unsat"]
    assignment: dict[str, int] | None = None


class FailedAttempt(Model):
    """An earlier answer, None where it could not be read, and the fact that it was not certified."""

    answer: Answer | None


class RefutedAttempt(Model):
    """An earlier answer with the core that refuted it: ids of constraints and bounds; empty if none can be
    shown."""

    answer: Answer | None
    outcome: Outcome
    core: tuple[str, ...] = ()


class ConflictedAttempt(RefutedAttempt):
    """An earlier answer with the conflict that refuted it: `values` are variables whose values in the answer
    cannot hold together with `core`. None if the core is a violated constraint, as in a `RefutedAttempt`."""

    values: tuple[str, ...] | None = None


class PlainRequest(Model):
    problem: ProblemView


class GenericRequest(Model):
    problem: ProblemView
    attempts: tuple[FailedAttempt, ...] = ()


class CoreRequest(Model):
    problem: ProblemView
    attempts: tuple[RefutedAttempt, ...] = ()


class ConflictRequest(Model):
    problem: ProblemView
    attempts: tuple[ConflictedAttempt, ...] = ()


class DirectedRequest(Model):
    """`base` is the refuted answer to start from, None before there is one; `conflicts` are ids of the recent
    cores' members."""

    problem: ProblemView
    base: Answer | None = None
    conflicts: tuple[str, ...] = ()
    revise: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    unsat_refuted: bool = Field(default=False, description="an earlier claim `unsat` was refuted")


Request = PlainRequest | GenericRequest | CoreRequest | ConflictRequest | DirectedRequest


class SatReply(BaseModel):
    """An integer for every variable."""

    model_config = ConfigDict(extra="forbid")
    status: Literal["sat"]
    assignment: dict[str, StrictInt]


class UnsatReply(BaseModel):
    """The claim that no assignment exists."""

    model_config = ConfigDict(extra="forbid")
    status: Literal["unsat"]


class CandidateReply(RootModel[SatReply | UnsatReply]):
    """A candidate. Two forms and no optional field: a server that holds a model to the schema holds it to the
    contract."""

    @classmethod
    def sat(cls, assignment: dict[str, int]) -> CandidateReply:
        """Return an assignment."""
        return cls(SatReply(status="sat", assignment=assignment))

    @classmethod
    def unsat(cls) -> CandidateReply:
        """Return the claim `unsat`."""
        return cls(UnsatReply(status="unsat"))

    @property
    def assignment(self) -> dict[str, int] | None:
        """The assignment, None for the claim `unsat`."""
        return self.root.assignment if isinstance(self.root, SatReply) else None

    @property
    def status(self) -> str:
        """Return "sat" or "unsat"."""
        return self.root.status

    def as_object(self) -> dict[str, Any]:
        """Return the candidate as decoded JSON."""
        return self.root.model_dump()


def view_of(problem: Problem) -> ProblemView:
    """Return what every arm sees of a problem."""
    return ProblemView(
        variables={item.name: (item.low, item.high) for item in problem.variables},
        constraints=tuple(
            ConstraintView(id=item.id, coef=dict(item.terms), op=item.op, rhs=item.rhs)
            for item in problem.constraints
        ),
    )


def variables_of(problem: ProblemView, ids: Iterable[str]) -> tuple[str, ...]:
    """Return variables that the named constraints and bounds mention, in the problem's order."""
    wanted = set(ids)
    named = {name.removeprefix(DOMAIN_MARK) for name in wanted if name.startswith(DOMAIN_MARK)}
    named.update(
        name
        for item in problem.constraints
        if item.id in wanted
        for name, factor in item.coef.items()
        if factor
    )
    return tuple(name for name in problem.variables if name in named)


def in_words(problem: ProblemView, name: str) -> str:
    """Return a constraint or bound as a line of text.

    >>> view = ProblemView(variables={"x1": (0, 9)}, constraints=(ConstraintView(id="c1", coef={"x1": -2}, op="<=", rhs=3),))
    >>> in_words(view, "c1"), in_words(view, "dom:x1")
    ('c1: -2*x1 <= 3', 'dom:x1: 0 <= x1 <= 9')
    """
    if name.startswith(DOMAIN_MARK):
        variable = name.removeprefix(DOMAIN_MARK)
        low, high = problem.variables[variable]
        return f"{name}: {low} <= {variable} <= {high}"
    item = next(item for item in problem.constraints if item.id == name)
    return f"{name}: {left_side(item.coef)} {item.op} {item.rhs}"


def left_side(coef: dict[str, int]) -> str:
    """Return a sum as people write it.

    >>> left_side({"x1": 1, "x2": -4, "x3": 0})
    'x1 - 4*x2'
    """
    text = ""
    for name, factor in coef.items():
        if factor:
            size = name if abs(factor) == 1 else f"{abs(factor)}*{name}"
            if text:
                sign = f" {'-' if factor < 0 else '+'} "
            elif factor < 0:
                sign = "-"
            else:
                sign = ""
            text += sign + size
    return text or "0"


def constraint_of(item: ConstraintView) -> Constraint:
    """Return the constraint that a view shows."""
    return Constraint(item.id, tuple(item.coef.items()), item.op, item.rhs)
