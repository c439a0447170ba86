"""Events: jump from one choice of the doctor to the next."""

import heapq

ORDER = "shortest"
TIE = "low"
REST = 0


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("patients"), list) or not isinstance(inputs.get("asked"), int):
        return {"status": "schema_error", "detail": "patients and asked"}
    patients = inputs["patients"]
    arrivals = sorted(range(len(patients)), key=lambda number: patients[number][0])
    waiting, free, position = [], 0, 0
    while position < len(arrivals) or waiting:
        if not waiting:
            free = max(free, patients[arrivals[position]][0])
        while position < len(arrivals) and patients[arrivals[position]][0] <= free:
            number = arrivals[position]
            arrival, length = patients[number]
            rank = {"shortest": length, "longest": -length, "latest": -arrival}[ORDER]
            heapq.heappush(waiting, (rank, number if TIE == "low" else -number, number))
            position += 1
        _, _, number = heapq.heappop(waiting)
        free += patients[number][1]
        if number + 1 == inputs["asked"]:
            return free
        free += REST
    return {"status": "schema_error", "detail": "asked is not a patient"}
