import random


def input(difficulty):
    regions = 4 + difficulty
    colours = 3 if difficulty < 6 else 4
    hidden = [number % colours for number in range(regions)]
    random.shuffle(hidden)
    pairs = [(one, two) for one in range(regions) for two in range(one + 1, regions) if hidden[one] != hidden[two]]
    borders = sorted(random.sample(pairs, min(len(pairs), regions + 2 * difficulty)))
    borders = [[one + 1, two + 1] for one, two in borders]
    lines = "\n".join(f"- region {one} and region {two}" for one, two in borders)
    return {"regions": regions, "colours": colours, "borders": borders}, [str(regions), lines, str(colours)]
