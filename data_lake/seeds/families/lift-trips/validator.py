"""Trip after trip, with the queue that is left."""

BOARD = "order"
LOADING = 0
ASKED = "last"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("people"), list) or not isinstance(inputs.get("load"), int):
        return {"status": "schema_error", "detail": "people and load"}
    queue, seconds, trips = list(inputs["people"]), 0, 0
    while queue and (ASKED == "last" or trips < 2):
        inside, left, room = [], [], inputs["load"]
        for person in queue:
            if person[0] <= room and (BOARD == "pass" or not left):
                inside.append(person)
                room -= person[0]
            else:
                left.append(person)
        if not inside:
            return {"status": "schema_error", "detail": "somebody is too heavy for the lift"}
        floors = {floor for _, floor in inside}
        seconds += LOADING * len(inside) + 6 * max(floors) + 8 * len(floors)
        queue = left
        trips += 1
    return seconds
