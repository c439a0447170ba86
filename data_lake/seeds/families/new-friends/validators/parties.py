"""Every party as it happens: for all two people who are not friends, look for the third person."""

from itertools import combinations

MEET = "any"
ASKED = "pairs"


def solution(inputs):
    try:
        people = range(1, inputs["count"] + 1)
        friends = {frozenset(pair) for pair in inputs["friends"]}
        evenings = range(inputs["evenings"])
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "count, friends, evenings"}
    old = set(friends)
    for _ in evenings:
        new = set()
        for one, other in combinations(people, 2):
            if frozenset((one, other)) in friends:
                continue
            for third in people:
                left, right = frozenset((one, third)), frozenset((other, third))
                if left in friends and right in friends and (MEET == "any" or left in old or right in old):
                    new.add(frozenset((one, other)))
                    break
        if not new:
            break
        friends |= new
    if ASKED == "pairs":
        return len(friends)
    if ASKED == "strangers":
        return sum(frozenset(pair) not in friends for pair in combinations(people, 2))
    return max(sum(person in pair for pair in friends) for person in people)
