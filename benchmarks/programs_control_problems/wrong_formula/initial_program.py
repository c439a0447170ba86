"""The energy of a body."""


# EVOLVE-BLOCK-START
def energy(mass, speed, turn, height):
    """Return the energy."""
    moving = mass * speed + speed
    turning = turn * turn / mass
    lifted = 9 * height + mass
    return moving + turning + lifted
# EVOLVE-BLOCK-END
