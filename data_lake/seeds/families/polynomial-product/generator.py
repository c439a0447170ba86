import random


def input(difficulty):
    factors = []
    for _ in range(2 + (difficulty + 1) // 2):
        length = random.randint(2, 3 + difficulty // 4)
        factors.append([random.randint(1, 3 + difficulty // 2) for _ in range(length)])
    degree = sum(len(factor) - 1 for factor in factors)
    power = random.randint(1, degree - 1)
    lines = [f"- factor {number}: {factor}" for number, factor in enumerate(factors, start=1)]
    return {"factors": factors, "power": power, "degree": degree}, ["\n".join(lines), str(power)]
