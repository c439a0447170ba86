"""From the east to the west: for every tile, the set of tiles (as bits) that lie down if it falls, from the sets of those that it hits."""

REACH = "most"
ASKED = "fallen"


def felled_by(tiles, glued):
    """By tile, with bit n for tile n; nothing for the glued one."""
    sets = [0] * len(tiles)
    for number in reversed(range(len(tiles))):
        if number == glued:
            continue
        bits = 1 << number
        limit = tiles[number][0] + tiles[number][1]
        for other in range(number + 1, len(tiles)):
            if tiles[other][0] < limit or (REACH == "most" and tiles[other][0] == limit):
                bits |= sets[other]
        sets[number] = bits
    return sets


def solution(inputs):
    if not isinstance(inputs, dict) or {"tiles", "pushed", "glued"} - set(inputs):
        return {"status": "schema_error", "detail": "tiles, pushed, glued"}
    first, stuck = inputs["pushed"] - 1, inputs["glued"] - 1
    if ASKED == "swapped":
        first, stuck = stuck, first
    down = felled_by(inputs["tiles"], stuck)[first]
    if ASKED == "far":
        return inputs["tiles"][down.bit_length() - 1][0] - inputs["tiles"][first][0] if down else 0
    count = bin(down).count("1")
    return len(inputs["tiles"]) - count if ASKED == "standing" else count
