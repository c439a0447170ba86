import random


def input(difficulty):
    count = 4 + difficulty
    equations = []
    for number in range(1, count + 1):
        earlier = list(range(1, number - 1))
        parents = random.sample(earlier, min(len(earlier), random.randint(0, 2))) + ([number - 1] if number > 1 else [])
        terms = [[random.choice([-3, -2, -1, 1, 2, 3]), parent] for parent in sorted(parents)]
        equations.append([random.randint(-9, 20), terms])
    forced = random.randint(1, count - 1)
    value = random.randint(0, 30)
    lines = []
    for number, (constant, terms) in enumerate(equations, start=1):
        text = "".join(f" {'+' if factor > 0 else '-'} {abs(factor)}*X{parent}" for factor, parent in terms)
        lines.append(f"- X{number} = {constant}{text}")
    return {"equations": equations, "forced": forced, "value": value}, ["\n".join(lines), str(forced), str(value)]
