import random


def input(difficulty):
    count = 3 + (difficulty + 1) // 4
    while True:
        cards = [random.randint(2, 4 + 4 * difficulty) for _ in range(count)]
        values = list(cards)
        while len(values) > 1:
            second, first = (values.pop(random.randrange(len(values))) for _ in range(2))
            values.append(random.choice([first + second, first * second, first - second]))
        if 10 < values[0] < 200 * difficulty and values[0] not in cards:
            return {"cards": cards, "target": values[0]}, [str(cards), str(values[0])]
