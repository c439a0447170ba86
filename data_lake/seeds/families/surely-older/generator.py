import random

STRICT = 1
WEAK = 1


def input(difficulty):
    count = 5 + difficulty
    ages = [random.randint(1, 3 + difficulty) for _ in range(count)]
    notes, facts = [], []
    while len(notes) < 4 + 2 * difficulty:
        one, other = random.sample(range(count), 2)
        kind = random.choice((">", ">=", ">=", "="))
        gap = (ages[one] - ages[other]) * {">": STRICT, ">=": WEAK, "=": 1}[kind]
        if gap < 0 or ((gap == 0) != (kind == "=") and kind != ">="):
            continue
        notes.append([one + 1, kind, other + 1])
        high, low = (one, other) if ages[one] > ages[other] or (gap == 0 and (kind == "=" or WEAK > 0)) else (other, one)
        facts += [(high, low, kind == ">")] + ([(low, high, False)] if kind == "=" else [])
    one, other = pick(facts, count)
    if random.random() < 0.5:
        one, other = other, one
    lines = [f"- “{left} {sign} {right}”" for left, sign, right in notes]
    inputs = {"count": count, "notes": notes, "one": one + 1, "other": other + 1}
    return inputs, [str(count), "\n".join(lines), str(one + 1), str(other + 1)]


def pick(facts, count):
    """Two persons: each kind of answer gets its chance, and the ways between them are rather long than short."""
    reach = {}
    for start in range(count):
        layer, steps = {(start, False)}, 0
        while layer:
            for state in layer:
                reach.setdefault((start, *state), steps)
            layer = {(low, strict or hard) for person, strict in layer for high, low, hard in facts if high == person}
            layer = {state for state in layer if (start, *state) not in reach}
            steps += 1
    kinds = {"ordered": [], "same": [], "unknown": []}
    for one in range(count):
        for other in range(count):
            if one == other:
                continue
            there, back = reach.get((one, other, False)), reach.get((other, one, False))
            if (one, other, True) in reach:
                kinds["ordered"].append((-reach[one, other, True], one, other))
            elif there is not None and back is not None:
                kinds["same"].append((-there - back, one, other))
            elif (other, one, True) not in reach:
                kinds["unknown"].append((0, one, other))
    kind = random.choice([name for name in ("ordered", "ordered", "same", "unknown") if kinds[name]])
    random.shuffle(kinds[kind])
    best = sorted(kinds[kind], key=lambda pair: pair[0])
    return random.choice(best[: 3 + len(best) // 4])[1:]
