"""Rewrite the tape: the first sign and the two numbers before it become one number, until one is left."""

MINUS = "usual"
AT = "max"
HASH = "twice"


def solution(inputs):
    if not isinstance(inputs, dict) or {"tokens", "x"} - set(inputs):
        return {"status": "schema_error", "detail": "tokens and x"}
    tape = [inputs["x"] if token == "x" else token for token in inputs["tokens"]]
    while len(tape) > 1:
        place = next(place for place, token in enumerate(tape) if isinstance(token, str))
        a, b, sign = tape[place - 2], tape[place - 1], tape[place]
        low, high = sorted([a, b])
        results = {
            "+": low + high, "*": low * high, "-": (a - b) * (1 if MINUS == "usual" else -1),
            "@": high if AT == "max" else low if AT == "min" else high - low, "#": a + 2 * b if HASH == "twice" else 10 - low - high,
        }
        tape[place - 2 : place + 1] = [results[sign]]
    return tape[0]
