"""The fused engine: a kernel generated from the graph, called for a few dozen steps at a time."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from evolake.designs.contract import TracedDesign
from evolake.designs.expression import Inexpressible
from evolake.designs.graph import Power, Symbol
from evolake.designs.instances import Planted
from evolake.designs.kernel_build import kernel
from evolake.designs.kernel_emit import arrays_of, emit
from evolake.designs.kernel_plan import Plan, make_plan
from evolake.designs.kernel_text import TYPES
from evolake.designs.lowering import lower
from evolake.designs.stepper import initial_state

__all__ = ["FusedStepper", "Inexpressible"]

_ALIGNMENT = 64


class FusedStepper:
    """Runs a compiled kernel over the batch. Raises Inexpressible when the graph has something no kernel is generated for."""

    name = "fused"

    def __init__(self, traced: TracedDesign, instances: Planted, seed: int, dtype: str):
        lowered = lower(traced, dtype)
        plan = make_plan(lowered.moves, lowered.loops)
        self._kernel = kernel(emit(plan, dtype))
        self._traced, self._instances = traced, instances
        self._lanes, self._dtype = TYPES[dtype].lanes, np.dtype(dtype)
        self._npad = _padded(instances.n + 1, self._lanes)
        self._mpad = _padded(instances.m, self._lanes)
        self._numbers = np.array([_number(slot.data, instances) for slot in plan.slots] or [0.0], dtype=self._dtype)
        self._idx = _packed(instances, self._mpad)
        self._work = _aligned(sum(self._extent(loop) for _, loop in arrays_of(plan)) + self._lanes, self._dtype)
        self._states = self._pad_states(plan, initial_state(traced, instances, seed, dtype))
        self._pointers = (ctypes.c_void_p * len(self._states))(*(self._states[name].ctypes.data for name in sorted(self._states)))

    def _extent(self, loop: str) -> int:
        return self._npad if loop == "N" else self._mpad

    def _pad_states(self, plan: Plan, start: dict[str, Any]) -> dict[str, np.ndarray]:
        """(B, cells, padded N or M) arrays; the padding repeats the last entry."""
        states = {}
        for variable in self._traced.variables:
            values = start[variable.name].numpy()
            values = np.moveaxis(values, 1 + _loop_axis(variable.shape), -1)
            values = values.reshape(values.shape[0], -1, values.shape[-1])
            extent = self._extent(plan.loops[variable.name])
            padded = _aligned(values.shape[0] * values.shape[1] * extent, self._dtype).reshape(*values.shape[:2], extent)
            padded[..., : values.shape[-1]] = values
            padded[..., values.shape[-1] :] = values[..., -1:]
            states[variable.name] = padded
        return states

    def run(self, steps: int) -> np.ndarray:
        solved = np.zeros((steps, self._instances.batch), dtype=np.uint8)
        self._kernel.call(
            self._instances.batch, self._instances.n, self._instances.m, self._npad, self._mpad, steps, self._numbers.ctypes.data,
            self._idx.ctypes.data, self._work.ctypes.data, solved.ctypes.data, self._instances.batch, ctypes.addressof(self._pointers),
        )
        return solved.astype(bool)

    def state(self) -> dict[str, np.ndarray]:
        result = {}
        for variable in self._traced.variables:
            shape = variable.dimensions(self._instances.batch, self._instances.n, self._instances.m)
            at = 1 + _loop_axis(variable.shape)
            padded = self._states[variable.name]
            inner = [extent for axis, extent in enumerate(shape) if axis not in (0, at)]
            result[variable.name] = np.moveaxis(padded[..., : shape[at]].reshape(shape[0], *inner, shape[at]), -1, at).copy()
        return result


def _loop_axis(shape: tuple[str | int, ...]) -> int:
    """The place of N or M behind the batch."""
    return next(place for place, extent in enumerate(shape[1:]) if extent in ("N", "M"))


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
