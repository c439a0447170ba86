"""The word itself is written out after every step."""

PACE = "all"
WANTED = "B"


def solution(inputs):
    try:
        word, table = inputs["start"], str.maketrans(dict(inputs["rules"]))
        steps = inputs["steps"]
    except (TypeError, KeyError, ValueError):
        return {"status": "schema_error", "detail": "rules, start, steps"}
    resting = {code: image for code, image in table.items() if code != ord("A")}
    for step in range(steps):
        word = word.translate(resting if PACE == "rest" and step % 2 else table)
    return len(word) if WANTED == "all" else word.count(WANTED)
