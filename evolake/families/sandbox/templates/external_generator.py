"""The generator of a data set of reasoning-gym."""

__name__ = None
# --- program ---
import random

from evolake.verifiers.gym import make


def input(difficulty):
    seed = random.getrandbits(31)
    _, entry = make(__name__, difficulty, seed)
    return {"dataset": __name__, "difficulty": difficulty, "seed": seed, "answer": str(entry["answer"])}, [entry["question"]]
