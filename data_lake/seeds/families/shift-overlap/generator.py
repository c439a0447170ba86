import random


def input(difficulty):
    count = 3 + 2 * difficulty
    span = 20 + 15 * difficulty
    shifts = []
    for _ in range(count):
        start = random.randint(0, span)
        shifts.append([start, start + random.randint(3, 10 + span // 3)])
    least = random.randint(1, 2 + difficulty // 3)
    lines = [f"- guard {number}: from minute {start} to minute {end}" for number, (start, end) in enumerate(shifts, start=1)]
    return {"shifts": shifts, "least": least, "guards": count}, ["\n".join(lines), str(least)]
