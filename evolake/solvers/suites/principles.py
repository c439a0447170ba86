"""Principles that cnfgen states on a complete graph (ordering, counting, pigeonhole, clique-colouring),
stated on a drawn one.

As cnfgen makes them these families draw nothing: a program that knows the sizes knows the formula. Each of
them speaks of all pairs (or sets) of something, and none needs all of them to be contradictory, so that here
some of the sets are left out and as many others are there twice. The variables stay as many, the clauses
nearly so, and the status is certain whatever is drawn:

    ordering     of n elements each has a smaller one among its neighbours: a finite order has a least
                 element, on any graph
    counting     n elements are divided into sets of p: n is no multiple of p, whichever sets there are
    pigeonhole   more pigeons than holes, whichever doors there are, and two doors may lead into one hole
    clique-      a clique of k vertices in a graph that fewer than k colours colour properly, whichever pairs
                 may be edges, and an edge may be double
    colouring

Ordering has a variable for each pair, neighbours or not, so that pairs are left out of the graph and none is
doubled. In clique-colouring, where one edge less already halves the search, a few of the clauses that keep a
member of the clique from being two vertices are left out next to it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from evolake.reading import whole_number
from evolake.solvers.formula import Formula, formula_of

Sets = list[tuple[int, ...]]
SHARES = {
    "op": (0.05, 0.15),
    "count": (0.05, 0.15),
    "parity": (0.04, 0.07),
    "php": (0.04, 0.07),
    "cliquecoloring": (0.01, 0.03),
    "apart": (0.03, 0.08),
}
"""Command of cnfgen -> least and most share of the sets that are left out ("apart": of the exclusions in a
clique). What is left out makes a formula easier; shares are such that cpu time stays within a factor of two,
see docs/trust-details.md."""
LEAST_SETS = 8
"""With fewer there is nothing to draw."""


def drawn_principle(args: str, rng: np.random.Generator) -> Formula | None:
    """Return a formula of the family and sizes that a command of cnfgen names, on a drawn graph;
    unsatisfiable.

    None where the command names another family, has an option or a size too many, or is not contradictory for
    the reason above.
    """
    command, *words = args.split() or [""]
    numbers = [whole_number(word) for word in words]
    options = [word for word, number in zip(words, numbers, strict=True) if number is None]
    match command, [number for number in numbers if number is not None], options:
        case "op", [n], [] | ["--total"]:
            result = _redrawn(itertools.combinations(range(n), 2), rng, command)
            return result and ordering(n, result[0], total=bool(options))
        case "count", [n, p], [] if p and n % p:
            result = _redrawn(itertools.combinations(range(n), p), rng, command)
            return result and counting(n, result[0] + result[1])
        case "parity", [n], [] if n % 2:
            result = _redrawn(itertools.combinations(range(n), 2), rng, command)
            return result and counting(n, result[0] + result[1])
        case "php", [pigeons, holes], [] if pigeons > holes:
            result = _redrawn(itertools.product(range(pigeons), range(holes)), rng, command)
            return result and pigeonhole(pigeons, holes, result[0] + result[1])
        case "cliquecoloring", [n, k, c], [] if k > c:
            result = _redrawn(itertools.combinations(range(n), 2), rng, command)
            apart = _redrawn(
                ((place, *pair) for place in range(k) for pair in itertools.combinations(range(n), 2)),
                rng,
                "apart",
            )
            return result and apart and clique_coloring(n, k, c, result[0] + result[1], apart[0])
        case _:
            return None


def _redrawn(
    sets: Iterable[tuple[int, ...]], rng: np.random.Generator, command: str
) -> tuple[Sets, Sets] | None:
    """(all sets but a drawn share of them, as many of those that are left); None if there are too few."""
    items = list(sets)
    if len(items) < LEAST_SETS:
        return None
    order = rng.permutation(len(items)).tolist()
    count = max(1, round(len(items) * rng.uniform(*SHARES[command])))
    return [items[place] for place in sorted(order[count:])], [
        items[place] for place in sorted(order[count : 2 * count])
    ]


def ordering(n: int, edges: Sequence[tuple[int, ...]], total: bool = False) -> Formula:
    """Return a strict order (total, where asked) of 0..n-1 in which each element has a smaller one among its
    neighbours in the graph."""
    before = {pair: number for number, pair in enumerate(itertools.permutations(range(n), 2), start=1)}
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    clauses = [[before[other, node] for other in neighbours[node]] for node in range(n)]
    clauses += [
        [-before[a, b], -before[b, c], before[a, c]] for a, b, c in itertools.permutations(range(n), 3)
    ]
    clauses += [[-before[a, b], -before[b, a]] for a, b in itertools.combinations(range(n), 2)]
    if total:
        clauses += [[before[a, b], before[b, a]] for a, b in itertools.combinations(range(n), 2)]
    return formula_of(len(before), clauses)


def counting(n: int, sets: Sequence[tuple[int, ...]]) -> Formula:
    """Return the formula that some of the sets hold each of 0..n-1 exactly once."""
    holding: list[list[int]] = [[] for _ in range(n)]
    for number, members in enumerate(sets, start=1):
        for member in members:
            holding[member].append(number)
    return formula_of(len(sets), [clause for result in holding for clause in (result, *_at_most_one(result))])


def pigeonhole(pigeons: int, holes: int, doors: Sequence[tuple[int, ...]]) -> Formula:
    """Each pigeon takes a door; all doors that are taken lead into different holes, and no hole is taken
    twice. doors: (pigeon, hole)."""
    of: list[list[int]] = [[] for _ in range(pigeons)]
    into: list[list[int]] = [[] for _ in range(holes)]
    for number, (pigeon, hole) in enumerate(doors, start=1):
        of[pigeon].append(number)
        into[hole].append(number)
    return formula_of(len(doors), [*of, *(clause for result in into for clause in _at_most_one(result))])


def clique_coloring(
    n: int, k: int, c: int, edges: Sequence[tuple[int, ...]], apart: Iterable[tuple[int, ...]]
) -> Formula:
    """Return the formula that a graph of some of the edges on 0..n-1 has a clique of k vertices and a proper
    colouring with c colours.

    apart: (member, a, b) for each member of the clique and two vertices of which it may be only one. Without
    them a member may be several vertices, of which any will do.
    """
    between: dict[tuple[int, ...], list[int]] = {pair: [] for pair in itertools.combinations(range(n), 2)}
    for number, pair in enumerate(edges, start=1):
        between[pair].append(number)
    first = len(edges) + 1
    member = [[first + place * n + node for node in range(n)] for place in range(k)]
    first += k * n
    coloured = [[first + node * c + colour for colour in range(c)] for node in range(n)]
    clauses = [*member, *coloured]
    clauses += [[-member[place][a], -member[place][b]] for place, a, b in apart]
    for group in (*coloured, *([row[node] for row in member] for node in range(n))):
        clauses += _at_most_one(group)
    for (a, b), there in between.items():
        for item, other in itertools.combinations(member, 2):
            clauses += [[*there, -item[a], -other[b]], [*there, -item[b], -other[a]]]
        clauses += [
            [-edge, -coloured[a][colour], -coloured[b][colour]] for edge in there for colour in range(c)
        ]
    return formula_of(first + n * c - 1, clauses)


def _at_most_one(variables: Sequence[int]) -> list[list[int]]:
    return [[-a, -b] for a, b in itertools.combinations(variables, 2)]
