"""A checker of cards that looks at places."""

NEAR = COUNT = ""
places = []
__answer__ = __constants__ = None
# --- program ---
"""Looks at the places of the picked cards, one after another."""

__constants__


def check(inputs, answer):
    row = inputs["row"]
    __answer__
    if sum(row[place - 1] for place in places) != inputs["total"]:
        return False
    if COUNT == "few":
        if len(places) > 5:
            return False
    elif len(places) % 2 != (1 if COUNT == "odd" else 0):
        return False
    for place in places:
        company = place - 1 in places or place + 1 in places
        if NEAR == "apart" and company or NEAR == "linked" and not company:
            return False
    return NEAR != "ends" or (1 in places) != (len(row) in places)
