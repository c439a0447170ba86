import random


def input(difficulty):
    count = 6 + 3 * difficulty
    masters = [0] + [random.randint(max(1, person - 2 - difficulty), person - 1) for person in range(2, count + 1)]
    steps = random.randint(2, 3 + difficulty // 3)
    lines = [f"- painter {person} was a pupil of painter {master}" for person, master in enumerate(masters, start=1) if master]
    random.shuffle(lines)
    return {"masters": masters, "steps": steps}, [str(count), "\n".join(lines), str(steps)]
