import random


def input(difficulty):
    jobs = 3 + difficulty
    clock, planned = random.randint(0, 3), []
    for _ in range(jobs):
        length = random.randint(1, 4 + difficulty // 2)
        clock += random.randint(0, 2)
        planned.append([max(0, clock - random.randint(0, 3)), length, clock + length + random.randint(0, 3)])
        clock += length
    random.shuffle(planned)
    lines = "\n".join(f"- order {number}: not before hour {early}, takes {length} hours, done by hour {late}" for number, (early, length, late)
                      in enumerate(planned, start=1))
    return {"jobs": planned}, [str(jobs), lines]
