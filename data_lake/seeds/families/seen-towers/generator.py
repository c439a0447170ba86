import random


def input(difficulty):
    heights = [random.randint(1, 3 + difficulty) * 10 for _ in range(4 + 2 * difficulty)]
    heights = [height + random.choice((0, 0, 5, 7)) for height in heights]
    apart = random.randint(1, 1 + difficulty // 3)
    return {"heights": heights, "apart": apart}, [", ".join(map(str, heights)), str(apart)]
