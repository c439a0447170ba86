"""Only elements that meet a condition: the independent validators."""

part_a = None
__code__ = __list__ = __number__ = __paths__ = __rule__ = __tests__ = None
# --- program ---

import json

__rule__ = __code__
solve_a = part_a()


def fits(value, before, inputs):
    __tests__


def solution(inputs):
    try:
        first = json.loads(json.dumps(inputs["a"]))
        whole = list(__list__)
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "a"}
    gone = []
    for place, item in enumerate(whole):
        if not fits(__number__, whole[:place], inputs):
            gone.append(place)
    for path in __paths__:
        items = first
        for key in path:
            items = items[key]
        for place in reversed(gone):
            del items[place]
    return solve_a(first)
