import random

NEED = "one"


def reach(suppliers, first):
    """How many firms go down, for the choice of an interesting first one."""
    down = {first}
    for _ in suppliers:
        for firm, others in enumerate(suppliers, start=1):
            lost = sum(other in down for other in others)
            if lost and (NEED == "one" or 2 * lost >= len(others)):
                down.add(firm)
    return len(down)


def input(difficulty):
    count = 5 + 2 * difficulty
    suppliers = []
    for firm in range(1, count + 1):
        others = [other for other in range(1, count + 1) if other != firm]
        suppliers.append(sorted(random.sample(others, random.choice([0, 1, 1, 2, 2, 3]))))
    firsts = random.sample(range(1, count + 1), 4)
    first = max(firsts, key=lambda firm: (reach(suppliers, firm) < count) * reach(suppliers, firm))
    lines = [f"- firm {firm}: {others if others else 'no suppliers'}" for firm, others in enumerate(suppliers, start=1)]
    return {"suppliers": suppliers, "first": first}, ["\n".join(lines), str(first)]
