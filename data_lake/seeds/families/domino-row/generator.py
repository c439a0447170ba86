import random


def input(difficulty):
    count = 8 + 3 * difficulty
    place, dominoes = 0, []
    for _ in range(count):
        place += random.choice([1, 2, 2, 3, 3, 4])
        dominoes.append([place, random.choice([1, 2, 3, 4, 4, 5, 6])])
    pushed = random.randint(1 + count // 4, count - count // 4)
    lines = [f"- domino {number}: position {place}, height {height}" for number, (place, height) in enumerate(dominoes, start=1)]
    return {"dominoes": dominoes, "pushed": pushed}, ["\n".join(lines), str(pushed)]
