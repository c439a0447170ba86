"""The paper's way to run a design, written plainly: what the ratios of `benchmarks/engine.py` are measured
against.

vmap of `_grad_single` over the batch, a plain gradient step, clamps, and a vmapped check of the clauses at
every step, all by torch on one thread. The design file is executed here, in this process, so this is for the
shipped designs only: never for a file that nobody has read.
"""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import torch

from evolake.designs.model.instances import Planted


class PlainEngine:
    """Steps the design of `path` on a batch. `state` holds (B, ...) tensors."""

    def __init__(self, path: Path, instances: Planted, seed: int = 0):
        module: dict[str, Any] = {}
        exec(compile(path.read_text(), str(path), "exec"), module)
        torch.manual_seed(seed)
        sizes = {"B": instances.batch, "N": instances.n, "M": instances.m}
        spec = module["VARIABLES_SPEC"]
        self.state = {
            name: entry["init"](tuple(sizes.get(item, item) for item in entry["shape"]))
            for name, entry in spec.items()
        }
        self._bounds = {name: entry["bounds"] for name, entry in spec.items()}
        hyper = types.SimpleNamespace(
            **{name: entry["default"] for name, entry in module["HYPER_SPACE"].items()}
        )
        self._learning_rate = getattr(hyper, "lr", 1e-2)
        self._idx = torch.from_numpy(instances.idx.astype("int64"))
        self._sgn = torch.from_numpy(instances.sgn.astype("float32"))

        def single(
            state: dict[str, torch.Tensor], idx: torch.Tensor, sgn: torch.Tensor
        ) -> dict[str, torch.Tensor]:
            return module["_grad_single"](state, idx, sgn, hyper)

        self._gradients = torch.func.vmap(single, in_dims=(0, 0, 0), randomness="different")
        self._satisfied = torch.func.vmap(_all_satisfied)

    @torch.no_grad()
    def step(self) -> int:
        """One step; how many instances are solved after it."""
        gradients = self._gradients(self.state, self._idx, self._sgn)
        for name, value in self.state.items():
            value.sub_(self._learning_rate * gradients[name]).clamp_(*self._bounds[name])
        return int(self._satisfied(self.state["v"], self._idx, self._sgn).sum())


def _all_satisfied(v: torch.Tensor, idx: torch.Tensor, sgn: torch.Tensor) -> torch.Tensor:
    return ((v[idx] * sgn).amax(dim=-1) > 0).all()
