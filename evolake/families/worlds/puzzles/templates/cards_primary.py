"""The primary of cards."""

NEAR = COUNT = ""
__answer__ = __constants__ = None
# --- program ---
"""Card after card from the left, left out if that can be; what cannot reach the sum any more is given up."""

__constants__


def solution(inputs):
    row, picked = inputs["row"], []

    def right():
        if COUNT == "few" and len(picked) > 5 or COUNT in ("even", "odd") and (len(picked) % 2 == 0) != (COUNT == "even"):
            return False
        if NEAR == "ends":
            return (0 in picked) != (len(row) - 1 in picked)
        beside = [place for place in picked if place - 1 in picked or place + 1 in picked]
        return not beside if NEAR == "apart" else len(beside) == len(picked)

    def search(place, missing):
        if place == len(row):
            return missing == 0 and right()
        if missing < 0 or missing > sum(row[place:]):
            return False
        if search(place + 1, missing):
            return True
        if NEAR == "apart" and place - 1 in picked:
            return False
        picked.append(place)
        if search(place + 1, missing - row[place]):
            return True
        picked.pop()
        return False

    if not search(0, inputs["total"]):
        raise ValueError("no choice keeps the rules")
    __answer__
