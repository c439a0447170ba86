"""Which object leaves a cache that is full."""


# EVOLVE-BLOCK-START
def victim(entries):
    """Return the place of the object to evict: entries are (requests since its last use, hits, size, cost of a miss)."""
    chosen, least = 0, 1e9
    for place, (age, hits, size, cost) in enumerate(entries):
        worth = 1.0 / (1 + age)
        if worth < least:
            chosen, least = place, worth
    return chosen
# EVOLVE-BLOCK-END
