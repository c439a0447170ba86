"""Kronecker's substitution: put a large power of two for x, multiply plain integers, and read the coefficients off the digits."""

TURN = "none"
WANTED = "one"


def solution(inputs):
    try:
        factors, power = [list(factor) for factor in inputs["factors"]], inputs["power"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "factors and power"}
    if TURN == "even":
        factors[1::2] = [factor[::-1] for factor in factors[1::2]]
    base = 1 << 200
    product = 1
    for factor in factors:
        value = 0
        for coefficient in reversed(factor):
            value = value * base + coefficient
        product *= value
    digits = []
    while product:
        product, digit = divmod(product, base)
        digits.append(digit)
    if TURN == "minus":
        digits[1::2] = [-digit for digit in digits[1::2]]
    return digits[power] if WANTED == "one" else sum(digits[: power + 1])
