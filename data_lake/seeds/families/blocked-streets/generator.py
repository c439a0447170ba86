import random


def input(difficulty):
    east = random.randint(2 + difficulty // 3, 2 + (difficulty + 1) // 2)
    north = random.randint(2 + difficulty // 3, 2 + (difficulty + 1) // 2)
    inner = [[x, y] for x in range(east + 1) for y in range(north + 1) if (x, y) not in ((0, 0), (east, north))]
    closed = random.sample(inner, 2 + difficulty // 2)
    allowed = random.randint(0, 2) if difficulty > 2 else 0
    inputs = {"east": east, "north": north, "closed": closed, "allowed": allowed}
    return inputs, [str(east), str(north), ", ".join(f"({x}, {y})" for x, y in closed), str(allowed)]
