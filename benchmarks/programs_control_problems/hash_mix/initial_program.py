"""A hash of whole numbers."""


# EVOLVE-BLOCK-START
def mix(key):
    """Return 32 bits."""
    value = key ^ (key >> 3)
    value = (value * 31 + 7) % 4294967296
    return value ^ (value >> 5)
# EVOLVE-BLOCK-END


def hashes(keys):
    """Return the hash of each key."""
    return [mix(key) for key in keys]
