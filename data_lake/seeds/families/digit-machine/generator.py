import random


def input(difficulty):
    modulus = random.randint(20 + 30 * difficulty, 60 + 60 * difficulty)
    start = random.randint(1, modulus - 1)
    factor = random.randint(1, 3 + 2 * difficulty)
    added = random.randint(1, modulus - 1)
    steps = random.randint(3 + 3 * difficulty, 5 + 20 * difficulty)
    inputs = {"start": start, "factor": factor, "added": added, "modulus": modulus, "steps": steps}
    return inputs, [str(start), str(factor), str(added), str(modulus), str(steps)]
