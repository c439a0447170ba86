"""Constraints on a choice: each thing is chosen (1) or not (0). A view is the set of the chosen; `weights` are the things' numbers."""

from __future__ import annotations

from evolake.families.worlds.kinds import Kind

FEW = "range(2, n - 1)"
KINDS = (
    Kind(
        "needs", "ab", ("if {a} is {part}, then {b} is {part} too.", "{a} is {part} only if {b} is {part}."), "x[a] <= x[b]", "[[-X(a, 1), X(b, 1)]]",
        "b in team or a not in team", label="conditions",
    ),
    Kind(
        "not_both", "ab", ("{a} and {b} are not both {part}.", "if {a} is {part}, then {b} is not {part}."), "x[a] + x[b] < 2",
        "[[X(a, 0), X(b, 0)]]",
        "not {a, b} <= team", label="exclusions",
    ),
    Kind(
        "one_at_least", "ab", ("at least one of {a} and {b} is {part}.", "if {a} is not {part}, then {b} is {part}."), "x[a] + x[b] > 0",
        "[[X(a, 1), X(b, 1)]]",
        "bool({a, b} & team)", label="alternatives",
    ),
    Kind(
        "exactly_one", "ab", ("exactly one of {a} and {b} is {part}.", "either {a} is {part} or {b} is {part}, but not both."),
        "x[a] + x[b] == 1", "[[X(a, 1), X(b, 1)], [X(a, 0), X(b, 0)]]", "len(team & {a, b}) == 1", label="alternatives",
    ),
    Kind(
        "both_or_none", "ab", ("{a} is {part} exactly when {b} is {part}.", "either both {a} and {b} are {part}, or neither is {part}."),
        "x[a] == x[b]", "[[X(a, 0), X(b, 1)], [X(a, 1), X(b, 0)]]", "len(team & {a, b}) != 1", label="pairs",
    ),
    Kind(
        "needs_one", "abc", ("if {a} is {part}, then so is at least one of {b} and {c}.", "{a} is {part} only if at least one of {b} and {c} is "
        "{part}."),
        "x[a] <= max(x[b], x[c])", "[[X(a, 0), X(b, 1), X(c, 1)]]", "a not in team or not team.isdisjoint({b, c})", label="conditions",
    ),
    Kind(
        "needs_both", "abc", ("if {a} is {part}, then so are both {b} and {c}.", "{a} is {part} only if {b} and {c} both are {part}."),
        "x[a] <= min(x[b], x[c])", "[[X(a, 0), X(e, 1)] for e in (b, c)]", "team >= {b, c} or a not in team", label="conditions",
    ),
    Kind(
        "both_bar", "abc", ("if {a} and {b} both are {part}, then {c} is not {part}.", "{a}, {b} and {c} are not all {part}."),
        "x[a] + x[b] + x[c] < 3", "[[-X(e, 1) for e in (a, b, c)]]", "len(team & {a, b, c}) != 3", label="exclusions",
    ),
    Kind(
        "two_of_three", "abc", ("exactly two of {a}, {b} and {c} are {part}.", "of {a}, {b} and {c}, exactly one is not {part}."),
        "x[a] + x[b] + x[c] == 2", "[[X(a, 0), X(b, 0), X(c, 0)], *[[X(d, 1), X(e, 1)] for d, e in combinations((a, b, c), 2)]]",
        "len({a, b, c} - team) == 1", label="alternatives",
    ),
    Kind(
        "one_of_three", "abc", ("at least one of {a}, {b} and {c} is {part}.", "it cannot be that none of {a}, {b} and {c} is {part}."),
        "max(x[a], x[b], x[c]) == 1", "[[X(e, 1) for e in (a, b, c)]]", "{a, b, c} - team != {a, b, c}", label="alternatives",
    ),
    Kind(
        "at_most", "k", ("at most {k} {folk} are {part}.", "no more than {k} {folk} are {part}."),
        "sum(x.values()) <= k", "[[X(e, 0) for e in some] for some in combinations(S, k + 1)]", "len(team) <= k", (FEW,), whole=True, label="numbers",
    ),
    Kind(
        "at_least", "k", ("at least {k} {folk} are {part}.", "no fewer than {k} {folk} are {part}."),
        "sum(x.values()) >= k", "[[X(e, 1) for e in some] for some in combinations(S, len(S) - k + 1)]", "not len(team) < k", (FEW,), whole=True,
        label="numbers",
    ),
    Kind(
        "even_number", "", ("the number of {folk} that are {part} is even.",), "sum(x.values()) % 2 == 0",
        "[[X(e, int(e not in some)) for e in S] for size in range(1, len(S) + 1, 2) for some in combinations(S, size)]", "not len(team) & 1",
        whole=True,
        label="even and odd",
    ),
    Kind(
        "budget", "k", ("the {folk} that are {part} have {weight} of at most {k} {unit} together.",),
        "sum(weights[e] for e in x if x[e]) <= k",
        "[[X(e, 0) for e in some] for size in range(len(S) + 1) for some in combinations(S, size) if k < sum(weights[e] for e in some)]",
        "k >= sum(map(weights.__getitem__, team))", ("range(sum(weights) // 3, sum(weights))",), whole=True, label="a bound on the total",
    ),
    Kind(
        "floor", "k", ("the {folk} that are {part} have {weight} of at least {k} {unit} together.",),
        "sum(weights[e] for e in x if x[e]) >= k",
        "[[X(e, 1) for e in S if e not in some] for size in range(len(S) + 1) for some in combinations(S, size) if sum(weights[e] for e in some) "
        "< k]",
        "k <= sum(map(weights.__getitem__, team))", ("range(sum(weights) // 5, sum(weights) // 2)",), whole=True, label="a bound on the total",
    ),
)
