"""Linear algebra over two elements: one solution by elimination, then all others by the combinations that change nothing."""

AIM = "off"
WANTED = "fewest"


def solution(inputs):
    if not isinstance(inputs, dict) or {"lamps", "buttons", "on", "hidden"} - set(inputs):
        return {"status": "schema_error", "detail": "lamps, buttons, on, hidden"}
    visible = [lamp for lamp in range(1, inputs["lamps"] + 1) if lamp != inputs["hidden"]]

    def bits(lamps):
        return sum(1 << place for place, lamp in enumerate(visible) if lamp in lamps)

    basis, idle = {}, []
    for number, lamps in enumerate(inputs["buttons"]):
        vector, used = bits(lamps), 1 << number
        while vector and vector.bit_length() in basis:
            other, others = basis[vector.bit_length()]
            vector, used = vector ^ other, used ^ others
        if vector:
            basis[vector.bit_length()] = vector, used
        else:
            idle.append(used)
    numbers = []
    for aim in [0] if AIM == "off" else [0, bits(visible)]:
        vector, pressed = bits(inputs["on"]) ^ aim, 0
        while vector.bit_length() in basis:
            other, used = basis[vector.bit_length()]
            vector, pressed = vector ^ other, pressed ^ used
        if vector:
            continue
        solutions = [pressed]
        for used in idle:
            solutions += [one ^ used for one in solutions]
        numbers += [one.bit_count() for one in solutions]
    if not numbers:
        return {"status": "schema_error", "detail": "the aim cannot be reached"}
    return min(numbers) if WANTED == "fewest" else max(numbers)
