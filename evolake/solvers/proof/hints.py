"""Check an LRAT proof along its hints, every step, without search: the cost is that of reading the clauses
that the hints name.

A clause C is accepted if its hints lead to a conflict. All literals of C are made false; each hint must then
name a clause that is there and that has exactly one literal which is not false, and that literal becomes true
(unit propagation), until a clause has none: the conflict. If the hints that come first do not end in a
conflict, C must be RAT on its first literal p: each clause D that is there and holds the negation of p must
be hinted at by its negated identifier, and with the other literals of D false too, the hints that follow it
lead to a conflict; unless a literal of D is true already, which is a conflict by itself. Nothing is
remembered between steps but the clauses themselves. So a clause that is accepted leaves a satisfiable set of
clauses satisfiable, and so does a deletion, and the empty clause is accepted of an unsatisfiable formula
only. The rules are those of cake_lpr (Tan, Heule, Myreen, TACAS 2021), which has been verified.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from evolake.solvers.formula.cnf import Formula
from evolake.solvers.proof.lrat import LratProof


class _Refused(Exception):
    """A step is not accepted. The message is the reason."""


class _Clauses:
    """The clauses that are there, by identifier. An index of literals is made when the first RAT step asks
    for one."""

    def __init__(self, formula: Formula) -> None:
        literals = formula.literals.tolist()
        bounds = enumerate(pairwise(formula.starts.tolist()), start=1)
        self.of = {number: literals[start:end] for number, (start, end) in bounds}
        self._holding: dict[int, set[int]] | None = None

    def add(self, name: int, literals: list[int]) -> None:
        self.of[name] = literals
        if self._holding is not None:
            for literal in literals:
                self._holding[literal].add(name)

    def delete(self, names: Iterable[int]) -> None:
        """Remove clauses. One that is not there already changes nothing, as for other checkers."""
        for name in names:
            literals = self.of.pop(name, None)
            if literals is not None and self._holding is not None:
                for literal in literals:
                    self._holding[literal].discard(name)

    def holding(self, literal: int) -> set[int]:
        """Return the identifiers of the clauses that hold a literal."""
        if self._holding is None:
            self._holding = defaultdict(set)
            for name, literals in self.of.items():
                for each in literals:
                    self._holding[each].add(name)
        return self._holding[literal]


def refute_by_hints(formula: Formula, proof: LratProof) -> tuple[bool, str]:
    """Return whether the proof, up to its first empty clause, refutes the formula; and the reason."""
    clauses, last = _Clauses(formula), formula.clauses
    for number, (name, literals, hints) in enumerate(proof.steps, start=1):
        if not name:
            clauses.delete(hints)
            continue
        try:
            if name <= last:
                raise _Refused("its identifier is taken")
            _accept(clauses, literals, hints)
        except _Refused as error:
            return False, f"step {number} (clause {name}): {error}"
        if not literals:
            return True, f"{number} steps, each by its hints"
        clauses.add(name, literals)
        last = name
    return False, "the proof never derives the empty clause"


def _accept(clauses: _Clauses, literals: Sequence[int], hints: Sequence[int]) -> None:
    """Raise _Refused if the clause is not accepted."""
    true = {-literal for literal in literals}
    if any(literal in true for literal in literals):
        return  # a tautology holds by itself
    opens = [place for place, hint in enumerate(hints) if hint < 0]
    if _conflict(clauses, hints[: opens[0] if opens else None], true):
        return
    if not literals:
        raise _Refused("its hints do not end in a conflict")
    groups = {-hints[place]: hints[place + 1 : end] for place, end in pairwise([*opens, len(hints)])}
    for name in sorted(clauses.holding(-literals[0])):
        _accept_resolvent(clauses, name, -literals[0], groups.get(name), true)


def _accept_resolvent(
    clauses: _Clauses, name: int, negated: int, hints: Sequence[int] | None, true: set[int]
) -> None:
    others = {literal for literal in clauses.of[name] if literal != negated}
    if any(literal in true or -literal in others for literal in others):
        return
    if hints is None:
        raise _Refused(
            f"its hints do not end in a conflict, and have nothing of clause {name}, which holds {negated}"
        )
    if not _conflict(clauses, hints, true | {-literal for literal in others}):
        raise _Refused(f"the hints of its resolvent with clause {name} do not end in a conflict")


def _conflict(clauses: _Clauses, hints: Sequence[int], true: set[int]) -> bool:
    """Make true what the hints make unit. Return whether they end in a conflict; raise _Refused for a hint
    that is of no use."""
    for hint in hints:
        clause = clauses.of.get(hint)
        if clause is None:
            raise _Refused(f"its hint {hint} names no clause that is there")
        unit = 0
        for literal in clause:
            if -literal not in true and literal != unit:
                if unit:
                    raise _Refused(f"the clause {hint} of its hints is neither unit nor false")
                unit = literal
        if not unit:
            return True
        true.add(unit)
    return False
