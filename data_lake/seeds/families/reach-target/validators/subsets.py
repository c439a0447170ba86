"""Every value of every part of the cards, from small parts to the whole; the last way to each value is kept."""

from fractions import Fraction


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("cards"), list) or not isinstance(inputs.get("target"), int):
        return {"status": "schema_error", "detail": "cards, target"}
    cards, whole = inputs["cards"], (1 << len(inputs["cards"])) - 1
    ways = {1 << place: {Fraction(card): str(card)} for place, card in enumerate(cards)}
    for part in range(1, whole + 1):
        if part in ways:
            continue
        ways[part] = {}
        left = (part - 1) & part
        while left:
            for value, text in ways[left].items():
                for other, said in ways[part ^ left].items():
                    ways[part][value + other] = f"{text} + {said}"
                    ways[part][value - other] = f"{text} - ({said})"
                    ways[part][value * other] = f"({text}) * ({said})"
                    if other:
                        ways[part][value / other] = f"({text}) / ({said})"
            if part == whole and inputs["target"] in ways[part]:
                break
            left = (left - 1) & part
    found = ways[whole].get(Fraction(inputs["target"]))
    return found if found is not None else {"status": "schema_error", "detail": "no expression"}
