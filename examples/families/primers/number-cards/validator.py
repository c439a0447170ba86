"""Card after card is held against the best so far."""

END = "largest"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("cards"), list):
        return {"status": "schema_error", "detail": "cards"}
    best = None
    for card in inputs["cards"]:
        if best is None or (card > best if END == "largest" else card < best):
            best = card
    return best
