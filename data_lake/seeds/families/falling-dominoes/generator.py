import random


def input(difficulty):
    count = 6 + 3 * difficulty
    tiles, place = [], 0
    for _ in range(count):
        place += random.randint(1, 6)
        tiles.append([place, random.randint(4, 12) if random.random() < 0.85 else 2])
    pushed = random.randint(1, 1 + count // 3)
    glued = random.randint(pushed + 1, min(count, pushed + 2 + difficulty))
    lines = [f"- at {place} cm, {height} cm tall" for place, height in tiles]
    return {"tiles": tiles, "pushed": pushed, "glued": glued}, ["\n".join(lines), str(pushed), str(glued)]
