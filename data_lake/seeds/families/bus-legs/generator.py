import random


def input(difficulty):
    legs = []
    for _ in range(2 + difficulty):
        every = random.randint(4, 10 + 3 * difficulty)
        legs.append([random.randint(0, every - 1), every, random.randint(2, 8 + 4 * difficulty)])
    start = random.randint(0, 60)
    lines = [f"- line {number}: first bus in minute {first}, then every {every} minutes, ride of {ride} minutes"
             for number, (first, every, ride) in enumerate(legs, start=1)]
    return {"legs": legs, "start": start}, ["\n".join(lines), str(start)]
