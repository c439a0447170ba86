import random

NAMES = ["Alma", "Ben", "Clara", "David", "Emma", "Felix", "Greta", "Hugo", "Ida", "Jonas", "Karla", "Leo", "Mia", "Noah"]


def input(difficulty):
    queue = random.sample(NAMES, 1 + difficulty)
    way = random.choice(["front to back", "back to front"])
    names = sorted(queue)
    return {"queue": queue, "way": way}, [way, ", ".join(queue), ", ".join(names[:-1]) + f" or {names[-1]}"]
