"""The same problem in other words: coefficient scaling, constraint permutation, variable relabelling. None
changes which assignments are solutions.

    scale      each constraint is multiplied by its own factor, 2 to 9
    permute    the constraints are listed in another order; their ids stay with them
    relabel    the variables swap names: a permutation of the names that moves at least two; everything is
               then listed by the new names

So a perturbed problem has the label of its origin by construction. That is verified nevertheless: both
certifiers label it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from evolake.errors import MachineryError
from evolake.repair.benchmark.generator import Labelled
from evolake.repair.certification.certify import Certifier
from evolake.repair.certification.labels import certify_label
from evolake.repair.model.problems import Constraint, Problem, parse_problem
from evolake.repair.tables import VARIATIONS
from evolake.seeds import child_seed

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
