"""The rate of a reaction with an enzyme."""


# EVOLVE-BLOCK-START
def rate(substrate, inhibitor):
    """Return the rate at two concentrations."""
    return 1.0 + 0.1 * substrate - 0.1 * inhibitor
# EVOLVE-BLOCK-END
