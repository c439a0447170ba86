"""Level and upright stretches apart: lengths of their unions, less the points where a level one meets an upright one."""

BETWEEN = "keep"
ASKED = "all"


def united(stretches):
    """The union of closed intervals, as disjoint intervals that do not touch."""
    found = []
    for first, last in sorted(stretches):
        if found and first <= found[-1][1] + 1:
            found[-1][1] = max(found[-1][1], last)
        else:
            found.append([first, last])
    return found


def solution(inputs):
    if not isinstance(inputs, dict) or {"program", "times"} - set(inputs):
        return {"status": "schema_error", "detail": "program and times"}
    turns = {"left": lambda east, north: (-north, east), "right": lambda east, north: (north, -east)}
    east, north = 0, 1
    x = y = 0
    level, upright = {}, {0: [(0, 0)]}
    for run in range(inputs["times"]):
        if run and BETWEEN != "keep":
            east, north = (0, 1) if BETWEEN == "north" else (-east, -north)
        for side, steps in inputs["program"]:
            east, north = turns[side](east, north)
            toward = (x + steps * east, y + steps * north)
            if east:
                level.setdefault(y, []).append((min(x, toward[0]), max(x, toward[0])))
            else:
                upright.setdefault(x, []).append((min(y, toward[1]), max(y, toward[1])))
            x, y = toward
    level = {row: united(stretches) for row, stretches in level.items()}
    upright = {column: united(stretches) for column, stretches in upright.items()}
    if ASKED == "column":
        crossed = {row for row, stretches in level.items() if any(first <= 0 <= last for first, last in stretches)}
        return len(crossed.union(*(range(first, last + 1) for first, last in upright[0])))
    total = sum(last - first + 1 for lines in (level, upright) for stretches in lines.values() for first, last in stretches)
    for row, stretches in level.items():
        for column, others in upright.items():
            if any(first <= column <= last for first, last in stretches) and any(first <= row <= last for first, last in others):
                total -= 1
    return total
