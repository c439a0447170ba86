"""How many comparisons a sorting function makes; the clock plays no part.

The program gets labels, and learns the order of what they stand for only by comparing two of them: sorting the
labels themselves tells it nothing.
"""

import importlib.util

LISTS = [[(k * step + k * k) % 41 for k in range(24)] for step in (5, 7, 11)] + [[*range(20), 4, 19, 2], list(range(24))]
WORST = 5000.0


def evaluate(program_path):
    """Return the mean number of comparisons; WORST if a list is not sorted afterwards."""
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    asked = 0

    for number, values in enumerate(LISTS):
        hidden = {((37 + number) * place + 11) % 101: value for place, value in enumerate(values)}

        def less(first, second, hidden=hidden):
            nonlocal asked
            asked += 1
            if asked > WORST * len(LISTS):
                raise RuntimeError("too many comparisons")
            return hidden[first] < hidden[second]

        labels = program.sort(list(hidden), less)
        if sorted(labels) != sorted(hidden) or [hidden[label] for label in labels] != sorted(values):
            return {"comparisons": WORST}
    return {"comparisons": asked / len(LISTS)}
