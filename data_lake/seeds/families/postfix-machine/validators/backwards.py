"""Recursive descent from the end of the tape: the last sign splits what is before it into two operands."""

MINUS = "usual"
AT = "max"
HASH = "twice"


def joined(sign, a, b):
    if sign == "+":
        return a + b
    if sign == "*":
        return a * b
    if sign == "-":
        return a - b if MINUS == "usual" else b - a
    if sign == "#":
        return a + b + b if HASH == "twice" else 10 - (a + b)
    if AT == "distance":
        return a - b if a > b else b - a
    return a if (a > b) == (AT == "max") else b


def solution(inputs):
    try:
        tape, x = list(inputs["tokens"]), inputs["x"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "tokens and x"}

    def value():
        token = tape.pop()
        if token == "x":
            return x
        if isinstance(token, int):
            return token
        b = value()
        a = value()
        return joined(token, a, b)

    result = value()
    return {"status": "schema_error", "detail": "tape"} if tape else result
