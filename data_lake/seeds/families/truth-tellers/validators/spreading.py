"""Spread what is known from person to person until nothing changes."""

ANCHOR = True
WANTED = False


def solution(inputs):
    if not isinstance(inputs, dict) or {"count", "statements"} - set(inputs):
        return {"status": "schema_error", "detail": "count and statements"}
    kind = {1: ANCHOR}
    changed = True
    while changed:
        changed = False
        for speaker, first, second, positive in inputs["statements"]:
            people = [speaker, first] if second is None else [speaker, first, second]
            unknown = [person for person in people if person not in kind]
            if len(unknown) != 1:
                continue
            for guess in (True, False):
                world = {**kind, unknown[0]: guess}
                said = world[first] if second is None else world[first] == world[second]
                if (said == positive) == world[speaker]:
                    kind[unknown[0]] = guess
                    changed = True
    return sorted(person for person, value in kind.items() if value == WANTED)
