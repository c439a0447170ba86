"""The generator of the game."""

__constants__ = __words__ = None
# --- program ---
import random

WORDS = __words__
__constants__


def input(difficulty):
    takes = sorted(random.sample(range(1, 7 + difficulty // 2), 3 + difficulty // 5))
    most = 9 + 2 * difficulty + random.randint(0, 4)
    return {"takes": takes, "most": most}, [", ".join(map(str, takes)), str(most)]
