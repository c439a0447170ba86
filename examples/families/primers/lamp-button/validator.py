"""Only whether the number of presses is odd counts."""

EFFECT = "turns"


def solution(inputs):
    if not isinstance(inputs, dict) or inputs.get("lamp") not in ("on", "off") or not isinstance(inputs.get("presses"), list):
        return {"status": "schema_error", "detail": "lamp, presses"}
    times = sum(times for _, times in inputs["presses"])
    if EFFECT == "stuck":
        times = min(times, 1)
    return inputs["lamp"] if times % 2 == 0 else {"on": "off", "off": "on"}[inputs["lamp"]]
