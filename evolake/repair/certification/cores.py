"""A minimal core from satisfiable-or-not answers alone, by bisection.

A solver's own core depends on what it has seen before, so a solver that is reused would give other cores in
another order of work. Here only its answers are used: the core is the same for the same members in the same
order, whatever the solver's state. Each step finds the shortest prefix that conflicts with what is already in
the core; the last member of that prefix belongs to every core within the prefix, so it joins (the dichotomic
search for a transition constraint of Hemery, Lecoutre, Sais and Boussemart, ECAI 2006). A core of c out of n
members takes about c * log2(n) answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
