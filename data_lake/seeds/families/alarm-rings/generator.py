import random


def input(difficulty):
    alarms = []
    for _ in range(2 + difficulty // 2):
        intervals = [every for every in range(3, 9 + 3 * difficulty) if every % 4 and every % 5]
        alarms.append([random.randint(0, 10 + 3 * difficulty), random.choice(intervals)])
    asked = random.randint(4 + 3 * difficulty, 10 + 12 * difficulty)
    lines = [f"- clock {number}: for the first time in minute {first}, then every {every} minutes"
             for number, (first, every) in enumerate(alarms, start=1)]
    return {"alarms": alarms, "asked": asked}, ["\n".join(lines), str(asked)]
