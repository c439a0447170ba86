"""The states of the lamp in a row, as long as there are presses."""

EFFECT = "turns"


def solution(inputs):
    if not isinstance(inputs, dict) or {"lamp", "presses"} - set(inputs):
        return {"status": "schema_error", "detail": "lamp, presses"}
    after = ["off", "on"] if inputs["lamp"] == "on" else ["on", "off"]
    states = []
    for _, times in inputs["presses"]:
        states += ["press"] * times
    row = [after[place % 2] for place in range(len(states))]
    return row[-1] if EFFECT == "turns" else row[0]
