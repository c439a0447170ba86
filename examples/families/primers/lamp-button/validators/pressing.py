"""Press after press."""

EFFECT = "turns"


def solution(inputs):
    try:
        lamp, waiting = inputs["lamp"], [times for _, times in inputs["presses"]]
    except (TypeError, KeyError, ValueError):
        return {"status": "schema_error", "detail": "lamp, presses"}
    works = True
    for times in waiting:
        left = times
        while left > 0:
            left -= 1
            if works:
                if lamp == "on":
                    lamp = "off"
                else:
                    lamp = "on"
            if EFFECT == "stuck":
                works = False
    shown = []
    for state in ("on", "off"):
        if lamp == state:
            shown.append(state)
    return shown[0]
