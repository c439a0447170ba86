"""A kernel with its memory: the arrays of a batch, and the call."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from evolake.designs.graph import Power, Symbol
from evolake.designs.instances import Planted
from evolake.designs.kernel_build import kernel
from evolake.designs.kernel_emit import arrays_of, emit, pointers_of
from evolake.designs.kernel_plan import Plan
from evolake.designs.kernel_text import TYPES

_ALIGNMENT = 64


class Batch:
    """Named arrays (B, cells, padded N or M), or (B, cells, 1) for scalars an instance, and the packed clauses."""

    def __init__(self, instances: Planted, dtype: str):
        self.instances, self.dtype = instances, dtype
        self.lanes, self.real = TYPES[dtype].lanes, np.dtype(dtype)
        self.npad = _padded(instances.n + 1, self.lanes)
        self.mpad = _padded(instances.m, self.lanes)
        self.idx = _packed(instances, self.mpad)
        self.arrays: dict[str, np.ndarray] = {}

    def padded(self, loop: str | None) -> int:
        return {"N": self.npad, "M": self.mpad}.get(loop or "", 1)

    def extent(self, loop: str | None) -> int:
        return {"N": self.instances.n, "M": self.instances.m}.get(loop or "", 1)

    def make(self, name: str, loop: str | None, cells: int) -> np.ndarray:
        """A zeroed array, kept under `name`."""
        shape = (self.instances.batch, cells, self.padded(loop))
        self.arrays[name] = _aligned(int(np.prod(shape)), self.real).reshape(shape)
        return self.arrays[name]


class KernelCall:
    """The kernel of a plan on a batch whose arrays have all been made. With `single` it takes one step a call."""

    def __init__(self, plan: Plan, batch: Batch, *, single: bool = False):
        self._kernel = kernel(emit(plan, batch.dtype, single=single))
        self._batch = batch
        instances = batch.instances
        self._numbers = np.array([_number(slot.data, instances) for slot in plan.slots] or [0.0], dtype=batch.real)
        self._work = _aligned(sum(batch.padded(loop) for _, loop in arrays_of(plan)) + batch.lanes, batch.real)
        names = pointers_of(plan)
        self._pointers = (ctypes.c_void_p * len(names))(*(batch.arrays[name].ctypes.data for name in names))

    def __call__(self, steps: int) -> np.ndarray:
        """Takes `steps` steps; (steps, B) bool: which instance was solved after each."""
        batch, count = self._batch, self._batch.instances.batch
        solved = np.zeros((steps, count), dtype=np.uint8)
        self._kernel.call(
            count, batch.instances.n, batch.instances.m, batch.npad, batch.mpad, steps, self._numbers.ctypes.data, batch.idx.ctypes.data,
            self._work.ctypes.data, solved.ctypes.data, count, ctypes.addressof(self._pointers),
        )
        return solved.astype(bool)


def _padded(extent: int, lanes: int) -> int:
    return -(-extent // lanes) * lanes


def _aligned(count: int, dtype: np.dtype) -> np.ndarray:
    """Zeros that start on a cache line."""
    raw = np.zeros(count * dtype.itemsize + _ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return raw[start : start + count * dtype.itemsize].view(dtype)


def _packed(instances: Planted, mpad: int) -> np.ndarray:
    """(B, 3, padded M) words: the variable, and the top bit for a negated literal. Padding points at a variable of its own, number N."""
    words = np.full((instances.batch, 3, mpad), instances.n, dtype=np.uint32)
    packed = instances.idx.astype(np.uint32) | ((instances.sgn < 0).astype(np.uint32) << 31)
    words[:, :, : instances.m] = packed.transpose(0, 2, 1)
    return words


def _number(value: Any, instances: Planted) -> float:
    """A slot's number at this size."""
    if isinstance(value, Symbol):
        return float(value.at(instances.batch, instances.n, instances.m))
    if isinstance(value, Power):
        return float(value.at(instances.n, instances.m))
    return float(value)
