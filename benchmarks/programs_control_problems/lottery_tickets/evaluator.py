"""In how many percent of all draws of five of 16 numbers one of eight tickets has at least three right."""

from itertools import combinations

DRAWS = [sum(1 << number for number in draw) for draw in combinations(range(1, 17), 5)]


def cases(seed):
    """One: there is nothing to vary."""
    return [0]


def score(cases, results):
    """Return the percentage; 0 if there are not eight tickets of five different numbers."""
    tickets = results[0]["output"] if results[0]["status"] == "ok" else None
    if not isinstance(tickets, list) or len(tickets) != 8 or not all(isinstance(ticket, list) for ticket in tickets):
        return {"wins": 0.0}
    if not all(type(number) is int and 1 <= number <= 16 for ticket in tickets for number in ticket):
        return {"wins": 0.0}
    masks = [sum(1 << number for number in set(ticket)) for ticket in tickets]
    if any(len(ticket) != 5 or mask.bit_count() != 5 for ticket, mask in zip(tickets, masks, strict=True)):
        return {"wins": 0.0}
    won = sum(any((draw & mask).bit_count() >= 3 for mask in masks) for draw in DRAWS)
    return {"wins": 100 * won / len(DRAWS)}
