"""`evolake designs new`: a complete design that can be measured, to be changed into one's own."""

from __future__ import annotations

from pathlib import Path

import click

from evolake.new_files import write_new

EXAMPLE = '''"""A dynamical system that solves 3-SAT: each clause that is not satisfied pulls its literals, by a weight that grows meanwhile.

The file is traced, never run on the host: torch alone, no branch that depends on data. Shapes: N variables, M clauses; `idx` (M, 3) says which
variable each literal is of, `sgn` (M, 3) its sign. The engine steps against what `_grad_single` gives, keeps the bounds and adds the batch B.
"""

import torch

VARIABLES_SPEC = {
    "v": {"init": lambda shape: 2.0 * torch.rand(shape) - 1.0, "shape": ("B", "N"), "bounds": (-1.0, 1.0)},
    "weight": {"init": lambda shape: torch.ones(shape), "shape": ("B", "M"), "bounds": (1.0, 1e4)},
}

HYPER_SPACE = {
    "growth": {"type": "log_uniform", "default": 2.0, "low": 0.1, "high": 20.0},
    "ease": {"type": "uniform", "default": 0.05, "low": 0.01, "high": 0.4},
    "lr": {"type": "log_uniform", "default": 0.5, "low": 0.05, "high": 2.0},
}


def _grad_single(vars, idx, sgn, hp):
    literals = sgn * vars["v"][idx]
    highest, _ = literals.topk(1, dim=1)
    unsatisfied = (1.0 - highest[:, 0]) / 2.0
    pull = sgn * (vars["weight"] * unsatisfied)[:, None]
    dv = torch.zeros_like(vars["v"]).index_add(0, idx.reshape(-1), pull.reshape(-1))
    rate = 1.0 / dv.abs().max().clamp(min=1e-6)
    return {"v": -rate * dv, "weight": -rate * hp.growth * (unsatisfied - hp.ease)}
'''


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
def new(file: Path) -> int:
    """Write a complete design to FILE. Nothing is overwritten."""
    write_new({file: EXAMPLE})
    click.echo(f"{file}; next: evolake designs check {file}")
    return 0
