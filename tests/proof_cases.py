"""Proofs made here: DRAT steps of every kind, hints for given clauses by unit propagation, and random proofs
of small formulas."""

import itertools
import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from hypothesis import strategies as st

from evolake.solvers.proof.drat import Proof, read_proof

LITERAL = st.integers(1, 2**31 - 1).flatmap(lambda variable: st.sampled_from([variable, -variable]))
DRAT_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just(False), st.lists(LITERAL, max_size=5)),
        st.tuples(st.just(True), st.lists(LITERAL, min_size=1, max_size=5)),
    ),
    max_size=8,
)


def proof_of(steps):
    starts = np.cumsum([0, *(len(literals) for _, literals in steps)])
    flat = np.array([literal for _, literals in steps for literal in literals], dtype=np.int32)
    return Proof(flat, starts.astype(np.int64), np.array([deletion for deletion, _ in steps], dtype=bool))


def satisfiable(variables, clauses):
    return any(
        all(any((literal > 0) == values[abs(literal) - 1] for literal in clause) for clause in clauses)
        for values in itertools.product((False, True), repeat=variables)
    )


def random_problem(seed):
    """A small formula, and a proof of random additions (a new variable among them) and deletions of what is
    there."""
    dice = random.Random(seed)
    variables = dice.randint(1, 4)

    def clause(most, last):
        return [dice.choice([1, -1]) * dice.randint(1, last) for _ in range(dice.randint(1, most))]

    clauses = [clause(3, variables) for _ in range(dice.randint(1, 9))]
    present, lines = list(clauses), []
    for _ in range(dice.randint(1, 10)):
        if present and dice.random() < 0.5:
            gone = present.pop(dice.randrange(len(present)))
            lines.append(f"d {' '.join(map(str, dice.sample(gone, len(gone))))} 0")
        else:
            present.append(clause(2, variables + 1))
            lines.append(f"{' '.join(map(str, present[-1]))} 0")
    return variables, clauses, read_proof("\n".join([*lines, "0"]).encode())


Clauses = Mapping[int, Sequence[int]]


def hints_for(clauses: Clauses, literals: Sequence[int]) -> list[int] | None:
    """Hints that lead from the negation of a clause to a conflict, all of them needed; None if unit
    propagation finds no conflict."""
    return _propagated(clauses, {-literal: 0 for literal in literals})


def rat_hints_for(clauses: Clauses, literals: Sequence[int]) -> list[int] | None:
    """Hints that show a clause to be RAT on its first literal; None if it is not."""
    negated = -literals[0]
    hints: list[int] = []
    for name, clause in clauses.items():
        if negated not in clause:
            continue
        others = [literal for literal in clause if literal != negated]
        reasons = {-literal: 0 for literal in literals}
        if any(literal in reasons for literal in others) or any(-literal in others for literal in others):
            continue
        group = _propagated(clauses, reasons | {-literal: 0 for literal in others})
        if group is None:
            return None
        hints += [-name, *group]
    return hints


def _propagated(clauses: Clauses, reasons: dict[int, int]) -> list[int] | None:
    """The clauses that lead from what is true (literal -> the clause that made it so, 0 for none) to a
    conflict, in order, and only what it needs."""
    order: list[int] = []
    while True:
        for name, clause in clauses.items():
            free = {literal for literal in clause if -literal not in reasons}
            if not free:
                return _needed(clauses, reasons, [*order, name])
            if len(free) == 1 and not free & reasons.keys():
                reasons[free.pop()] = name
                order.append(name)
                break
        else:
            return None


def _needed(clauses: Clauses, reasons: Mapping[int, int], order: Sequence[int]) -> list[int]:
    wanted = {order[-1]}
    for name in reversed(order):
        if name in wanted:
            wanted |= {
                reasons[-literal] for literal in clauses[name] if reasons.get(-literal) not in (None, name)
            }
    return [name for name in order if name in wanted and name]


def text_of(steps: Sequence[tuple[int, Sequence[int] | None, Sequence[int]]]) -> bytes:
    """Steps (identifier, literals, hints) as LRAT text; literals None for a deletion of the hints."""
    lines = [
        [name, "d", *hints, 0] if literals is None else [name, *literals, 0, *hints, 0]
        for name, literals, hints in steps
    ]
    return "\n".join(" ".join(map(str, line)) for line in lines).encode() + b"\n"


def random_steps(
    variables: int, formula: Sequence[Sequence[int]], dice: random.Random
) -> list[tuple[int, list[int] | None, list[int]]]:
    """Random additions with hints that are right if there are any, deletions, and at the end the empty
    clause; a new variable among them."""
    clauses: dict[int, Sequence[int]] = dict(enumerate(formula, 1))
    name, steps = len(formula), []
    for _ in range(dice.randint(1, 10)):
        if clauses and dice.random() < 0.3:
            gone = dice.choice(sorted(clauses))
            del clauses[gone]
            steps.append((max(name, 1), None, [gone]))
            continue
        literals = [dice.choice([1, -1]) * dice.randint(1, variables + 1) for _ in range(dice.randint(1, 2))]
        hints = hints_for(clauses, literals)
        if hints is None:
            hints = rat_hints_for(clauses, literals)
        if hints is None:
            if dice.random() < 0.9:
                continue
            hints = dice.sample(sorted(clauses), min(len(clauses), 2))
        name += dice.randint(1, 3)
        steps.append((name, literals, hints))
        clauses[name] = literals
    final = hints_for(clauses, [])
    return [*steps, (name + 1, [], final if final is not None else sorted(clauses)[:3])]


def random_refutation(
    seed: int, solve: Callable[[Sequence[Sequence[int]]], list[str] | None]
) -> tuple[int, list[list[int]], bytes]:
    """Return a formula of up to 30 variables, and a DRAT text: lemmas of a solver with deletions, copies and
    definitions of new variables among them, and up to four faults.

    solve: returns the lemmas and deletions of a refutation as lines, None for a satisfiable formula.
    """
    dice = random.Random(seed)
    variables = dice.randint(4, 30)

    def clause(size: int) -> list[int]:
        return [dice.choice([1, -1]) * variable for variable in dice.sample(range(1, variables + 1), size)]

    sizes = [3] if dice.random() < 0.7 else [1, 2, 3, 3, 3, 3, 3]
    clauses = [clause(dice.choice(sizes)) for _ in range(int(dice.choice([3.5, 4.3, 5, 7]) * variables))]
    lines = solve(clauses)
    if lines is None:  # a refutation of something else
        lines = solve([*clauses, *(clause(2) for _ in range(3 * variables))]) or []
    present, steps = [list(row) for row in clauses], []
    for line in lines:
        steps.append(line)
        if not line.startswith("d"):
            present.append([int(word) for word in line.split()[:-1]])
        if dice.random() < 0.4 and present:
            gone = present.pop(dice.randrange(len(present))) if dice.random() < 0.7 else dice.choice(present)
            steps += [f"d {' '.join(map(str, dice.sample(gone, len(gone))))} 0"] if gone else []
        if dice.random() < 0.1:
            new, one, other = (
                variables + dice.randint(1, 3),
                *(dice.choice([1, -1]) * dice.randint(1, variables) for _ in range(2)),
            )
            steps += [f"{new} {-one} 0", f"{new} {-other} 0", f"{-new} {one} {other} 0"]
        if dice.random() < 0.05:
            steps.append(dice.choice(steps))
    for _ in range(dice.choice([0, 0, 1, 2, 4])):
        if steps:
            _spoil(steps, dice)
    return (
        variables,
        clauses,
        ("\n".join([*(step for step in steps if step.strip() not in ("0", "d 0")), "0"]) + "\n").encode(),
    )


def _spoil(steps: list[str], dice: random.Random) -> None:
    """Make one fault: a step that is gone, has another literal or one less, is moved, or deletes what it
    added."""
    place, kind = dice.randrange(len(steps)), dice.randrange(5)
    words = steps[place].split()
    if kind == 0:
        del steps[place]
    elif kind == 1:
        number = dice.randrange(len(words))
        words[number] = words[number] if words[number] in ("d", "0") else str(-int(words[number]))
        steps[place] = " ".join(words)
    elif kind == 2:
        other = dice.randrange(len(steps))
        steps[place], steps[other] = steps[other], steps[place]
    elif kind == 3 and len(words) > 2 and words[0] != "d":
        del words[dice.randrange(len(words) - 1)]
        steps[place] = " ".join(words)
    elif kind == 4:
        steps[place] = steps[place].removeprefix("d ") if words[0] == "d" else f"d {steps[place]}"


def solved(clauses: Sequence[Sequence[int]]) -> list[str] | None:
    """Return the refutation of a formula by a solver of python-sat, as lines without the empty clause; None
    for a satisfiable formula."""
    from pysat.solvers import Solver

    with Solver(name="glucose4", bootstrap_with=clauses, with_proof=True) as solver:
        return None if solver.solve() else [line for line in solver.get_proof() or [] if line.strip() != "0"]


def planted(
    steps: list[tuple[int, list[int] | None, list[int]]], dice: random.Random
) -> list[tuple[int, list[int] | None, list[int]]]:
    """The steps of an LRAT proof with one fault: a hint or a literal that is gone, changed or new."""
    place = dice.randrange(len(steps))
    name, literals, hints = steps[place]
    changed = list(hints)
    kind = dice.randrange(4)
    if kind == 0 and literals:
        literals = [-literals[0], *literals[1:]]
    elif kind == 1 and changed:
        del changed[dice.randrange(len(changed))]
    elif literals is not None:
        changed.insert(dice.randint(0, len(changed)), dice.choice([1, 1, -1]) * dice.randint(1, name))
    return [*steps[:place], (name, literals, changed), *steps[place + 1 :]]
