"""Work out the quantities in their order, with and without the interference."""

FORCE = "set"
WANTED = "value"


def values(equations, forced, value):
    found = []
    for number, (constant, terms) in enumerate(equations, start=1):
        found.append(constant + sum(factor * found[parent - 1] for factor, parent in terms))
        if number == forced:
            found[-1] = value if FORCE == "set" else found[-1] + value
    return found


def solution(inputs):
    if not isinstance(inputs, dict) or {"equations", "forced", "value"} - set(inputs):
        return {"status": "schema_error", "detail": "equations, forced, value"}
    changed = values(inputs["equations"], inputs["forced"], inputs["value"])
    if WANTED == "value":
        return changed[-1]
    return changed[-1] - values(inputs["equations"], None, 0)[-1]
