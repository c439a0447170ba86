import random

PARTS = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth"}


def input(difficulty):
    count = 2 + (difficulty + 1) // 2
    glasses = [[random.randint(1, 12), random.randint(1, 12)] for _ in range(count)]
    pours, lines = [], []
    for _ in range(2 + difficulty):
        source, target = random.sample(range(1, count + 1), 2)
        part = random.choice(sorted(PARTS))
        pours.append([source, target, part])
        lines.append(f"- {PARTS[part]} of what is then in glass {source} is poured into glass {target}")
    asked = random.choice(pours[-2:])[1]
    contents = [f"- {syrup} cl of syrup and {water} cl of water" for syrup, water in glasses]
    return {"glasses": glasses, "pours": pours, "asked": asked}, ["\n".join(contents), "\n".join(lines), str(asked)]
