"""A formula that ranks bins."""


# EVOLVE-BLOCK-START
def rank(item, left, room):
    """Return how good it is to put an item of this size into a bin with so much room left; below 0: open a new bin."""
    rest = left - item
    score = 10 + rest * 0.5
    if rest > 0.9 * room:
        score = score - 20
    return score
# EVOLVE-BLOCK-END
