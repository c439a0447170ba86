"""One pass over the list is a turn of the die; after at most four passes it lies as before, so only the passes of one round are rolled."""

FACE = "top"
FIRST = "skip"


def roll(top, north, east, move):
    if move == "N":
        return 7 - north, top, east
    if move == "S":
        return north, 7 - top, east
    if move == "E":
        return 7 - east, north, top
    return east, north, 7 - top


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("moves"), str) or not isinstance(inputs.get("times"), int):
        return {"status": "schema_error", "detail": "moves and times"}
    pick = {"top": lambda die: die[0], "bottom": lambda die: 7 - die[0], "north": lambda die: die[1]}[FACE]
    start = die = (1, 2, 3)
    sums = []
    while not sums or die != start:
        total = 0
        for move in inputs["moves"]:
            die = roll(*die, move)
            total += pick(die)
        sums.append(total)
    rounds, rest = divmod(inputs["times"], len(sums))
    return rounds * sum(sums) + sum(sums[:rest]) + (pick(start) if FIRST == "write" else 0)
