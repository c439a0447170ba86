"""From the result back: how much one unit more of each quantity adds to it; a quantity that is set passes nothing on to its causes."""

FORCE = "set"
WANTED = "value"


def solution(inputs):
    try:
        equations, forced, value = inputs["equations"], inputs["forced"], inputs["value"]
        last = len(equations)
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "equations, forced, value"}

    def result(interfered):
        weight = [0] * (last + 1)
        weight[last] = 1
        total = 0
        for number in range(last, 0, -1):
            constant, terms = equations[number - 1]
            if interfered and number == forced:
                total += weight[number] * value
                if FORCE == "set":
                    continue
            total += weight[number] * constant
            for factor, parent in terms:
                weight[parent] += weight[number] * factor
        return total

    return result(True) if WANTED == "value" else result(True) - result(False)
