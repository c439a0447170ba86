import random


def input(difficulty):
    size = 3 + (difficulty + 1) // 3
    first, order = random.sample(range(size), size), random.sample(range(size), size)
    names = random.sample(range(1, size + 1), size)
    full = [[names[(row + column) % size] for column in order] for row in first]
    shown = [[name if random.random() < 0.35 else 0 for name in row] for row in full]
    shown[0][0] = full[0][0]
    rows = "\n".join(f"- week {number}: {row}" for number, row in enumerate(shown, start=1))
    return {"roster": shown}, [str(size), rows]
