import random
from itertools import pairwise

NAMES = ["Alma", "Ben", "Clara", "David", "Emma", "Felix", "Greta", "Hugo", "Ida", "Jonas", "Karla", "Leo", "Mia", "Noah"]


def input(difficulty):
    children = random.sample(NAMES, 1 + difficulty)
    pairs = list(pairwise(children))
    random.shuffle(pairs)
    said = [[one, "older", two] if random.random() < 0.5 else [two, "younger", one] for one, two in pairs]
    names = sorted(children)
    return {"said": said}, [" ".join(f"{one} is {how} than {two}." for one, how, two in said), ", ".join(names[:-1]) + f" or {names[-1]}"]
