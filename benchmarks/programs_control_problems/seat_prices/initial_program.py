"""The price of a seat on a flight."""


# EVOLVE-BLOCK-START
def price(days, seats):
    """Return today's price, so many days before the flight and with so many of 60 seats left."""
    amount = 100.0
    if days < 14:
        amount = amount + 20.0
    if seats < 10:
        amount = amount + 20.0
    return amount
# EVOLVE-BLOCK-END
