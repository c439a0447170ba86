import random


def input(difficulty):
    cards = random.sample(range(1, 30 + 60 * difficulty), 1 + difficulty)
    return {"cards": cards}, [", ".join(map(str, cards[:-1])) + f" and {cards[-1]}"]
