"""Judge a claim by Z3, and say why it is refuted.

A claim `sat` is asserted as it is, untracked, next to every constraint and every bound under a tracking
literal. If they conflict, the claim is refuted with a minimal core of those literals. A total assignment
decides each tracked assertion by itself, so such a core has one member; which of several violated ones it is
follows from a hash of the assignment, so that it is neither always the first nor dependent on what the solver
saw before. The full list of violations comes from plain evaluation and is for the record only: what an arm
may see is the core. A claim `unsat` is about the problem alone. It is certified with a minimal core of the
problem, bounds included, or refuted by a model that is checked by plain evaluation and then forgotten.

One solver serves all problems by push and pop. A check that passes its limit, a count of the solver's own
steps (`rlimit`) so that a busy machine changes no verdict, is `unknown`. A clock only guards: a check that it
ends says nothing, is repeated, and in the end raises `HostBusy`.

A solver's own core depends on what it has seen before. So the minimal core is found from satisfiable-or-not
answers alone, and is the same for the same members in the same order: each step finds the shortest prefix
that conflicts with what is already in the core; its last member belongs to every core within the prefix, so
it joins (the dichotomic search for a transition constraint of Hemery, Lecoutre, Sais and Boussemart, ECAI
2006). A core of c out of n members takes about c * log2(n) answers.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evolake.errors import MachineryError
from evolake.jail.patience import patiently
from evolake.repair.problems import Claim, Malformed, Problem, Variable

if TYPE_CHECKING:
    import z3


Conflicts = Callable[[Sequence[str]], bool | None]


@dataclass(frozen=True)
class Core:
    """Members that conflict, in the order they were given. `minimal`: without any one of them the others were
    shown not to conflict."""

    members: tuple[str, ...]
    minimal: bool


def minimal_core(members: Sequence[str], conflicts: Conflicts) -> Core:
    """Return a minimal part of `members` that conflicts; earlier members are preferred to later ones.

    Args:
        members: known to conflict all together.
        conflicts: whether some of them conflict; None where the solver does not know. An unknown counts as no
            conflict, so the result is a conflict all the same, but perhaps not minimal.
    """
    core: list[str] = []
    rest, minimal = list(members), True
    while rest:
        answer = conflicts(core)
        if answer:
            break
        minimal = minimal and answer is not None
        low, high = 1, len(rest)
        while low < high:
            middle = (low + high) // 2
            answer = conflicts([*core, *rest[:middle]])
            minimal = minimal and answer is not None
            low, high = (low, middle) if answer else (middle + 1, high)
        core.append(rest[low - 1])
        rest = rest[: low - 1]
    chosen = set(core)
    return Core(tuple(item for item in members if item in chosen), minimal)


TIMEOUT_MS = 1500
STEPS_PER_MS = 1000
"""Steps of the solver (its resource units) that count as a millisecond: a processor made 950 to 1,220 in one
on a hard problem."""
GUARD = 5.0
"""How many times a limit, times `Limits.stretch`, a check may last by the clock."""
MINIMISING = 4
KEPT = 20_000
STEPS = "rlimit count"
"""What the solver's statistics call them."""
VALUE_MARK = "value:"
CERTIFIED, REFUTED, UNKNOWN, MALFORMED = "certified", "refuted", "unknown", "malformed"


@dataclass(frozen=True)
class Certification:
    """What became of one candidate.

    Attributes:
        verdict: certified, refuted, unknown or malformed.
        core: minimal conflict, ids of constraints and bounds (`dom:x1`); of the problem for a certified
            `unsat`, empty for a certified `sat`.
        values: where `core` is a whole conflict (see `conflicts`), the variables whose values in the
            assignment belong to it; else None.
        violated: every id that the assignment breaks, by plain evaluation. For the record: no arm sees it.
        reason: one line for a person.
        solver_calls: 1 when the solver was asked, 0 for a malformed candidate. The checks that minimise a
            core belong to the call.
    """

    verdict: str
    core: tuple[str, ...] = ()
    violated: tuple[str, ...] = ()
    reason: str = ""
    solver_calls: int = 1
    values: tuple[str, ...] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return what `evolake repair certify --json` prints."""
        shown = {
            "verdict": self.verdict,
            "core": list(self.core),
            "violated": list(self.violated),
            "reason": self.reason,
        }
        return shown if self.values is None else shown | {"values": list(self.values)}


@dataclass
class _Loaded:
    """The problem the solver holds now: its variables and tracking literals, and the answer about the problem
    itself once it was asked."""

    problem: Problem
    variables: dict[str, Any]
    literals: dict[str, Any]
    unsat_answer: Certification | None = None


class Certifier:
    """Certifies candidates, one after the other, problem after problem. For one thread; each has its own Z3
    context.

    Args:
        timeout_ms: for one check, in steps of the solver (`STEPS_PER_MS`). Minimising a core takes many
            checks, all of them together at most `MINIMISING` times as many.
    """

    def __init__(self, timeout_ms: int = TIMEOUT_MS):
        import z3

        self._z3, self._timeout_ms = z3, timeout_ms
        self._context = z3.Context()
        self._solver = z3.Solver(ctx=self._context)
        self._set: dict[str, int] = {}
        self._loaded: _Loaded | None = None
        self._symbols: dict[str, z3.ArithRef] = {}
        self._kept: dict[tuple[str, ...], Any] = {}

    def certify(self, problem: Problem, candidate: Claim | Malformed) -> Certification:
        """Judge one candidate of one problem.

        Raises:
            MachineryError: the solver and plain evaluation disagree. HostBusy: the host was too busy for the
                solver to get to its limit.
        """
        if isinstance(candidate, Malformed):
            return Certification(MALFORMED, reason=candidate.reason, solver_calls=0)
        loaded = self._load(problem)
        if candidate.assignment is not None:
            return self._certify_assignment(loaded, dict(candidate.assignment))
        if loaded.unsat_answer is None:
            loaded.unsat_answer = self._certify_unsat(loaded)
        return loaded.unsat_answer

    @contextmanager
    def assuming(self, problem: Problem, assignment: Mapping[str, int]) -> Iterator[Conflicts]:
        """Ask a question about parts of a problem together with values of an assignment: whether the named
        constraints, bounds (`dom:x1`) and values (`value:x1`) conflict. None: the solver does not know, or
        the steps to minimise are used up. Not to be asked once the block is left."""
        loaded = self._load(problem)
        literals = dict(loaded.literals)
        self._solver.push()
        try:
            for name, value in assignment.items():
                literal = literals[VALUE_MARK + name] = self._literal(VALUE_MARK + name)
                self._solver.add(self._z3.Implies(literal, self._equals(name, value)))
            yield self._within_limit(literals)
        finally:
            self._solver.pop()

    def _certify_assignment(self, loaded: _Loaded, assignment: dict[str, int]) -> Certification:
        problem, solver = loaded.problem, self._solver
        violated = tuple(problem.violated(assignment))
        solver.push()
        try:
            solver.add([self._equals(name, value) for name, value in assignment.items()])
            answer = self._ask(loaded.literals, loaded.literals)
            if answer is None:
                return Certification(
                    UNKNOWN, violated=violated, reason=f"the solver gave no answer in {self._steps:,} steps"
                )
            if answer != bool(violated):
                raise self._disagreement(problem, f"assignment {assignment}", violated)
            if not answer:
                return Certification(CERTIFIED, reason="every constraint and every bound holds")
            core = minimal_core(
                shuffled(loaded.literals, assignment), lambda part: self._ask(loaded.literals, part)
            )
        finally:
            solver.pop()
        if not set(core.members) <= set(violated):
            raise self._disagreement(problem, f"core {core.members}", violated)
        more = f", one of {len(violated)}" if len(violated) > 1 else ""
        return Certification(
            REFUTED, core.members, violated, f"the assignment violates {', '.join(core.members)}{more}"
        )

    def _certify_unsat(self, loaded: _Loaded) -> Certification:
        answer = self._ask(loaded.literals, loaded.literals)
        if answer is None:
            return Certification(
                UNKNOWN, reason=f"the solver could not decide the problem in {self._steps:,} steps"
            )
        if not answer:
            self._check_model(loaded)
            return Certification(REFUTED, reason="the problem is satisfiable")
        bounds_first = sorted(loaded.literals, key=lambda name: not name.startswith("dom:"))
        core = minimal_core(bounds_first, self._within_limit(loaded.literals))
        members = tuple(name for name in loaded.literals if name in core.members)
        note = "" if core.minimal else " (perhaps not minimal: the steps to minimise it were used up)"
        return Certification(CERTIFIED, members, reason=f"no assignment satisfies {', '.join(members)}{note}")

    @property
    def _steps(self) -> int:
        return self._timeout_ms * STEPS_PER_MS

    def _ask(
        self, literals: Mapping[str, Any], names: Iterable[str], steps: int | None = None
    ) -> bool | None:
        """Return whether the named assertions conflict with what is asserted; None: unknown. steps: limit;
        None: that of one check."""
        assumed, answer = [literals[name] for name in names], self._z3.unknown
        self._limit("rlimit", self._steps if steps is None else steps)

        def check(stretch: float) -> bool:
            """Return whether the clock ended the check."""
            nonlocal answer
            guard_ms = int(stretch * GUARD * self._timeout_ms)
            self._limit("timeout", guard_ms)
            began = time.monotonic()
            answer = self._solver.check(*assumed)
            return answer == self._z3.unknown and 1000 * (time.monotonic() - began) >= guard_ms

        patiently(check, lambda late: late, "the certifying solver")
        return None if answer == self._z3.unknown else answer == self._z3.unsat

    def _within_limit(self, literals: Mapping[str, Any]) -> Conflicts:
        """`_ask`, for as many steps as a core may take to minimise from now on; None after that."""
        end = self._used() + MINIMISING * self._steps

        def ask(part: Sequence[str]) -> bool | None:
            left = end - self._used()
            return self._ask(literals, part, min(left, self._steps)) if left > 0 else None

        return ask

    def _used(self) -> int:
        """Return the steps that the solver has made so far."""
        statistics = self._solver.statistics()
        names = list(statistics.keys())
        return int(statistics.get_key_value(STEPS)) if STEPS in names else 0

    def _load(self, problem: Problem) -> _Loaded:
        """Make `problem` the one the solver holds."""
        if self._loaded is not None:
            if self._loaded.problem == problem:
                return self._loaded
            self._solver.pop()
            self._loaded = None
        z3, context = self._z3, self._context
        variables = {
            item.name: self._symbols.setdefault(item.name, z3.Int(item.name, context))
            for item in problem.variables
        }
        literals: dict[str, Any] = {}
        self._solver.push()
        for item in problem.constraints:
            left = (
                z3.Sum([self._term(name, factor) for name, factor in item.terms])
                if item.terms
                else z3.IntVal(0, context)
            )
            if item.op == "<=":
                body = left <= item.rhs
            elif item.op == ">=":
                body = left >= item.rhs
            else:
                body = left == item.rhs
            literals[item.id] = self._literal(item.id)
            self._solver.add(z3.Implies(literals[item.id], body))
        for item in problem.variables:
            literals[item.bound_id] = self._literal(item.bound_id)
            self._solver.add(self._bound(item))
        self._loaded = _Loaded(problem, variables, literals)
        return self._loaded

    def _literal(self, name: str) -> Any:
        return self._keep(("literal", name), lambda: self._z3.Bool(f"track {name}", self._context))

    def _term(self, name: str, factor: int) -> Any:
        return self._keep(("term", name, str(factor)), lambda: factor * self._symbols[name])

    def _bound(self, item: Variable) -> Any:
        z3, symbol = self._z3, self._symbols[item.name]
        key = ("bound", item.name, str(item.low), str(item.high))
        return self._keep(
            key,
            lambda: z3.Implies(self._literal(item.bound_id), z3.And(symbol >= item.low, symbol <= item.high)),
        )

    def _equals(self, name: str, value: int) -> Any:
        return self._keep(
            ("equals", name, str(value)), lambda: self._symbols[name] == self._z3.IntVal(value, self._context)
        )

    def _keep(self, key: tuple[str, ...], make: Callable[[], Any]) -> Any:
        """Formulas are kept: making one through Z3's Python interface takes longer than most checks."""
        if (known := self._kept.get(key)) is None:
            known = make()
            if len(self._kept) < KEPT:
                self._kept[key] = known
        return known

    def _limit(self, name: str, value: int) -> None:
        if value != self._set.get(name):
            self._solver.set(name, value)
            self._set[name] = value

    def _check_model(self, loaded: _Loaded) -> None:
        model = self._solver.model()
        values = {
            name: model.eval(symbol, model_completion=True) for name, symbol in loaded.variables.items()
        }
        result = {name: int(str(value)) for name, value in values.items()}
        if broken := loaded.problem.violated(result):
            raise self._disagreement(loaded.problem, f"model {result}", tuple(broken))

    def _disagreement(self, problem: Problem, what: str, violated: tuple[str, ...]) -> MachineryError:
        return MachineryError(
            f"Z3 and plain evaluation disagree about problem {problem.id}",
            wanted="one answer",
            got=f"{what}; violated by evaluation: {', '.join(violated) or 'nothing'}",
            do="keep the problem and report it: one of the two is wrong",
        )


def shuffled(names: Iterable[str], assignment: Mapping[str, int]) -> list[str]:
    """Return the names in an order that follows from the assignment: the same for the same constraints, in
    whatever order a problem lists them."""
    salt = zlib.crc32(repr(sorted(assignment.items())).encode())
    return sorted(names, key=lambda name: (zlib.crc32(name.encode(), salt), name))
