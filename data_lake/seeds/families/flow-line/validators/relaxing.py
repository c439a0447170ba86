"""Earliest starts are the least solution of inequalities "not before": raise what is too early until nothing changes (Bellman and Ford)."""

SEQUENCE = "up"
ROOM = "plenty"


def solution(inputs):
    if not isinstance(inputs, dict) or {"times", "asked"} - set(inputs):
        return {"status": "schema_error", "detail": "times and asked"}
    times, last = inputs["times"], len(inputs["times"][0]) - 1
    bounds = []
    for piece, row in enumerate(times):
        bounds += [((piece, machine), row[machine], (piece, machine + 1)) for machine in range(last)]
        behind = piece + 1 if SEQUENCE == "up" else piece - 1
        if 0 <= behind < len(times):
            for machine in range(last + 1):
                bounds.append(((piece, machine), row[machine], (behind, machine)))
                if ROOM == "none" and machine < last:
                    bounds.append(((piece, machine + 1), 0, (behind, machine)))
    earliest = {(piece, machine): 0 for piece in range(len(times)) for machine in range(last + 1)}
    changed = True
    while changed:
        changed = False
        for before, minutes, after in bounds:
            if earliest[after] < earliest[before] + minutes:
                earliest[after] = earliest[before] + minutes
                changed = True
    piece = inputs["asked"] - 1
    if not 0 <= piece < len(times):
        return {"status": "schema_error", "detail": "asked is not a piece"}
    return earliest[piece, last] + times[piece][last]
