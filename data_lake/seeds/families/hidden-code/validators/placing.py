"""Place digit after digit; leave a beginning as soon as some attempt can no longer get its signals."""

REPEAT = True
SECOND = "misplaced"
WANTED = "smallest"


def solution(inputs):
    if not isinstance(inputs, dict) or {"length", "digits", "tries"} - set(inputs):
        return {"status": "schema_error", "detail": "length, digits, tries"}
    length = inputs["length"]
    order = range(1, inputs["digits"] + 1) if WANTED == "smallest" else range(inputs["digits"], 0, -1)
    tries = []
    for tried, right, other in inputs["tries"]:
        digits = [tried // 10 ** (length - 1 - place) % 10 for place in range(length)]
        tries.append((digits, right, other))

    def possible(start):
        left = length - len(start)
        for digits, right, other in tries:
            equal = sum(digits[place] == digit for place, digit in enumerate(start))
            if not equal <= right <= equal + left:
                return False
            if SECOND == "misplaced":
                shared = sum(min(start.count(digit), digits.count(digit)) for digit in set(start))
                if not shared <= right + other <= shared + left:
                    return False
            else:
                ahead = sum(start) - sum(digits)
                if not any(ahead + left <= goal <= ahead + left * max(order) for goal in (other, -other)):
                    return False
        return True

    def complete(start):
        if len(start) == length:
            return int("".join(map(str, start)))
        for digit in order:
            if not REPEAT and digit in start:
                continue
            longer = [*start, digit]
            if possible(longer) and (found := complete(longer)) is not None:
                return found
        return None

    return complete([]) or {"status": "schema_error", "detail": "no code is possible"}
