import random

PERSONS = ["Alma", "Ben", "Clara", "David", "Emma", "Felix"]


def input(difficulty):
    lamp = random.choice(["on", "off"])
    presses = [[random.choice(PERSONS), random.randint(1, 3 + difficulty)] for _ in range(difficulty)]
    said = [f"{person} {'once' if times == 1 else f'{times} times'}" for person, times in presses]
    return {"lamp": lamp, "presses": presses}, [lamp, ", ".join(said)]
