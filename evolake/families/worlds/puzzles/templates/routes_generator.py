"""The generator of routes."""

__constants__ = __words__ = None
# --- program ---
import random

WORDS = __words__
__constants__


def input(difficulty):
    count = 5 + difficulty // 4
    places = sorted(random.sample(WORDS["names"].split(), count))
    tree = [(random.randrange(number), number) for number in range(1, count)]
    others = [(one, other) for other in range(count) for one in range(other) if (one, other) not in tree]
    pairs = tree + random.sample(others, min(len(others), 2 + count // 2))
    random.shuffle(pairs)
    roads = []
    for pair in pairs:
        one, other = random.sample(pair, 2)
        roads.append([places[one], places[other], random.randint(2, 9 + 2 * difficulty)])
    start = random.choice(places)
    lines = [f"- {one} and {other}: {amount} {WORDS['units']}." for one, other, amount in roads]
    return {"places": places, "roads": roads, "start": start}, [", ".join(places), "\n".join(lines), start]
