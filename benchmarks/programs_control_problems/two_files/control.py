"""A controller with a memory of the error."""

from smooth import smoothed


# EVOLVE-BLOCK-START
def begin():
    """Return the state at the beginning: the filtered gauge, the sum of errors and the last error."""
    return 0.0, 0.0, 0.0


def control(goal, gauge, state):
    """Return the valve's setting and the next state."""
    level, total, last = state
    level = smoothed(level, gauge)
    error = goal - level
    total = total + 0.02 * error
    valve = 0.6 * error + 0.3 * total + 0.1 * (error - last)
    return valve, (level, total, error)
# EVOLVE-BLOCK-END
