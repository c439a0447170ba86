"""How single-instance operators act on a batch. `rule(node, values, context)` gives the function that computes one node.

A value is `Batched(tensor)` with the batch in front, a plain tensor (the same for all instances), or a list of those for operators with several
results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evolake.designs import batched_fast
from evolake.designs.batched_values import Batched, Context
from evolake.designs.graph import Node, Reference
from evolake.designs.operators import BINARY, UNARY, call

__all__ = ["Batched", "Context", "rule"]

Run = Callable[[list[Any]], Any]

_MORE_ELEMENTWISE = """
    add.Tensor add.Scalar sub.Tensor sub.Scalar mul.Tensor mul.Scalar div.Tensor div.Scalar div.Tensor_mode div.Scalar_mode
    rsub.Tensor rsub.Scalar pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar remainder.Tensor remainder.Scalar fmod.Tensor
    fmod.Scalar copysign.Tensor copysign.Scalar xlogy.Tensor eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar le.Tensor
    le.Scalar gt.Tensor gt.Scalar ge.Tensor ge.Scalar bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor where.self
    where.ScalarSelf where.ScalarOther clamp.default clamp.Tensor clamp_min.default clamp_min.Tensor clamp_max.default
    clamp_max.Tensor lerp.Scalar lerp.Tensor addcmul.default addcdiv.default masked_fill.Scalar zeros_like.default
    ones_like.default full_like.default _to_copy.default clone.default detach.default alias.default lift_fresh_copy.default
    lift_fresh.default contiguous.default max.other min.other
"""
ELEMENTWISE = frozenset([*(f"{name}.default" for name in UNARY + BINARY), *_MORE_ELEMENTWISE.split()])
_FULL_REDUCTIONS = {f"{name}.default": name for name in ("sum", "mean", "any", "all")} | {"max.default": "amax", "min.default": "amin"}


def rule(node: Node, values: list[Any], context: Context) -> Run:
    """The function of the node's inputs. `values` holds what is static already."""
    operator = node.operator
    if operator == "getitem":
        source, position = node.args[0].index, node.args[1]
        return lambda now: now[source][position]
    for fast in batched_fast.RULES.get(operator, ()):
        run = fast(node, values, context)
        if run is not None:
            return run
    if operator in ELEMENTWISE:
        return _elementwise(node, context)
    if operator in _FULL_REDUCTIONS:
        return _reduction(node, _FULL_REDUCTIONS[operator], context)
    if operator in ("view.default", "_unsafe_view.default", "reshape.default", "expand.default", "repeat.default", "unsqueeze.default"):
        return _shape(node, context)
    if operator == "select.int" or operator == "slice.Tensor":
        return _along(node, context)
    return _mapped(node, context)


def _arguments(node: Node, now: list[Any], context: Context) -> list[Any]:
    return [context.setting.argument(arg, now) for arg in node.args]


def _elementwise(node: Node, context: Context) -> Run:
    operator = node.operator
    kwargs = {key: context.setting.argument(value, []) for key, value in node.kwargs if not isinstance(value, Reference)}
    deferred = [(key, value.index) for key, value in node.kwargs if isinstance(value, Reference)]

    def run(now: list[Any]) -> Any:
        args = _arguments(node, now, context)
        options = kwargs | {key: now[index] for key, index in deferred}
        everything = [*args, *options.values()]
        rank = max((item.rank if isinstance(item, Batched) else getattr(item, "ndim", 0)) for item in everything)
        options = {key: _aligned(item, rank) for key, item in options.items()}
        result = call(operator, [_aligned(item, rank) for item in args], options, context.setting)
        return [Batched(item) for item in result] if isinstance(result, tuple) else Batched(result)

    return run


def _aligned(item: Any, rank: int) -> Any:
    """A batched tensor with ones between the batch and its own axes, so that it broadcasts against `rank` axes."""
    if not isinstance(item, Batched):
        return item
    missing = rank - item.rank
    for _ in range(missing if item.rank else 0):
        item = Batched(item.tensor.unsqueeze(1))
    return item.tensor if item.rank else item.tensor.reshape(-1, *[1] * rank)


def _reduction(node: Node, name: str, context: Context) -> Run:
    import torch

    function = getattr(torch, name)
    source = node.args[0].index

    def run(now: list[Any]) -> Any:
        tensor = now[source].tensor
        flat = tensor.flatten(1) if tensor.ndim > 1 else tensor.unsqueeze(1)
        options = {key: context.setting.argument(value, now) for key, value in node.kwargs}
        return Batched(function(flat, dim=1, **options))

    return run


def _shape(node: Node, context: Context) -> Run:
    source = node.args[0].index
    target = context.setting.argument(node.args[1], [])
    operator = node.operator

    def run(now: list[Any]) -> Any:
        tensor = now[source].tensor
        rank = tensor.ndim - 1
        if operator == "unsqueeze.default":
            return Batched(tensor.unsqueeze(target + 1 if target >= 0 else target))
        if operator == "expand.default":
            padded = _aligned(now[source], len(target))
            return Batched(padded.expand(tensor.shape[0], *target))
        if operator == "repeat.default":
            return Batched(_aligned(now[source], max(rank, len(target))).repeat(1, *target))
        if -1 in target:
            known = 1
            for extent in target:
                known *= extent if extent != -1 else 1
            target_now = [extent if extent != -1 else tensor[0].numel() // max(known, 1) for extent in target]
        else:
            target_now = target
        return Batched(tensor.reshape(tensor.shape[0], *target_now))

    return run


def _along(node: Node, context: Context) -> Run:
    source = node.args[0].index
    operator = node.operator
    rest = [context.setting.argument(arg, []) for arg in node.args[1:]]

    def run(now: list[Any]) -> Any:
        dim, *more = rest if rest else [0]
        shifted = dim + 1 if dim >= 0 else dim
        return Batched(call(operator, [now[source].tensor, shifted, *more], {}, context.setting))

    return run


def _mapped(node: Node, context: Context) -> Run:
    """Any other operator, by vmap over the batch."""
    import torch

    def run(now: list[Any]) -> Any:
        used = sorted({reference for reference in node.references() if isinstance(now[reference], Batched)})

        def single(*tensors: Any) -> Any:
            local = _Overlay(now, dict(zip(used, tensors, strict=True)))
            args = [context.setting.argument(arg, local) for arg in node.args]
            kwargs = {key: context.setting.argument(value, local) for key, value in node.kwargs}
            return call(node.operator, args, kwargs, context.setting)

        result = torch.func.vmap(single)(*(now[index].tensor for index in used))
        return [Batched(item) for item in result] if isinstance(result, tuple | list) else Batched(result)

    return run


@dataclass(frozen=True)
class _Overlay:
    """Values in which some entries are replaced by their single-instance stand-ins."""

    base: list[Any]
    over: dict[int, Any]

    def __getitem__(self, index: int) -> Any:
        return self.over[index] if index in self.over else self.base[index]
