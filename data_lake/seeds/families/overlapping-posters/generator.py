import random


def input(difficulty):
    count = 2 + difficulty
    side = 8 + 2 * difficulty
    posters = []
    for _ in range(count):
        posters.append([random.randint(side, 2 * side), random.randint(side, 2 * side), random.randint(3, side), random.randint(3, side)])
    layers = random.randint(1, 1 + difficulty // 3)
    lines = [f"- corner at ({x}, {y}), {width} wide and {height} high" for x, y, width, height in posters]
    return {"posters": posters, "layers": layers}, ["\n".join(lines), str(layers)]
