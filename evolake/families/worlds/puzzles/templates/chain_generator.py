"""The generator of chains."""

MEET = TURN = ""
__constants__ = __words__ = None
# --- program ---
import random

WORDS = __words__
__constants__


def input(difficulty):
    low, high, count = (2, 5, 5 + 2 * difficulty // 5) if difficulty < 6 else (1, 6, 5 + 2 * difficulty // 5)
    stones, last = [], random.randint(low, high)
    while len(stones) < count:
        touching = {"same": [last], "step": [last - 1, last + 1], "sum": [7 - last]}[MEET]
        left, right = random.choice([number for number in touching if low <= number <= high]), random.randint(low, high)
        stones.append([left, right] if TURN == "ahead" else [right, left] if TURN == "back" else random.sample((left, right), 2))
        last = right
    random.shuffle(stones)
    letters = sorted(random.sample("ABCDEFGHIJKLMNOPQRSTUVWXYZ", count))
    stones = [[letter, *ends] for letter, ends in zip(letters, stones)]
    return {"stones": stones}, ["\n".join(f"- {WORDS['Stone']} {letter} has {one} and {other}." for letter, one, other in stones)]
