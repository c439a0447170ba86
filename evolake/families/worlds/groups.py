"""Constraints on groups: each thing is in one of the groups 1..n, at most `room` in one. A view is the tuple of sets of things by group."""

from __future__ import annotations

from evolake.families.worlds.kinds import Kind

GROUP, SIZE = "range(1, n + 1)", "range(1, room + 1)"
KINDS = (
    Kind(
        "together", "ab", ("{a} and {b} {bes} {same}.", "{a} {be} {same} as {b}."), "x[a] == x[b]", "[[-X(a, v), X(b, v)] for v in V]",
        "any({a, b} <= some for some in rooms)", label="who is together",
    ),
    Kind(
        "parted", "ab", ("{a} and {b} {bes} {different}.", "{a} does not {bare} {same} as {b}."), "x[a] != x[b]", "[[-X(a, v), -X(b, v)] for v in V]",
        "not any({a, b} <= some for some in rooms)", label="who is apart",
    ),
    Kind("placed", "ak", ("{a} {be} {at} {k}.",), "x[a] == k", "[[X(a, k)]]", "a in rooms[k - 1]", (GROUP,), label="places"),
    Kind("not_placed", "ak", ("{a} does not {bare} {at} {k}.",), "x[a] != k", "[[-X(a, k)]]", "a not in rooms[k - 1]", (GROUP,), label="places"),
    Kind(
        "alone", "a", ("{a} {be} alone.", "no other {member} {be} {same} as {a}."),
        "all(x[e] != x[a] for e in x if e != a)", "[[-X(a, v), -X(e, v)] for v in V for e in S if e != a]", "{a} in map(set, rooms)", whole=True,
        label="who is alone",
    ),
    Kind(
        "not_alone", "a", ("{a} does not {bare} alone.", "at least one other {be} {same} as {a}."),
        "any(x[e] == x[a] for e in x if e != a)", "[[-X(a, v), *[X(e, v) for e in S if e != a]] for v in V]", "{a} not in map(set, rooms)",
        whole=True, label="who is alone",
    ),
    Kind(
        "lower", "ab", ("{a} {be} {in_a} with a smaller number than {b}.", "the number of the {place} of {b} is greater than that of {a}."),
        "x[a] < x[b]", "[[-X(a, v), -X(b, w)] for v in V for w in V if w <= v]", "any(a in one and b in two for one, two in combinations(rooms, 2))",
        label="numbers",
    ),
    Kind(
        "neighbours", "ab", ("the numbers of the {places} of {a} and {b} differ by exactly one.",),
        "abs(x[a] - x[b]) == 1", "[[-X(a, v), *[X(b, w) for w in V if w in (v - 1, v + 1)]] for v in V]",
        "any((a in one and b in two) or (b in one and a in two) for one, two in zip(rooms, rooms[1:]))", label="numbers",
    ),
    Kind(
        "not_all_three", "abc", ("{a}, {b} and {c} do not all {bare} {same}.",),
        "len({x[a], x[b], x[c]}) > 1", "[[-X(a, v), -X(b, v), -X(c, v)] for v in V]", "all(len(some & {a, b, c}) < 3 for some in rooms)",
        label="who is apart",
    ),
    Kind(
        "with_one", "abc",
        ("{a} {be} {same} as at least one of {b} and {c}.", "{b} or {c} (or both) {be} {same} as {a}."),
        "x[a] in (x[b], x[c])", "[[-X(a, v), X(b, v), X(c, v)] for v in V]", "any(a in some and some & {b, c} for some in rooms)",
        label="who is together",
    ),
    Kind(
        "if_together", "abc", ("if {a} and {b} {bes} {same}, then {c} {be} there too.",),
        "x[a] != x[b] or x[c] == x[a]", "[[-X(a, v), -X(b, v), X(c, v)] for v in V]", "not any({a, b} <= some and c not in some for some in rooms)",
        label="conditions",
    ),
    Kind(
        "if_in", "abkl", ("if {a} {be} {at} {k}, then {b} {be} {at} {l}.", "{a} {be} {at} {k} only if {b} {be} {at} {l}."),
        "x[a] != k or x[b] == l", "[[-X(a, k), X(b, l)]]", "a not in rooms[k - 1] or b in rooms[l - 1]", (GROUP, GROUP), label="conditions",
    ),
    Kind(
        "at_least", "kl", ("at least {l} {folk} {bes} {at} {k}.", "{at} {k} there are at least {l} {folk}."),
        "sum(value == k for value in x.values()) >= l", "[[X(e, k) for e in some] for some in combinations(S, len(S) - l + 1)]",
        "len(rooms[k - 1]) >= l", (GROUP, "range(2, room + 1)"), whole=True, label="sizes",
    ),
    Kind(
        "exactly", "kl", ("exactly {l} {folk} {bes} {at} {k}.", "{at} {k} there are exactly {l} {folk}."),
        "list(x.values()).count(k) == l",
        "[[-X(e, k) for e in some] for some in combinations(S, l + 1)] + [[X(e, k) for e in some] for some in combinations(S, len(S) - l + 1)]",
        "len(rooms[k - 1]) == l", (GROUP, "range(2, room + 1)"), whole=True, label="sizes",
    ),
    Kind(
        "empty", "k", ("{nobody} {be} {at} {k}.", "{place} {k} stays empty."),
        "k not in x.values()", "[[-X(e, k)] for e in S]", "not rooms[k - 1]", (GROUP,), whole=True, label="sizes",
    ),
    Kind(
        "more_in", "kl", ("more {folk} {bes} {at} {k} than {at} {l}.",),
        "sum((value == k) - (value == l) for value in x.values()) > 0",
        "[[*[X(e, k) for e in some], *[-X(e, l) for e in more]] for size in range(len(S) + 1) for some in combinations(S, len(S) - size)"
        " for more in combinations(S, size)]",
        "len(rooms[l - 1]) < len(rooms[k - 1])", (GROUP, GROUP), whole=True, label="sizes",
    ),
)
