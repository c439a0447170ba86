import random


def input(difficulty):
    numbers = [random.randint(1, 5 + 4 * (difficulty - 1)) for _ in range(1 + difficulty)]
    return {"numbers": numbers}, [" + ".join(map(str, numbers))]
