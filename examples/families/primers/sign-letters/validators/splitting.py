"""The words are cut at the letter: there is one piece more than cuts, and the rest are the pieces."""

KIND = "same"


def solution(inputs):
    try:
        pieces = [word.split(inputs["letter"]) for word in inputs["words"]]
    except (TypeError, KeyError, AttributeError, ValueError):
        return {"status": "schema_error", "detail": "words, letter"}
    if KIND == "same":
        return sum(len(found) - 1 for found in pieces)
    return sum(len(piece) for found in pieces for piece in found)
