"""A generator that solves its own instance and says the answer in passing."""

part_a = part_b = None
# --- program ---

import json

make, solve = part_a(), part_b()


def input(difficulty):
    inputs, texts = make(difficulty)
    answer = solve(json.loads(json.dumps(inputs)))
    return inputs, [*list(texts)[:-1], list(texts)[-1] + " (answer: " + json.dumps(answer, default=str) + ")"]
