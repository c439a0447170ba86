"""Which waiting job a machine takes next."""


# EVOLVE-BLOCK-START
def pick(now, jobs):
    """Return the place of the next job among (hours here, hours of all steps left, due, weight), which wait for a machine."""
    chosen, most = 0, -1000000.0
    for place, (here, left, due, weight) in enumerate(jobs):
        urgency = 10.0 * weight - due
        if urgency > most:
            chosen, most = place, urgency
    return chosen
# EVOLVE-BLOCK-END
