import random


def input(difficulty):
    people = [[random.randint(40, 110), random.randint(1, 4 + difficulty)] for _ in range(4 + 2 * difficulty)]
    load = random.randint(16, 30 + 3 * difficulty) * 10
    lines = [f"- {weight} kg, wants to go to floor {floor}" for weight, floor in people]
    return {"people": people, "load": load}, ["\n".join(lines), str(load)]
