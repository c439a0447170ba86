import random


def input(difficulty):
    count = 4 + difficulty
    modulus = random.randint(3, 4 + difficulty)
    cards = [random.randint(1, 10 + 5 * difficulty) for _ in range(count)]
    remainder = random.randint(0, modulus - 1)
    inputs = {"cards": cards, "modulus": modulus, "remainder": remainder, "largest": modulus - 1}
    return inputs, [", ".join(map(str, cards)), str(modulus), str(remainder)]
