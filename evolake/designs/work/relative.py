"""Compute work: the cost of a step of a design relative to one of the baseline.

    work_per_step   operators of a step, each element weighted by what its class costs, over the same sum of
                    the baseline; the baseline is 1.0
    median_work     median step times work_per_step: the cost in steps of the baseline

A step that does eight steps' arithmetic counts as about eight, however its file is written. Every limit on
steps is one of work too: a design that does twice as much a step gets half the steps.

What an element of a class costs relative to one simple operation of the fused engine is in `prices.toml`,
with how it was measured: classes of a kernel's expressions by their name, those of what torch runs as
`mixed NAME` and `torch NAME`.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from evolake.designs.model.contract import TracedDesign, Variable
from evolake.designs.work.counting import Counts, count

BASELINE: Mapping[tuple[str, str], float] = {
    ("gather", "M"): 3,
    ("simple", "M"): 80,
    ("reduce", "M"): 1,
    ("scatter", "M"): 3,
    ("state", "M"): 2,
    ("turn", "M"): 1,
    ("simple", "N"): 7,
    ("reduce", "N"): 1,
    ("state", "N"): 1,
    ("turn", "N"): 1,
    ("simple", "S"): 3,
    ("divide", "S"): 1,
}
"""Counts of one step of the baseline (data_lake/seeds/designs/baseline.py), whose constant values they do not
depend on."""
KEPT = 4096


def _read() -> dict[str, float]:
    tables = tomllib.loads(Path(__file__).with_name("prices.toml").read_text())
    return {
        name if table == "fused" else f"{table} {name}": float(price)
        for table, prices in tables.items()
        for name, price in prices.items()
    }


COSTS: Mapping[str, float] = _read()


def cost_of(elements: Mapping[str, float]) -> float:
    """Return what elements of each class cost, in simple operations."""
    return math.fsum(COSTS[kind] * number for kind, number in elements.items())


def baseline_cost(n: int, m: int) -> float:
    """Return the cost of a step of the baseline, in simple operations."""
    return cost_of(Counts(dict(BASELINE)).at(n, m, {}))


def work_per_step(traced: TracedDesign, n: int, m: int) -> float:
    """Return the cost of a step of `traced` at this size relative to one of the baseline; above 0."""
    return _relative(_Keyed(traced), n, m)


class _Keyed:
    """A design as a key: by its hash and the type that it was traced in."""

    def __init__(self, traced: TracedDesign) -> None:
        self.traced, self._key = traced, (traced.graph_sha, traced.dtype, traced.size)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and other._key == self._key


@lru_cache(KEPT)
def _relative(keyed: _Keyed, n: int, m: int) -> float:
    counts, variables = _counts(keyed)
    return cost_of(counts.at(n, m, variables)) / baseline_cost(n, m)


@lru_cache(KEPT)
def _counts(keyed: _Keyed) -> tuple[Counts, dict[str, Variable]]:
    return count(keyed.traced), {variable.name: variable for variable in keyed.traced.variables}
