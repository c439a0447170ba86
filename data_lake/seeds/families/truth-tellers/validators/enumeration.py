"""Try every way in which the villagers can be of the two kinds."""

from itertools import product

ANCHOR = True
WANTED = False


def consistent(kinds, statements):
    for speaker, first, second, positive in statements:
        if second is None:
            claim = kinds[first - 1] if positive else not kinds[first - 1]
        else:
            claim = (kinds[first - 1] is kinds[second - 1]) if positive else (kinds[first - 1] is not kinds[second - 1])
        if claim is not kinds[speaker - 1]:
            return False
    return True


def solution(inputs):
    try:
        count, statements = inputs["count"], inputs["statements"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "count and statements"}
    worlds = [kinds for kinds in product((True, False), repeat=count) if kinds[0] is ANCHOR and consistent(kinds, statements)]
    if len(worlds) != 1:
        return {"status": "schema_error", "detail": f"{len(worlds)} worlds"}
    return [number for number, kind in enumerate(worlds[0], start=1) if kind is WANTED]
