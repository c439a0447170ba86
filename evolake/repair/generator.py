"""Make problems from a seed: satisfiable ones around a planted point, unsatisfiable ones around a planted
minimal conflict of two to four constraints; and the same problem in other words.

A conflict is planted by a linear combination. Draw s - 1 constraints that a point satisfies, read them as
g_i(x) <= b_i, and combine them with positive integer weights: every solution has sum w_i g_i(x) <= sum w_i
b_i (Farkas' lemma, the easy direction). The last constraint asks for more than that. Two sorts:

    bounded     one more variable joins with a coefficient, and the last constraint asks for more than the
                combination and that variable's bound allow together: neither the constraints alone nor any of
                them with the bounds conflict
    parity      all s - 1 are equations; the last one equals their combination plus d times a random form,
                with a right-hand side of another remainder modulo d: solutions exist over the rationals, none
                over the integers

All other constraints hold at the planted point, as do all but the last one of the conflict, so every conflict
contains the last one. A satisfiable problem gets the same combination with a right-hand side that the point
meets: the shape of the constraints does not give the label away. What was planted is a proposal only: the
label comes from two certifiers, and an unsatisfiable problem is kept only if its certified minimal core has
two to four constraints. The core takes bounds before constraints, so a core of two is no trivial
contradiction of one constraint with the bounds.

A perturbed problem has the same solutions, so the label of its origin; both certifiers label it again.

    scale      each constraint is multiplied by its own factor, 2 to 9
    permute    the constraints are listed in another order; their ids stay with them
    relabel    a permutation of the variables' names that moves at least two; all is listed by the new names
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evolake.errors import InputError, MachineryError
from evolake.repair.certifier import Certifier
from evolake.repair.labels import LABEL_TIMEOUT_MS, Label, certify_label
from evolake.repair.problems import Constraint, Problem, Variable, parse_problem
from evolake.repair.tables import VARIATIONS
from evolake.seeds import child_seed

BLOCK = ("sat", "sat", "sat", "unsat", "unsat")
DOMAINS = ((0, 9), (0, 9), (0, 9), (0, 6), (1, 10), (-5, 5), (0, 12))
FEWEST_VARIABLES, MOST_VARIABLES = 3, 8
CONFLICT_SIZES = (2, 3, 4)
MAX_DRAWS = 400
MAX_FACTOR = 15
_OPS = ("<=", ">=", "=")


@dataclass(frozen=True)
class Labelled:
    """A problem with its label, as both certifiers found it."""

    problem: Problem
    label: Label

    def row(
        self, *, suite: str = "lia", variation: str = "none", base_id: str | None = None
    ) -> dict[str, Any]:
        """Return its row of the table `problems`."""
        problem = self.problem
        return {
            "problem_id": problem.id,
            "suite": suite,
            "variation": variation,
            "base_id": base_id or problem.id,
            "k": len(problem.variables),
            "m": len(problem.constraints),
            "label": self.label.status,
            "certified_by": list(self.label.certified_by),
            "core_size": self.label.core_size,
            "seed": problem.seed,
            "json": problem.to_json(),
        }


def planned_labels(count: int, root_seed: int) -> list[str]:
    """Return the labels of problems 0..count-1: three in five are satisfiable in every block of five. A
    shorter plan is the start of a longer one."""
    labels: list[str] = []
    for block in range((count + len(BLOCK) - 1) // len(BLOCK)):
        random = np.random.Generator(
            np.random.PCG64(child_seed(root_seed, "repair", "problems", "labels", block))
        )
        labels.extend(BLOCK[place] for place in random.permutation(len(BLOCK)))
    return labels[:count]


def generate(count: int, root_seed: int, *, start: int = 0) -> Iterator[Labelled]:
    """Yield problems start..count-1 of a seed. The first problems of a larger set are those of a smaller one.

    Raises:
        InputError: count is not positive.
        MachineryError: no draw gave a problem of the planned label (none has been seen to take more than a
            few dozen).
    """
    if count < 1:
        raise InputError("a study needs at least one problem", got=str(count), do="raise --problems")
    certifier = Certifier(LABEL_TIMEOUT_MS)
    for index, label in enumerate(planned_labels(count, root_seed)):
        if index >= start:
            yield generate_one(index, label, root_seed, certifier)


def generate_one(index: int, label: str, root_seed: int, certifier: Certifier) -> Labelled:
    """Return problem `index` of a seed: the first draw that both certifiers give the planned label and that
    has the planned sort of conflict."""
    seed = child_seed(root_seed, "repair", "problems", label, index)
    random = np.random.Generator(np.random.PCG64(seed))
    for _ in range(MAX_DRAWS):
        drawn = draw_problem(random, label)
        if drawn is None:
            continue
        problem = replace(drawn, id=f"lin-{index:04d}", seed=seed)
        result = certify_label(problem, certifier)
        if result is None or result.status != label:
            continue
        if label == "unsat" and result.core_size not in CONFLICT_SIZES:
            continue
        return Labelled(replace(problem, label=label), result)
    raise MachineryError(
        f"no {label} problem in {MAX_DRAWS} draws",
        wanted="a problem both certifiers agree on",
        do="report the seed and the index",
    )


def draw_problem(random: np.random.Generator, label: str) -> Problem | None:
    """Return one draw; None where the planted conflict has coefficients out of range. The label is meant, not
    certified."""
    k = int(random.integers(FEWEST_VARIABLES, MOST_VARIABLES + 1))
    low, high = DOMAINS[int(random.integers(len(DOMAINS)))]
    variables = tuple(Variable(f"x{place + 1}", low, high) for place in range(k))
    point = random.integers(low, high + 1, size=k)
    m = int(random.integers(k, k + 4))
    forms: list[tuple[np.ndarray, str, int]] = []
    size = int(random.choice(CONFLICT_SIZES))
    planted = (
        _parity(random, point, size) if random.random() < 0.3 else _bounded(random, point, size, low, high)
    )
    if planted is None or max(int(np.abs(factors).max()) for factors, _, _ in planted) > MAX_FACTOR:
        return None
    forms.extend(planted if label == "unsat" else [*planted[:-1], _relaxed(random, planted[-1], point)])
    while len(forms) < m:
        forms.append(_satisfied(random, point))
    constraints = tuple(
        Constraint(
            f"c{number + 1}",
            tuple((f"x{column + 1}", int(factors[column])) for column in np.flatnonzero(factors)),
            op,
            rhs,
        )
        for number, (factors, op, rhs) in enumerate(forms[place] for place in random.permutation(len(forms)))
    )
    return Problem("drawn", variables, constraints)


def _form(random: np.random.Generator, k: int, fewest: int = 2, most: int = 4) -> np.ndarray:
    """(k,) coefficients of 2 to 4 variables, each between 1 and 5 in size, one in three negative."""
    factors = np.zeros(k, dtype=np.int64)
    chosen = random.choice(k, size=int(random.integers(min(fewest, k), min(most, k) + 1)), replace=False)
    factors[chosen] = random.integers(1, 6, size=len(chosen)) * np.where(
        random.random(len(chosen)) < 1 / 3, -1, 1
    )
    return factors


def _satisfied(
    random: np.random.Generator, point: np.ndarray, op: str | None = None
) -> tuple[np.ndarray, str, int]:
    """Return a constraint that holds at the point, an inequality with some slack."""
    factors = _form(random, len(point))
    op = op or str(random.choice(_OPS, p=(0.42, 0.42, 0.16)))
    slack = 0 if op == "=" else int(random.integers(0, 1 + int(np.abs(factors).sum())))
    value = int(factors @ point)
    return factors, op, value + slack if op == "<=" else value - slack


def _relaxed(
    random: np.random.Generator, form: tuple[np.ndarray, str, int], point: np.ndarray
) -> tuple[np.ndarray, str, int]:
    """Return the same left-hand side and operator with a right-hand side that the point meets."""
    factors, op, _ = form
    value, slack = int(factors @ point), int(random.integers(0, 1 + int(np.abs(factors).sum())))
    if op == "<=":
        bound = value + slack
    elif op == ">=":
        bound = value - slack
    else:
        bound = value
    return factors, op, bound


def _bounded(
    random: np.random.Generator, point: np.ndarray, size: int, low: int, high: int
) -> list[tuple[np.ndarray, str, int]] | None:
    parts = [_satisfied(random, point, str(random.choice(_OPS[:2]))) for _ in range(size - 1)]
    weights = random.integers(1, 3, size=size - 1)
    signs = [1 if op == "<=" else -1 for _, op, _ in parts]
    total = sum(
        weight * sign * factors for weight, sign, (factors, _, _) in zip(weights, signs, parts, strict=True)
    )
    most = sum(
        int(weight) * sign * rhs for weight, sign, (_, _, rhs) in zip(weights, signs, parts, strict=True)
    )
    extra = int(random.integers(len(point)))
    factor = int(random.integers(1, 4)) * int(random.choice((-1, 1)))
    total = np.asarray(total, dtype=np.int64)
    total[extra] += factor
    most += factor * (high if factor > 0 else low) + int(random.integers(1, 4))
    if not total.any():
        return None
    return [*parts, (total, ">=", most) if random.random() < 0.5 else (-total, "<=", -most)]


def _parity(
    random: np.random.Generator, point: np.ndarray, size: int
) -> list[tuple[np.ndarray, str, int]] | None:
    parts = [_satisfied(random, point, "=") for _ in range(size - 1)]
    divisor = int(random.integers(2, 4))
    other = _form(random, len(point), fewest=1, most=2)
    total = np.asarray(sum(factors for factors, _, _ in parts), dtype=np.int64) + divisor * other
    if not total.any():
        return None
    rhs = sum(rhs for _, _, rhs in parts) + divisor * int(other @ point) + int(random.integers(1, divisor))
    return [*parts, (total, "=", rhs)]


PERTURBATIONS = tuple(name for name in VARIATIONS if name != "none")
SMALLEST_FACTOR, LARGEST_FACTOR = 2, 9


def perturbed_rows(
    rows: Iterable[dict[str, Any]], root_seed: int, *, timeout_ms: int
) -> Iterator[dict[str, Any]]:
    """Yield rows of PROBLEMS: for each row of the main benchmark one a perturbation.

    Raises:
        MachineryError: a perturbed problem has another label than its origin, or none within the limits.
    """
    certifier = Certifier(timeout_ms)
    for row in rows:
        origin = parse_problem(row["json"], where=row["problem_id"])
        for variation in PERTURBATIONS:
            yield verified(perturbed(origin, variation, root_seed), origin, certifier).row(
                variation=variation, base_id=origin.id
            )


def perturbed(problem: Problem, variation: str, root_seed: int) -> Problem:
    """Return `problem` under a perturbation; its id is `<id>~<variation>`.

    Raises:
        ValueError: no such perturbation.
    """
    changes = {"scale": _scaled, "permute": _permuted, "relabel": _relabelled}
    if variation not in changes:
        raise ValueError(f"perturbation must be one of {', '.join(changes)} (got {variation!r})")
    seed = child_seed(root_seed, "repair", "problems", f"perturb:{variation}:{problem.id}")
    changed = changes[variation](problem, np.random.Generator(np.random.PCG64(seed)))
    return replace(changed, id=f"{problem.id}~{variation}", seed=seed)


def verified(changed: Problem, origin: Problem, certifier: Certifier) -> Labelled:
    """Return the perturbed problem with its label, certified twice. Raises MachineryError where that is not
    its origin's."""
    label = certify_label(changed, certifier)
    if label is None or label.status != origin.label:
        raise MachineryError(
            f"the perturbed problem {changed.id} could not be certified",
            wanted=f"the label of {origin.id}, {origin.label}",
            got=label.status if label else "no answer within the limits",
            do="raise repair.solver_timeout_ms, or report the problem",
        )
    return Labelled(changed, label)


def _scaled(problem: Problem, rng: np.random.Generator) -> Problem:
    factors = rng.integers(SMALLEST_FACTOR, LARGEST_FACTOR + 1, size=len(problem.constraints)).tolist()
    constraints = [
        Constraint(
            item.id,
            tuple((name, factor * coefficient) for name, coefficient in item.terms),
            item.op,
            factor * item.rhs,
        )
        for item, factor in zip(problem.constraints, factors, strict=True)
    ]
    return replace(problem, constraints=tuple(constraints))


def _permuted(problem: Problem, rng: np.random.Generator) -> Problem:
    order = _moving(len(problem.constraints), rng)
    return replace(problem, constraints=tuple(problem.constraints[place] for place in order))


def _relabelled(problem: Problem, rng: np.random.Generator) -> Problem:
    names = [variable.name for variable in problem.variables]
    new_name = dict(zip(names, (names[place] for place in _moving(len(names), rng)), strict=True))
    variables = sorted(
        (replace(variable, name=new_name[variable.name]) for variable in problem.variables),
        key=lambda item: names.index(item.name),
    )
    constraints = [
        replace(
            item,
            terms=tuple(
                sorted(
                    ((new_name[name], factor) for name, factor in item.terms),
                    key=lambda term: names.index(term[0]),
                )
            ),
        )
        for item in problem.constraints
    ]
    return replace(problem, variables=tuple(variables), constraints=tuple(constraints))


def _moving(count: int, rng: np.random.Generator) -> list[int]:
    """Return a permutation that is not the identity, if there is one."""
    order = rng.permutation(count)
    while count > 1 and (order == np.arange(count)).all():
        order = rng.permutation(count)
    return order.tolist()
