"""A validator of the game that fills a table from the empty heap on."""

AGAIN = END = ""
__answer__ = __constants__ = None
# --- program ---
"""A row for each size of the heap, an entry for each number that was taken last."""

__constants__


def solution(inputs):
    takes, most = inputs["takes"], inputs["most"]
    won = []
    for size in range(most + 1):
        row = {}
        for last in [0, *takes]:
            results = [won[size - one][one] for one in takes if size >= one and (AGAIN == "free" or one != last)]
            row[last] = int(0 in results) if results else int(END == "wins")
        won.append(row)
    __answer__
