"""Laws: what a world says of its marked things (those with a hat) in one sentence of its statement; a
mutation point with two of them.

Meanings as in `kinds`, of `some`, the marked things, two at least.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Law:
    """One law. text: with words of the theme."""

    name: str
    structures: tuple[str, ...]
    text: str
    check: str
    clauses: str
    view: str


ORDERS, ROUND, SHARED, CHOSEN = ("row", "ring"), ("ring",), ("groups",), ("selection",)
ROUND_NEXT = "zip(order, order[1:] + order[:1])"
LAWS = (
    Law(
        "apart",
        ("row",),
        "No two of {those} {bare} {next}.",
        "all(abs(x[a] - x[b]) > 1 for a, b in combinations(some, 2))",
        "[[-X(a, v), -X(b, w)] for a, b in permutations(some, 2) for v, w in zip(V, V[1:])]",
        "not any({one, two} <= set(some) for one, two in zip(order, order[1:]))",
    ),
    Law(
        "block",
        ("row",),
        "Between any two of {those} there are none of the others.",
        "max(x[e] for e in some) - min(x[e] for e in some) < len(some)",
        "[[-X(a, v), -X(b, w)] for a, b in combinations(some, 2) for v in V for w in V if abs(v - w) >= "
        "len(some)]",
        "any(set(order[i:i + len(some)]) == set(some) for i in range(n))",
    ),
    Law(
        "end",
        ("row",),
        "At least one of {those} {be} {first} or {last}.",
        "any(x[e] in (1, n) for e in some)",
        "[[X(e, v) for e in some for v in (V[0], V[-1])]]",
        "not {order[0], order[-1]}.isdisjoint(some)",
    ),
    Law(
        "inside",
        ("row",),
        "{those} {bes} neither {first} nor {last}.",
        "all(1 < x[e] < n for e in some)",
        "[[-X(e, v)] for e in some for v in (V[0], V[-1])]",
        "set(some) <= set(order[1:-1])",
    ),
    Law(
        "mixed",
        ORDERS,
        "Of {those}, at least one has an even number and at least one an odd number.",
        "len({x[e] % 2 for e in some}) == 2",
        "[[X(e, v) for e in some for v in V if v % 2 == odd] for odd in (0, 1)]",
        "not set(some).isdisjoint(order[::2]) and not set(some).isdisjoint(order[1::2])",
    ),
    Law(
        "not_low",
        ORDERS,
        "Number 1 does not belong to any of {those}.",
        "min(x[e] for e in some) > 1",
        "[[-X(e, 1)] for e in some]",
        "order[0] not in some",
    ),
    Law(
        "lower",
        ("row",),
        "The smallest of all numbers of {those} is odd.",
        "min(x[e] for e in some) % 2 == 1",
        "[[-X(e, v), *[X(d, w) for d in some for w in V if w < v]] for e in some for v in V if v % 2 == 0]",
        "[e in some for e in order].index(True) % 2 == 0",
    ),
    Law(
        "apart",
        ROUND,
        "No two of {those} {bare} directly beside one another.",
        "all((x[a] - x[b]) % n not in (1, n - 1) for a, b in combinations(some, 2))",
        "[[-X(a, v), -X(b, v % len(V) + 1)] for a, b in permutations(some, 2) for v in V]",
        f"not any(one in some and two in some for one, two in {ROUND_NEXT})",
    ),
    Law(
        "linked",
        ROUND,
        "Each of {those} {be} directly beside at least one other of them.",
        "all(any((x[a] - x[b]) % n in (1, n - 1) for b in some if b != a) for a in some)",
        "[[-X(a, v), *[X(b, w) for b in some if b != a for w in (v % len(V) + 1, (v - 2) % len(V) + 1)]] "
        "for a in some for v in V]",
        f"set(some) <= {{e for one, two in {ROUND_NEXT} if one in some and two in some for e in (one, two)}}",
    ),
    Law(
        "first_seat",
        ROUND,
        "Number 1 belongs to one of {those}.",
        "any(x[e] == 1 for e in some)",
        "[[X(e, 1) for e in some]]",
        "order[0] in some",
    ),
    Law(
        "parted",
        SHARED,
        "No two of {those} {bare} {same}.",
        "len({x[e] for e in some}) == len(some)",
        "[[-X(a, v), -X(b, v)] for a, b in combinations(some, 2) for v in V]",
        "all(len(one & set(some)) < 2 for one in rooms)",
    ),
    Law(
        "spread",
        SHARED,
        "{those} do not all {bare} {same}.",
        "min(x[e] for e in some) < max(x[e] for e in some)",
        "[[-X(e, v) for e in some] for v in V]",
        "not any(set(some) <= one for one in rooms)",
    ),
    Law(
        "company",
        SHARED,
        "Each of {those} {be} {same} as at least one other of them.",
        "all(any(x[a] == x[b] for b in some if b != a) for a in some)",
        "[[-X(a, v), *[X(b, v) for b in some if b != a]] for a in some for v in V]",
        "all(len(one & set(some)) != 1 for one in rooms)",
    ),
    Law(
        "never_last",
        SHARED,
        "{at} 1 there is at least one of {those}.",
        "1 in [x[e] for e in some]",
        "[[X(e, 1) for e in some]]",
        "bool(rooms[0] & set(some))",
    ),
    Law(
        "no_first",
        SHARED,
        "{at} 1 there is none of {those}.",
        "1 not in [x[e] for e in some]",
        "[[-X(e, 1)] for e in some]",
        "rooms[0].isdisjoint(some)",
    ),
    Law(
        "any",
        CHOSEN,
        "At least one of {those} is {part}.",
        "sum(x[e] for e in some) > 0",
        "[[X(e, 1) for e in some]]",
        "bool(team & set(some))",
    ),
    Law(
        "most_one",
        CHOSEN,
        "No more than one of {those} is {part}.",
        "sum(x[e] for e in some) < 2",
        "[[X(a, 0), X(b, 0)] for a, b in combinations(some, 2)]",
        "len(team.intersection(some)) <= 1",
    ),
    Law(
        "exactly_one",
        CHOSEN,
        "Of {those}, exactly one is {part}.",
        "[x[e] for e in some].count(1) == 1",
        "[[X(e, 1) for e in some], *[[X(a, 0), X(b, 0)] for a, b in combinations(some, 2)]]",
        "len(set(some) - team) == len(some) - 1",
    ),
    Law(
        "not_all",
        CHOSEN,
        "{those} are not all {part}.",
        "0 in [x[e] for e in some]",
        "[[X(e, 0) for e in some]]",
        "not team >= set(some)",
    ),
    Law(
        "all_or_none",
        CHOSEN,
        "Either all of {those} are {part}, or none of them is.",
        "len({x[e] for e in some}) == 1",
        "[[X(a, 0), X(b, 1)] for a, b in permutations(some, 2)]",
        "team >= set(some) or team.isdisjoint(some)",
    ),
    Law(
        "outnumber",
        CHOSEN,
        "Of {those}, fewer are {part} than are not.",
        "2 * sum(x[e] for e in some) < len(some)",
        "[[X(e, 0) for e in few] for few in combinations(some, (len(some) + 1) // 2)]",
        "len(set(some) & team) < len(set(some) - team)",
    ),
)
