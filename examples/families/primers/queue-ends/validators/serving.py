"""The queue is put up from front to back, and served until one is left."""

END = "front"


def solution(inputs):
    try:
        waiting = []
        for name in inputs["queue"]:
            if inputs["way"] == "front to back":
                waiting.append(name)
            else:
                waiting.insert(0, name)
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "queue, way"}
    first = waiting[0]
    while len(waiting) > 1:
        waiting.pop(0)
    known = {"front": first, "back": waiting[0]}
    for end, name in known.items():
        if end == END:
            return name
    return None
