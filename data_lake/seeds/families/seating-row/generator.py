import random

REACH = "most"


def input(difficulty):
    count = 4 + (difficulty + 1) // 3
    seats = list(range(1, count + 1))
    random.shuffle(seats)
    people = range(1, count + 1)
    left = [[one, two] for one in people for two in people if seats[two - 1] - seats[one - 1] >= 2]
    left = random.sample(left, min(len(left), 1 + difficulty // 5))
    apart = random.randint(2, count - 2)
    close = [[one, two] for one in people for two in people if one < two and sorted([one, two]) not in map(sorted, left)]
    close = [pair for pair in close if (abs(seats[pair[0] - 1] - seats[pair[1] - 1]) <= apart) == (REACH == "most")] or close
    close = random.sample(close, min(len(close), 1 + difficulty // 6))
    lines = [f"- Person {one} sits to the left of person {two}." for one, two in left]
    lines += [f"- Persons {one} and {two} have chosen each other." for one, two in close]
    random.shuffle(lines)
    inputs = {"people": count, "left": sorted(left), "chosen": sorted(close), "apart": apart, "largest": count - 1}
    return inputs, [str(count), "\n".join(lines), str(apart)]
