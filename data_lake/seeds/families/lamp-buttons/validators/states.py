"""Button after button: which states of the lamps can be had, and with how few or many presses each."""

AIM = "off"
WANTED = "fewest"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("buttons"), list) or not isinstance(inputs.get("on"), list):
        return {"status": "schema_error", "detail": "lamps, buttons, on, hidden"}
    better = min if WANTED == "fewest" else max
    presses = {frozenset(inputs["on"]) - {inputs["hidden"]}: 0}
    for row in inputs["buttons"]:
        changed = frozenset(row) - {inputs["hidden"]}
        following = dict(presses)
        for state, number in presses.items():
            reached = state ^ changed
            following[reached] = better(number + 1, following.get(reached, number + 1))
        presses = following
    aims = {frozenset()}
    if AIM == "same":
        aims.add(frozenset(range(1, inputs["lamps"] + 1)) - {inputs["hidden"]})
    found = [presses[state] for state in aims if state in presses]
    return better(found) if found else {"status": "schema_error", "detail": "the aim cannot be reached"}
