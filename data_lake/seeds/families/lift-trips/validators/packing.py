"""Person after person: the trip that each one gets is next-fit or first-fit packing of bins."""

BOARD = "order"
LOADING = 0
ASKED = "last"


def solution(inputs):
    try:
        people, load = [tuple(person) for person in inputs["people"]], inputs["load"]
        if max(weight for weight, _ in people) > load:
            return {"status": "schema_error", "detail": "somebody is too heavy for the lift"}
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "people and load"}
    trips = [[]]
    for weight, floor in people:
        open_trips = trips if BOARD == "pass" else trips[-1:]
        for trip in open_trips:
            if sum(other for other, _ in trip) + weight <= load:
                trip.append((weight, floor))
                break
        else:
            trips.append([(weight, floor)])
    counted = trips if ASKED == "last" else trips[:2]
    times = []
    for trip in counted:
        served = sorted({floor for _, floor in trip})
        times.append(len(trip) * LOADING + 2 * 3 * served[-1] + 8 * len(served))
    return sum(times)
