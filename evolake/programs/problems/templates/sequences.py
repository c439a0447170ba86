"""Sequences of whole numbers: rulers, signs, and chains of additions."""

from itertools import combinations

from exact import output_of, whole

WORST = 1_000_000


def ruler_length(results, count):
    """Return the length of a ruler with `count` marks, of which no two pairs have the same distance; WORST if two have, or the output is invalid."""
    marks = whole(output_of(results), 0, WORST)
    if marks is None or len(marks) != count:
        return {"length": WORST}
    distances = [after - before for before, after in combinations(sorted(marks), 2)]
    differ = len({0, *distances}) == len(distances) + 1
    return {"length": distances[count - 2] if differ else WORST}


def energy(results, count):
    """Return the sum of the squared aperiodic autocorrelations of `count` signs, 1 or -1; WORST if the output is invalid."""
    signs = whole(output_of(results), -1, 1)
    if signs is None or len(signs) != count or 0 in signs:
        return {"energy": WORST}
    return {"energy": sum(sum(a * b for a, b in zip(signs, signs[shift:], strict=False)) ** 2 for shift in range(1, count))}


def additions(results, target):
    """Return the number of additions that lead from 1 to `target`; WORST if they do not.

    A pair [i, j] is an addition: the next number is the sum of number i and number j, and number 0 is 1.
    """
    numbers = [1]
    for one, other in whole(output_of(results), 0, WORST, 2) or []:
        if max(one, other) >= len(numbers):
            return {"additions": WORST}
        numbers.append(numbers[one] + numbers[other])
    return {"additions": len(numbers) - 1 if numbers[-1] == target else WORST}
