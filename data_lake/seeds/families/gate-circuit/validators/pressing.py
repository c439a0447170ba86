"""Try every way of pressing, and ask back from the wire in question to the buttons."""

from itertools import product

MIX = "inhibit"
WANTED = True


def solution(inputs):
    try:
        buttons, gates, asked = inputs["buttons"], inputs["gates"], inputs["asked"]
        worlds = product((False, True), repeat=buttons)
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "buttons, gates, asked"}

    def live(wire, pressed, known):
        if wire not in known:
            kind, first, second = gates[wire - buttons - 1]
            one, two = live(first, pressed, known), live(second, pressed, known)
            if kind == "AND":
                known[wire] = one and two
            elif kind == "OR":
                known[wire] = one or two
            elif kind == "XOR" or MIX == "same":
                known[wire] = (one is not two) is (kind == "XOR")
            else:
                known[wire] = (one and not two) if MIX == "inhibit" else not (one and two)
        return known[wire]

    return sum(live(asked, pressed, dict(enumerate(pressed, start=1))) is WANTED for pressed in worlds)
