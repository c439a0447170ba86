"""One sorted list of everybody; repeatedly take the first of it who has arrived."""

ORDER = "shortest"
TIE = "low"
REST = 0
KEYS = {"shortest": lambda patient: patient["length"], "longest": lambda patient: -patient["length"], "latest": lambda patient: -patient["arrival"]}


def solution(inputs):
    if not isinstance(inputs, dict) or {"patients", "asked"} - set(inputs):
        return {"status": "schema_error", "detail": "patients and asked"}
    people = [{"number": index, "arrival": pair[0], "length": pair[1]} for index, pair in enumerate(inputs["patients"], start=1)]
    people.sort(key=lambda patient: patient["number"], reverse=TIE == "high")
    people.sort(key=KEYS[ORDER])
    now = 0
    ends = {}
    while people:
        now = max(now, min(patient["arrival"] for patient in people))
        taken = next(patient for patient in people if patient["arrival"] <= now)
        people.remove(taken)
        ends[taken["number"]] = now + taken["length"]
        now = ends[taken["number"]] + REST
    return ends.get(inputs["asked"], {"status": "schema_error", "detail": "asked is not a patient"})
