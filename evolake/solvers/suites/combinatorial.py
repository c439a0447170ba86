"""Combinatorial families: Tseitin parities on random regular graphs, graph colouring, latin squares with
holes; and families of parities and small counts: systems of exclusive ors, even colourings of graphs,
contradictory counts over random groups.

Resolution needs exponentially many steps for the parities and counts while a line of arithmetic decides each,
so that their status is certain as they are made, and their hardness is smooth in size.

Principles that cnfgen states on a complete graph (ordering, counting, pigeonhole, clique-colouring), stated
on a drawn one.

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
from evolake.reading.formula import Formula, formula_of


def tseitin(n: int, d: int, seed: int) -> Formula:
    """Return Tseitin's contradiction (1968): the edges of a random d-regular graph on n nodes, an odd number
    of nodes whose edges must have odd parity.

    Unsatisfiable, as each edge is counted at two nodes and so the parities sum to an even number.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    edges = regular_graph(n, d, rng)
    at: list[list[int]] = [[] for _ in range(n)]
    for number, (a, b) in enumerate(edges, start=1):
        at[a].append(number)
        at[b].append(number)
    charges = rng.integers(2, size=n)
    charges[0] ^= 1 - charges.sum() % 2
    clauses = [
        [variable if sign else -variable for variable, sign in zip(at[node], signs, strict=True)]
        for node in range(n)
        for signs in itertools.product((0, 1), repeat=len(at[node]))
        if (len(signs) - sum(signs)) % 2 != charges[node]
    ]
    return formula_of(len(edges), clauses)


def coloring(n: int, m: int, k: int, seed: int) -> Formula:
    """Colour a uniform random graph of n nodes and m edges with k colours: each node at least one colour, no
    edge of one colour."""
    rng = np.random.Generator(np.random.PCG64(seed))
    edges = sorted(_random_edges(n, m, rng))
    clauses = [[node * k + colour + 1 for colour in range(k)] for node in range(n)]
    clauses += [
        [-(node * k + a + 1), -(node * k + b + 1)]
        for node in range(n)
        for a, b in itertools.combinations(range(k), 2)
    ]
    clauses += [[-(a * k + colour + 1), -(b * k + colour + 1)] for a, b in edges for colour in range(k)]
    return formula_of(n * k, clauses)


def quasigroup_with_holes(n: int, holes: int, seed: int) -> Formula:
    """Fill `holes` blanked cells of a latin square of order n (Gomes and Shmoys 2002); the square is the
    cyclic one, its rows, columns and symbols permuted. Only the symbols that a cell's row and column leave
    open become variables. Satisfiable by construction.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    rows, columns, symbols = (rng.permutation(n) for _ in range(3))
    square = symbols[(rows[:, None] + columns[None, :]) % n]
    blank = np.zeros((n, n), dtype=bool)
    blank.flat[rng.permutation(n * n)[:holes]] = True
    given_rows = [set(square[i, ~blank[i]].tolist()) for i in range(n)]
    given_columns = [set(square[~blank[:, j], j].tolist()) for j in range(n)]
    number: dict[tuple[int, int, int], int] = {}
    for i, j in np.argwhere(blank).tolist():
        for symbol in range(n):
            if symbol not in given_rows[i] and symbol not in given_columns[j]:
                number[i, j, symbol] = len(number) + 1
    groups: dict[tuple[str, int, int], list[int]] = {}
    for (i, j, symbol), variable in number.items():
        for key in (("cell", i, j), ("row", i, symbol), ("column", j, symbol)):
            groups.setdefault(key, []).append(variable)
    clauses = [group for _, group in sorted(groups.items())]
    clauses += [[-a, -b] for _, group in sorted(groups.items()) for a, b in itertools.combinations(group, 2)]
    return formula_of(len(number), clauses)


def _random_edges(n: int, m: int, rng: np.random.Generator) -> set[tuple[int, int]]:
    if m > n * (n - 1) // 2:
        raise ValueError(f"a graph of {n} nodes has no {m} edges")
    edges: set[tuple[int, int]] = set()
    while len(edges) < m:
        a, b = sorted(rng.integers(n, size=2).tolist())
        if a != b:
            edges.add((a, b))
    return edges


MOST_SWAPS = 10_000
"""Pairings that can be mended by swaps take less than a thousand; the number must not fall below what a
locked formula took."""


def regular_graph(n: int, d: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return the edges of a simple d-regular graph: stubs are paired at random, and a pairing with loops or
    double edges is repaired by swaps.

    Swaps of some pairings of small dense graphs never end: after `MOST_SWAPS` the stubs are paired again.
    """
    if n * d % 2 or d >= n:
        raise ValueError(f"there is no simple {d}-regular graph on {n} nodes")
    pairs, swaps = _paired(n, d, rng), 0
    while bad := _flawed(pairs):
        swaps += 1
        if swaps % MOST_SWAPS == 0:
            pairs = _paired(n, d, rng)
            continue
        first, second = bad, int(rng.integers(len(pairs)))
        (a, b), (c, e) = pairs[first], pairs[second]
        pairs[first], pairs[second] = sorted((a, e)), sorted((c, b))
    return sorted((a, b) for a, b in pairs)


def _paired(n: int, d: int, rng: np.random.Generator) -> list[list[int]]:
    """Return d stubs of each node, paired at random; loops and double edges may be among them."""
    return [sorted(pair) for pair in rng.permutation(np.repeat(np.arange(n), d)).reshape(-1, 2).tolist()]


def _flawed(pairs: list[list[int]]) -> int:
    """Position of a pair that is a loop or repeats another, or 0 when there is none; the first pair is
    swapped as another's partner."""
    seen: set[tuple[int, int]] = set()
    for position in range(len(pairs) - 1, -1, -1):
        key = (pairs[position][0], pairs[position][1])
        if key[0] == key[1] or key in seen:
            return position or 1
        seen.add(key)
    return 0


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
