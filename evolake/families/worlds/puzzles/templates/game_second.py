"""A validator of the game that finds won and lost states layer by layer."""

AGAIN = END = ""
__answer__ = __constants__ = None
# --- program ---
"""States are settled from the end of the game backwards until none is left."""

__constants__


def solution(inputs):
    takes, most = inputs["takes"], inputs["most"]
    after = {}
    for size in range(most + 1):
        for last in {0, *takes}:
            barred = {last} if AGAIN == "other" else set()
            after[size, last] = {(size - one, one) for one in set(takes) - barred if one <= size}
    winning = {state for state, reached in after.items() if not reached and END == "wins"}
    losing = {state for state, reached in after.items() if not reached} - winning
    while len(winning) + len(losing) < len(after):
        for state in after.keys() - winning - losing:
            if after[state] & losing:
                winning.add(state)
            elif after[state] <= winning:
                losing.add(state)
    __answer__
