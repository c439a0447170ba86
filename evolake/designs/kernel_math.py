"""exp, log and their kin on vectors, written out operation by operation, so that every machine gives the same bits.

exp: x = n ln 2 + r with |r| <= ln 2 / 2, ln 2 split in two so that n times the high part is exact; Taylor in r; scaled by 2^n in two halves, so
that overflow and the smallest numbers come out right. log: x = 2^e m with m in [sqrt(1/2), sqrt 2); log m = 2 artanh((m-1)/(m+1)) by its series.
The rest follows: sigmoid = 1/(1+exp(-x)), expm1 by Taylor near 0, log1p by Kahan's correction, tanh from expm1, and pow = exp(y log x), for float32
in float64 inside, so that it is as good as the others. Errors in units in the last place are measured by the tests over the whole range.
"""

from __future__ import annotations

import math

from evolake.designs.kernel_text import Lines, Types

ROUND = {"float32": 1.5 * 2**23, "float64": 1.5 * 2**52}
EXP_TERMS = {"float32": 7, "float64": 13}
LOG_TERMS = {"float32": 5, "float64": 11}
FUNCTIONS = ("exp", "log", "expm1", "log1p", "sigmoid", "tanh", "pow")


def ln2_parts(types: Types) -> tuple[float, float]:
    """ln 2 as a short number and the rest: n times the short one is exact for every exponent n."""
    short = 2.0 ** (15 if types.dtype == "float32" else 40)
    high = math.floor(math.log(2.0) * short) / short
    # ln 2 to 30 digits, as high + low + the double's own rounding error
    rest = 2.3190468138462996e-17
    return high, (math.log(2.0) - high) + rest


def definitions(types: Types) -> str:
    """The LLVM text of all functions for one kind of vector, named v_exp, v_log, ..."""
    parts = [_exp(types), _log(types), _expm1(types), _log1p(types), _sigmoid(types), _tanh(types)]
    if types.dtype == "float64":
        parts.append(_pow(types))
    else:
        wide = Types("float64", types.lanes)
        parts += [_exp(wide, "wide_exp", terms=9), _log(wide, "wide_log", terms=6), _wide_pow(types, wide)]
    return "\n".join(parts)


def _function(lines: Lines, name: str, arguments: int, result: str) -> str:
    vector = lines.types.vector
    inside = ", ".join(f"{vector} %x{place}" for place in range(arguments))
    body = "\n".join(lines.text)
    return f"define internal {vector} @{name}({inside}) alwaysinline nounwind {{\n{body}\n  ret {vector} {result}\n}}\n"


def _polynomial(lines: Lines, x: str, coefficients: list[float]) -> str:
    """Horner's scheme, highest power first."""
    result = lines.types.splat(coefficients[0])
    for coefficient in coefficients[1:]:
        result = lines.plus(lines.times(result, x), lines.types.splat(coefficient))
    return result


def _taylor_exp(lines: Lines, r: str, terms: int) -> str:
    """exp(r) - 1 for small r."""
    tail = _polynomial(lines, r, [1.0 / math.factorial(k) for k in range(terms, 1, -1)])
    return lines.plus(r, lines.times(lines.times(r, r), tail))


def _exp(types: Types, name: str = "v_exp", terms: int | None = None) -> str:
    lines = Lines(types)
    low, high = (-104.0, 89.0) if types.dtype == "float32" else (-746.0, 710.0)
    magic = ROUND[types.dtype]
    x = lines.choose(lines.compare("olt", "%x0", types.splat(low)), types.splat(low), "%x0")
    x = lines.choose(lines.compare("ogt", x, types.splat(high)), types.splat(high), x)
    shifted = lines.plus(lines.times(x, types.splat(1 / math.log(2.0))), types.splat(magic))
    n = lines.minus(shifted, types.splat(magic))
    ln2_high, ln2_low = ln2_parts(types)
    r = lines.minus(lines.minus(x, lines.times(n, types.splat(ln2_high))), lines.times(n, types.splat(ln2_low)))
    grown = lines.plus(_taylor_exp(lines, r, terms or EXP_TERMS[types.dtype]), types.splat(1.0))
    whole = lines.whole("sub", lines.to_bits(shifted), lines.to_bits(types.splat(magic)))
    half = lines.whole("ashr", whole, types.splat_whole(1))
    for part in (half, lines.whole("sub", whole, half)):
        biased = lines.whole("add", part, types.splat_whole(types.bias))
        grown = lines.times(grown, lines.from_bits(lines.whole("shl", biased, types.splat_whole(types.mantissa))))
    return _function(lines, name, 1, grown)


def _log(types: Types, name: str = "v_log", terms: int | None = None) -> str:
    lines = Lines(types)
    smallest, lift = 2.0 ** (1 - types.bias), 2.0**types.mantissa
    tiny = lines.compare("olt", "%x0", types.splat(smallest))
    x = lines.choose(tiny, lines.times("%x0", types.splat(lift)), "%x0")
    start = lines.to_bits(types.splat(math.sqrt(0.5)))
    bits = lines.to_bits(x)
    exponent = lines.whole("ashr", lines.whole("sub", bits, start), types.splat_whole(types.mantissa))
    m = lines.from_bits(lines.whole("sub", bits, lines.whole("shl", exponent, types.splat_whole(types.mantissa))))
    e = lines.let(f"sitofp {types.whole} {exponent} to {types.vector}")
    e = lines.choose(tiny, lines.minus(e, types.splat(types.mantissa)), e)
    s = lines.over(lines.minus(m, types.splat(1.0)), lines.plus(m, types.splat(1.0)))
    z = lines.times(s, s)
    count = terms or LOG_TERMS[types.dtype]
    series = lines.times(z, _polynomial(lines, z, [2.0 / (2 * k + 1) for k in range(count, 0, -1)]))
    log_m = lines.plus(lines.plus(s, s), lines.times(s, series))
    ln2_high, ln2_low = ln2_parts(types)
    result = lines.plus(lines.times(e, types.splat(ln2_high)), lines.plus(log_m, lines.times(e, types.splat(ln2_low))))
    result = lines.choose(lines.compare("oeq", "%x0", types.splat(0.0)), types.splat(-math.inf), result)
    result = lines.choose(lines.compare("oge", "%x0", types.splat(0.0)), result, types.splat(math.nan))
    result = lines.choose(lines.compare("oeq", "%x0", types.splat(math.inf)), types.splat(math.inf), result)
    return _function(lines, name, 1, result)


def _expm1(types: Types) -> str:
    lines = Lines(types)
    size = lines.let(f"call {types.vector} @llvm.fabs.{types.suffix}({types.vector} %x0)")
    near = _taylor_exp(lines, "%x0", EXP_TERMS[types.dtype])
    far = lines.minus(lines.call("v_exp", "%x0"), types.splat(1.0))
    return _function(lines, "v_expm1", 1, lines.choose(lines.compare("olt", size, types.splat(0.3465)), near, far))


def _log1p(types: Types) -> str:
    lines = Lines(types)
    one = types.splat(1.0)
    u = lines.plus("%x0", one)
    correction = lines.over("%x0", lines.minus(u, one))
    result = lines.times(lines.call("v_log", u), correction)
    result = lines.choose(lines.compare("oeq", u, one), "%x0", result)
    result = lines.choose(lines.compare("oeq", u, types.splat(math.inf)), types.splat(math.inf), result)
    return _function(lines, "v_log1p", 1, result)


def _sigmoid(types: Types) -> str:
    lines = Lines(types)
    negative = lines.let(f"fneg {types.vector} %x0")
    one = types.splat(1.0)
    return _function(lines, "v_sigmoid", 1, lines.over(one, lines.plus(one, lines.call("v_exp", negative))))


def _tanh(types: Types) -> str:
    lines = Lines(types)
    double = lines.plus("%x0", "%x0")
    double = lines.choose(lines.compare("ogt", double, types.splat(40.0)), types.splat(40.0), double)
    t = lines.call("v_expm1", double)
    return _function(lines, "v_tanh", 1, lines.over(t, lines.plus(t, types.splat(2.0))))


def _signed(lines: Lines, base: str, exponent: str, size: str) -> str:
    """|base|^exponent made into base^exponent: the sign of odd powers of negative numbers, and no number where there is none."""
    types = lines.types

    def floor(value: str) -> str:
        return lines.let(f"call {types.vector} @llvm.floor.{types.suffix}({types.vector} {value})")

    half = lines.times(exponent, types.splat(0.5))
    odd = lines.compare("une", floor(half), half)
    integral = lines.compare("oeq", floor(exponent), exponent)
    negated = lines.let(f"fneg {types.vector} {size}")
    below = lines.choose(integral, lines.choose(odd, negated, size), types.splat(math.nan))
    result = lines.choose(lines.compare("olt", base, types.splat(0.0)), below, size)
    result = lines.choose(lines.compare("oeq", exponent, types.splat(0.0)), types.splat(1.0), result)
    return lines.choose(lines.compare("oeq", base, types.splat(1.0)), types.splat(1.0), result)


def _pow(types: Types) -> str:
    lines = Lines(types)
    size = lines.let(f"call {types.vector} @llvm.fabs.{types.suffix}({types.vector} %x0)")
    grown = lines.call("v_exp", lines.times("%x1", lines.call("v_log", size)))
    return _function(lines, "v_pow", 2, _signed(lines, "%x0", "%x1", grown))


def _wide_pow(types: Types, wide: Types) -> str:
    """float32 powers by way of float64."""
    lines = Lines(types)
    size = lines.let(f"call {types.vector} @llvm.fabs.{types.suffix}({types.vector} %x0)")
    base = lines.let(f"fpext {types.vector} {size} to {wide.vector}")
    exponent = lines.let(f"fpext {types.vector} %x1 to {wide.vector}")
    logarithm = lines.let(f"call {wide.vector} @wide_log({wide.vector} {base})")
    product = lines.let(f"fmul {wide.vector} {exponent}, {logarithm}")
    grown = lines.let(f"call {wide.vector} @wide_exp({wide.vector} {product})")
    narrow = lines.let(f"fptrunc {wide.vector} {grown} to {types.vector}")
    return _function(lines, "v_pow", 2, _signed(lines, "%x0", "%x1", narrow))
