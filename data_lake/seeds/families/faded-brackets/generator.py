import random


def input(difficulty):
    pairs = 2 + difficulty + random.randint(0, 2)
    text = nested(pairs)
    faded = random.sample(range(len(text)), max(2, len(text) // 2))
    shown = "".join("?" if place in faded else mark for place, mark in enumerate(text))
    return {"text": shown}, [shown]


def nested(pairs):
    if not pairs:
        return ""
    inside = random.randint(0, pairs - 1)
    mark = random.choice(["()", "[]"])
    return mark[0] + nested(inside) + mark[1] + nested(pairs - 1 - inside)
