"""Writing LLVM assembly: types, constants and single instructions.

Kernels are written as LLVM text and compiled by llvmlite, which numba brings along: no C compiler is needed,
vectors are explicit (16 lanes of float32 or 8 of float64 on every machine, split by LLVM where registers are
narrower), and with neither fast-math nor contraction each operation is rounded as IEEE 754 says. So the same
graph gives the same bytes with SSE2, AVX2 or AVX-512.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Types:
    """Names of the types of one kernel. `dtype` is "float32" or "float64"."""

    dtype: str
    lanes: int

    @property
    def real(self) -> str:
        """Return LLVM's name of the type of a real."""
        return "float" if self.dtype == "float32" else "double"

    @property
    def bits(self) -> int:
        """Return the width of a real in bits."""
        return 32 if self.dtype == "float32" else 64

    @property
    def mantissa(self) -> int:
        """Return the number of bits of the mantissa."""
        return 23 if self.dtype == "float32" else 52

    @property
    def bias(self) -> int:
        """Return the bias of the exponent."""
        return 127 if self.dtype == "float32" else 1023

    @property
    def vector(self) -> str:
        """Return LLVM's name of a vector of reals."""
        return f"<{self.lanes} x {self.real}>"

    @property
    def whole(self) -> str:
        """Integers as wide as the reals."""
        return f"<{self.lanes} x i{self.bits}>"

    @property
    def small(self) -> str:
        """Indices."""
        return f"<{self.lanes} x i32>"

    @property
    def truth(self) -> str:
        """Return LLVM's name of a vector of truth values."""
        return f"<{self.lanes} x i1>"

    @property
    def suffix(self) -> str:
        """Of intrinsics: v16f32."""
        return f"v{self.lanes}f{self.bits}"

    def number(self, value: float) -> str:
        """Return a scalar constant, exact."""
        if self.dtype == "float32":
            try:
                value = struct.unpack("<f", struct.pack("<f", value))[0]
            except OverflowError:
                value = float("inf") if value > 0 else float("-inf")
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"

    def splat(self, value: float) -> str:
        """Return a vector constant."""
        return f"splat ({self.real} {self.number(value)})"

    def splat_whole(self, value: int) -> str:
        """Return a constant vector of one whole number."""
        return f"splat (i{self.bits} {value})"


TYPES = {"float32": Types("float32", 16), "float64": Types("float64", 8)}


@dataclass
class Lines:
    """A growing list of instructions with fresh names."""

    types: Types
    prefix: str = "t"
    names: Iterator[int] = field(default_factory=itertools.count)
    text: list[str] = field(default_factory=list)

    def branch(self) -> Lines:
        """Return another list that shares the names."""
        return Lines(self.types, self.prefix, self.names)

    def add(self, instruction: str) -> None:
        """Emit an instruction without a result."""
        self.text.append("  " + instruction)

    def label(self, name: str) -> None:
        """Emit a label."""
        self.text.append(f"{name}:")

    def fresh(self, stem: str = "") -> str:
        """Return a name that is not used yet."""
        return f"{stem or self.prefix}{next(self.names)}"

    def let(self, instruction: str) -> str:
        """Return an instruction with a result; returns its name."""
        name = f"%{self.fresh()}"
        self.text.append(f"  {name} = {instruction}")
        return name

    def two(self, operation: str, left: str, right: str) -> str:
        """Return a real operation on vectors: fadd, fsub, fmul, fdiv."""
        return self.let(f"{operation} {self.types.vector} {left}, {right}")

    def plus(self, left: str, right: str) -> str:
        """Emit left + right."""
        return self.two("fadd", left, right)

    def minus(self, left: str, right: str) -> str:
        """Emit left - right."""
        return self.two("fsub", left, right)

    def times(self, left: str, right: str) -> str:
        """Emit left * right."""
        return self.two("fmul", left, right)

    def over(self, left: str, right: str) -> str:
        """Emit left / right."""
        return self.two("fdiv", left, right)

    def fused(self, left: str, right: str, more: str) -> str:
        """Return left * right + more, rounded once: the same bits wherever it runs, in software where the
        processor cannot."""
        v = self.types.vector
        return self.let(f"call {v} @llvm.fma.{self.types.suffix}({v} {left}, {v} {right}, {v} {more})")

    def negated(self, value: str) -> str:
        """Emit -value."""
        return self.let(f"fneg {self.types.vector} {value}")

    def size(self, value: str) -> str:
        """Emit the absolute value."""
        return self.let(
            f"call {self.types.vector} @llvm.fabs.{self.types.suffix}({self.types.vector} {value})"
        )

    def compare(self, how: str, left: str, right: str) -> str:
        """Emit a comparison; how: LLVM's name of it (`olt`, `une`, ...)."""
        return self.let(f"fcmp {how} {self.types.vector} {left}, {right}")

    def choose(self, condition: str, yes: str, no: str, kind: str | None = None) -> str:
        """Emit a selection by a condition; kind: the type of both values, a vector of reals by default."""
        kind = kind or self.types.vector
        return self.let(f"select {self.types.truth} {condition}, {kind} {yes}, {kind} {no}")

    def call(self, name: str, *args: str) -> str:
        """Return a function of vectors."""
        inside = ", ".join(f"{self.types.vector} {arg}" for arg in args)
        return self.let(f"call {self.types.vector} @{name}({inside})")

    def to_bits(self, value: str) -> str:
        """Emit the bits of a real as a whole number."""
        return self.let(f"bitcast {self.types.vector} {value} to {self.types.whole}")

    def from_bits(self, value: str) -> str:
        """Emit the real that has these bits."""
        return self.let(f"bitcast {self.types.whole} {value} to {self.types.vector}")

    def whole(self, operation: str, left: str, right: str) -> str:
        """Return an integer operation on vectors as wide as the reals."""
        return self.let(f"{operation} {self.types.whole} {left}, {right}")
