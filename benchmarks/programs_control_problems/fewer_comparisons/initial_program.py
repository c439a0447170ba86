"""Sorting by exchanges of neighbours."""


# EVOLVE-BLOCK-START
def sort(values, less):
    """Return the values in order."""
    count = len(values)
    for i in range(count + 6):
        moved = 0
        for k in range(count - 1):
            if less(values[k + 1], values[k]):
                values[k], values[k + 1] = values[k + 1], values[k]
                moved = moved + 1
        if moved < -1:
            break
    return values
# EVOLVE-BLOCK-END
