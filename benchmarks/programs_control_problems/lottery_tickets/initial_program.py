"""Eight tickets of a lottery."""


# EVOLVE-BLOCK-START
def tickets(case):
    """Return eight tickets of five different numbers from 1 to 16."""
    chosen = []
    for ticket in range(8):
        numbers = []
        for place in range(5):
            numbers.append(1 + (2 * ticket + place) % 16)
        chosen.append(numbers)
    return chosen
# EVOLVE-BLOCK-END
