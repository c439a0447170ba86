"""A table of all letters of the sign, made in one pass and looked up at the end."""

KIND = "same"


def solution(inputs):
    if not isinstance(inputs, dict) or {"words", "letter"} - set(inputs):
        return {"status": "schema_error", "detail": "words, letter"}
    table = {}
    for word in inputs["words"]:
        rest = word
        while rest:
            first, rest = rest[0], rest[1:]
            table[first] = table.get(first, 0) + 1
    same = table.pop(inputs["letter"], 0)
    return same if KIND == "same" else sum(table.values())
