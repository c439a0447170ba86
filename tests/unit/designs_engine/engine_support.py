"""What the engine's tests share. Sources here are ours, so they are traced in this process; strangers' files
go through the jail there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from evolake.designs.engines.engine import make_stepper
from evolake.designs.model.contract import TracedDesign
from evolake.designs.model.instances import Planted, planted
from evolake.designs.tracing.driver import trace
from evolake.designs.tracing.trace import accept

SEEDS = Path(__file__).resolve().parents[3] / "data_lake" / "seeds"
BASELINE = SEEDS / "designs" / "baseline.py"
DESIGN_340 = SEEDS / "reference_designs" / "design_340.py"

VARIABLES = """
import math
import torch
import torch.nn.functional as F
VARIABLES_SPEC = {
    "v": dict(init=lambda s: 2 * torch.rand(s) - 1, shape=("B", "N"), bounds=(-1.0, 1.0)),
    "xl": dict(init=lambda s: torch.ones(s), shape=("B", "M"), bounds=(1.0, 1e6)),
    "xs": dict(init=lambda s: 0.5 * torch.rand(s), shape=("B", "M"), bounds=(0.0, 1.0)),
}
HYPER_SPACE = {
    "a": dict(type="uniform", default=0.7, low=0.0, high=1.0),
    "lr": dict(type="log_uniform", default=0.1, low=1e-3, high=3.0),
}
"""

SIMPLE = (
    VARIABLES
    + """
def _grad_single(vars, idx, sgn, hp):
    literals = vars["v"][idx] * sgn
    c = (1 - literals.amax(dim=1)) / 2
    dv = torch.zeros_like(vars["v"]).index_add(0, idx.reshape(-1), (sgn * c[:, None]).reshape(-1))
    return {"v": -dv, "xl": -(c - hp.a), "xs": -(c - 0.25)}
"""
)

FLAT = (
    VARIABLES.replace(
        '"xs": dict(',
        '"w": dict(init=lambda s: torch.rand(s), shape=("B", "M", 3), bounds=(-9.0, 9.0)),\n    "xs": dict(',
    )
    + """
def _grad_single(vars, idx, sgn, hp):
    return dict(vars)
"""
)


def traced(
    source: str, *, dtype: str = "float32", hyper: dict | None = None, size: tuple[int, int] | None = None
) -> TracedDesign:
    """Traces and checks a trusted source without a jail."""
    before, threads = torch.get_default_dtype(), torch.get_num_threads()
    try:
        reply = trace(source, {"hyper": hyper or {}, "dtype": dtype, "size": list(size) if size else None})
    finally:
        torch.set_default_dtype(before)
        torch.set_num_threads(threads)
    assert reply["status"] == "traced", reply
    design = accept(reply, hyper or {}, dtype, size)
    assert isinstance(design, TracedDesign), design
    return design


def after(
    design: TracedDesign,
    engine: str,
    instances: Planted,
    steps: int = 5,
    *,
    dtype: str | None = None,
    seed: int = 3,
):
    """(stepper's name, state, solved) after some steps."""
    stepper, _ = make_stepper(design, instances, seed=seed, engine=engine, dtype=dtype or design.dtype)
    solved = stepper.run(steps)
    return stepper.name, stepper.state(), solved


def distance(state: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> float:
    """The largest difference, relative to 1 + size."""
    assert state.keys() == other.keys()
    return max(float(np.max(np.abs(state[name] - other[name]) / (1 + np.abs(state[name])))) for name in state)


def small_batch(n: int = 20, batch: int = 4, seed: int = 1) -> Planted:
    return planted(n, batch, seed)
