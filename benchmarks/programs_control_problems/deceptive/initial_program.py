"""Six settings."""


# EVOLVE-BLOCK-START
def settings():
    """Return the settings."""
    return [0.45, 0.55, 0.6, 0.5, 0.4, 0.5]
# EVOLVE-BLOCK-END
