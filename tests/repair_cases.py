"""Problems of the repair study that several tests use."""

import random
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from evolake.repair.problems import Constraint, Problem, Variable, problem_of

ROUND_1 = {"status": "sat", "assignment": {"x1": 4, "x2": 2, "x3": 3, "x4": 7}}
ROUND_2 = {"status": "sat", "assignment": {"x1": 14, "x2": 1, "x3": 3, "x4": 7}}
LIN_0127 = {
    "id": "lin-0127", "variables": {name: [0, 9] for name in ("x1", "x2", "x3", "x4")},
    "constraints": [
        {"id": "c1", "coef": {"x1": 1, "x2": 4, "x3": 1, "x4": 2}, "op": ">=", "rhs": 23},
        {"id": "c2", "coef": {"x1": 3, "x2": 1}, "op": "=", "rhs": 43},
        {"id": "c3", "coef": {"x2": 1, "x3": 2, "x4": -1}, "op": "<=", "rhs": 6},
        {"id": "c4", "coef": {"x1": 1, "x3": -1, "x4": 1}, "op": ">=", "rhs": 1},
    ],
    "label": "unsat", "seed": 7,
}  # fmt: skip


def posed(
    domains: Mapping[str, Sequence[int]], *constraints: tuple[dict[str, int], str, int], **more: Any
) -> Problem:
    """A problem from domains and (coefficients, operator, right-hand side); constraints are named c1, c2,
    ..."""
    listed = [
        {"id": f"c{place}", "coef": coef, "op": op, "rhs": rhs}
        for place, (coef, op, rhs) in enumerate(constraints, 1)
    ]
    return problem_of(
        {"id": "p", "variables": {name: list(ends) for name, ends in domains.items()}, "constraints": listed}
        | more
    )


def drawn(seed: int, *, most_variables: int = 4, low: int = -2, high: int = 4) -> Problem:
    """A random problem whose box is small enough to look at every assignment."""
    rng = random.Random(seed)
    names = [f"x{place + 1}" for place in range(rng.randint(1, most_variables))]
    variables = []
    for name in names:
        ends = sorted((rng.randint(low, high), rng.randint(low, high)))
        variables.append(Variable(name, *(ends if rng.random() < 0.95 else reversed(ends))))
    constraints = []
    for place in range(rng.randint(0, 6)):
        chosen = rng.sample(names, rng.randint(1, len(names)))
        terms = tuple((name, rng.choice([-5, -3, -2, -1, 0, 1, 2, 3, 4])) for name in chosen)
        constraints.append(
            Constraint(f"c{place + 1}", terms, rng.choice(("<=", ">=", "=")), rng.randint(-8, 12))
        )
    return Problem(f"drawn-{seed}", tuple(variables), tuple(constraints))


def solutions(problem: Problem, kept: Sequence[str] | None = None, margin: int = 12) -> int:
    """How many assignments satisfy the constraints and bounds named in `kept` (None: all), counted one by
    one.

    A variable whose bound is not kept ranges `margin` beyond its domain on both sides.
    """
    names = (
        [item.id for item in problem.constraints] + [item.bound_id for item in problem.variables]
        if kept is None
        else list(kept)
    )
    boxes = []
    for item in problem.variables:
        ends = (
            (item.low, item.high)
            if item.bound_id in names
            else (min(item.low, item.high) - margin, max(item.low, item.high) + margin)
        )
        boxes.append(range(ends[0], ends[1] + 1))
    constraints = [item for item in problem.constraints if item.id in names]
    count = 0
    for values in product(*boxes):
        assignment = dict(zip((item.name for item in problem.variables), values, strict=True))
        count += all(item.holds(assignment) for item in constraints)
    return count


def market_split(variables: int = 40, equations: int = 5, seed: int = 1) -> Problem:
    """A problem that no solver decides quickly: several equations over many 0/1 variables (Cornuejols and
    Dawande, 1998)."""
    rng = random.Random(seed)
    constraints = []
    for place in range(equations):
        factors = [rng.randint(0, 99) for _ in range(variables)]
        terms = tuple((f"x{number + 1}", factor) for number, factor in enumerate(factors))
        constraints.append(Constraint(f"c{place + 1}", terms, "=", sum(factors) // 2))
    return Problem(
        "market-split",
        tuple(Variable(f"x{number + 1}", 0, 1) for number in range(variables)),
        tuple(constraints),
    )
