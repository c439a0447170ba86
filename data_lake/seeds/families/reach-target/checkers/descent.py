"""Reads the expression from left to right: a sum of products of numbers and brackets."""

import re
from fractions import Fraction


def check(inputs, answer):
    if not isinstance(answer, str) or not re.fullmatch(r"[\d+\-*/() ]+", answer):
        return False
    if re.search(r"\d +\d", answer):
        return False
    tokens = re.findall(r"\d+|[+\-*/()]", answer)
    numbers = sorted(int(token) for token in tokens if token.isdigit())
    if numbers != sorted(inputs["cards"]) or any(token.startswith("0") for token in tokens):
        return False
    value, rest = added(tokens)
    return not rest and value == inputs["target"]


def added(tokens):
    value, rest = multiplied(tokens)
    while rest and rest[0] in "+-":
        other, after = multiplied(rest[1:])
        value, rest = value + other if rest[0] == "+" else value - other, after
    return value, rest


def multiplied(tokens):
    value, rest = single(tokens)
    while rest and rest[0] in "*/":
        other, after = single(rest[1:])
        value, rest = value * other if rest[0] == "*" else value / other, after
    return value, rest


def single(tokens):
    if tokens[0] == "(":
        value, rest = added(tokens[1:])
        if rest[0] != ")":
            raise ValueError("a bracket is open")
        return value, rest[1:]
    return Fraction(int(tokens[0])), tokens[1:]
