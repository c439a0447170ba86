"""Families of parities and small counts: systems of exclusive ors, even colourings of graphs, contradictory
counts over random groups.

Resolution needs exponentially many steps for them while a line of arithmetic decides each, so that their
status is certain as they are made, and their hardness is smooth in size.
"""

from __future__ import annotations

import itertools

import numpy as np

from evolake.solvers.formula.cnf import Formula, formula_of
from evolake.solvers.suites.combinatorial import regular_graph

DRAWS = 1000


def xor_system(n: int, m: int, k: int, seed: int, satisfiable: bool) -> Formula:
    """Return m exclusive ors of k distinct variables of 1..n (random k-XOR: Dubois and Mandler 2002), right
    sides by a hidden assignment.

    Args:
        satisfiable: False flips the right side of an equation that the others imply, of which there is one
            whenever m > n.

    Raises:
        ValueError: no equation is implied by the others.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    hidden = rng.integers(2, size=n + 1)
    rows = [sorted((rng.permutation(n)[:k] + 1).tolist()) for _ in range(m)]
    right = [int(hidden[row].sum() % 2) for row in rows]
    if not satisfiable:
        implied = _implied(rows)
        if not implied:
            raise ValueError(f"no one of {m} equations in {n} variables follows from the others")
        right[implied[int(rng.integers(len(implied)))]] ^= 1
    clauses = [clause for row, side in zip(rows, right, strict=True) for clause in parity_clauses(row, side)]
    return formula_of(n, clauses)


def _implied(rows: list[list[int]]) -> list[int]:
    """Positions of equations whose left side is a sum of earlier ones', by elimination over the field of two
    elements."""
    pivots: dict[int, int] = {}
    result = []
    for position, row in enumerate(rows):
        word = sum(1 << variable for variable in row)
        while word and (high := word.bit_length()) in pivots:
            word ^= pivots[high]
        if word:
            pivots[word.bit_length()] = word
        else:
            result.append(position)
    return result


def parity_clauses(variables: list[int], side: int) -> list[list[int]]:
    """Return the clauses of one exclusive or of distinct variables: those assignments of the other parity are
    forbidden."""
    return [
        [-variable if value else variable for variable, value in zip(variables, values, strict=True)]
        for values in itertools.product((0, 1), repeat=len(variables))
        if sum(values) % 2 != side
    ]


def even_coloring(n: int, d: int, seed: int) -> Formula:
    """Colour the edges of a random d-regular graph on n nodes, d even, so that half of each node's edges are
    red (Markstroem 2006).

    Satisfiable just where each component has an even number of edges, as colours alternate along an Euler
    tour; of a connected graph that is when n * d / 2 is even. Graphs that are not connected are drawn again.

    Raises:
        ValueError: d is odd, or there is no connected graph among `DRAWS`.
    """
    if d % 2:
        raise ValueError(f"half of {d} edges is no whole number")
    rng = np.random.Generator(np.random.PCG64(seed))
    for _ in range(DRAWS):
        edges = regular_graph(n, d, rng)
        if _connected(n, edges):
            break
    else:
        raise ValueError(f"no connected {d}-regular graph on {n} nodes among {DRAWS}")
    at: list[list[int]] = [[] for _ in range(n)]
    for number, (a, b) in enumerate(edges, start=1):
        at[a].append(number)
        at[b].append(number)
    clauses = [
        [sign * edge for edge in chosen]
        for mine in at
        for chosen in itertools.combinations(mine, d // 2 + 1)
        for sign in (1, -1)
    ]
    return formula_of(len(edges), clauses)


def _connected(n: int, edges: list[tuple[int, int]]) -> bool:
    reached, border = {0}, [0]
    near: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    while border:
        fresh = [node for node in near[border.pop()] if node not in reached]
        reached.update(fresh)
        border.extend(fresh)
    return len(reached) == n


def contradictory_counts(groups: int, seed: int, partitions: int = 2) -> Formula:
    """Variables in groups of four, one of five: by one partition at most two of each group are true, by the
    others at most two are false.

    Unsatisfiable, since 4 * groups + 1 variables would have at most 2 * groups true and as many false. After
    sgen1 (Spence, JEA 2010).
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    n = 4 * groups + 1
    clauses = []
    for number in range(partitions):
        order = (rng.permutation(n) + 1).tolist()
        cuts = [order[4 * place : 4 * place + 4] for place in range(groups)]
        cuts[-1].append(order[-1])
        sign = 1 if number else -1
        clauses += [
            [sign * variable for variable in chosen]
            for group in cuts
            for chosen in itertools.combinations(group, 3)
        ]
    return formula_of(n, clauses)
