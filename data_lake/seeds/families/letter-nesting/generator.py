import random

INSIDE = "any"


def proper(pairs, outer):
    """A proper word of so many pairs; outer: the letters of the pairs around it."""
    if pairs == 0:
        return ""
    letter = "b" if INSIDE == "ban" and "b" in outer else random.choice("ab")
    within = random.randint(0, pairs - 1)
    return letter + proper(within, outer + letter) + letter.upper() + proper(pairs - 1 - within, outer)


def depth(word):
    level = highest = 0
    for letter in word:
        level += 1 if letter.islower() else -1
        highest = max(highest, level)
    return highest


def input(difficulty):
    word = proper(4 + (3 * difficulty) // 4, "")
    blanks = random.sample(range(len(word)), 4 + (3 * difficulty) // 4)
    shown = "".join("?" if place in blanks else letter for place, letter in enumerate(word))
    deepest = depth(word)
    return {"word": shown, "depth": deepest, "half": len(word) // 2}, [shown, str(deepest)]
