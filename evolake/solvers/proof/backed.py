"""Which deletions of a proof a forward checker may carry out while it also accepts RAT steps.

dratify keeps the literals that unit propagation has fixed, whether or not the clause that forced them is
later deleted. For RUP steps that is sound: such a literal follows from the formula all the same. For RAT it
is not. Of the satisfiable formula (a), (not a or b) it accepts this refutation:

    d -a b 0      b stays fixed, yet no clause holds it any more
    -b 0          vacuously RAT on its literal
    0             conflicts with the fixed b

drat-trim ignores such deletions, and so do we: a deletion is dropped when its clause holds a literal that
unit propagation could have fixed by then with nothing deleted at all. That keeps every reason, so each fixed
literal is backed by clauses that the RAT check looks at. Clauses that stay only make a RAT step harder. Once
propagation alone could reach a conflict, everything stays.
"""

from __future__ import annotations

from collections.abc import Sequence


class RootPropagation:
    """What unit propagation fixes in a growing set of clauses. Literals: 2 * variable + sign, from 0."""

    def __init__(self, variables: int) -> None:
        self.true = bytearray(2 * variables)
        self.conflict = False
        self._watchers: list[list[list[int]]] = [[] for _ in range(2 * variables)]

    def add(self, clause: Sequence[int]) -> None:
        """Add a clause without repeated literals and propagate."""
        if self.conflict:
            return
        true = self.true
        free = [literal for literal in clause if not true[literal ^ 1]]
        if not free:
            self.conflict = True
        elif any(true[literal] for literal in free):
            return
        elif len(free) == 1:
            self._fix(free[0])
        else:
            self._watchers[free[0]].append(free)
            self._watchers[free[1]].append(free)

    def _fix(self, literal: int) -> None:
        """Make `literal` true, and what follows. A watched clause holds its two watched literals first."""
        true, queue = self.true, [literal]
        true[literal] = 1
        while queue:
            false = queue.pop() ^ 1
            watching, self._watchers[false] = self._watchers[false], []
            for clause in watching:
                if clause[0] == false:
                    clause[0], clause[1] = clause[1], false
                if true[clause[0]]:
                    continue
                for place in range(2, len(clause)):
                    if not true[clause[place] ^ 1]:
                        clause[1], clause[place] = clause[place], false
                        self._watchers[clause[1]].append(clause)
                        break
                else:
                    if true[clause[0] ^ 1]:
                        self.conflict = True
                        return
                    true[clause[0]] = 1
                    queue.append(clause[0])


def backed_steps(
    variables: int, clauses: Sequence[Sequence[int]], steps: Sequence[tuple[bool, Sequence[int]]]
) -> list[tuple[bool, list[int]]]:
    """Return `steps` (is a deletion, literals) without the deletions that would leave a fixed literal
    unbacked."""
    root = RootPropagation(variables)
    for clause in clauses:
        root.add(clause)
    kept = []
    for deletion, literals in steps:
        if not deletion:
            root.add(literals)
        elif root.conflict or any(root.true[literal] for literal in literals):
            continue
        kept.append((deletion, list(literals)))
    return kept
