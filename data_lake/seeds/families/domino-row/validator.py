"""Follow the row from the pushed domino on, with the farthest point that has been reached."""

TOUCH = "within"
SIDE = "right"
WANTED = "count"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("dominoes"), list) or not isinstance(inputs.get("pushed"), int):
        return {"status": "schema_error", "detail": "dominoes and pushed"}
    sign = 1 if SIDE == "right" else -1
    row = list(enumerate(inputs["dominoes"], start=1))
    row = row[inputs["pushed"] - 1 :] if SIDE == "right" else row[inputs["pushed"] - 1 :: -1]
    fallen, reach = [], None
    for number, (place, height) in row:
        place *= sign
        if reach is not None and (place > reach or (place == reach and TOUCH == "less")):
            break
        fallen.append(number)
        reach = place + height if reach is None else max(reach, place + height)
    return sum(fallen) if WANTED == "sum" else fallen[-1] if WANTED == "last" else len(fallen)
