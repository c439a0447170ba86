"""Chair after chair from the left, with the number of ways to each state: who sits already, and where those sit who still matter to others."""

from collections import Counter

LEFT = "any"
REACH = "most"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("left"), list) or not isinstance(inputs.get("chosen"), list):
        return {"status": "schema_error", "detail": "people, left, chosen, apart"}
    people = range(1, inputs["people"] + 1)
    before = {person: {one for one, two in inputs["left"] if two == person} for person in people}
    friends = {person: {other for pair in inputs["chosen"] if person in pair for other in pair if other != person} for person in people}
    watched = {person: friends[person] | {two for one, two in inputs["left"] if one == person} for person in people}
    states = Counter({(frozenset(), frozenset()): 1})
    for chair in range(len(people)):
        following = Counter()
        for (done, places), ways in states.items():
            where = dict(places)
            for person in people:
                if person in done or not before[person] <= done:
                    continue
                if LEFT == "gap" and any(chair - where[one] == 1 for one in before[person]):
                    continue
                if any(friend in done and (chair - where[friend] <= inputs["apart"]) != (REACH == "most") for friend in friends[person]):
                    continue
                now = done | {person}
                kept = {(one, seat) for one, seat in (*places, (person, chair)) if not watched[one] <= now}
                following[now, frozenset(kept)] += ways
        states = following
    return sum(states.values())
