"""What the elementwise operators of expressions are in torch. Imported only where torch is in use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from evolake.designs.compiler.expression import Expression

OPERATORS: dict[str, Callable[..., Any]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "neg": torch.neg,
    "abs": torch.abs,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "lesser": torch.fmin,
    "sqrt": torch.sqrt,
    "exp": torch.exp,
    "log": torch.log,
    "log1p": torch.log1p,
    "expm1": torch.expm1,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "pow": torch.pow,
    "floor": torch.floor,
    "ceil": torch.ceil,
    "trunc": torch.trunc,
    "lt": torch.lt,
    "le": torch.le,
    "gt": torch.gt,
    "ge": torch.ge,
    "eq": torch.eq,
    "ne": torch.ne,
    "and": torch.logical_and,
    "or": torch.logical_or,
    "not": torch.logical_not,
    "select": torch.where,
    "to_whole": lambda value: value.to(torch.int64),
}


def simpler(item: Expression, operands: list[Any]) -> tuple[Callable[..., Any], list[Any]]:
    """Return a choice as something quicker where it is a limit (x < low gives low, else x) or a truth value
    as a number; torch.where is slow."""
    condition, yes, no = item.args
    if (
        condition.operator in ("lt", "gt")
        and condition.args == (no, yes)
        and item.kind == "real"
        and _is_number(yes)
    ):
        return (torch.maximum if condition.operator == "lt" else torch.minimum), operands[1:]
    if (
        item.kind == "real"
        and yes.operator == no.operator == "literal"
        and (yes.data, no.data) == (1.0, "0.0")
    ):
        return torch.mul, [operands[0], operands[1]]
    return torch.where, operands


def _is_number(limit: Expression) -> bool:
    """Return whether a limit is a number for certain: of one that is none a choice gives x, and torch.maximum
    does not."""
    return (
        limit.operator in ("literal", "slot")
        and isinstance(limit.data, float | str)
        and math.isfinite(float(limit.data))
    )
