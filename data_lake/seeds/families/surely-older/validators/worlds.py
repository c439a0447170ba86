"""Two extreme worlds: as small and as large as the difference of the two ages can be, by relaxation of lower bounds (Bellman and Ford)."""

STRICT = 1
WEAK = 1
SUBJECT = "first"
NOTHING = -(10**6)


def least_gap(bounds, count, low, high):
    """The least age(high) - age(low), in years, that the bounds force; NOTHING where they force none."""
    gap = [NOTHING] * (count + 1)
    gap[low] = 0
    for _ in range(count):
        for above, below, years in bounds:
            if gap[below] > NOTHING and gap[below] + years > gap[above]:
                gap[above] = gap[below] + years
    return gap[high]


def solution(inputs):
    try:
        count, notes, one, other = (inputs[key] for key in ("count", "notes", "one", "other"))
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "count, notes, one, other"}
    bounds = []
    for left, sign, right in notes:
        if sign == "=":
            bounds += [(left, right, 0), (right, left, 0)]
        else:
            turned = STRICT if sign == ">" else WEAK
            bounds.append((left, right, int(sign == ">")) if turned == 1 else (right, left, int(sign == ">")))
    if SUBJECT == "second":
        one, other = other, one
    up, down = least_gap(bounds, count, other, one), least_gap(bounds, count, one, other)
    if up > 0:
        return "older"
    if down > 0:
        return "younger"
    return "same" if up == 0 and down == 0 else "unknown"
