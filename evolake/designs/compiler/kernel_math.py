"""exp, log and their kin on vectors, written out operation by operation, so that every machine gives the same
bits.

exp: x = n ln 2 + r with |r| <= ln 2 / 2; Taylor in r; scaled by 2^n in two halves, so that overflow and the
smallest numbers come out right. log: x = 2^e m with m in [sqrt(1/2), sqrt 2); log m = 2 artanh((m-1)/(m+1))
by its series. The rest follows: sigmoid from exp(-|x|), expm1 by Taylor near 0, log1p by Kahan's correction,
tanh from expm1, pow = exp(y log x), in float32 with the logarithm as a sum of two numbers, so that it is as
good as the others. Division is slow, so the float32 sigmoid and logarithms take reciprocals of numbers of
known size by Newton's method. Fused multiply-adds are used on purpose and by name: they are exactly defined.
Errors in units in the last place are held by the tests: exp 1.5, log 2, sigmoid 3, expm1 4, log1p 4, tanh 4,
pow 2 in float32; sigmoid is 0 below -87 (-708 in float64). In float64 the error of pow grows as |y log x|.
"""

from __future__ import annotations

import math

from evolake.designs.compiler.kernel_text import Lines, Types

ROUND = {"float32": 1.5 * 2**23, "float64": 1.5 * 2**52}
EXP_TERMS = {"float32": 7, "float64": 13}
LOG_TERMS = {"float32": 5, "float64": 11}
RECIPROCAL_START = 0x7EF311C7
SIGMOID_EDGE = {"float32": 87.0, "float64": 708.0}


def ln2_parts(types: Types) -> tuple[float, float]:
    """Return ln 2 as a short number and the rest: n times the short one is exact for every exponent n."""
    short = 2.0 ** (15 if types.dtype == "float32" else 40)
    high = math.floor(math.log(2.0) * short) / short
    beyond_double = 2.3190468138462996e-17
    return high, (math.log(2.0) - high) + beyond_double


def definitions(types: Types) -> str:
    """Return the LLVM text of all functions for one kind of vector, named v_exp, v_log, ..."""
    power = _pow_in_two_parts(types) if types.dtype == "float32" else _pow(types)
    return "\n".join(
        [_exp(types), _log(types), _expm1(types), _log1p(types), _sigmoid(types), _tanh(types), power]
    )


def _function(lines: Lines, name: str, arguments: int, result: str) -> str:
    vector = lines.types.vector
    inside = ", ".join(f"{vector} %x{place}" for place in range(arguments))
    body = "\n".join(lines.text)
    return (
        f"define internal {vector} @{name}({inside}) alwaysinline nounwind {{\n{body}\n  ret {vector} "
        f"{result}\n}}\n"
    )


def _polynomial(lines: Lines, x: str, coefficients: list[float]) -> str:
    """Return the polynomial with these coefficients, highest power first, in pairs of pairs (Estrin): shorter
    chains than Horner's."""
    terms = [lines.types.splat(coefficient) for coefficient in reversed(coefficients)]
    while len(terms) > 1:
        pairs = [lines.fused(terms[at + 1], x, terms[at]) for at in range(0, len(terms) - 1, 2)]
        terms = pairs + ([terms[-1]] if len(terms) % 2 else [])
        x = lines.times(x, x)
    return terms[0]


def _taylor_exp(lines: Lines, r: str) -> str:
    """exp(r) - 1 for small r."""
    tail = _polynomial(
        lines, r, [1.0 / math.factorial(k) for k in range(EXP_TERMS[lines.types.dtype], 1, -1)]
    )
    return lines.fused(lines.times(r, r), tail, r)


def _limited(lines: Lines, x: str, low: float, high: float) -> str:
    """Return x between two bounds; what is no number stays none."""
    splat = lines.types.splat
    x = lines.choose(lines.compare("olt", x, splat(low)), splat(low), x)
    return lines.choose(lines.compare("ogt", x, splat(high)), splat(high), x)


def _split(lines: Lines, x: str) -> tuple[str, str]:
    """(n as an integer, r) with x = n ln 2 + r."""
    types = lines.types
    magic = types.splat(ROUND[types.dtype])
    shifted = lines.fused(x, types.splat(1 / math.log(2.0)), magic)
    minus_n = lines.minus(magic, shifted)
    high, low = ln2_parts(types)
    r = lines.fused(minus_n, types.splat(low), lines.fused(minus_n, types.splat(high), x))
    return lines.whole("sub", lines.to_bits(shifted), lines.to_bits(magic)), r


def _two_to(lines: Lines, n: str) -> str:
    """2^n for an n in the range of normal numbers."""
    biased = lines.whole("add", n, lines.types.splat_whole(lines.types.bias))
    return lines.from_bits(lines.whole("shl", biased, lines.types.splat_whole(lines.types.mantissa)))


def _exp_of(lines: Lines, x: str, more: str | None = None) -> str:
    """exp(x + more), `more` being far smaller than x."""
    low, high = (-104.0, 89.0) if lines.types.dtype == "float32" else (-746.0, 710.0)
    n, r = _split(lines, _limited(lines, x, low, high))
    if more is not None:
        r = lines.plus(r, more)
    grown = lines.plus(_taylor_exp(lines, r), lines.types.splat(1.0))
    half = lines.whole("ashr", n, lines.types.splat_whole(1))
    return lines.times(lines.times(grown, _two_to(lines, half)), _two_to(lines, lines.whole("sub", n, half)))


def _exp(types: Types) -> str:
    lines = Lines(types)
    return _function(lines, "v_exp", 1, _exp_of(lines, "%x0"))


def _reciprocal(lines: Lines, d: str) -> str:
    """1/d for a d from 1 to 1e36: in float32 by Newton's method from a guess that is right to an eighth, in
    float64 by division."""
    types = lines.types
    item = types.splat(1.0)
    if types.dtype == "float64":
        return lines.over(item, d)
    r = lines.from_bits(lines.whole("sub", types.splat_whole(RECIPROCAL_START), lines.to_bits(d)))
    minus_d = lines.negated(d)
    for _ in range(3):
        r = lines.fused(r, lines.fused(minus_d, r, item), r)
    return r


def _mantissa(lines: Lines, value: str) -> tuple[str, str]:
    """(m, e as a real) with value = 2^e m and m from sqrt(1/2) to sqrt 2, for value > 0."""
    types = lines.types
    smallest, lift = 2.0 ** (1 - types.bias), 2.0**types.mantissa
    tiny = lines.compare("olt", value, types.splat(smallest))
    bits = lines.to_bits(lines.choose(tiny, lines.times(value, types.splat(lift)), value))
    start = lines.to_bits(types.splat(math.sqrt(0.5)))
    exponent = lines.whole("ashr", lines.whole("sub", bits, start), types.splat_whole(types.mantissa))
    m = lines.from_bits(
        lines.whole("sub", bits, lines.whole("shl", exponent, types.splat_whole(types.mantissa)))
    )
    e = lines.let(f"sitofp {types.whole} {exponent} to {types.vector}")
    return m, lines.choose(tiny, lines.minus(e, types.splat(types.mantissa)), e)


def _artanh_tail(lines: Lines, s: str) -> str:
    """2 artanh(s) - 2 s."""
    z = lines.times(s, s)
    series = _polynomial(lines, z, [2.0 / (2 * k + 1) for k in range(LOG_TERMS[lines.types.dtype], 0, -1)])
    return lines.times(lines.times(s, z), series)


def _quotient(lines: Lines, m: str) -> tuple[str, str, str, str]:
    """(s, 1/(m+1), m+1, m-1) with s = (m-1)/(m+1) rounded well."""
    item = lines.types.splat(1.0)
    f, d = lines.minus(m, item), lines.plus(m, item)
    r = _reciprocal(lines, d)
    s = lines.times(f, r)
    return lines.fused(lines.fused(lines.negated(s), d, f), r, s), r, d, f


def _log(types: Types) -> str:
    lines = Lines(types)
    m, e = _mantissa(lines, "%x0")
    s = _quotient(lines, m)[0]
    high, low = ln2_parts(types)
    small = lines.plus(_artanh_tail(lines, s), lines.times(e, types.splat(low)))
    result = lines.fused(e, types.splat(high), lines.plus(lines.plus(s, s), small))
    result = lines.choose(lines.compare("oeq", "%x0", types.splat(0.0)), types.splat(-math.inf), result)
    result = lines.choose(lines.compare("oge", "%x0", types.splat(0.0)), result, types.splat(math.nan))
    result = lines.choose(lines.compare("oeq", "%x0", types.splat(math.inf)), types.splat(math.inf), result)
    return _function(lines, "v_log", 1, result)


def _expm1(types: Types) -> str:
    lines = Lines(types)
    far = lines.minus(lines.call("v_exp", "%x0"), types.splat(1.0))
    near = lines.compare("olt", lines.size("%x0"), types.splat(0.3465))
    return _function(lines, "v_expm1", 1, lines.choose(near, _taylor_exp(lines, "%x0"), far))


def _log1p(types: Types) -> str:
    lines = Lines(types)
    item, infinite = types.splat(1.0), types.splat(math.inf)
    u = lines.plus("%x0", item)
    result = lines.times(lines.call("v_log", u), lines.over("%x0", lines.minus(u, item)))
    result = lines.choose(lines.compare("oeq", u, item), "%x0", result)
    return _function(lines, "v_log1p", 1, lines.choose(lines.compare("oeq", u, infinite), infinite, result))


def _sigmoid(types: Types) -> str:
    """With e = exp(-|x|), 1 / (1 + e) where x is above 0 and e / (1 + e) below: small to the end of the
    normal numbers, then 0."""
    lines = Lines(types)
    edge, item, zero = SIGMOID_EDGE[types.dtype], types.splat(1.0), types.splat(0.0)
    below = lines.negated(lines.size("%x0"))
    n, r = _split(lines, _limited(lines, below, -edge, 0.0))
    e = lines.times(lines.plus(_taylor_exp(lines, r), item), _two_to(lines, n))
    upper = _reciprocal(lines, lines.plus(e, item))
    lower = lines.choose(lines.compare("olt", "%x0", types.splat(-edge)), zero, lines.times(e, upper))
    return _function(lines, "v_sigmoid", 1, lines.choose(lines.compare("olt", "%x0", zero), lower, upper))


def _tanh(types: Types) -> str:
    lines = Lines(types)
    double = lines.plus("%x0", "%x0")
    double = lines.choose(lines.compare("ogt", double, types.splat(40.0)), types.splat(40.0), double)
    t = lines.call("v_expm1", double)
    return _function(lines, "v_tanh", 1, lines.over(t, lines.plus(t, types.splat(2.0))))


def _signed(lines: Lines, base: str, exponent: str, size: str) -> str:
    """|base|^exponent made into base^exponent: the sign of odd powers of negative numbers, and no number if
    there is none."""
    types = lines.types

    def floor(value: str) -> str:
        return lines.let(f"call {types.vector} @llvm.floor.{types.suffix}({types.vector} {value})")

    half = lines.times(exponent, types.splat(0.5))
    integral = lines.compare("oeq", floor(exponent), exponent)
    odd = lines.let(f"and {types.truth} {integral}, {lines.compare('une', floor(half), half)}")
    endless = lines.compare("oeq", base, types.splat(-math.inf))
    broken = lines.choose(endless, size, types.splat(math.nan))
    result = lines.choose(
        lines.compare("olt", base, types.splat(0.0)), lines.choose(integral, size, broken), size
    )
    sign = lines.whole("and", lines.to_bits(base), types.splat_whole(-(2 ** (types.bits - 1))))
    result = lines.choose(odd, lines.from_bits(lines.whole("or", lines.to_bits(size), sign)), result)
    result = lines.choose(lines.compare("oeq", exponent, types.splat(0.0)), types.splat(1.0), result)
    return lines.choose(lines.compare("oeq", base, types.splat(1.0)), types.splat(1.0), result)


def _pow(types: Types) -> str:
    lines = Lines(types)
    size = lines.size("%x0")
    grown = lines.call("v_exp", lines.times("%x1", lines.call("v_log", size)))
    grown = lines.choose(lines.compare("oeq", size, types.splat(1.0)), types.splat(1.0), grown)
    return _function(lines, "v_pow", 2, _signed(lines, "%x0", "%x1", grown))


def _pow_in_two_parts(types: Types) -> str:
    """float32 powers with log x as high + low, good to about 2^-40: what exp makes of the error of y log x is
    then below its own."""
    lines = Lines(types)
    item = types.splat(1.0)
    size = lines.size("%x0")
    m, e = _mantissa(lines, size)
    s, r, d, f = _quotient(lines, m)
    d_error = lines.minus(m, lines.minus(d, item))
    minus_s = lines.negated(s)
    s_error = lines.times(lines.fused(minus_s, d_error, lines.fused(minus_s, d, f)), r)
    high, low = ln2_parts(types)
    main, twice = lines.times(e, types.splat(high)), lines.plus(s, s)
    rest = lines.plus(_artanh_tail(lines, s), lines.fused(e, types.splat(low), lines.plus(s_error, s_error)))
    total, error = _two_sum(lines, main, twice)
    rest = lines.plus(error, rest)
    log_high = lines.plus(total, rest)
    log_low = lines.plus(lines.minus(total, log_high), rest)
    product = lines.times("%x1", log_high)
    product_low = lines.fused("%x1", log_low, lines.fused("%x1", log_high, lines.negated(product)))
    bounded = lines.compare("olt", lines.size(product), types.splat(1e4))
    grown = _exp_of(lines, product, lines.choose(bounded, product_low, types.splat(0.0)))
    rising = lines.compare("ogt", "%x1", types.splat(0.0))
    at_zero = lines.choose(rising, types.splat(0.0), types.splat(math.inf))
    at_infinity = lines.choose(rising, types.splat(math.inf), types.splat(0.0))
    grown = lines.choose(lines.compare("oeq", size, types.splat(0.0)), at_zero, grown)
    grown = lines.choose(lines.compare("oeq", size, types.splat(math.inf)), at_infinity, grown)
    grown = lines.choose(lines.compare("uno", "%x0", "%x1"), types.splat(math.nan), grown)
    grown = lines.choose(lines.compare("oeq", size, types.splat(1.0)), types.splat(1.0), grown)
    return _function(lines, "v_pow", 2, _signed(lines, "%x0", "%x1", grown))


def _two_sum(lines: Lines, a: str, b: str) -> tuple[str, str]:
    """Emit a + b and its rounding error, whichever is larger (Knuth)."""
    total = lines.plus(a, b)
    b_part = lines.minus(total, a)
    a_part = lines.minus(total, b_part)
    return total, lines.plus(lines.minus(a, a_part), lines.minus(b, b_part))
