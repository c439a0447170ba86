"""The generator of days."""

APART = LOAD = ""
__constants__ = __words__ = None
# --- program ---
import random

WORDS = __words__
__constants__


def allowed(day, other):
    return {"different": day != other, "spaced": abs(day - other) > 1, "earlier": day < other}[APART]


def input(difficulty):
    days, count = 4 + difficulty // 4, 6 + 2 * difficulty // 5
    names = random.sample(WORDS["names"].split(), count)
    pairs = []
    while len(pairs) < count:
        plan = {name: random.randint(1, days) for name in names}
        loads = [list(plan.values()).count(day) for day in range(1, days + 1)]
        pairs = []
        if {"most": max(loads) <= 3, "used": min(loads) > 0, "ends": loads[0] == loads[-1]}[LOAD]:
            pairs = [random.sample((one, other), 2) for place, one in enumerate(names) for other in names[:place]]
            pairs = [[one, other] for one, other in pairs if allowed(plan[one], plan[other])]
    random.shuffle(pairs)
    pairs = pairs[: 2 * count - 3 + difficulty // 2]
    return {"days": days, "names": names, "pairs": pairs}, [
        str(days), ", ".join(names), "\n".join(f"- {one} and {other}." for one, other in pairs),
    ]
