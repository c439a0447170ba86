"""A stack, as described."""

MINUS = "usual"
AT = "max"
HASH = "twice"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("tokens"), list) or "x" not in inputs:
        return {"status": "schema_error", "detail": "tokens and x"}
    operations = {
        "+": lambda a, b: a + b, "*": lambda a, b: a * b,
        "-": (lambda a, b: a - b) if MINUS == "usual" else (lambda a, b: b - a),
        "@": {"max": max, "min": min, "distance": lambda a, b: abs(a - b)}[AT],
        "#": (lambda a, b: a + 2 * b) if HASH == "twice" else (lambda a, b: 10 - a - b),
    }
    stack = []
    for token in inputs["tokens"]:
        if token in operations:
            b, a = stack.pop(), stack.pop()
            stack.append(operations[token](a, b))
        else:
            stack.append(inputs["x"] if token == "x" else token)
    return stack[-1] if len(stack) == 1 else {"status": "schema_error", "detail": "tape"}
