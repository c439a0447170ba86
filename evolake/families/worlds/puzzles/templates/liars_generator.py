"""The generator of liars."""

KNOWN = ""
__constants__ = __words__ = None
# --- program ---
import random
from itertools import product

WORDS = __words__
__constants__
SAYS = {
    "liar": "{0} is " + WORDS["liar"], "honest": "{0} is " + WORDS["honest"], "same": "{0} and {1} are of the same kind",
    "different": "{0} and {1} are of different kinds", "one": "at least one of {0} and {1} is " + WORDS["liar"],
}


def true(kind, values):
    a, b = values[0], values[-1]
    return {"liar": not a, "honest": bool(a), "same": a == b, "different": a != b, "one": not (a and b)}[kind]


def input(difficulty):
    count = 5 + (difficulty + 1) // 2
    while True:
        names = sorted(random.sample(WORDS["names"].split(), count))
        hidden, says = [random.randrange(2) for _ in names], []
        for who in range(count):
            for _ in range(1 + (random.random() < 0.3)):
                fitting = []
                for kind in SAYS:
                    some = random.sample([other for other in range(count) if other != who], 1 if kind in ("liar", "honest") else 2)
                    if true(kind, [hidden[one] for one in some]) == hidden[who]:
                        fitting.append([who, kind, *some])
                drawn = random.choice(fitting) if fitting else None
                if drawn and drawn not in says:
                    says.append(drawn)
        found = [
            kinds for kinds in product((0, 1), repeat=count)
            if {"odd": kinds.count(0) % 2 == 1, "even": kinds.count(0) % 2 == 0, "fewer": 2 * kinds.count(0) > count}[KNOWN]
            and all(true(kind, [kinds[one] for one in some]) == kinds[who] for who, kind, *some in says)
        ]
        if len(found) == 1 and {who for who, *_ in says} == set(range(count)):
            break
    lines = [f"- {names[who]} says: {SAYS[kind].format(*(names[one] for one in some))}." for who, kind, *some in says]
    named = [[names[who], kind, *(names[one] for one in some)] for who, kind, *some in says]
    return {"names": names, "says": named}, [", ".join(names), "\n".join(lines)]
