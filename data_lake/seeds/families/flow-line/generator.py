import random


def input(difficulty):
    machines = 2 + difficulty // 3
    pieces = 3 + difficulty
    times = [[random.randint(1, 6 + difficulty) for _ in range(machines)] for _ in range(pieces)]
    asked = random.randint(1, pieces)
    lines = [f"- piece {number}: {row}" for number, row in enumerate(times, start=1)]
    return {"times": times, "asked": asked}, [str(machines), "\n".join(lines), str(asked)]
