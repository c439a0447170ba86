import random

GOODS = ["flour", "rice", "beans", "sugar", "cheese", "onions", "butter", "lentils"]


def input(difficulty):
    goods = random.sample(GOODS, 2 + difficulty // 2)
    packs = [[name, random.randint(2, 10) * 50, random.randint(40, 300)] for name in goods]
    dinners = []
    for _ in range(2 + difficulty):
        used = [name for name in goods if random.random() < 0.6] or [goods[0]]
        dinners.append([[name, random.randint(3, 30) * 5] for name in used])
    people = random.randint(2, 4 + difficulty)
    shelf = [f"- {name}: one pack holds {grams} g and costs {price} cents" for name, grams, price in packs]
    menu = [f"- dinner {day}: " + ", ".join(f"{grams} g of {name}" for name, grams in dinner) for day, dinner in enumerate(dinners, start=1)]
    return {"packs": packs, "dinners": dinners, "people": people}, ["\n".join(shelf), "\n".join(menu), str(people)]
