"""The lights of a street with five crossings."""


# EVOLVE-BLOCK-START
def plan():
    """Return the seconds of a cycle, and for each crossing the street's share of green and when that begins."""
    cycle = 60
    greens = [0.5, 0.5, 0.5, 0.5, 0.5]
    begins = [0, 0, 0, 0, 0]
    return cycle, greens, begins
# EVOLVE-BLOCK-END
