"""Batch sizes of twelve products."""


# EVOLVE-BLOCK-START
def sizes():
    """Return how many of each product are made."""
    return [5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5]
# EVOLVE-BLOCK-END
