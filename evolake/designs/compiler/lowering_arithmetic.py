"""Lowering rules: element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from evolake.designs.compiler.cells import Value
from evolake.designs.compiler.expression import Builder, Expression, Inexpressible
from evolake.designs.compiler.lowering_context import Lowering
from evolake.designs.model.graph import Dtype, Node, Reference

Rule = Callable[[Lowering, Node, int], Any]


def _simple(build: Callable[..., Expression], count: int) -> Rule:
    """Return a rule for an operator whose first `count` arguments are its operands and that has no
    options."""

    def rule(lowering: Lowering, node: Node, position: int) -> Value:
        if len(node.args) > count or node.kwargs:
            raise Inexpressible(f"options of {node.operator}")
        return lowering.each(
            lambda *items: build(lowering.builder, *items), *(lowering.operand(arg) for arg in node.args)
        )

    return rule


def _apply(name: str) -> Callable[..., Expression]:
    return lambda builder, *items: builder.apply(name, *items)


def _sum(name: str, *, reverse: bool = False) -> Rule:
    """add, sub, rsub, with their factor alpha."""

    def rule(lowering: Lowering, node: Node, position: int) -> Value:
        builder = lowering.builder
        left, right = lowering.operand(node.args[0]), lowering.operand(node.args[1])
        alpha = dict(node.kwargs).get("alpha", node.args[2] if len(node.args) > 2 else 1)
        if "real" not in (left.kind, right.kind):
            raise Inexpressible("arithmetic on integers")
        factor = builder.real(lowering.number(alpha))

        def make(a: Expression, b: Expression) -> Expression:
            if reverse:
                return builder.apply("sub", b, builder.apply("mul", a, factor))
            return builder.apply(name, a, builder.apply("mul", b, factor))

        return lowering.each(make, left, right)

    return rule


def _product(name: str) -> Rule:
    def rule(lowering: Lowering, node: Node, position: int) -> Value:
        operands = [lowering.operand(arg) for arg in node.args]
        if len(operands) != 2 or node.kwargs:
            raise Inexpressible(f"options of {node.operator}")
        if name == "mul" and all(operand.kind != "real" for operand in operands):
            raise Inexpressible("arithmetic on integers")
        return lowering.each(lambda a, b: lowering.builder.apply(name, a, b), *operands)

    return rule


def _compare(name: str) -> Rule:
    return _simple(lambda builder, a, b: builder.compare(name, a, b), 2)


def _clamp(low_at: int | None, high_at: int | None, default: tuple[float, float] | None = None) -> Rule:
    """Lower clamp in its forms; what is no number stays none, and a limit that is none leaves none.
    `default`: the limits if none are given."""

    def rule(lowering: Lowering, node: Node, position: int) -> Value:
        builder, options = lowering.builder, dict(node.kwargs)
        result = lowering.operand(node.args[0])
        if result.kind != "real":
            raise Inexpressible("arithmetic on integers")
        for place, (at, names, comparison) in enumerate(
            ((low_at, ("min", "min_val"), "lt"), (high_at, ("max", "max_val"), "gt"))
        ):
            otherwise = default[place] if default else None
            bound = (
                node.args[at]
                if at is not None and len(node.args) > at
                else next((options[name] for name in names if name in options), otherwise)
            )
            if bound is None:
                continue
            if isinstance(bound, int | float) and math.isfinite(bound):
                result = lowering.each(
                    lambda x, y, c=comparison: limited(builder, c, x, y), result, lowering.operand(bound)
                )
            else:
                name = "maximum" if comparison == "lt" else "minimum"
                result = lowering.each(
                    lambda x, y, name=name: builder.apply(name, x, y), result, lowering.operand(bound)
                )
        return result

    return rule


def limited(builder: Builder, comparison: str, value: Expression, limit: Expression) -> Expression:
    """Return `limit` where value (lt or gt) limit, else the value."""
    limit = builder.real(limit)
    return builder.select(builder.compare(comparison, value, limit), limit, value)


def power(builder: Builder, base: Expression, exponent: Expression) -> Expression:
    """Return base**exponent; small whole and half powers by multiplication and roots."""
    base, exponent = builder.real(base), builder.real(exponent)
    item, known = builder.literal(1.0), builder.value_of(exponent)
    if known in (0.0, 1.0):
        return item if known == 0.0 else base
    square = builder.apply("mul", base, base)
    if known in (2.0, 3.0, 4.0):
        return {
            2.0: square,
            3.0: builder.apply("mul", square, base),
            4.0: builder.apply("mul", square, square),
        }[known]
    if known in (-1.0, -2.0):
        return builder.apply("div", item, base if known == -1.0 else square)
    if known in (0.5, -0.5):
        root = builder.apply("sqrt", base)
        return root if known == 0.5 else builder.apply("div", item, root)
    return builder.apply("pow", base, exponent)


def _cast(lowering: Lowering, node: Node, position: int) -> Value:
    builder = lowering.builder
    value = lowering.operand(node.args[0])
    dtype = dict(node.kwargs).get("dtype")
    if dtype is None:
        return value
    name = dtype.name if isinstance(dtype, Dtype) else ""
    if name in ("real", str(lowering.setting.real).removeprefix("torch.")):
        return lowering.each(builder.real, value)
    if name == "bool":
        return lowering.each(builder.truth, value)
    if name in ("int64", "int32"):
        return value if value.kind == "variable" else lowering.each(builder.whole, value)
    raise Inexpressible(f"a cast to {name}")


def _softplus(lowering: Lowering, node: Node, position: int) -> Value:
    builder = lowering.builder
    beta = builder.number(lowering.parameter(node, 1, "beta", 1))
    threshold = builder.number(lowering.parameter(node, 2, "threshold", 20))

    def make(x: Expression) -> Expression:
        scaled = builder.apply("mul", x, beta)
        soft = builder.apply("div", builder.apply("log1p", builder.apply("exp", scaled)), beta)
        return builder.select(builder.compare("gt", scaled, threshold), x, soft)

    return lowering.each(make, lowering.operand(node.args[0]))


def _leaky(lowering: Lowering, node: Node, position: int) -> Value:
    builder = lowering.builder
    slope = builder.number(lowering.parameter(node, 1, "negative_slope", 0.01))
    zero = builder.literal(0.0)
    return lowering.each(
        lambda x: builder.select(builder.compare("gt", x, zero), x, builder.apply("mul", x, slope)),
        lowering.operand(node.args[0]),
    )


def _elu(lowering: Lowering, node: Node, position: int) -> Value:
    builder = lowering.builder
    if len(node.args) > 2 or set(dict(node.kwargs)) - {"alpha"}:
        raise Inexpressible("options of elu")
    alpha, zero = builder.number(lowering.parameter(node, 1, "alpha", 1)), builder.literal(0.0)

    def make(x: Expression) -> Expression:
        below = builder.apply("mul", builder.apply("expm1", x), alpha)
        return builder.select(builder.compare("gt", x, zero), x, below)

    return lowering.each(make, lowering.operand(node.args[0]))


def _lerp(builder: Builder, a: Expression, b: Expression, weight: Expression) -> Expression:
    return builder.apply("add", a, builder.apply("mul", weight, builder.apply("sub", b, a)))


def _fused(name: str) -> Rule:
    """Lower addcmul and addcdiv."""

    def rule(lowering: Lowering, node: Node, position: int) -> Value:
        builder = lowering.builder
        factor = builder.real(lowering.number(dict(node.kwargs).get("value", 1)))

        def make(base: Expression, a: Expression, b: Expression) -> Expression:
            return builder.apply("add", base, builder.apply("mul", factor, builder.apply(name, a, b)))

        return lowering.each(make, *(lowering.operand(arg) for arg in node.args[:3]))

    return rule


def _where(lowering: Lowering, node: Node, position: int) -> Value:
    builder = lowering.builder
    operands = [lowering.operand(arg) for arg in node.args]
    if len(operands) != 3:
        raise Inexpressible("where with one argument")
    return lowering.each(lambda c, a, b: builder.select(builder.truth(c), a, b), *operands)


def _masked(lowering: Lowering, node: Node, position: int) -> Value:
    builder = lowering.builder
    base, mask, new = (lowering.operand(arg) for arg in node.args)
    return lowering.each(
        lambda a, c, b: builder.select(builder.truth(c), builder.real(b), builder.real(a)), base, mask, new
    )


def _logic(name: str) -> Rule:
    def build(builder: Builder, a: Expression, b: Expression) -> Expression:
        a, b = builder.truth(a), builder.truth(b)
        if name == "xor":
            return builder.either(builder.both(a, builder.negation(b)), builder.both(builder.negation(a), b))
        return builder.both(a, b) if name == "and" else builder.either(a, b)

    return _simple(build, 2)


def _bitwise(name: str) -> Rule:
    def rule(lowering: Lowering, node: Node, position: int) -> Value:
        if any(not isinstance(arg, Reference) or lowering.operand(arg).kind != "bool" for arg in node.args):
            raise Inexpressible("bits of integers")
        return _logic(name)(lowering, node, position)

    return rule


def _not(builder: Builder, a: Expression) -> Expression:
    return builder.negation(builder.truth(a))


def _bitwise_not(lowering: Lowering, node: Node, position: int) -> Value:
    value = lowering.operand(node.args[0])
    if value.kind != "bool":
        raise Inexpressible("bits of integers")
    return lowering.each(lowering.builder.negation, value)


def _sign(builder: Builder, x: Expression) -> Expression:
    zero = builder.literal(0.0)
    below = builder.select(builder.compare("lt", x, zero), builder.literal(-1.0), zero)
    return builder.select(builder.compare("gt", x, zero), builder.literal(1.0), below)


def _relu(builder: Builder, x: Expression) -> Expression:
    return limited(builder, "lt", builder.real(x), builder.literal(0.0))


def _hypot(builder: Builder, a: Expression, b: Expression) -> Expression:
    return builder.apply("sqrt", builder.apply("add", builder.apply("mul", a, a), builder.apply("mul", b, b)))


def _inverse(builder: Builder, x: Expression) -> Expression:
    return builder.apply("div", builder.literal(1.0), x)


def _scaled(name: str, before: float, after: float) -> Rule:
    """name(x * before) * after."""
    return _simple(
        lambda b, x: b.apply("mul", b.apply(name, b.apply("mul", x, b.number(before))), b.number(after)), 1
    )


def _remainder(lowering: Lowering, node: Node, position: int) -> Value:
    """Of small integers, as indexing by a computed place leaves it."""
    value, divisor = lowering.operand(node.args[0]), node.args[1]
    if not isinstance(divisor, int) or isinstance(divisor, bool) or divisor == 0:
        raise Inexpressible("a remainder of real numbers")
    return lowering.each(lambda item: lowering.builder.mapped(item, lambda number: number % divisor), value)


RULES: dict[str, Rule] = {
    "add.Tensor": _sum("add"),
    "add.Scalar": _sum("add"),
    "sub.Tensor": _sum("sub"),
    "sub.Scalar": _sum("sub"),
    "rsub.Tensor": _sum("sub", reverse=True),
    "rsub.Scalar": _sum("sub", reverse=True),
    "mul.Tensor": _product("mul"),
    "mul.Scalar": _product("mul"),
    "div.Tensor": _product("div"),
    "div.Scalar": _product("div"),
    "pow.Tensor_Scalar": _simple(power, 2),
    "pow.Tensor_Tensor": _simple(power, 2),
    "pow.Scalar": _simple(power, 2),
    "square.default": _simple(lambda builder, x: builder.apply("mul", x, x), 1),
    "reciprocal.default": _simple(_inverse, 1),
    "rsqrt.default": _simple(lambda builder, x: _inverse(builder, builder.apply("sqrt", x)), 1),
    "exp2.default": _scaled("exp", math.log(2.0), 1.0),
    "log2.default": _scaled("log", 1.0, 1 / math.log(2.0)),
    "log10.default": _scaled("log", 1.0, 1 / math.log(10.0)),
    "relu.default": _simple(_relu, 1),
    "hypot.default": _simple(_hypot, 2),
    "silu.default": _simple(lambda builder, x: builder.apply("mul", x, builder.apply("sigmoid", x)), 1),
    "sign.default": _simple(_sign, 1),
    "sgn.default": _simple(_sign, 1),
    "isfinite.default": _simple(
        lambda builder, x: builder.compare("lt", builder.apply("abs", x), builder.literal(math.inf)), 1
    ),
    "isnan.default": _simple(lambda builder, x: builder.compare("ne", x, x), 1),
    "lerp.Scalar": _simple(_lerp, 3),
    "lerp.Tensor": _simple(_lerp, 3),
    "addcmul.default": _fused("mul"),
    "addcdiv.default": _fused("div"),
    "clamp.default": _clamp(1, 2),
    "clamp.Tensor": _clamp(1, 2),
    "hardtanh.default": _clamp(1, 2, (-1.0, 1.0)),
    "clamp_min.default": _clamp(1, None),
    "clamp_min.Tensor": _clamp(1, None),
    "clamp_max.default": _clamp(None, 1),
    "clamp_max.Tensor": _clamp(None, 1),
    "where.self": _where,
    "where.ScalarSelf": _where,
    "where.ScalarOther": _where,
    "where.Scalar": _where,
    "masked_fill.Scalar": _masked,
    "masked_fill.Tensor": _masked,
    "softplus.default": _softplus,
    "leaky_relu.default": _leaky,
    "elu.default": _elu,
    "remainder.Scalar": _remainder,
    "_to_copy.default": _cast,
    "logical_not.default": _simple(_not, 1),
    "bitwise_not.default": _bitwise_not,
    "logical_and.default": _logic("and"),
    "logical_or.default": _logic("or"),
    "logical_xor.default": _logic("xor"),
    "bitwise_and.Tensor": _bitwise("and"),
    "bitwise_or.Tensor": _bitwise("or"),
    "bitwise_xor.Tensor": _bitwise("xor"),
}
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    RULES |= {f"{_name}.Tensor": _compare(_name), f"{_name}.Scalar": _compare(_name)}
for _name in (
    "neg",
    "abs",
    "sqrt",
    "exp",
    "log",
    "log1p",
    "expm1",
    "sigmoid",
    "tanh",
    "floor",
    "ceil",
    "trunc",
):
    RULES[f"{_name}.default"] = _simple(_apply(_name), 1)
for _alias, _name in (
    ("maximum", "maximum.default"),
    ("minimum", "minimum.default"),
    ("maximum", "max.other"),
    ("minimum", "min.other"),
):
    RULES[_name] = _simple(_apply(_alias), 2)
