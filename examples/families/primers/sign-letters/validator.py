"""Letter after letter of every word."""

KIND = "same"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("words"), list) or not isinstance(inputs.get("letter"), str):
        return {"status": "schema_error", "detail": "words, letter"}
    found = 0
    for word in inputs["words"]:
        for letter in word:
            found += (letter == inputs["letter"]) is (KIND == "same")
    return found
