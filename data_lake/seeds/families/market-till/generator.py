import random

COINS = [50, 20, 10, 5, 2, 1]


def input(difficulty):
    till = [[value, random.randint(0, 2 + difficulty // 2)] for value in COINS]
    sales = []
    for _ in range(3 + 2 * difficulty):
        price = random.randint(3, 120)
        paid, rest = [], price
        for value in (100, *random.sample(COINS, 3)):
            while rest > 0 and len(paid) < 4 and (value < rest or random.random() < 0.5):
                paid.append(value)
                rest -= value
        while rest > 0:
            paid.append(100)
            rest -= 100
        sales.append([price, sorted(paid, reverse=True)])
    ones = till[-1][1]
    held = ", ".join(f"{count} of {value} cents" for value, count in till[:-1])
    lines = [f"- price {price} cents, paid with {' + '.join(map(str, paid))}" for price, paid in sales]
    inputs = {"till": till[:-1], "ones": ones, "sales": sales}
    return inputs, [held, str(ones), "\n".join(lines)]
