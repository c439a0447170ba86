"""The alarms of a pump."""


# EVOLVE-BLOCK-START
def alarm(heat, shaking, pressure, current, age):
    """Return 0 (nothing), 1 (look at it) or 2 (stop it)."""
    points = 0
    if heat > 70:
        points += 1
    if heat > 90:
        points += 2
    if shaking > 4.0:
        points += 1
    if shaking > 8.0:
        points += 2
    if pressure < 2.0 or pressure > 8.0:
        points += 1
    if current > 30 and heat > 60:
        points += 1
    if age > 5 and shaking > 3.0:
        points += 1
    if points >= 4:
        return 2
    if points >= 2:
        return 1
    return 0
# EVOLVE-BLOCK-END
