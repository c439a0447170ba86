import random


def input(difficulty):
    alphabet = "ABCDE"[: 2 + difficulty // 3]
    rules = []
    for letter in alphabet:
        length = random.randint(2, 3) if letter == "B" else random.randint(1, 3)
        rules.append([letter, "".join(random.choices(alphabet, k=length))])
    rules[0][1] += "B"
    start = "".join(random.choices(alphabet, k=random.randint(1, 2))) + "B"
    limit = 3 + difficulty // 2
    steps = random.randint(2 + difficulty // 3, limit)
    lines = [f"- {letter} becomes {word}" for letter, word in rules]
    return {"rules": rules, "start": start, "steps": steps, "limit": limit}, [start, "\n".join(lines), str(steps), str(limit)]
