"""Minute by minute: a clock that ticks, with a countdown for the doctor."""

ORDER = "shortest"
TIE = "low"
REST = 0


def before(left, right, patients):
    """Whether the doctor takes patient `left` rather than patient `right`."""
    (arrival_left, length_left), (arrival_right, length_right) = patients[left], patients[right]
    if ORDER == "latest":
        if arrival_left != arrival_right:
            return arrival_left > arrival_right
    elif length_left != length_right:
        return (length_left < length_right) == (ORDER == "shortest")
    return (left < right) == (TIE == "low")


def solution(inputs):
    try:
        patients, asked = inputs["patients"], inputs["asked"] - 1
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "patients and asked"}
    untreated = set(range(len(patients)))
    minute, busy, current = 0, 0, None
    while untreated or busy:
        if busy == 0:
            present = [number for number in sorted(untreated) if patients[number][0] <= minute]
            if present:
                current = present[0]
                for number in present[1:]:
                    if before(number, current, patients):
                        current = number
                untreated.remove(current)
                if current == asked:
                    return minute + patients[current][1]
                busy = patients[current][1] + REST
        minute += 1
        busy = max(0, busy - 1)
    return {"status": "schema_error", "detail": "asked is not a patient"}
