import random


def input(difficulty):
    count = 4 + 2 * difficulty
    heights = [random.randint(120, 210) for _ in range(count)]
    order = random.sample(range(count), count)
    pairs = [
        (person, random.choice(order[max(0, place - 2) : place]))
        for place, person in enumerate(order)
        if place
    ]
    starts = [random.randrange(count - 3) for _ in range(difficulty)]
    pairs += [tuple(random.sample(order[start : start + 4], 2)) for start in starts]
    random.shuffle(pairs)
    facts, lines = [], []
    for one, other in pairs:
        if random.random() < 0.3:
            facts.append(["sum", one + 1, other + 1, heights[one] + heights[other]])
            lines.append(f'- "{one + 1} & {other + 1} : {facts[-1][3]}"')
        else:
            difference = heights[one] - heights[other]
            if difference < 0:
                one, other = other, one
            facts.append(["gap", one + 1, other + 1, abs(difference)])
            lines.append(f'- "{one + 1} > {other + 1} : {abs(difference)}"')
    known = order[0]
    asked = order[-1]
    inputs = {"count": count, "facts": facts, "known": [known + 1, heights[known]], "asked": asked + 1}
    return inputs, [str(count), "\n".join(lines), str(known + 1), str(heights[known]), str(asked + 1)]
