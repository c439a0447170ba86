import random


def input(difficulty):
    divisors = random.sample(range(2, 8 + 2 * difficulty), 2 + (difficulty + 1) // 2)
    limit = random.randint(30 + 30 * difficulty, 60 + 120 * difficulty)
    return {"divisors": divisors, "limit": limit}, [", ".join(map(str, divisors)), str(limit)]
