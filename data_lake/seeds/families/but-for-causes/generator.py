import random

SOME = 2


def happened(roots, effects):
    found = list(roots)
    for kind, causes in effects:
        number = sum(found[cause - 1] for cause in causes)
        found.append(number >= {"ALL": len(causes), "ANY": 1, "SOME": SOME}[kind])
    return found


def draw(difficulty):
    count = 4 + (difficulty + 1) // 2
    roots = [random.random() < 0.85 for _ in range(count)]
    effects = []
    for number in range(2 + difficulty):
        known = count + number
        kind = random.choice(["ALL", "ANY", "SOME"])
        causes = random.sample(range(max(1, known - count - 1), known + 1), 4 if kind == "SOME" else random.randint(2, 3))
        effects.append([kind, sorted(causes)])
    return roots, effects


def needed(roots, effects):
    if not happened(roots, effects)[-1]:
        return []
    return [place for place, root in enumerate(roots) if root and not happened([*roots[:place], False, *roots[place + 1 :]], effects)[-1]]


def input(difficulty):
    wanted = random.choice([1, 2, 2, 3])
    for _ in range(60):
        roots, effects = draw(difficulty)
        if len(needed(roots, effects)) >= wanted:
            break
    asked = len(roots) + len(effects)
    lines = [f"- event {number} {'happened' if root else 'did not happen'}" for number, root in enumerate(roots, start=1)]
    more = [f"- event {number}: {kind} of the events {causes}" for number, (kind, causes) in enumerate(effects, start=len(roots) + 1)]
    inputs = {"roots": roots, "effects": effects, "asked": asked, "events": asked}
    return inputs, ["\n".join(lines), "\n".join(more), str(asked)]
