"""For each event that happened, the set of free events that it hangs on: of such sets, so many must be hit that too few causes are left."""

SOME = 2
WANTED = "decisive"


def solution(inputs):
    try:
        roots, effects, asked = inputs["roots"], inputs["effects"], inputs["asked"]
        free = {number for number, root in enumerate(roots, start=1) if root}
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "roots, effects, asked"}
    hangs_on = {number: {number} for number in free}
    for number, (kind, causes) in enumerate(effects, start=len(roots) + 1):
        sets = [hangs_on[cause] for cause in causes if cause in hangs_on]
        if kind == "ALL" and len(sets) == len(causes):
            hangs_on[number] = set.union(*sets)
        elif kind == "ANY" and sets:
            hangs_on[number] = set.intersection(*sets)
        elif kind == "SOME" and len(sets) >= SOME:
            hangs_on[number] = {event for event in free if sum(event not in one for one in sets) < SOME}
    decisive = hangs_on.get(asked, set())
    return sorted(decisive if WANTED == "decisive" else free - decisive)
