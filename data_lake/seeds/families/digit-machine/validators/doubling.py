"""Tables of where each number gets in 1, 2, 4, 8, ... presses; the bits of the number of presses say which tables to use."""

DIGITS = 2
WRAP = "zero"


def solution(inputs):
    if not isinstance(inputs, dict) or not all(isinstance(inputs.get(key), int) for key in ("start", "factor", "added", "modulus", "steps")):
        return {"status": "schema_error", "detail": "start, factor, added, modulus, steps"}
    modulus, left, shown = inputs["modulus"], inputs["steps"], inputs["start"]
    table = []
    for number in range(modulus + 1):
        powers = [(number // 10**place % 10) ** DIGITS for place in range(len(str(number)))]
        value = (inputs["factor"] * sum(powers) + inputs["added"]) % modulus
        table.append(value if WRAP == "zero" else modulus - value)
    while left:
        if left & 1:
            shown = table[shown]
        table = [table[middle] for middle in table]
        left >>= 1
    return shown
