"""Two stacks, one of values and one of signs that wait for their right side (Dijkstra's shunting yard)."""

from collections import Counter
from fractions import Fraction

RANK = {"+": 1, "-": 1, "*": 2, "/": 2}


def check(inputs, answer):
    if not isinstance(answer, str):
        return False
    left, values, signs, place, operand = Counter(inputs["cards"]), [], [], 0, True
    while place < len(answer):
        mark = answer[place]
        end = place + 1
        if mark in "0123456789":
            while end < len(answer) and answer[end] in "0123456789":
                end += 1
            card = int(answer[place:end])
            if not operand or mark == "0" or not left[card]:
                return False
            left[card] -= 1
            values.append(Fraction(card))
            operand = False
        elif mark == "(":
            if not operand:
                return False
            signs.append(mark)
        elif mark == ")":
            if operand:
                return False
            while signs[-1] != "(":
                apply(values, signs.pop())
            signs.pop()
        elif mark in RANK:
            if operand:
                return False
            while signs and signs[-1] != "(" and RANK[signs[-1]] >= RANK[mark]:
                apply(values, signs.pop())
            signs.append(mark)
            operand = True
        elif mark != " ":
            return False
        place = end
    if operand or "(" in signs or sum(left.values()):
        return False
    while signs:
        apply(values, signs.pop())
    return values == [inputs["target"]]


def apply(values, sign):
    other, value = values.pop(), values.pop()
    if sign == "+":
        values.append(value + other)
    elif sign == "-":
        values.append(value - other)
    elif sign == "*":
        values.append(value * other)
    else:
        values.append(value / other)
