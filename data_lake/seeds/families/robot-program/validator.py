"""A number in binary for each row of the lattice: a stretch of the walk sets a block of bits in it."""

BETWEEN = "keep"
ASKED = "all"
MIDDLE = 100_000


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("program"), list) or not isinstance(inputs.get("times"), int):
        return {"status": "schema_error", "detail": "program and times"}
    x, y, heading = MIDDLE, 0, 0
    low = x
    rows = {0: [(x, x)]}
    for run in range(inputs["times"]):
        if BETWEEN == "north":
            heading = 0
        elif BETWEEN == "about" and run:
            heading += 2
        for side, steps in inputs["program"]:
            heading = (heading + (1 if side == "right" else 3)) % 4
            if heading % 2:
                end = x + (steps if heading == 1 else -steps)
                rows.setdefault(y, []).append((min(x, end), max(x, end)))
                x, low = end, min(low, end)
            else:
                end = y + (steps if heading == 0 else -steps)
                for row in range(min(y, end), max(y, end) + 1):
                    rows.setdefault(row, []).append((x, x))
                y = end
    visited = 0
    for stretches in rows.values():
        bits = 0
        for first, last in stretches:
            bits |= (1 << last - low + 1) - (1 << first - low)
        visited += bin(bits).count("1") if ASKED == "all" else bits >> (MIDDLE - low) & 1
    return visited
