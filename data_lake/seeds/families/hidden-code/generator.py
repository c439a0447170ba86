import random

REPEAT = True
SECOND = "misplaced"


def input(difficulty):
    length = 3 + (difficulty >= 4) + (difficulty >= 8)
    digits = length + 2
    kinds = range(1, digits + 1)

    def draw():
        return random.choices(kinds, k=length) if REPEAT else random.sample(kinds, length)

    code = draw()
    tries = []
    for _ in range(2 + difficulty // 5):
        tried = draw()
        right = sum(one == two for one, two in zip(code, tried, strict=True))
        common = sum(min(code.count(digit), tried.count(digit)) for digit in kinds)
        other = common - right if SECOND == "misplaced" else abs(sum(code) - sum(tried))
        tries.append([int("".join(map(str, tried))), right, other])
    lines = [f"- {tried}: first signal {right}, second signal {other}" for tried, right, other in tries]
    return {"length": length, "digits": digits, "tries": tries}, [str(length), str(digits), "\n".join(lines)]
