import random


def input(difficulty):
    count = 3 + 2 * difficulty
    busy = 4 + difficulty
    patients = []
    for _ in range(count):
        patients.append([random.randint(0, count * busy // 3), random.randint(1, 2 * busy)])
    asked = random.randint(1, count)
    lines = [f"- arrives in minute {arrival}, treatment {length} minutes" for arrival, length in patients]
    return {"patients": patients, "asked": asked}, ["\n".join(lines), str(asked)]
