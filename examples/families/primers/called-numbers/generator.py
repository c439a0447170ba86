import random


def input(difficulty):
    numbers = random.sample(range(1, 10 + 20 * difficulty), 1 + 2 * difficulty)
    wanted = random.choice(numbers) if random.random() < 0.4 else random.randint(1, 10 + 20 * difficulty)
    return {"numbers": numbers, "wanted": wanted}, [", ".join(map(str, numbers)), str(wanted)]
