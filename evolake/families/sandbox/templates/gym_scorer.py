"""The scorer of a data set of reasoning-gym as a checker."""

# --- program ---
"""The data set's own scorer. It needs reasoning-gym, so exports cannot carry it: write checkers that only compute, or validators if the answer is
unique, and remove this file."""

import json

from evolake.verifiers.gym import make


def check(inputs, answer):
    dataset, entry = make(inputs["dataset"], inputs["difficulty"], inputs["seed"])
    return float(dataset.score_answer(answer=answer if isinstance(answer, str) else json.dumps(answer), entry=entry)) >= 1.0
