"""The notes and the question as linear equations; all heights are eliminated, so that unknown 0, what is asked, is left."""

from fractions import Fraction

WANTED = "height"


def solution(inputs):
    try:
        count, facts, (first, height), asked = inputs["count"], inputs["facts"], inputs["known"], inputs["asked"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "count, facts, known, asked"}
    equations = [({first: Fraction(1)}, Fraction(height))]
    for kind, one, other, number in facts:
        if kind == "sum":
            equations.append(({one: Fraction(1), other: Fraction(1)}, Fraction(number)))
        else:
            equations.append(({one: Fraction(1), other: Fraction(-1)}, Fraction(number)))
    terms = {asked: Fraction(1)}
    for other, times in {"height": [], "above": [(1, -1)], "pair": [(2, 1)], "three": [(1, 1), (2, 1)]}[WANTED]:
        terms[other] = terms.get(other, 0) + times
    equations.append(({0: Fraction(-1)} | {person: factor for person, factor in terms.items() if factor}, Fraction(0)))
    for person in range(1, count + 1):
        with_person = [equation for equation in equations if equation[0].get(person)]
        if not with_person:
            continue
        pivot, right = min(with_person, key=lambda equation: (0 in equation[0], len(equation[0])))
        rest = []
        for terms, value in equations:
            factor = terms.get(person, Fraction(0)) / pivot[person]
            if (terms, value) == (pivot, right):
                continue
            if factor:
                value -= factor * right
                terms = {name: terms.get(name, 0) - factor * pivot.get(name, 0) for name in {*terms, *pivot}}
                terms = {name: number for name, number in terms.items() if number}
            rest.append((terms, value))
        equations = rest
    for terms, value in equations:
        if set(terms) == {0}:
            return int(value / terms[0])
    return {"status": "schema_error", "detail": "the asked height is not determined"}
