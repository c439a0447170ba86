"""Faster forms of the operators that dominate a step: gathers by clause, the two best of three literals, one-hot scatters, sums over clauses.

Each maker returns a function, or None when its pattern does not fit. Axes of three (or fewer than nine) entries are kept as planes: the shape is
(B, M, 3) but memory runs (3, B, M), so taking one literal of every clause is a contiguous slice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evolake.designs.batched_values import Batched, Context
from evolake.designs.graph import Node, Reference

Run = Callable[[list[Any]], Any]
_MOST_PLANES = 8


def planes(tensor: Any) -> Any:
    """The last axis in front, contiguous when the tensor is kept as planes."""
    return tensor.movedim(-1, 0)


def stacked(parts: list[Any]) -> Any:
    """Tensors as the last axis of one, kept as planes."""
    import torch

    return torch.stack(parts).movedim(0, -1)


def _static(values: list[Any], argument: Any) -> Any:
    """The batched value of an argument that is known before any step, or None."""
    if isinstance(argument, Reference) and isinstance(values[argument.index], Batched):
        return values[argument.index].tensor
    return None


def _offsets(index: Any, extent: int) -> Any:
    """A (B, ...) index into one instance as a flat index into the batch."""
    import torch

    rows = torch.arange(index.shape[0], device=index.device).view(-1, *[1] * (index.ndim - 1)) * extent
    return index + rows


def _in_range(index: Any, extent: int) -> bool:
    return bool(((index >= 0) & (index < extent)).all())


def _gathered(source: int, index: Any) -> Run:
    """x[index] for x of shape (B, N): one flat index_select, in the memory order of `index`."""
    order = index.movedim(-1, 0) if index.ndim == 3 else index
    cache: dict[int, Any] = {}

    def run(now: list[Any]) -> Any:
        tensor = now[source].tensor
        if tensor.ndim != 2:
            raise IndexError("a gather from a tensor of another shape")
        extent = tensor.shape[1]
        if extent not in cache:
            if not _in_range(index, extent):
                raise IndexError("a gather out of range")
            shifted = _offsets(index, extent)
            cache[extent] = (shifted.movedim(-1, 0) if index.ndim == 3 else shifted).reshape(-1)
        flat = tensor.reshape(-1).index_select(0, cache[extent]).view(order.shape)
        return Batched(flat.movedim(0, -1) if index.ndim == 3 else flat)

    return run


def index_tensor(node: Node, values: list[Any], context: Context) -> Run | None:
    """x[idx] with a known index on the first axis."""
    if len(node.args) != 2 or not isinstance(node.args[1], tuple) or len(node.args[1]) != 1:
        return None
    index = _static(values, node.args[1][0])
    if index is None or index.dtype.is_floating_point or str(index.dtype) == "torch.bool" or _rank_of(node.args[0], values) not in (None, 1):
        return None
    return _checked(node.args[0].index, index, _gathered(node.args[0].index, index))


def index_select(node: Node, values: list[Any], context: Context) -> Run | None:
    """index_select or gather along the only axis with a known index."""
    if len(node.args) != 3 or node.args[1] not in (0, -1):
        return None
    index = _static(values, node.args[2])
    if index is None or index.ndim != 2 or _rank_of(node.args[0], values) not in (None, 1):
        return None
    return _checked(node.args[0].index, index, _gathered(node.args[0].index, index))


def _rank_of(argument: Any, values: list[Any]) -> int | None:
    known = values[argument.index] if isinstance(argument, Reference) else None
    return known.rank if isinstance(known, Batched) else None


def _checked(source: int, index: Any, fast: Run) -> Run:
    """The fast form for vectors; other shapes are indexed on their first axis by a plain gather of rows."""
    import torch

    def run(now: list[Any]) -> Any:
        tensor = now[source].tensor if isinstance(now[source], Batched) else now[source].expand(index.shape[0], *now[source].shape)
        if tensor.ndim == 2 and isinstance(now[source], Batched):
            return fast(now)
        return Batched(torch.func.vmap(lambda x, i: x[i])(tensor, index))

    return run


def topk(node: Node, values: list[Any], context: Context) -> Run | None:
    """The two best of three, ties to the lower index, by comparisons."""
    import torch

    options = dict(node.kwargs)
    args = [*node.args, *(-1, True, True)[len(node.args) - 2 :]]
    source, k, dim = args[0].index, args[1], options.get("dim", args[2])
    if not options.get("largest", args[3]) or not isinstance(k, int) or k > 2:
        return None

    def run(now: list[Any]) -> Any:
        tensor = now[source].tensor
        if tensor.shape[-1] != 3 or tensor.ndim != 3 or dim not in (-1, 1):
            value, where = torch.topk(tensor, k, dim + 1 if dim >= 0 else dim)
            return [Batched(value), Batched(where)]
        a, b, c = planes(tensor)
        b_over_a, c_over_a, c_over_b = b > a, c > a, c > b
        largest = torch.maximum(torch.maximum(a, b), c)
        first = torch.where(c_over_a & c_over_b, 2, b_over_a.to(torch.int64))
        if k == 1:
            return [Batched(stacked([largest])), Batched(stacked([first]))]
        rest = torch.maximum(torch.minimum(a, b), torch.minimum(torch.maximum(a, b), c))
        rank_a = b_over_a.to(torch.int64) + c_over_a
        rank_c = 2 - c_over_a.to(torch.int64) - c_over_b.to(torch.int64)
        second = torch.where(rank_a == 1, 0, torch.where(rank_c == 1, 2, 1))
        return [Batched(stacked([largest, rest])), Batched(stacked([first, second]))]

    return run


def scatter(node: Node, values: list[Any], context: Context) -> Run | None:
    """scatter of one column into a few: a comparison with each position."""
    import torch

    target, dim, index, source = node.args[:4]
    if node.kwargs or not isinstance(target, Reference) or not isinstance(index, Reference):
        return None

    def run(now: list[Any]) -> Any:
        where, into = now[index.index], now[target.index]
        value = now[source.index] if isinstance(source, Reference) else source
        into_tensor = into.tensor if isinstance(into, Batched) else into
        rank = into_tensor.ndim - isinstance(into, Batched)
        simple = (
            isinstance(where, Batched) and rank == 2 and dim in (1, -1) and where.tensor.shape[-1] == 1 and into_tensor.shape[-1] <= _MOST_PLANES
            and where.tensor.shape[-2] == into_tensor.shape[-2]
        )
        if not simple:
            return _scatter_plain(into, dim, where, value, context.batch)
        column = where.tensor[..., 0]
        new = value.tensor[..., 0] if isinstance(value, Batched) else (value[..., 0] if isinstance(value, torch.Tensor) else value)
        new = new[..., : column.shape[1]] if isinstance(new, torch.Tensor) else new
        parts = []
        for position in range(into_tensor.shape[-1]):
            old = into_tensor[..., position]
            parts.append(torch.where(column == position, new, old).to(into_tensor.dtype))
        return Batched(stacked(parts))

    return run


def _scatter_plain(into: Any, dim: int, where: Any, value: Any, batch: int) -> Any:
    import torch

    def full(item: Any) -> Any:
        return item.tensor if isinstance(item, Batched) else item.expand(batch, *item.shape)

    along = dim + 1 if dim >= 0 else dim
    new = full(value) if isinstance(value, Batched | torch.Tensor) else value
    return Batched(torch.scatter(full(into), along, full(where), new))


def add_over_clauses(node: Node, values: list[Any], context: Context) -> Run | None:
    """scatter_add or index_add into a vector with a known index: one flat index_add."""
    target, dim, index, source = node.args[:4]
    known = _static(values, index)
    if node.kwargs or dim not in (0, -1) or known is None or known.ndim != 2:
        return None
    cache: dict[int, Any] = {}

    def run(now: list[Any]) -> Any:
        into, new = now[target.index], now[source.index]
        base = into.tensor if isinstance(into, Batched) else into.expand(context.batch, *into.shape)
        if base.ndim != 2 or not isinstance(new, Batched) or new.tensor.shape != known.shape:
            raise IndexError("a sum over clauses of another shape")
        extent = base.shape[1]
        if extent not in cache:
            if not _in_range(known, extent):
                raise IndexError("a scatter out of range")
            cache[extent] = _offsets(known, extent).reshape(-1)
        flat = base.reshape(-1).clone()
        return Batched(flat.index_add_(0, cache[extent], new.tensor.reshape(-1)).view(base.shape))

    return run


RULES: dict[str, tuple[Callable[[Node, list[Any], Context], Run | None], ...]] = {
    "index.Tensor": (index_tensor,),
    "index_select.default": (index_select,),
    "gather.default": (index_select,),
    "topk.default": (topk,),
    "scatter.src": (scatter,),
    "scatter.value": (scatter,),
    "scatter_add.default": (add_over_clauses,),
    "index_add.default": (add_over_clauses,),
}
