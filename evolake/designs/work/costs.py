"""What an element of each class costs beside one simple operation.

Prices of what kernels compute are a least-squares fit to the processor time of a step of 87 designs on the fused engine, relative errors squared;
those of what only torch computes (sort, scan, product, draw, move) are slopes on the mixed engine, of the time of a step over the number of them.
All are rounded. How well they predict processor time is printed by `benchmarks/design_work.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from evolake.designs.work.classes import CostClass

COSTS: Mapping[CostClass, float] = {
    "simple": 1.0, "divide": 5.0, "function": 36.0, "power": 110.0, "gather": 7.0, "scatter": 6.0, "reduce": 3.0, "state": 2.0, "turn": 20.0,
    "sort": 200.0, "scan": 130.0, "product": 60.0, "draw": 700.0, "move": 250.0, "free": 0.0,
}
