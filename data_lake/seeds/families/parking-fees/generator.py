import random


def input(difficulty):
    stays = [random.randint(3, 60 + 180 * difficulty) for _ in range(2 + difficulty)]
    stays[random.randrange(len(stays))] = random.randint(1, 40)
    free = random.choice((10, 15, 20, 30))
    unit = random.choice((15, 20, 30, 45, 60))
    price = random.randint(1, 4 + difficulty)
    cap = random.randint(8, 20) * price
    inputs = {"stays": stays, "free": free, "unit": unit, "price": price, "cap": cap}
    return inputs, [str(free), str(unit), str(price), str(cap), "、".join(f"{stay}分钟" for stay in stays)]
