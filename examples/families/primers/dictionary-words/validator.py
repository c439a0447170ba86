"""By the order of texts."""

END = "first"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("words"), list):
        return {"status": "schema_error", "detail": "words"}
    return min(inputs["words"]) if END == "first" else max(inputs["words"])
