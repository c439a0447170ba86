import random


def input(difficulty):
    months = [random.randint(5, 12 + 2 * difficulty) for _ in range(3 + difficulty // 2)]
    every = random.randint(2, 5)
    year = random.randint(1, 40)
    month = random.randint(1, len(months))
    day = random.randint(1, months[month - 1])
    later = random.randint(20 * difficulty, 60 + 90 * difficulty)
    inputs = {"months": months, "every": every, "date": [year, month, day], "later": later}
    return inputs, [str(months), str(every), f"[{year}, {month}, {day}]", str(later)]
