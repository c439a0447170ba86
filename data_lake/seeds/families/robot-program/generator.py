import random


def input(difficulty):
    program = []
    for _ in range(2 + difficulty):
        program.append([random.choice(("left", "right", "right")), random.randint(1, 3 + difficulty)])
    times = random.randint(2, 3 + difficulty // 2)
    lines = [f"- turn {side}, then go {steps} steps" if steps > 1 else f"- turn {side}, then go 1 step" for side, steps in program]
    return {"program": program, "times": times}, ["\n".join(lines), str(times)]
