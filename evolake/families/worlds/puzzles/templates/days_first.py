"""A validator of days that strikes days out."""

APART = LOAD = ""
__answer__ = __constants__ = None
# --- program ---
"""The event with the fewest days left is decided next, late days first, and what it forbids is struck out elsewhere."""

__constants__
LEFT = {
    "different": lambda mine, before: lambda day: day - mine, "spaced": lambda mine, before: lambda day: day not in (mine - 1, mine, mine + 1),
    "earlier": lambda mine, before: (lambda day: day > mine) if before else (lambda day: day < mine),
}


def narrowed(open_days, decided, pairs, last):
    if not open_days:
        return decided if balanced(decided, last) else None
    event = min(open_days, key=lambda name: (len(open_days[name]), name))
    for day in sorted(open_days[event], reverse=True):
        rest = {}
        for name, choice in open_days.items():
            for one, other in pairs:
                if {one, other} == {event, name} and name != event:
                    choice = [item for item in choice if LEFT[APART](day, one == event)(item)]
            if name != event:
                rest[name] = choice
        if all(rest.values()):
            found = narrowed(rest, {**decided, event: day}, pairs, last)
            if found:
                return found
    return None


def balanced(decided, last):
    per_day = {}
    for name, day in decided.items():
        per_day.setdefault(day, []).append(name)
    if LOAD == "most":
        return all(len(some) < 4 for some in per_day.values())
    if LOAD == "used":
        return len(per_day) == last
    return len(per_day.get(1, ())) == len(per_day.get(last, ()))


def solution(inputs):
    last = inputs["days"]
    found = narrowed({name: list(range(1, last + 1)) for name in inputs["names"]}, {}, inputs["pairs"], last)
    __answer__
