"""A cart that balances a pole and drives to a place."""


# EVOLVE-BLOCK-START
def force(way, speed, angle, turning):
    """Return the force on the cart: way is how far it is beyond its goal, and angle is that of the pole."""
    balance = 40.0 * angle + 4.0 * turning
    drive = 0.5 * way + 0.5 * speed
    return balance + drive
# EVOLVE-BLOCK-END
