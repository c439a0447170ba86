"""Week after week: all orders of the people that fit what was entered, the last in the alphabet first."""

from itertools import permutations


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("roster"), list):
        return {"status": "schema_error", "detail": "roster"}
    found = weeks(inputs["roster"], [])
    return found if found is not None else {"status": "schema_error", "detail": "no roster"}


def weeks(roster, done):
    if len(done) == len(roster):
        return done
    shown = roster[len(done)]
    later = roster[len(done):]
    for order in permutations(range(len(roster), 0, -1)):
        if all(name in (0, mine) for name, mine in zip(shown, order, strict=True)):
            mixed = any(mine == week[shift] for week in [*done, *later[1:]] for shift, mine in enumerate(order))
            if not mixed:
                found = weeks(roster, [*done, list(order)])
                if found is not None:
                    return found
    return None
