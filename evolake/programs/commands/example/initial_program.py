"""A curve that is to follow cos(x) between 0 and 2. Only what stands between the two marks evolves."""

# EVOLVE-BLOCK-START
def curve(x):
    return 1.0 - 0.4 * x * x + 0.01 * x * x * x
# EVOLVE-BLOCK-END
