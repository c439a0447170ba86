"""Looked up in the list."""

ASKED = "among"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("numbers"), list) or not isinstance(inputs.get("wanted"), int):
        return {"status": "schema_error", "detail": "numbers, wanted"}
    if ASKED == "among":
        return "yes" if inputs["wanted"] in inputs["numbers"] else "no"
    return "yes" if inputs["wanted"] > max(inputs["numbers"]) else "no"
