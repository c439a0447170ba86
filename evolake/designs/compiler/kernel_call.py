"""A kernel with its memory: the arrays of a batch, and the call.

A kernel writes through bare pointers, so what it is given is compared with its plan before every call: each
array's identity, shape, type and contiguity. Names are no defence here, though they cannot collide either (a
second array of one name is refused). With EVOLAKE_KERNEL_CHECKS=1 the kernel itself is built with bounds
checks (evolake.designs.compiler.kernel_guard).
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from evolake.designs.compiler.kernel_build import gathers_slowly, kernel
from evolake.designs.compiler.kernel_emit import arrays_of, emit, pointers_of
from evolake.designs.compiler.kernel_guard import Guards
from evolake.designs.compiler.kernel_plan import KernelPlan
from evolake.designs.compiler.kernel_text import TYPES
from evolake.designs.model.graph import Power, Symbol
from evolake.designs.model.instances import Planted

_ALIGNMENT = 64
CHECKS = "EVOLAKE_KERNEL_CHECKS"


class KernelTrap(Exception):
    """A kernel of the bounds-checking build reached outside its arrays, or one was about to be called on
    arrays that do not fit its plan.

    Never seen in a healthy engine. No MachineryError all the same: a design that brings it about is blocked
    by it and does not stop the line.
    """


class Batch:
    """Named arrays (B, cells, padded N or M), or (B, cells, 1) for scalars an instance, and the packed
    clauses."""

    def __init__(self, instances: Planted, dtype: str):
        self.instances, self.dtype = instances, dtype
        self.lanes, self.real = TYPES[dtype].lanes, np.dtype(dtype)
        self.npad = _padded(instances.n + 1, self.lanes)
        self.mpad = _padded(instances.m, self.lanes)
        self.idx = _packed(instances, self.mpad)
        self.arrays: dict[str, np.ndarray] = {}

    def padded(self, loop: str | None) -> int:
        """Return the padded extent of a loop; 1 without one."""
        return {"N": self.npad, "M": self.mpad}.get(loop or "", 1)

    def extent(self, loop: str | None) -> int:
        """Return the extent of a loop; 1 without one."""
        return {"N": self.instances.n, "M": self.instances.m}.get(loop or "", 1)

    def make(self, name: str, loop: str | None, cells: int) -> np.ndarray:
        """Return a zeroed array, kept under `name`, which must be new."""
        if name in self.arrays:
            raise ValueError(f"two arrays named {name!r}")
        shape = (self.instances.batch, cells, self.padded(loop))
        self.arrays[name] = _aligned(int(np.prod(shape)), self.real).reshape(shape)
        return self.arrays[name]


class KernelCall:
    """The kernel of a plan on a batch whose arrays have all been made. With `single` it takes one step per
    call.

    threads: runs of instances that are computed side by side, of one only in the bounds-checking build. A
    kernel holds no lock of Python's. quick: as of `kernel_build.kernel`.

    Raises:
        KernelTrap: an array that the plan needs is missing or does not fit.
    """

    def __init__(
        self, plan: KernelPlan, batch: Batch, *, single: bool = False, threads: int = 1, quick: bool = False
    ):
        checked = os.environ.get(CHECKS) == "1"
        self._kernel = kernel(_text(plan, batch.dtype, single, checked), quick=quick)
        self._guards = Guards() if checked else None
        self._batch = batch
        instances = batch.instances
        self._numbers = np.array(
            [_number(slot.data, instances) for slot in plan.slots] or [0.0], dtype=batch.real
        )
        self._all = np.arange(instances.batch, dtype=np.int64)
        self._threads = max(1, min(1 if checked else threads, instances.batch))
        work = sum(batch.padded(loop) for _, loop in arrays_of(plan)) + batch.lanes
        self._work = [_aligned(work, batch.real) for _ in range(self._threads)]
        self._helpers = ThreadPoolExecutor(self._threads - 1) if self._threads > 1 else None
        self.cpu_elsewhere_s = 0.0
        self._steps = 1 if single else None
        self._wanted = [
            (name, batch.arrays.get(name), shape) for name, shape in wanted_shapes(plan, batch).items()
        ]
        self._compare()
        arrays = [array for _, array, _ in self._wanted if array is not None]
        self._pointers = np.array([array.ctypes.data for array in arrays], dtype=np.uint64)

    def __call__(self, steps: int, chosen: np.ndarray | None = None) -> np.ndarray:
        """Take `steps` steps; (steps, B) bool: which instance was solved after each.

        Args:
            chosen: numbers of the instances that are computed, each once; None: all. The others stay as they
                are, and their columns are False.
        """
        count = self._batch.instances.batch
        if steps < 1 or steps != (self._steps or steps):
            raise ValueError(f"a kernel cannot take {steps} steps")
        numbers = self._all if chosen is None else self._checked(chosen)
        self._compare()
        solved = np.zeros((steps, count), dtype=np.uint8)
        if not len(numbers):
            return solved.astype(bool)
        parts = [part for part in np.array_split(numbers, self._threads) if len(part)]
        further = () if self._guards is None else (self._guards.opened([*self._memory(solved), *parts]),)
        elsewhere = []
        if self._helpers is not None:
            elsewhere = [
                self._helpers.submit(self._timed, place, part, steps, solved)
                for place, part in enumerate(parts[1:], 1)
            ]
        self._run(0, parts[0], steps, solved, *further)
        self.cpu_elsewhere_s += sum(future.result() for future in elsewhere)
        if self._guards is not None and self._guards.traps:
            raise KernelTrap(
                f"a kernel reached outside its arrays {self._guards.traps} times: its plan or the emitter "
                "is wrong"
            )
        return solved.astype(bool)

    def _checked(self, chosen: np.ndarray) -> np.ndarray:
        """Return the numbers of instances as the kernel reads them. Raises ValueError for one that is not
        there, or is there twice."""
        numbers = np.ascontiguousarray(chosen, dtype=np.int64)
        if (
            numbers.ndim != 1
            or len(np.unique(numbers)) < len(numbers)
            or (len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(self._all))
        ):
            raise ValueError(
                f"wanted different instances below {len(self._all)} (got {numbers.tolist()!r:.200})"
            )
        return numbers

    def _run(self, place: int, chosen: np.ndarray, steps: int, solved: np.ndarray, *further: int) -> None:
        batch = self._batch
        self._kernel.call(
            len(chosen),
            batch.instances.n,
            batch.instances.m,
            batch.npad,
            batch.mpad,
            steps,
            self._numbers.ctypes.data,
            batch.idx.ctypes.data,
            self._work[place].ctypes.data,
            solved.ctypes.data,
            solved.shape[1],
            chosen.ctypes.data,
            self._pointers.ctypes.data,
            *further,
        )

    def _timed(self, place: int, chosen: np.ndarray, steps: int, solved: np.ndarray) -> float:
        """Seconds of this thread that a part took."""
        began = time.thread_time()
        self._run(place, chosen, steps, solved)
        return time.thread_time() - began

    def _compare(self) -> None:
        """Every array against the plan."""
        arrays, real = self._batch.arrays, self._batch.real
        for name, array, shape in self._wanted:
            if (
                array is None
                or arrays.get(name) is not array
                or array.shape != shape
                or array.dtype != real
                or not array.flags.c_contiguous
            ):
                result = arrays.get(name)
                got = "no array" if result is None else f"{result.dtype} {result.shape}"
                raise KernelTrap(
                    f"the array {name!r} does not fit its kernel: wanted {real} {shape}, as it was made, "
                    f"got {got}"
                )

    def _memory(self, solved: np.ndarray) -> list[np.ndarray]:
        """Return all that a call may touch."""
        states = [array for _, array, _ in self._wanted if array is not None]
        return [*states, *self._work, self._numbers, self._batch.idx, solved, self._pointers]


def _text(plan: KernelPlan, dtype: str, single: bool, checked: bool) -> str:
    key = dtype, single, checked, gathers_slowly()
    if key not in plan.texts:
        plan.texts[key] = emit(plan, dtype, single=single, checked=checked, lane_by_lane=key[-1])
    return plan.texts[key]


def wanted_shapes(plan: KernelPlan, batch: Batch) -> dict[str, tuple[int, int, int]]:
    """Return the shape of each array that a plan's kernel has a pointer to, in the order of the pointers.

    Raises:
        ValueError: one name with two shapes, or a cell that its array does not have.
    """
    shapes = {
        name: (batch.instances.batch, count, batch.padded(loop))
        for name, (loop, count) in plan.states.items()
    }
    for item in plan.externals:
        name, place, count = item.data
        if (
            shapes.setdefault(name, (batch.instances.batch, count, 1)) != (batch.instances.batch, count, 1)
            or not 0 <= place < count
        ):
            raise ValueError(f"{name!r} is used as two arrays")
    return {name: shapes[name] for name in pointers_of(plan)}


def _padded(extent: int, lanes: int) -> int:
    return -(-extent // lanes) * lanes


def _aligned(count: int, dtype: np.dtype) -> np.ndarray:
    """Zeros that start on a cache line."""
    raw = np.zeros(count * dtype.itemsize + _ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return raw[start : start + count * dtype.itemsize].view(dtype)


def _packed(instances: Planted, mpad: int) -> np.ndarray:
    """(B, 3, padded M) words: the variable, and the top bit for a negated literal. Padding points at its own
    variable, number N."""
    if instances.idx.size and not 0 <= int(instances.idx.min()) <= int(instances.idx.max()) < instances.n:
        raise ValueError("a clause names a variable that the instance does not have")
    words = np.full((instances.batch, 3, mpad), instances.n, dtype=np.uint32)
    packed = instances.idx.astype(np.uint32) | ((instances.sgn < 0).astype(np.uint32) << 31)
    words[:, :, : instances.m] = packed.transpose(0, 2, 1)
    return words


def _number(value: Any, instances: Planted) -> float:
    """Return a slot's number at this size."""
    if isinstance(value, Symbol):
        return float(value.at(instances.batch, instances.n, instances.m))
    if isinstance(value, Power):
        return float(value.at(instances.n, instances.m))
    return float(value)
