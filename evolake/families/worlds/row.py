"""Constraints on an order: things are at the places 1..n, one at each. A view is the tuple of things by place."""

from __future__ import annotations

from evolake.families.worlds.kinds import Kind

PLACE, GAP = "range(1, n + 1)", "range(2, n)"
THREE = "[e for e in order if e in (a, b, c)]"
KINDS = (
    Kind(
        "before", "ab", ("{a} {be} somewhere {ahead} {b}.", "{b} {be} somewhere {behind} {a}."),
        "x[a] < x[b]", "[[-X(a, v), -X(b, w)] for v in V for w in V if w <= v]", "b in order[order.index(a) + 1:]",
    ),
    Kind(
        "exactly_behind", "abk", ("{b} {be} exactly {k} {places} {behind} {a}.", "{a} {be} exactly {k} {places} {ahead} {b}."),
        "x[b] - x[a] == k", "[[-X(a, v), *[X(b, w) for w in V if w == v + k]] for v in V]", "a in order[:n - k] and order[order.index(a) + k] == b",
        (GAP,), label="distances",
    ),
    Kind(
        "next_to", "ab", ("{a} and {b} {bes} {next}.", "the numbers of {a} and {b} differ by exactly one."),
        "abs(x[a] - x[b]) == 1", "[[-X(a, v), *[X(b, w) for w in V if w in (v - 1, v + 1)]] for v in V]",
        "any({a, b} == set(two) for two in zip(order, order[1:]))", label="neighbours",
    ),
    Kind(
        "not_next_to", "ab", ("{a} and {b} do not {bare} {next}.", "at least one of the others {be} between {a} and {b}."),
        "abs(x[a] - x[b]) > 1", "[[-X(one, v), -X(two, w)] for one, two in ((a, b), (b, a)) for v, w in zip(V, V[1:])]",
        "all({a, b} != set(two) for two in zip(order, order[1:]))", label="neighbours",
    ),
    Kind(
        "far", "abk", ("the numbers of {a} and {b} differ by at least {k}.", "the numbers of {a} and {b} differ by {k} or more."),
        "abs(x[a] - x[b]) >= k", "[[-X(a, v), -X(b, w)] for v in V for w in V if v - k < w < v + k]",
        "not any(a in order[i:i + k] and b in order[i:i + k] for i in range(n))", (GAP,), label="distances",
    ),
    Kind(
        "inside", "abc", ("{a} {be} somewhere between {b} and {c}.", "of {b} and {c}, one {be} {ahead} {a} and the other {behind} {a}."),
        "x[b] < x[a] < x[c] or x[c] < x[a] < x[b]",
        "[[-X(b, v), -X(c, w), *[X(a, u) for u in V if min(v, w) < u < max(v, w)]] for v in V for w in V if v != w]", f"{THREE}[1] == a",
        label="what lies between",
    ),
    Kind(
        "outside", "abc", ("{a} does not {bare} between {b} and {c}.", "{a} {be} {ahead} both {b} and {c}, or {behind} both of them."),
        "not min(x[b], x[c]) < x[a] < max(x[b], x[c])",
        "[[-X(b, v), -X(c, w), -X(a, u)] for v in V for w in V for u in V if v < u < w or w < u < v]", f"a in {THREE}[::2]",
        label="what lies between",
    ),
    Kind(
        "at", "ak", ("{a} {be} {at} {k}.", "the number of {a} is {k}."), "x[a] == k", "[[X(a, k)]]", "order[k - 1] == a", (PLACE,), label="places",
    ),
    Kind(
        "not_at", "ak", ("{a} does not {bare} {at} {k}.", "the number of {a} is not {k}."), "x[a] != k", "[[-X(a, k)]]", "order[k - 1] != a",
        (PLACE,), label="places",
    ),
    Kind(
        "one_of", "akl", ("{a} {be} {at} {k} or {at} {l}.", "the number of {a} is {k} or {l}."),
        "x[a] in (k, l)", "[[X(a, k), X(a, l)]]", "a in (order[k - 1], order[l - 1])", (PLACE, PLACE), label="places",
    ),
    Kind(
        "end", "a", ("{a} {be} {first} or {last}.", "{nobody} {be} {ahead} {a}, or {nobody} {be} {behind} {a}."),
        "x[a] == 1 or x[a] == n", "[[X(a, V[0]), X(a, V[-1])]]", "a in order[::n - 1]", label="ends",
    ),
    Kind(
        "inner", "a", ("{a} {be} neither {first} nor {last}.", "{somebody} {be} {ahead} {a}, and {somebody} {be} {behind} {a}."),
        "1 < x[a] < n", "[[-X(a, V[0])], [-X(a, V[-1])]]", "a in order[1:-1]", label="ends",
    ),
    Kind(
        "first_of", "abc", ("{a} {be} {ahead} both {b} and {c}.", "both {b} and {c} {bes} {behind} {a}."),
        "x[a] < min(x[b], x[c])", "[[-X(a, v), -X(e, w)] for e in (b, c) for v in V for w in V if w <= v]", f"{THREE}[0] == a",
    ),
    Kind(
        "ahead_of_one", "abc", ("{a} {be} {ahead} at least one of {b} and {c}.", "at least one of {b} and {c} {be} {behind} {a}."),
        "x[a] < max(x[b], x[c])", "[[-X(a, v), -X(b, w), -X(c, u)] for v in V for w in V for u in V if w < v and u < v]", f"{THREE}[-1] != a",
    ),
    Kind(
        "even", "a", ("{a} {be} {at_a} with an even number.", "the number of {a} can be divided by two."),
        "x[a] % 2 == 0", "[[X(a, v) for v in V if not v & 1]]", "a in order[1::2]", label="even and odd",
    ),
    Kind(
        "odd", "a", ("{a} {be} {at_a} with an odd number.", "the number of {a} cannot be divided by two."),
        "x[a] % 2 == 1", "[[X(a, v) for v in V if v & 1]]", "a in order[::2]", label="even and odd",
    ),
    Kind(
        "same_parity", "ab",
        ("the numbers of {a} and {b} are both even or both odd.", "either both of {a} and {b} have even numbers, or both have odd ones."),
        "(x[a] - x[b]) % 2 == 0", "[[-X(a, v), -X(b, w)] for v in V for w in V if v + w & 1]", "(a in order[::2]) == (b in order[::2])",
        label="even and odd",
    ),
    Kind(
        "between_them", "abk", ("exactly {k} others {bes} between {a} and {b}.", "between {a} and {b} there are exactly {k} others."),
        "abs(x[a] - x[b]) - 1 == k", "[[-X(a, v), *[X(b, w) for w in V if w in (v - k - 1, v + k + 1)]] for v in V]",
        "len(order[min(order.index(a), order.index(b)) + 1:max(order.index(a), order.index(b))]) == k", ("range(2, n - 1)",),
        label="what lies between",
    ),
    Kind(
        "total", "abk", ("the numbers of {a} and {b} add up to {k}.", "added together, the numbers of {a} and {b} make {k}."),
        "x[a] + x[b] == k", "[[-X(a, v), *[X(b, w) for w in V if v + w == k]] for v in V]", "order.index(a) + order.index(b) + 2 == k",
        ("range(3, 2 * n)",), label="sums",
    ),
    Kind(
        "among_first", "ak", ("the number of {a} is at most {k}.", "the number of {a} is not greater than {k}."),
        "x[a] <= k", "[[X(a, v) for v in V[:k]]]", "a in order[:k]", (GAP,), label="bounds",
    ),
    Kind(
        "one_among", "abk",
        ("exactly one of {a} and {b} has a number of at most {k}.", "one of {a} and {b} has a number of at most {k}, and the other a greater one."),
        "(x[a] <= k) != (x[b] <= k)", "[[X(e, v) for e in (a, b) for v in V[:k]], [X(e, v) for e in (a, b) for v in V[k:]]]",
        "len({a, b} & set(order[:k])) == 1", (GAP,), label="bounds",
    ),
    Kind(
        "if_at", "abkl", ("if {a} {be} {at} {k}, then {b} {be} {at} {l}.", "{a} {be} {at} {k} only if {b} {be} {at} {l}."),
        "x[a] != k or x[b] == l", "[[-X(a, k), X(b, l)]]", "order[k - 1] != a or order[l - 1] == b", (PLACE, PLACE), label="conditions",
    ),
    Kind(
        "if_ahead", "abc", ("if {a} {be} {ahead} {b}, then {b} {be} {ahead} {c}.", "{a} {be} {ahead} {b} only if {b} {be} {ahead} {c}."),
        "x[b] < x[a] or x[b] < x[c]", "[[-X(a, v), -X(b, w), -X(c, u)] for v in V for w in V for u in V if v < w and u < w]",
        "order.index(b) < max(order.index(a), order.index(c))", label="conditions",
    ),
)
