"""Constraints on a round table: things sit on the seats 1..n, one on each, and seat n is next to seat 1. A
view is the tuple of things by seat."""

from __future__ import annotations

from evolake.families.worlds.kinds import Kind
from evolake.families.worlds.row import PLACE

STEPS = "range(2, n - 1)"
KINDS = (
    Kind(
        "clockwise",
        "ab",
        ("{b} {be} {the_next} clockwise from {a}.", "going clockwise, the first one after {a} is {b}."),
        "(x[b] - x[a]) % n == 1",
        "[[-X(a, v), X(b, v + 1 if v < V[-1] else V[0])] for v in V]",
        "order[order.index(a) - n + 1] == b",
        label="going round",
    ),
    Kind(
        "beside",
        "ab",
        ("{a} {be} directly beside {b}.", "{a} and {b} are direct neighbours."),
        "(x[a] - x[b]) % n in (1, n - 1)",
        "[[-X(a, v), X(b, v % len(V) + 1), X(b, (v - 2) % len(V) + 1)] for v in V]",
        "any({a, b} == set(two) for two in zip(order, order[1:] + order[:1]))",
        label="neighbours",
    ),
    Kind(
        "not_beside",
        "ab",
        ("{a} does not {bare} directly beside {b}.", "{a} and {b} are not direct neighbours."),
        "(x[a] - x[b]) % n not in (1, n - 1)",
        "[[-X(one, v), -X(two, v % len(V) + 1)] for one, two in ((a, b), (b, a)) for v in V]",
        "b not in (order[order.index(a) - 1], order[order.index(a) - n + 1])",
        label="neighbours",
    ),
    Kind(
        "steps",
        "abk",
        (
            "{b} {be} {k} {places} clockwise from {a}.",
            "going clockwise from {a}, one comes to {b} after {k} {places}.",
        ),
        "(x[b] - x[a]) % n == k",
        "[[-X(a, v), *[X(b, w) for w in V if w in (v + k, v + k - len(V))]] for v in V]",
        "(order * 2)[order.index(a) + k] == b",
        (STEPS,),
        label="distances",
    ),
    Kind(
        "at_most_steps",
        "abk",
        (
            "going clockwise from {a}, one comes to {b} after at most {k} {places}.",
            "{b} {be} no more than {k} {places} clockwise from {a}.",
        ),
        "(x[b] - x[a]) % n <= k",
        "[[-X(a, v), *[X(b, w) for w in V if v < w <= v + k or w + len(V) <= v + k]] for v in V]",
        "b in (order * 2)[order.index(a):order.index(a) + k + 1]",
        (STEPS,),
        label="distances",
    ),
    Kind(
        "flanked",
        "abc",
        ("{a} {be} directly between {b} and {c}.", "the two direct neighbours of {a} are {b} and {c}."),
        "{(x[b] - x[a]) % n, (x[c] - x[a]) % n} == {1, n - 1}",
        "[[-X(a, v), X(e, v % len(V) + 1), X(e, (v - 2) % len(V) + 1)] for e in (b, c) for v in V]",
        "{order[order.index(a) - 1], order[order.index(a) - n + 1]} == {b, c}",
        label="neighbours",
    ),
    Kind(
        "turn",
        "abc",
        (
            "going clockwise from {a}, one meets {b} before {c}.",
            "whoever goes clockwise from {a} passes {b} earlier than {c}.",
        ),
        "(x[b] - x[a]) % n < (x[c] - x[a]) % n",
        "[[-X(a, u), -X(b, v), -X(c, w)] for u in V for v in V for w in V if (u < w < v or w < v < u or v "
        "< u < w)]",
        "[e for e in order[order.index(a):] + order[:order.index(a)] if e in (b, c)] == [b, c]",
        label="going round",
    ),
    Kind(
        "not_at",
        "ak",
        ("{a} does not {bare} {at} {k}.", "{place} {k} is not taken by {a}."),
        "x[a] != k",
        "[[-X(a, k)]]",
        "order[k - 1] != a",
        (PLACE,),
        label="seats",
    ),
    Kind(
        "one_of",
        "akl",
        ("{a} {be} {at} {k} or {at} {l}.", "the number of {a} is {k} or {l}."),
        "x[a] in (k, l)",
        "[[X(a, k), X(a, l)]]",
        "a in (order[k - 1], order[l - 1])",
        (PLACE, PLACE),
        label="seats",
    ),
    Kind(
        "even",
        "a",
        ("{a} {be} {at_a} with an even number.", "the number of {a} can be divided by two."),
        "x[a] % 2 == 0",
        "[[X(a, v) for v in V if not v & 1]]",
        "a in order[1::2]",
        label="even and odd",
    ),
    Kind(
        "smaller_number",
        "ab",
        ("the number of {a} is smaller than that of {b}.", "{b} has a greater number than {a}."),
        "x[a] < x[b]",
        "[[-X(a, v), -X(b, w)] for v in V for w in V if w <= v]",
        "b in order[order.index(a) + 1:]",
        label="numbers",
    ),
)
