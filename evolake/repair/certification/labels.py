"""Labels that two methods agree on: Z3, and an exhaustive enumeration that shares nothing with it.

The enumeration assigns one variable after the other, all of its values in one array, and drops a partial
assignment as soon as some constraint cannot be met by any completion within the bounds (interval reasoning).
It is complete: what it drops holds no solution. Its arithmetic is that of 64-bit integers, and a problem
whose sums could leave that range is refused. Where it would visit more partial assignments than it may, it
says so, and the problem stays without a label: a generator then draws another one.

Which problems a seed gives must not depend on how busy the machine is. So the solver's limit is a count of
its steps, and far higher here than for a candidate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evolake.errors import MachineryError
from evolake.repair.certification.certify import CERTIFIED, REFUTED, Certifier
from evolake.repair.model.candidates import UNSAT
from evolake.repair.model.problems import Problem

CERTIFIERS = ("z3", "interval_enumeration")
LABEL_TIMEOUT_MS = 60_000
MAX_VISITS = 4_000_000
BLOCK_ROWS = 50_000
_SAFE = 2**62


@dataclass(frozen=True)
class Label:
    """A label with the names of the methods that agree on it. `core`: of an unsatisfiable problem, minimal,
    bounds included; empty for `sat`."""

    status: str
    certified_by: tuple[str, str]
    core: tuple[str, ...] = ()

    @property
    def core_size(self) -> int:
        """How many constraints the core has, bounds not counted."""
        return sum(not name.startswith("dom:") for name in self.core)


def certify_label(problem: Problem, certifier: Certifier, *, max_visits: int = MAX_VISITS) -> Label | None:
    """Return the label that both methods give, or None where one of them does not know within its limit.

    Raises:
        MachineryError: the methods contradict each other.
    """
    first = certifier.certify(problem, UNSAT)
    if first.verdict not in (CERTIFIED, REFUTED):
        return None
    second = enumerate_feasible(problem, max_visits=max_visits)
    if second is None:
        return None
    if second != (first.verdict == REFUTED):
        raise MachineryError(
            f"two certifiers disagree about problem {problem.id}",
            wanted="one label",
            got=f"z3: {first.reason}; interval enumeration: {'satisfiable' if second else 'unsatisfiable'}",
            do="keep the problem and report it",
        )
    return Label("sat" if second else "unsat", CERTIFIERS, first.core)


def enumerate_feasible(problem: Problem, *, max_visits: int = MAX_VISITS) -> bool | None:
    """Return whether some assignment satisfies the problem; None where more than `max_visits` partial
    assignments would have to be looked at.

    Raises:
        ValueError: the sums could leave 64 bits.
    """
    factors, lower, upper = _rows(problem)
    lows = np.array([item.low for item in problem.variables], dtype=np.int64)
    highs = np.array([item.high for item in problem.variables], dtype=np.int64)
    if (lows > highs).any():
        return False
    if not len(factors):
        return True
    order = _order(factors, lower == upper, highs - lows)
    factors, lows, highs = factors[:, order], lows[order], highs[order]
    rest_low, rest_high = (
        _suffix(np.minimum(factors * lows, factors * highs)),
        _suffix(np.maximum(factors * lows, factors * highs)),
    )
    if ((rest_low[:, 0] > upper) | (rest_high[:, 0] < lower)).any():
        return False
    blocks = [(0, np.zeros((1, len(factors)), dtype=np.int64))]
    visits = 0
    while blocks:
        depth, sums = blocks.pop()
        if depth == len(lows):
            return True
        visits += len(sums) * int(highs[depth] - lows[depth] + 1)
        if visits > max_visits:
            return None
        values = np.arange(lows[depth], highs[depth] + 1)
        grown = (sums[:, None, :] + values[None, :, None] * factors[None, None, :, depth]).reshape(
            -1, len(factors)
        )
        possible = (grown + rest_low[:, depth + 1] <= upper) & (grown + rest_high[:, depth + 1] >= lower)
        grown = grown[possible.all(axis=1)]
        blocks.extend(
            (depth + 1, grown[start : start + BLOCK_ROWS]) for start in range(0, len(grown), BLOCK_ROWS)
        )
    return False


def _rows(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(m, k) factors and the (m,) least and greatest value each left-hand side may take."""
    place = {item.name: index for index, item in enumerate(problem.variables)}
    widest = max((max(abs(item.low), abs(item.high)) for item in problem.variables), default=0)
    reach = [
        sum(abs(factor) for _, factor in item.terms) * widest + abs(item.rhs) for item in problem.constraints
    ]
    if max([widest, *reach]) >= _SAFE // 4:
        raise ValueError(f"problem {problem.id} is too large for 64-bit sums")
    factors = np.zeros((len(problem.constraints), len(problem.variables)), dtype=np.int64)
    for row, item in enumerate(problem.constraints):
        for name, factor in item.terms:
            factors[row, place[name]] = factor
    lower = np.array(
        [-_SAFE if item.op == "<=" else item.rhs for item in problem.constraints], dtype=np.int64
    )
    upper = np.array([_SAFE if item.op == ">=" else item.rhs for item in problem.constraints], dtype=np.int64)
    return factors, lower, upper


def _order(factors: np.ndarray, equal: np.ndarray, widths: np.ndarray) -> list[int]:
    """Variables in an order that closes constraints soon, equations first: each next constraint is the one
    with the fewest open values."""
    order: list[int] = []
    open_rows = set(range(len(factors)))
    while open_rows:

        def cost(row: int) -> tuple[float, int]:
            still = [column for column in np.flatnonzero(factors[row]) if column not in order]
            return float(np.log(widths[still] + 1).sum()) / (2 if equal[row] else 1), row

        row = min(open_rows, key=cost)
        open_rows.remove(row)
        order.extend(int(column) for column in np.flatnonzero(factors[row]) if column not in order)
    return order + [column for column in range(factors.shape[1]) if column not in order]


def _suffix(values: np.ndarray) -> np.ndarray:
    """(m, k + 1): entry j is the sum of the columns from j on."""
    m, k = values.shape
    sums = np.zeros((m, k + 1), dtype=np.int64)
    sums[:, :k] = values[:, ::-1].cumsum(axis=1)[:, ::-1]
    return sums
