"""Gives every (person, shift) and every (person, week) to one place only."""


def check(inputs, answer):
    size, used = len(inputs["roster"]), set()
    if not isinstance(answer, list):
        return False
    for week, line in enumerate(answer):
        if not isinstance(line, list):
            return False
        for shift, person in enumerate(line):
            if not isinstance(person, int) or person is True or person < 1 or person > size:
                return False
            if inputs["roster"][week][shift] not in (0, person):
                return False
            used.add(("week", week, person))
            used.add(("shift", shift, person))
    places = sum(len(line) for line in answer)
    return places == size * size and len(used) == 2 * places
