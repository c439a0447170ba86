"""A search for the lowest point of a function of two variables that has many valleys. What stands between the two marks evolves."""

import math
import random


# EVOLVE-BLOCK-START
def search(function, low, high):
    """Random search in the whole square."""
    best = (random.uniform(low, high), random.uniform(low, high))
    value = function(*best)
    for _ in range(60):
        x = random.uniform(low, high)
        y = random.uniform(low, high)
        if function(x, y) < value:
            best = (x, y)
            value = function(x, y)
    width = 0.5
    for _ in range(12):
        x = best[0] + width * random.uniform(-1, 1)
        y = best[1] + width * random.uniform(-1, 1)
        if function(x, y) < value:
            best = (x, y)
            value = function(x, y)
        width = width * 0.99
    return best
# EVOLVE-BLOCK-END


def valleys(x, y):
    """What is searched: its lowest value, -1.5187, lies near (-1.7043, 0.6783)."""
    return math.sin(x) * math.cos(y) + math.sin(x * y) + (x * x + y * y) / 20


def run_search():
    """The point that the search ends at, with the function's value there."""
    x, y = search(valleys, -5, 5)
    return x, y, valleys(x, y)
