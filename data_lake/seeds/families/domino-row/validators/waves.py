"""Wave after wave: what the dominoes that have just fallen knock over, until nothing more falls."""

TOUCH = "within"
SIDE = "right"
WANTED = "count"


def solution(inputs):
    try:
        standing = {number: tuple(domino) for number, domino in enumerate(inputs["dominoes"], start=1)}
        wave = {inputs["pushed"]: standing.pop(inputs["pushed"])}
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "dominoes and pushed"}
    down = dict(wave)
    while wave:
        following = {}
        for number, (place, _) in standing.items():
            for from_place, height in wave.values():
                distance = place - from_place if SIDE == "right" else from_place - place
                if 0 < distance < height + (TOUCH == "within"):
                    following[number] = standing[number]
        for number in following:
            del standing[number]
        down.update(following)
        wave = following
    if WANTED == "last":
        return max(down) if SIDE == "right" else min(down)
    return len(down) if WANTED == "count" else sum(down)
