"""The name at one end of the list."""

END = "front"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("queue"), list) or not isinstance(inputs.get("way"), str):
        return {"status": "schema_error", "detail": "queue, way"}
    return inputs["queue"][0 if inputs["way"].startswith(END) else -1]
