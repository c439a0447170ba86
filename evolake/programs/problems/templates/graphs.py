"""Graphs whose edges can be counted: Ramsey graphs, unit distances; and networks of comparators."""

from itertools import combinations
from math import isqrt

from exact import output_of, whole

WORST, FARTHEST = 1_000_000, 1000


def joined(around, among, count):
    """Return whether so many vertices of a set are all joined; sets of vertices are bits of numbers."""
    if count == 0:
        return True
    while among:
        vertex = among.bit_length() - 1
        among ^= 1 << vertex
        if joined(around, among & around[vertex], count - 1):
            return True
    return False


def ramsey_vertices(results, clique, independent):
    """Return the number of vertices of a graph, in which neither so many are all joined nor so many are all apart; else 0.

    The output has 1 for each pair that is joined, else 0: pairs in the order (0, 1), (0, 2), (1, 2), (0, 3), ...
    """
    pairs = whole(output_of(results), 0, 1)
    count = (isqrt(8 * len(pairs) + 1) + 1) // 2 if pairs else 0
    if not pairs or count * (count - 1) // 2 != len(pairs):
        return {"vertices": 0}
    around = [[0] * count, [0] * count]
    for value, (one, other) in zip(pairs, ((one, other) for other in range(count) for one in range(other)), strict=True):
        around[value][one] |= 1 << other
        around[value][other] |= 1 << one
    every = (1 << count) - 1
    return {"vertices": 0 if joined(around[1], every, clique) or joined(around[0], every, independent) else count}


def unit_distances(results, count):
    """Return how many pairs of `count` points of the plane are 1 apart; 0 if the output is invalid.

    [a, b, c, d] is the complex number a + b w + (c + d w) e with w = (1 + i root(3)) / 2 and e = (5 + i root(11)) / 6,
    both of size 1. Its squared size is N(a, b) + N(c, d) + 5 (2 p + q) / 6 + q root(33) / 6, where N(a, b) = a a + a b + b b,
    p = a c + a d + b d and q = b c - a d.
    """
    points = whole(output_of(results), -FARTHEST, FARTHEST, 4)
    if points is None or len(points) != count or len(set(map(tuple, points))) < count:
        return {"pairs": 0}
    steps = [[x - y for x, y in zip(one, other, strict=True)] for one, other in combinations(points, 2)]
    return {"pairs": sum(b * c == a * d and 3 * (a * a + a * b + b * b + c * c + c * d + d * d) + 5 * (a * c + a * d + b * d) == 3 for a, b, c, d in steps)}


def comparators(results, inputs):
    """Return the number of comparators [i, j], i < j, that sort so many inputs, the least to place 0; WORST if they do not.

    A network sorts everything if it sorts zeros and ones. Each place holds a number, a bit of which is for one of all such inputs.
    """
    network = whole(output_of(results), 0, inputs - 1, 2)
    if network is None or len(network) > FARTHEST or any(low >= high for low, high in network):
        return {"comparators": WORST}
    ones = (1 << (1 << inputs)) - 1
    places = [ones // ((1 << (1 << place)) + 1) << (1 << place) for place in range(inputs)]
    for low, high in network:
        places[low], places[high] = places[low] & places[high], places[low] | places[high]
    in_order = all(low & ~high == 0 for low, high in zip(places, places[1:], strict=False))
    return {"comparators": len(network) if in_order else WORST}
