"""What an element of each class costs beside one simple operation, as measured by `benchmarks/design_work.py`.

The classes that kernels compute were measured on the fused engine, from the slope of the time of a step over the number of operations of a class;
those that only torch computes (sort, scan, product, draw, move) on the mixed engine. They are rounded: what is compared are designs on one scale.
"""

from __future__ import annotations

from collections.abc import Mapping

from evolake.designs.work.classes import CostClass

COSTS: Mapping[CostClass, float] = {
    "simple": 1.0, "divide": 6.0, "function": 28.0, "power": 80.0, "gather": 7.0, "scatter": 10.0, "reduce": 2.0, "state": 2.0, "sort": 200.0,
    "scan": 130.0, "product": 60.0, "draw": 700.0, "move": 250.0, "free": 0.0,
}
