"""From left to right, opening before closing; a state is the place and the brackets that are open."""


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("text"), str):
        return {"status": "schema_error", "detail": "text"}
    found = continued(inputs["text"], 0, "", set())
    return found if found is not None else {"status": "schema_error", "detail": "no such row"}


def continued(text, place, waiting, dead):
    if place == len(text):
        return None if waiting else ""
    if (place, waiting) in dead or len(waiting) > len(text) - place:
        return None
    for mark in "([)]" if text[place] == "?" else text[place]:
        if mark in "([":
            rest = continued(text, place + 1, waiting + {"(": ")", "[": "]"}[mark], dead)
        elif waiting.endswith(mark):
            rest = continued(text, place + 1, waiting[:-1], dead)
        else:
            rest = None
        if rest is not None:
            return mark + rest
    dead.add((place, waiting))
    return None
