"""Each card against each: the one that loses to none."""

END = "largest"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("cards"), list):
        return {"status": "schema_error", "detail": "cards"}
    cards = inputs["cards"]
    lost = [sum((other > card) is (END == "largest") for other in cards if other != card) for card in cards]
    return cards[lost.index(0)]
