"""Person after person chooses a free chair; what is known is looked at as soon as both persons of a line sit."""

LEFT = "any"
REACH = "most"


def solution(inputs):
    if not isinstance(inputs, dict) or {"people", "left", "chosen", "apart"} - set(inputs):
        return {"status": "schema_error", "detail": "people, left, chosen, apart"}
    count, limit = inputs["people"], inputs["apart"]
    chairs = {}

    def seated(person):
        if person > count:
            return 1
        total = 0
        for chair in range(count):
            if chair in chairs.values():
                continue
            chairs[person] = chair
            total += seated(person + 1) if fits() else 0
            del chairs[person]
        return total

    def fits():
        for one, two in inputs["left"]:
            if one in chairs and two in chairs and chairs[two] - chairs[one] < (1 if LEFT == "any" else 2):
                return False
        for one, two in inputs["chosen"]:
            if one in chairs and two in chairs:
                distance = abs(chairs[one] - chairs[two])
                if distance > limit if REACH == "most" else distance <= limit:
                    return False
        return True

    return seated(1)
