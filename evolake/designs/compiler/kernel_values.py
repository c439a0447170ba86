"""Instructions for expressions: in a loop (a vector of turns) or between loops (a scalar of the instance)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from evolake.designs.compiler.expression import Expression, Inexpressible
from evolake.designs.compiler.kernel_text import Lines

_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_ORDERED = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_WHOLE = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}
_INTRINSICS = {"abs": "fabs", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc"}
_MATH = frozenset({"exp", "log", "log1p", "expm1", "sigmoid", "tanh", "pow"})


def combined(lines: Lines, expression: Expression, args: list[str], *, vector: bool) -> str:
    """Return one elementwise operator on operands that are all vectors, or all scalars."""
    types, name = lines.types, expression.operator
    real = types.vector if vector else types.real
    truth = types.truth if vector else "i1"
    small = types.small if vector else "i32"
    kind = expression.kind
    if name in _ARITHMETIC:
        return lines.let(f"{_ARITHMETIC[name]} {real} {args[0]}, {args[1]}")
    if name == "neg":
        return lines.let(f"fneg {real} {args[0]}")
    if name in ("maximum", "minimum", "lesser"):
        wins = lines.let(f"fcmp {'ogt' if name == 'maximum' else 'olt'} {real} {args[0]}, {args[1]}")
        result = lines.let(f"select {truth} {wins}, {real} {args[0]}, {real} {args[1]}")
        none = args[1] if name == "lesser" else args[0]
        return lines.let(
            f"select {truth} {lines.let(f'fcmp uno {real} {none}, {none}')}, {real} {args[0]}, {real} "
            f"{result}"
        )
    if name in _INTRINSICS:
        suffix = types.suffix if vector else f"f{types.bits}"
        return lines.let(f"call {real} @llvm.{_INTRINSICS[name]}.{suffix}({real} {args[0]})")
    if name in _MATH:
        if vector:
            return lines.call(f"v_{name}", *args)
        spread = [
            lines.let(
                f"insertelement {types.vector} splat ({types.real} {types.number(1.0)}), {types.real} "
                f"{arg}, i32 0"
            )
            for arg in args
        ]
        return lines.let(f"extractelement {types.vector} {lines.call(f'v_{name}', *spread)}, i32 0")
    if name in _ORDERED:
        if expression.args[0].kind == "real":
            return lines.let(f"fcmp {_ORDERED[name]} {real} {args[0]}, {args[1]}")
        return lines.let(f"icmp {_WHOLE[name]} {small} {args[0]}, {args[1]}")
    if name in ("and", "or"):
        return lines.let(f"{name} {truth} {args[0]}, {args[1]}")
    if name == "not":
        return lines.let(f"xor {truth} {args[0]}, {'splat (i1 true)' if vector else 'true'}")
    if name == "select":
        of = {"real": real, "int": small, "bool": truth}[kind]
        return lines.let(f"select {truth} {args[0]}, {of} {args[1]}, {of} {args[2]}")
    if name == "to_real":
        return lines.let(f"sitofp {small} {args[0]} to {real}")
    if name == "to_whole":
        return lines.let(f"fptosi {real} {args[0]} to {small}")
    raise Inexpressible(f"no instruction for {name}")


def literal(lines: Lines, expression: Expression, *, vector: bool) -> str:
    """Return a literal as an operand."""
    types = lines.types
    if expression.kind == "real":
        value = float(expression.data)
        return types.splat(value) if vector else types.number(value)
    if expression.kind == "bool":
        text = "true" if expression.data else "false"
        return f"splat (i1 {text})" if vector else text
    return f"splat (i32 {expression.data})" if vector else str(expression.data)


@dataclass
class Scalars:
    """Scalar values at one point of the kernel. `lines` is where they are written; `base` holds what was
    there before."""

    lines: Lines
    slots: dict[int, str]
    base: Scalars | None = None
    known: dict[int, str] = field(default_factory=dict)
    spread: dict[int, str] = field(default_factory=dict)
    constant: bool = False

    def value(self, expression: Expression) -> str:
        """Return the scalar's name; reductions are read from their slot."""
        if expression.operator == "literal":
            return literal(self.lines, expression, vector=False)
        if self.base is not None and expression.constant:
            return self.base.value(expression)
        if expression.serial not in self.known:
            if expression.operator in ("reduce", "slot", "external"):
                self.known[expression.serial] = self.lines.let(
                    f"load {self.lines.types.real}, ptr {self.slots[expression.serial]}"
                )
            else:
                self.known[expression.serial] = combined(
                    self.lines, expression, [self.value(arg) for arg in expression.args], vector=False
                )
        return self.known[expression.serial]

    def vector(self, expression: Expression) -> str:
        """Return the scalar in every lane."""
        if expression.operator == "literal":
            return literal(self.lines, expression, vector=True)
        if self.base is not None and expression.constant:
            return self.base.vector(expression)
        if expression.serial not in self.spread:
            self.spread[expression.serial] = splat(self.lines, self.value(expression), expression.kind)
        return self.spread[expression.serial]


def splat(lines: Lines, value: str, kind: str = "real") -> str:
    """Return a scalar in every lane."""
    types = lines.types
    element, vector = {
        "real": (types.real, types.vector),
        "int": ("i32", types.small),
        "bool": ("i1", types.truth),
    }[kind]
    item = lines.let(f"insertelement {vector} poison, {element} {value}, i32 0")
    return lines.let(f"shufflevector {vector} {item}, {vector} poison, <{types.lanes} x i32> zeroinitializer")


def folded(lines: Lines, vector: str, name: str) -> str:
    """Return a reduction over the lanes, as a tree: lane i with lane i + half, and so on."""
    types = lines.types
    width = types.lanes
    while width > 1:
        width //= 2
        mask = ", ".join(f"i32 {place + width if place < width else 0}" for place in range(types.lanes))
        other = lines.let(
            f"shufflevector {types.vector} {vector}, {types.vector} poison, <{types.lanes} x i32> <{mask}>"
        )
        vector = accumulated(lines, vector, other, name)
    return lines.let(f"extractelement {types.vector} {vector}, i32 0")


def accumulated(lines: Lines, total: str, more: str, name: str) -> str:
    """Return one step of a reduction. What is no number stays in a max or min, as in torch; "most" and
    "least" are for values that are all numbers."""
    if name == "sum":
        return lines.plus(total, more)
    result = lines.choose(
        lines.compare("ogt" if name in ("max", "most") else "olt", more, total), more, total
    )
    return lines.choose(lines.compare("uno", more, more), more, result) if name in ("max", "min") else result


def identity(name: str) -> float:
    """Return what a reduction starts from."""
    return {"sum": 0.0, "max": -math.inf, "most": -math.inf, "min": math.inf, "least": math.inf}[name]
