"""One look along the row: a tile falls if it stands no further east than any fallen tile has reached."""

REACH = "most"
ASKED = "fallen"


def fallen(tiles, pushed, glued):
    """The numbers of those that fall, as indices, from the west."""
    numbers, reached = [], tiles[pushed][0]
    for number in range(pushed, len(tiles)):
        place, height = tiles[number]
        if pushed != glued and number != glued and place <= reached:
            numbers.append(number)
            reached = max(reached, place + height - (REACH == "less"))
    return numbers


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("tiles"), list) or {"pushed", "glued"} - set(inputs):
        return {"status": "schema_error", "detail": "tiles, pushed, glued"}
    tiles, pushed, glued = inputs["tiles"], inputs["pushed"] - 1, inputs["glued"] - 1
    numbers = fallen(tiles, glued, pushed) if ASKED == "swapped" else fallen(tiles, pushed, glued)
    if ASKED == "far":
        return tiles[numbers[-1]][0] - tiles[pushed][0] if numbers else 0
    return len(tiles) - len(numbers) if ASKED == "standing" else len(numbers)
