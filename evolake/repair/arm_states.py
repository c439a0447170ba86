"""The arms: what each remembers of a certification, what it asks next, and in which order it has candidates
certified.

All arms but `one_shot` are compute-matched: the same K candidates in each of R rounds, the same parser,
sampling and time limits. They differ in what a round carries forward, and `cd_vgs_core_rank` in how it spends
the same budget:

    multi_no_feedback               nothing: every call has the same prompt
    multi_generic_feedback          K chains; each call sees the earlier answers of its chain, and that they
                                    failed
    multi_unsat_core_feedback       K chains; each call sees the earlier answers of its chain, each with its
                                    core
    cd_vgs_core_rank                all K calls of a round start from one base answer and see the cores of all
                                    candidates of recent rounds: their variables are to be revised and the
                                    others kept. Candidates that do so are certified first (`core_rank`)

Not in the paper are controls, and two that are opt-in:

    multi_no_feedback_informed      as multi_no_feedback, but the operators read the constraints, as a model
                                    does in either
    multi_random_constraint_feedback, multi_violated_constraint_feedback, multi_all_constraints_feedback
                                    as multi_unsat_core_feedback, in the same words, but what is named as the
                                    core is not the solver's: a constraint drawn by chance (a placebo), one
                                    that the answer violates, by arithmetic alone, or all constraints
    multi_shuffled_feedback         as multi_unsat_core_feedback, but the core is that of another problem, of
                                    the same values in its variables (a placebo); opt-in
    multi_whole_conflict_feedback   as multi_unsat_core_feedback, but each earlier answer comes with a whole
                                    conflict (`conflicts`); opt-in

`one_shot` is one call without feedback, for reference. The feedback arms all see the earlier answers, so that
they differ in the solver's word alone. Source of the five: the working paper "Solver-grounded verifiable
reasoning", section 03, "Five arms, matched compute".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from evolake.errors import InputError
from evolake.repair.arm_views import (
    Answer,
    ConflictedAttempt,
    ConflictRequest,
    CoreRequest,
    DirectedRequest,
    FailedAttempt,
    GenericRequest,
    Outcome,
    PlainRequest,
    ProblemView,
    RefutedAttempt,
    Request,
    constraint_of,
    variables_of,
    view_of,
)
from evolake.repair.certifier import MALFORMED, REFUTED, Certification, minimal_core, shuffled
from evolake.repair.names import ARMS, INFORMED, NAMED, SHUFFLED, WHOLE_CONFLICT
from evolake.repair.problems import DOMAIN_MARK, Claim, Malformed, Problem

RECENT_ROUNDS = 2

Candidate = Claim | Malformed
Attempt = TypeVar("Attempt")


@dataclass(frozen=True)
class Judged:
    """A candidate that was certified or refuted: `slot` is its place among the K of the round."""

    slot: int
    candidate: Candidate
    certification: Certification


class Arm(ABC):
    """One arm on one problem: a memory that holds only what the arm may see."""

    def __init__(self, view: ProblemView):
        self._view = view

    @abstractmethod
    def request(self, slot: int) -> Request:
        """Return what call `slot` of the next round is asked."""

    @abstractmethod
    def observe(self, judged: Sequence[Judged]) -> None:
        """Record a round in which nothing was certified, in the order of certification."""

    def order(self, candidates: Sequence[Candidate]) -> list[int]:
        """Return slots in the order in which they go to the certifier: as proposed."""
        return list(range(len(candidates)))


class NoFeedback(Arm):
    """Independent sampling."""

    def request(self, slot: int) -> Request:
        """Return the request for call `slot`: the problem alone."""
        return PlainRequest(problem=self._view)

    def observe(self, judged: Sequence[Judged]) -> None:
        """Nothing is carried forward."""


class Chained(Arm, Generic[Attempt]):
    """K chains, each with its earlier attempts."""

    def __init__(self, view: ProblemView):
        super().__init__(view)
        self._chains: dict[int, tuple[Attempt, ...]] = {}

    def observe(self, judged: Sequence[Judged]) -> None:
        """Record a round of judged answers, each in its chain."""
        for item in judged:
            self._chains[item.slot] = (
                *self._chain(item.slot),
                self.attempt(_answer(item.candidate), item.certification),
            )

    @abstractmethod
    def attempt(self, answer: Answer | None, result: Certification) -> Attempt:
        """Return what the chain knows of an answer that was refuted."""

    def _chain(self, slot: int) -> tuple[Attempt, ...]:
        return self._chains.get(slot, ())


class GenericFeedback(Chained[FailedAttempt]):
    """K chains that know their earlier answers and that they failed."""

    def request(self, slot: int) -> Request:
        """Return the request for call `slot`: the problem and the earlier answers of its chain."""
        return GenericRequest(problem=self._view, attempts=self._chain(slot))

    def attempt(self, answer: Answer | None, result: Certification) -> FailedAttempt:
        """Return an earlier answer as later requests show it: without a reason."""
        return FailedAttempt(answer=answer)


class CoreFeedback(Chained[RefutedAttempt]):
    """K chains that know their earlier answers and the core that refuted each."""

    def request(self, slot: int) -> Request:
        """Return the request for call `slot`: the problem and the earlier answers of its chain with their
        cores."""
        return CoreRequest(problem=self._view, attempts=self._chain(slot))

    def attempt(self, answer: Answer | None, result: Certification) -> RefutedAttempt:
        """Return an earlier answer as later requests show it: with its unsatisfiable core."""
        return RefutedAttempt(answer=answer, outcome=_outcome(result), core=result.core)


class NamedFeedback(CoreFeedback):
    """K chains as those of `CoreFeedback`; `named` chooses what stands in the place of a core."""

    def attempt(self, answer: Answer | None, result: Certification) -> RefutedAttempt:
        """Return an earlier answer with what is named in the place of its core."""
        shown = super().attempt(answer, result)
        if shown.outcome != "refuted" or answer is None or answer.assignment is None:
            return shown
        return shown.model_copy(update={"core": tuple(self.named(answer.assignment))})

    @abstractmethod
    def named(self, assignment: Mapping[str, int]) -> Sequence[str]:
        """Return ids of constraints."""

    def _ids(self, assignment: Mapping[str, int]) -> list[str]:
        return shuffled([item.id for item in self._view.constraints], assignment)


class RandomNamed(NamedFeedback):
    """Names a constraint that has nothing to do with the answer."""

    def named(self, assignment: Mapping[str, int]) -> Sequence[str]:
        """Return one constraint, by a hash of the assignment."""
        return self._ids(assignment)[:1]


class Shuffled(NamedFeedback):
    """Names what the solver would have said of the same answer to another problem."""

    def __init__(self, view: ProblemView, other: Problem):
        super().__init__(view)
        self._other = other

    def named(self, assignment: Mapping[str, int]) -> Sequence[str]:
        """Return the members at the places that the core has in the other problem; none if the answer solves
        it."""
        values = list(assignment.values())
        moved = {item.name: values[place % len(values)] for place, item in enumerate(self._other.variables)}
        violated, theirs = self._other.violated(moved), members(view_of(self._other))
        if not violated:
            return ()
        core = minimal_core(shuffled(theirs, moved), lambda part: not set(violated).isdisjoint(part))
        return [name for core_name in core.members for name in self._placed(core_name, theirs)]

    def _placed(self, name: str, theirs: Sequence[str]) -> list[str]:
        """Return the constraint, or bound, at the place of another problem's constraint, or bound."""
        alike = [
            [item for item in some if item.startswith(DOMAIN_MARK) == name.startswith(DOMAIN_MARK)]
            for some in (theirs, members(self._view))
        ]
        return alike[1][alike[0].index(name) % len(alike[1]) :][:1] if alike[1] else []


class OneViolated(NamedFeedback):
    """Names what anyone who reads the problem can find."""

    def named(self, assignment: Mapping[str, int]) -> Sequence[str]:
        """Return one bound or constraint that the assignment violates."""
        outside = [
            DOMAIN_MARK + name
            for name, (low, high) in self._view.variables.items()
            if not low <= assignment[name] <= high
        ]
        broken = {item.id for item in self._view.constraints if not constraint_of(item).holds(assignment)}
        return [*outside, *(name for name in self._ids(assignment) if name in broken)][:1]


class AllNamed(NamedFeedback):
    """Names every constraint."""

    def named(self, assignment: Mapping[str, int]) -> Sequence[str]:
        """Return all constraints."""
        return self._ids(assignment)


class WholeConflictFeedback(Chained[ConflictedAttempt]):
    """K chains that know their earlier answers and a whole conflict that refuted each."""

    def request(self, slot: int) -> Request:
        """Return the request for call `slot`: the problem and the earlier answers of its chain with their
        conflicts."""
        return ConflictRequest(problem=self._view, attempts=self._chain(slot))

    def attempt(self, answer: Answer | None, result: Certification) -> ConflictedAttempt:
        """Return an earlier answer as later requests show it: with the core and its values."""
        return ConflictedAttempt(
            answer=answer, outcome=_outcome(result), core=result.core, values=result.values
        )


class CoreRank(Arm):
    """Conflict-directed search: one base answer, the union of recent cores, candidates ranked by it."""

    def __init__(self, view: ProblemView):
        super().__init__(view)
        self._base: Claim | None = None
        self._recent: list[tuple[str, ...]] = []
        self._unsat_refuted = False

    def request(self, slot: int) -> Request:
        """Return the request for call `slot`: which variables to revise and which to keep."""
        revise = self._core_variables()
        keep = tuple(name for name in self._view.variables if name not in revise) if self._base else ()
        return DirectedRequest(
            problem=self._view,
            base=_answer(self._base) if self._base else None,
            conflicts=self._conflicts(),
            revise=revise,
            keep=keep,
            unsat_refuted=self._unsat_refuted,
        )

    def observe(self, judged: Sequence[Judged]) -> None:
        """Record a round of judged answers: cores and the best base so far."""
        refuted = [
            item
            for item in judged
            if item.certification.verdict == REFUTED and isinstance(item.candidate, Claim)
        ]
        self._unsat_refuted |= any(
            item.candidate.status == "unsat" for item in refuted if isinstance(item.candidate, Claim)
        )
        assignments = [
            item
            for item in refuted
            if isinstance(item.candidate, Claim) and item.candidate.assignment is not None
        ]
        if assignments and isinstance(first := assignments[0].candidate, Claim):
            self._base = first
        self._recent = [
            *self._recent,
            tuple(name for item in assignments for name in item.certification.core),
        ][-RECENT_ROUNDS:]

    def order(self, candidates: Sequence[Candidate]) -> list[int]:
        """Return the order in which candidates are certified."""
        base = self._base.assignment if self._base else None
        return core_rank(candidates, base, self._core_variables())

    def _conflicts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for names in self._recent for name in names))

    def _core_variables(self) -> tuple[str, ...]:
        return variables_of(self._view, self._conflicts())


def core_rank(
    candidates: Sequence[Candidate], base: Mapping[str, int] | None, core_variables: Sequence[str]
) -> list[int]:
    """Return slots by overlap with the recent cores, the best first; ties as proposed.

    First the assignments that move variables of the cores and keep all others; then by the share of their
    moves that is inside the cores, and by the number of moves inside; then those that move nothing; then
    claims of `unsat`; last what is malformed. Without a base: as proposed, the malformed last.
    """
    inside_core = set(core_variables)

    def key(slot: int) -> tuple[int, float, int, int]:
        candidate = candidates[slot]
        if isinstance(candidate, Malformed):
            return 3, 0.0, 0, slot
        if base is None:
            return 0, 0.0, 0, slot
        if candidate.assignment is None:
            return 2, 0.0, 0, slot
        moved = [name for name, value in candidate.assignment.items() if value != base[name]]
        inside = sum(name in inside_core for name in moved)
        return (0, -inside / len(moved), -inside, slot) if moved else (1, 0.0, 0, slot)

    return sorted(range(len(candidates)), key=key)


def members(view: ProblemView) -> list[str]:
    """Return what a core can name: all constraints, then all bounds."""
    return [*(item.id for item in view.constraints), *(DOMAIN_MARK + name for name in view.variables)]


def start(arm: str, problem: Problem, other: Problem | None = None) -> Arm:
    """Return an arm at the start of a problem. other: whose feedback `SHUFFLED` gets, wanted for it alone."""
    if arm != SHUFFLED:
        return _ARMS[arm](view_of(problem))
    if other is None or other.id == problem.id:
        raise InputError(
            f"{SHUFFLED} needs another problem",
            wanted="a study of at least two problems",
            got=problem.id,
            do="raise --problems, or leave the arm out",
        )
    return Shuffled(view_of(problem), other)


_ARMS: dict[str, type[Arm]] = {
    **dict(zip(ARMS, (NoFeedback, NoFeedback, GenericFeedback, CoreFeedback, CoreRank), strict=True)),
    WHOLE_CONFLICT: WholeConflictFeedback,
    INFORMED: NoFeedback,
    **dict(zip(NAMED, (RandomNamed, OneViolated, AllNamed), strict=True)),
}


def _answer(candidate: Candidate) -> Answer | None:
    if isinstance(candidate, Malformed):
        return None
    return (
        Answer(status="unsat")
        if candidate.assignment is None
        else Answer(status="sat", assignment=dict(candidate.assignment))
    )


def _outcome(certification: Certification) -> Outcome:
    if certification.verdict == REFUTED:
        return "refuted"
    if certification.verdict == MALFORMED:
        return "unreadable"
    return "undecided"
