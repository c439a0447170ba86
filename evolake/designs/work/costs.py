"""Prices: the cost of an element of each class relative to one simple operation.

They were fitted once, by least squares, to the processor time of a step of designs on the
fused engine. Those of what only torch computes (sort, scan, product, draw, move) are slopes of time over
operations on the mixed engine. All are rounded. `benchmarks/design_work.py` of commit 2474d774 prints how
well they predict processor time.
"""

from __future__ import annotations

from collections.abc import Mapping

from evolake.designs.work.classes import CostClass

COSTS: Mapping[CostClass, float] = {
    "simple": 1.0,
    "divide": 5.0,
    "function": 36.0,
    "power": 110.0,
    "gather": 7.0,
    "scatter": 6.0,
    "reduce": 3.0,
    "state": 2.0,
    "turn": 20.0,
    "sort": 200.0,
    "scan": 130.0,
    "product": 60.0,
    "draw": 700.0,
    "move": 250.0,
    "free": 0.0,
}
