"""A validator of chains that keeps what can be the end of a row."""

MEET = TURN = ""
__answer__ = __constants__ = None
# --- program ---
"""Ends of rows that grow from the right: for each set of stones and each open number, one way to lay them (after Held and Karp 1962)."""

__constants__
WANTED = {"same": lambda number: {number}, "step": lambda number: {number - 1, number + 1}, "sum": lambda number: {7 - number}}
ROUND = {"free": (1, -1), "ahead": (1,), "back": (-1,)}


def solution(inputs):
    stones = inputs["stones"]
    layer = {}
    for place, (_, *pair) in enumerate(stones):
        for way in ROUND[TURN]:
            ends = tuple(pair[::way])
            layer[frozenset([place]), ends[0]] = [(place, ends)]
    for _ in range(len(stones) - 1):
        longer = {}
        for (used, number), path in layer.items():
            for place in set(range(len(stones))) - used:
                for way in ROUND[TURN]:
                    ends = tuple(stones[place][1:][::way])
                    if ends[1] in WANTED[MEET](number):
                        longer[used | {place}, ends[0]] = [(place, ends), *path]
        layer = longer
    path = layer[max(layer, key=lambda key: key[1])]
    __answer__
