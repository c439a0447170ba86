import random


def input(difficulty):
    count = 6 + 2 * difficulty
    order = random.sample(range(1, count + 1), count)
    pairs = set()
    for place in range(1, count):
        if random.random() < 0.9:
            one, other = order[place], order[random.randint(max(0, place - 2), place - 1)]
            pairs.add((min(one, other), max(one, other)))
    for _ in range(1 + difficulty // 4):
        one, other = sorted(random.sample(range(1, count + 1), 2))
        pairs.add((one, other))
    friends = [list(pair) for pair in random.sample(sorted(pairs), len(pairs))]
    evenings = random.randint(1, 1 + (difficulty + 1) // 4)
    listed = ", ".join(f"{one} and {other}" for one, other in friends)
    return {"count": count, "friends": friends, "evenings": evenings}, [str(count), listed, str(evenings)]
