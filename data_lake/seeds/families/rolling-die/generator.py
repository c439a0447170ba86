import random

WORDS = {"N": "north", "E": "east", "S": "south", "W": "west"}


def input(difficulty):
    moves = [random.choice("NESW") for _ in range(3 + 2 * difficulty)]
    times = random.randint(1, 1 + 2 * difficulty)
    return {"moves": "".join(moves), "times": times}, [", ".join(WORDS[move] for move in moves), str(times)]
