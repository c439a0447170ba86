import random


def input(difficulty):
    count = 4 + 4 * difficulty // 5
    clauses = []
    for _ in range(2 + difficulty // 3):
        chosen = random.sample(range(1, count + 1), 3)
        clauses.append([number if random.random() < 0.6 else -number for number in chosen])
    asked = random.randint(1, count)
    lines = ["- " + ", ".join(f"switch {abs(literal)} is {'on' if literal > 0 else 'off'}" for literal in clause) for clause in clauses]
    return {"switches": count, "clauses": clauses, "asked": asked}, [str(count), "\n".join(lines), str(asked)]
