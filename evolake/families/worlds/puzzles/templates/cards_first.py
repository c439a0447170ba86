"""A validator of cards that remembers what it has tried."""

NEAR = COUNT = ""
__answer__ = __constants__ = None
# --- program ---
"""From the right end, a table of what the rest can still make; a card is taken if that can be."""

from functools import cache

__constants__


def solution(inputs):
    row = inputs["row"]

    @cache
    def rest(number, left, count, last, lonely, final):
        """Numbers taken of 1..number, as a tuple; None if there are none. last: whether number + 1 is taken; lonely: and waits for company."""
        if not number:
            enough = {"even": count % 2 == 0, "odd": count % 2 == 1, "few": count < 6}[COUNT]
            return () if left == 0 and enough and not lonely and (NEAR != "ends" or last != final) else None
        amount = row[number - 1]
        if amount <= left and not (NEAR == "apart" and last):
            more = rest(number - 1, left - amount, count + 1, True, NEAR == "linked" and not last, final)
            if more is not None:
                return (number, *more)
        return None if lonely else rest(number - 1, left, count, False, False, final)

    found = None
    for final in (True, False):
        amount, number = row[-1], len(row)
        if found is None and final and amount <= inputs["total"]:
            tail = rest(number - 1, inputs["total"] - amount, 1, True, NEAR == "linked", True)
            found = None if tail is None else (number, *tail)
        if found is None and not final:
            found = rest(number - 1, inputs["total"], 0, False, False, False)
    taken = set(found)
    __answer__
