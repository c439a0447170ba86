"""A validator of the urn that goes from draw to draw."""

BACK = ""
__answer__ = __constants__ = None
# --- program ---
"""How probable it is after each draw that so many of each colour were drawn."""

from fractions import Fraction

__constants__
CHANGE = {"kept": -1, "back": 0, "more": 1}


def solution(inputs):
    start, draws, wanted = inputs["counts"], inputs["draws"], inputs["wanted"]
    mine = inputs["colours"].index(inputs["colour"])
    states = {(0,) * len(start): Fraction(1)}
    for number in range(draws):
        whole, following = sum(start) + CHANGE[BACK] * number, {}
        for times, probability in states.items():
            for place, before in enumerate(times):
                there = start[place] + CHANGE[BACK] * before
                after = (*times[:place], before + 1, *times[place + 1 :])
                following[after] = following.get(after, 0) + probability * there / whole
        states = following

    def likely(event):
        return sum((probability for times, probability in states.items() if event(times)), Fraction(0))

    __answer__
