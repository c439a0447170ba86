"""The primary of days."""

APART = LOAD = ""
__answer__ = __constants__ = None
# --- program ---
"""Event after event, the earliest day that the plan so far allows, and back where there is none."""

__constants__


def solution(inputs):
    names, days, plan = inputs["names"], inputs["days"], {}

    def clash(first, second):
        if APART == "different":
            return first == second
        return abs(first - second) < 2 if APART == "spaced" else first >= second

    def fits(name, day):
        for one, other in inputs["pairs"]:
            if name == one and other in plan and clash(day, plan[other]):
                return False
            if name == other and one in plan and clash(plan[one], day):
                return False
        return LOAD != "most" or list(plan.values()).count(day) < 3

    def put(place):
        if place == len(names):
            on = [list(plan.values()).count(day) for day in range(1, days + 1)]
            return LOAD == "most" or (min(on) > 0 if LOAD == "used" else on[0] == on[-1])
        for day in range(1, days + 1):
            if fits(names[place], day):
                plan[names[place]] = day
                if put(place + 1):
                    return True
                del plan[names[place]]
        return False

    if not put(0):
        raise ValueError("no plan keeps the rules")
    __answer__
