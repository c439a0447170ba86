"""Tensors as cells: the shape of one instance's tensor, split into the loop axis and the small axes around
it.

Every axis is a tuple of atoms; an atom is the loop ("L", of extent N or M) or a small integer. A vector of 3M
numbers that came from (M, 3) is one axis ("L", 3). `cells` is a numpy array of expressions over the integer
atoms, in order; the loop itself has no place in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.designs.compiler.expression import Domain, Expression, Inexpressible, Kind

Axis = tuple[Any, ...]
LOOP = "L"
MOST_CELLS = 256


@dataclass(frozen=True)
class Value:
    """A tensor. `loop` is "N", "M" or None; `cells` has one axis for every integer atom of `axes`."""

    axes: tuple[Axis, ...]
    loop: Domain | None
    cells: np.ndarray

    @property
    def kind(self) -> Kind:
        """Return the kind that all cells have; real if they differ."""
        kinds = {expression.kind for expression in self.cells.flat}
        return kinds.pop() if len(kinds) == 1 else "real"

    def inner(self, axis: int) -> list[int]:
        """Return positions in `cells` of the integer atoms of one axis."""
        before = sum(1 for part in self.axes[:axis] for atom in part if atom != LOOP)
        return list(range(before, before + sum(1 for atom in self.axes[axis] if atom != LOOP)))

    def single(self, axis: int) -> int | None:
        """Return the place in `cells` of an axis that is one integer; None for an axis of extent 1.
        Inexpressible for the loop."""
        part = self.axes[axis]
        if LOOP in part:
            raise Inexpressible("an operator along all variables or clauses")
        if len(part) > 1:
            raise Inexpressible("an operator along a merged axis")
        return self.inner(axis)[0] if part else None

    def normal(self, axis: int) -> int:
        """Return an axis as a number from 0 on; axis may be negative."""
        return axis % len(self.axes) if self.axes else 0


def objects(items: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Return an object array of the given shape."""
    array = np.empty(len(items), dtype=object)
    for position, item in enumerate(items):
        array[position] = item
    return array.reshape(shape)


def scalar(expression: Expression) -> Value:
    """Return a tensor without axes."""
    return Value((), None, objects([expression], ()))


def filled(axes: tuple[Axis, ...], loop: Domain | None, expression: Expression) -> Value:
    """Return a tensor of one expression everywhere."""
    shape = tuple(atom for part in axes for atom in part if atom != LOOP)
    guard(shape)
    return Value(axes, loop, objects([expression] * math.prod(shape), shape))


def guard(shape: Sequence[int]) -> None:
    """Refuse tensors with more cells than a kernel should unroll."""
    if math.prod(shape) > MOST_CELLS:
        raise Inexpressible("too many numbers a clause")


def broadcast(values: Sequence[Value]) -> tuple[tuple[Axis, ...], Domain | None, list[np.ndarray]]:
    """Return the common axes and loop, and each operand's cells spread over them."""
    rank = max(len(value.axes) for value in values)
    padded = [((),) * (rank - len(value.axes)) + value.axes for value in values]
    axes: list[Axis] = []
    for position in range(rank):
        parts = {axes_of[position] for axes_of in padded} - {()}
        if len(parts) > 1:
            raise Inexpressible("axes that only fit by accident")
        axes.append(parts.pop() if parts else ())
    loops: set[Domain] = {value.loop for value in values if value.loop}
    if len(loops) > 1 or sum(part.count(LOOP) for part in axes) > 1:
        raise Inexpressible("a product of all variables with all clauses")
    target = tuple(atom for part in axes for atom in part if atom != LOOP)
    guard(target)
    spread = []
    for value, own in zip(values, padded, strict=True):
        shape = tuple(
            atom if own[position] else 1
            for position, part in enumerate(axes)
            for atom in part
            if atom != LOOP
        )
        spread.append(np.broadcast_to(value.cells.reshape(shape), target))
    return tuple(axes), loops.pop() if loops else None, spread


def expand_to(value: Value, axes: tuple[Axis, ...], loop: Domain | None) -> Value:
    """Return `value` spread over `axes`."""
    common, spread_loop, cells = broadcast([value, filled(axes, loop, value.cells.flat[0])])
    if common != axes:
        raise Inexpressible("an expansion that adds more than it says")
    return Value(common, spread_loop, cells[0])


def reshape(value: Value, shape: Sequence[int], extents: dict[str, int]) -> Value:
    """View as `shape` (of plain extents; the loop counts as extents[value.loop]). Atoms are regrouped, and
    split where a product allows it."""
    loop_extent = extents[value.loop] if value.loop else 1
    atoms = [atom for part in value.axes for atom in part]
    axes: list[Axis] = []
    taken: list[Any] = []
    for wanted in shape:
        part: list[Any] = []
        product = 1
        while product < wanted:
            if not atoms:
                raise Inexpressible("a view that does not fit its axes")
            atom = atoms.pop(0)
            extent = loop_extent if atom == LOOP else atom
            if wanted % (product * extent) == 0:
                part.append(atom)
                product *= extent
            elif atom != LOOP and wanted % product == 0 and extent % (wanted // product) == 0:
                first = wanted // product
                part.append(first)
                atoms.insert(0, extent // first)
                product = wanted
            else:
                raise Inexpressible("a view that cuts through all variables or clauses")
        if product != wanted:
            raise Inexpressible("a view that does not fit its axes")
        axes.append(tuple(part))
        taken += part
    if atoms:
        raise Inexpressible("a view that does not fit its axes")
    return Value(tuple(axes), value.loop, value.cells.reshape(tuple(atom for atom in taken if atom != LOOP)))
