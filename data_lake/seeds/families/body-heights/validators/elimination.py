"""The notes as linear equations, solved by elimination over the rationals."""

from fractions import Fraction

SIGN = "taller"
JOINED = 0


def solution(inputs):
    try:
        count, facts, (first, height), asked = inputs["count"], inputs["facts"], inputs["known"], inputs["asked"]
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "count, facts, known, asked"}
    equations = [({first: Fraction(1)}, Fraction(height))]
    for kind, one, other, number in facts:
        if kind == "sum":
            equations.append(({one: Fraction(1), other: Fraction(1)}, Fraction(number - JOINED)))
        elif SIGN == "taller":
            equations.append(({one: Fraction(1), other: Fraction(-1)}, Fraction(number)))
        else:
            equations.append(({other: Fraction(1), one: Fraction(-1)}, Fraction(number)))
    for person in range(1, count + 1):
        if person == asked:
            continue
        with_person = [equation for equation in equations if equation[0].get(person)]
        if not with_person:
            continue
        pivot, right = min(with_person, key=lambda equation: len(equation[0]))
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
        if set(terms) == {asked}:
            height = value / terms[asked]
            return int(height) if height.denominator == 1 else height
    return {"status": "schema_error", "detail": "the asked height is not determined"}
