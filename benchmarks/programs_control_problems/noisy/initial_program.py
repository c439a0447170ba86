"""When and how much is ordered."""


# EVOLVE-BLOCK-START
LIMITS = [5, 5, 5]
SIZES = [10, 10, 10]


def order(stock, coming):
    """Return what is ordered of each good."""
    orders = []
    for have, more, limit, size in zip(stock, coming, LIMITS, SIZES):
        if have + 0.5 * more < limit:
            orders.append(size)
        else:
            orders.append(0)
    return orders
# EVOLVE-BLOCK-END
