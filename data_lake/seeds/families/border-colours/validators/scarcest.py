"""The region with the fewest colours left comes next, and the highest colour first (after Brelaz, DSATUR)."""


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("borders"), list) or not isinstance(inputs.get("regions"), int):
        return {"status": "schema_error", "detail": "regions, colours, borders"}
    start = {region: set(range(1, inputs["colours"] + 1)) for region in range(1, inputs["regions"] + 1)}
    found = narrowed(start, inputs["borders"])
    return [found[region] for region in sorted(found)] if found else {"status": "schema_error", "detail": "no colouring"}


def narrowed(left, borders):
    if not left:
        return {}
    region = min(left, key=lambda item: (len(left[item]), -item))
    for colour in sorted(left[region], reverse=True):
        near = {other for pair in borders if region in pair for other in pair}
        rest = {other: colours - {colour} if other in near else colours for other, colours in left.items() if other != region}
        found = narrowed(rest, borders) if all(rest.values()) else None
        if found is not None:
            return {region: colour, **found}
    return None
