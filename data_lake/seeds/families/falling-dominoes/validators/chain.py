"""The chain of events: a queue of tiles that are just falling, each of which looks for tiles to knock over."""

REACH = "most"
ASKED = "fallen"


def on_the_floor(tiles, pushed, stuck):
    falling = [pushed] if pushed != stuck else []
    down = set(falling)
    while falling:
        place, height = tiles[falling.pop() - 1]
        for number, (other, _) in enumerate(tiles, start=1):
            distance = other - place
            hit = 0 < distance < height or (distance == height and REACH == "most")
            if hit and number not in down and number != stuck:
                down.add(number)
                falling.append(number)
    return down


def solution(inputs):
    try:
        tiles, pushed, stuck = inputs["tiles"], inputs["pushed"], inputs["glued"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "tiles, pushed, glued"}
    if ASKED == "swapped":
        return len(on_the_floor(tiles, stuck, pushed))
    down = on_the_floor(tiles, pushed, stuck)
    if ASKED == "far":
        return max((tiles[number - 1][0] for number in down), default=tiles[pushed - 1][0]) - tiles[pushed - 1][0]
    return len(down) if ASKED == "fallen" else len(tiles) - len(down)
