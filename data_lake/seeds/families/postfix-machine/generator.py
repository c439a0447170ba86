import random


def expression(leaves, products):
    if leaves == 1:
        return [random.randint(1, 20)]
    left = random.randint(1, leaves - 1)
    kinds = ["+", "-", "@", "#", "@"] + (["*"] if products else [])
    kind = random.choice(kinds)
    products -= kind == "*"
    one = expression(left, products // 2)
    return one + expression(leaves - left, products - products // 2) + [kind]


def input(difficulty):
    tokens = expression(3 + 2 * difficulty, 1 + difficulty // 3)
    places = [place for place, token in enumerate(tokens) if isinstance(token, int)]
    for place in random.sample(places, 1 + difficulty // 3):
        tokens[place] = "x"
    x = random.randint(2, 30)
    return {"tokens": tokens, "x": x}, [" ".join(map(str, tokens)), str(x)]
