"""Imported once by each warm jail worker before candidates are forked from it.

The first trace of a process loads much of torch; doing one here, on a function of ours, leaves every
candidate with a warm tracer. Torch's compiler, half of it, is left out (`put_off_compiler`). What has been
loaded by then is put out of the garbage collector's sight, which would else go through all of torch in every
candidate.
"""

from __future__ import annotations

import contextlib
import gc

import torch

from evolake.designs.model.put_off_compiler import put_off_compiler
from evolake.designs.model.unify import POINTS
from evolake.designs.tracing.driver import Stop, example_clauses, record

torch.set_num_threads(1)
put_off_compiler()


def _warm(x: torch.Tensor, at: torch.Tensor) -> dict[str, torch.Tensor]:
    value, where = torch.topk(x[at] * 2.0, 2, dim=-1)
    spread = torch.zeros_like(x).scatter_add_(0, at.reshape(-1), torch.sigmoid(x[at]).reshape(-1))
    spread += torch.as_tensor(0.5) * torch.zeros_like(spread).scatter_(0, where[:, 0], 1.0)
    return {"x": spread / spread.abs().max().clamp(min=1e-6) + value.mean()}


WARM = record(_warm, [torch.ones(5), torch.zeros((4, 3), dtype=torch.int64)], ["x", "at"], ["x"], "float32")
with contextlib.suppress(Stop):  # a trace that is refused loads parts of its own
    record(lambda x: {"x": x * float(x[0])}, [torch.ones(5)], ["x"], ["x"], "float32")
CLAUSES = [example_clauses(n, m) for _, n, m in POINTS]
gc.collect()
gc.freeze()
