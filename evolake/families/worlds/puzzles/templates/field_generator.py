"""The generator of a field."""

__constants__ = __words__ = None
# --- program ---
import random

WORDS = __words__
__constants__


def input(difficulty):
    size = 5 + difficulty
    while True:
        corners = [[random.randint(0, size), random.randint(0, size)] for _ in range(3)]
        (a, b), (c, d), (e, f) = corners
        doubled = abs((c - a) * (f - b) - (e - a) * (d - b))
        if doubled >= size * size // 2:
            break
    edge = []
    for (x, y), (u, v) in zip(corners, corners[1:] + corners[:1]):
        edge += [
            (p, q) for p in range(min(x, u), max(x, u) + 1) for q in range(min(y, v), max(y, v) + 1) if (p - x) * (v - y) == (q - y) * (u - x)
        ]
    places = set(random.sample(sorted(set(edge)), min(2 + difficulty // 4, len(set(edge)))))
    places.add(tuple(random.choice(corners)))
    cells = [(x, y) for x in range(size + 1) for y in range(size + 1)]
    inner = [
        (x, y) for x, y in cells
        if abs(sum(1 if (c - a) * (y - b) > (d - b) * (x - a) else -1 for (a, b), (c, d) in zip(corners, corners[1:] + corners[:1]))) == 3
    ]
    while len(places) < 8 + difficulty // 2:
        places.add(random.choice(inner if random.random() < 0.4 else cells))
    order = sorted(places)
    random.shuffle(order)
    posts = [["ABCDEFGHIJKLMNOP"[number], *place] for number, place in enumerate(order)]
    shown = [f"({x}, {y})" for x, y in corners]
    lines = [f"- {WORDS['Post']} {name} is at ({x}, {y})." for name, x, y in posts]
    return {"corners": corners, "posts": posts}, [f"{shown[0]}, {shown[1]} and {shown[2]}", "\n".join(lines)]
