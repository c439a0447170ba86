"""A checker of days that writes a calendar."""

APART = LOAD = ""
told = []
__answer__ = __constants__ = None
# --- program ---
"""Writes the events into a calendar and looks for pairs in neighbouring cells."""

from collections import defaultdict

__constants__


def check(inputs, answer):
    __answer__
    last = inputs["days"]
    numbers = [item for item in told if isinstance(item, int) and item is not True and item is not False]
    if len(numbers) != len(told) or any(item not in range(1, last + 1) for item in numbers):
        return False
    calendar = defaultdict(set)
    for name, number in zip(inputs["names"], numbers):
        calendar[number].add(name)
    followers = {one: set() for one in inputs["names"]}
    for one, other in inputs["pairs"]:
        followers[one].add(other)
    for number, today in list(calendar.items()):
        if APART == "earlier":
            forbidden = today.union(*(calendar[item] for item in range(1, number)))
        else:
            near = (number - 1, number, number + 1) if APART == "spaced" else (number,)
            forbidden = set().union(*(calendar[item] for item in near if item in calendar))
        if any(followers[name] & forbidden for name in today):
            return False
    sizes = {number: len(calendar[number]) for number in range(1, last + 1)}
    return {
        "most": not any(size > 3 for size in sizes.values()), "used": 0 not in sizes.values(), "ends": sizes[1] - sizes[last] == 0,
    }[LOAD]
