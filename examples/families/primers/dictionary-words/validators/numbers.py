"""Words as numbers in base 27, the end of a word as the digit 0."""

END = "first"


def solution(inputs):
    if not isinstance(inputs, dict) or "words" not in inputs:
        return {"status": "schema_error", "detail": "words"}
    known = {}
    for word in inputs["words"]:
        number = 0
        for letter in word.ljust(20, "`"):
            number = 27 * number + ord(letter) - ord("`")
        known[number] = word
    return known[min(known)] if END == "first" else known[max(known)]
