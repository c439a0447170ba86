"""Units and the calendar: factors, leap years, the first day of a week."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from evolake.families.readings.view import Examiner, FamilyView, ReadingPlace, Wanted


def leap_years(view: FamilyView) -> Examiner:
    """Examine whether years that end in 00 are leap years."""
    yield Wanted()
    stated = view.matching(r"\bGregorian\b|\bleap years?\b|\b29 February\b")
    gregorian = view.matching(
        r"\bGregorian\b|\bdivisible by 400\b|\bend\w* (?:in|with) 00\b|\bcenturies\b|\bcentury\b"
    )
    if not stated or not gregorian:
        return []
    texts = {name: ast.unparse(tree) for name, tree in view.trees.items()}
    known = r"\b(?:100|400|25|isleap|calendar|date|datetime)\b"
    plain = [name for name, text in texts.items() if re.search(r"% 4\b", text) and not re.search(known, text)]
    if plain:
        return [
            ReadingPlace(
                "leap years",
                gregorian[0],
                "not every fourth year is one",
                f"every fourth year in the program {plain[0]}",
                "contradicted",
            )
        ]
    return [
        ReadingPlace(
            "leap years",
            gregorian[0],
            "not every fourth year is one",
            "not every fourth year is one",
            "fixed",
        )
    ]


UNITS = (
    ("hours?", "minutes?", 60),
    ("minutes?", "seconds?", 60),
    ("days?", "hours?", 24),
    ("weeks?", "days?", 7),
    ("kilometres?|kilometers?|km", "metres?|meters?|m", 1000),
    ("kilograms?|kg", "grams?|g", 1000),
    ("litres?|liters?", "millilitres?|milliliters?|ml", 1000),
    ("met(?:re|er)s?", "centimet(?:re|er)s?|cm", 100),
    ("euros?|dollars?", "cents?", 100),
    ("dozens?", "eggs?|pieces?|single", 12),
    ("years?", "months?", 12),
    ("feet|foot", "inches|inch", 12),
    ("pounds?", "ounces?", 16),
    ("centimet(?:re|er)s?|cm", "millimet(?:re|er)s?|mm", 10),
)


def units(view: FamilyView) -> Examiner:
    """Examine whether a unit is converted by its factor: two units are named, and a program multiplies or
    divides by another number only."""
    yield Wanted()
    said = {int(number) for number in re.findall(r"(?<!#)\b\d+", view.text)}
    for large, small, factor in UNITS:
        if not (
            re.search(rf"\b(?:{large})\b", view.text, re.IGNORECASE)
            and re.search(rf"\b(?:{small})\b", view.text, re.IGNORECASE)
        ):
            continue
        factors = {name: set(_factors(tree)) for name, tree in view.trees.items()}
        numbers = {number for items in factors.values() for number in items}
        near = (
            {10, 12, 24, 30, 50, 60, 100, 365, 1000, 5, 6, 7, 8, 16, 14, 20}
            - said
            - {factor, factor * factor, 60 * factor, factor * 24}
        )
        wrong = set.intersection(*factors.values()) & near if factors else set()
        every = {
            item.value
            for tree in view.trees.values()
            for item in ast.walk(tree)
            if isinstance(item, ast.Constant) and type(item.value) is int
        }
        if (
            wrong
            and not {factor, factor * factor} & (numbers | every)
            and not any(number % factor == 0 for number in numbers)
        ):
            sentence = next(iter(view.matching(rf"\b(?:{large})\b")))
            return [
                ReadingPlace("the factor of a unit", sentence, str(factor), str(min(wrong)), "contradicted")
            ]
    return []


def _factors(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        operator = node.op if isinstance(node, ast.BinOp | ast.AugAssign) else None
        if isinstance(node, ast.BinOp):
            operands = [node.left, node.right]
        elif isinstance(node, ast.AugAssign):
            operands = [node.value]
        else:
            operands = []
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "divmod":
            operator, operands = ast.Mod(), node.args[1:]
        if isinstance(operator, ast.Mult | ast.FloorDiv | ast.Div | ast.Mod):
            yield from (
                item.value
                for item in operands
                if isinstance(item, ast.Constant) and type(item.value) is int and item.value > 4
            )


WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def first_days(view: FamilyView) -> Examiner:
    """Examine with which day a week begins, and whether the days of a program are in the order of the
    calendar."""
    yield Wanted()
    days = "|".join(WEEK)
    stated = view.matching(
        rf"\b(?:week|weeks) (?:always )?(?:begins?|starts?) (?:on|with) (?:an? )?(?:{days})|"
        rf"\b(?:{days}) is (?:the first day|day (?:number )?(?:1|one))"
    )
    says = re.search(rf"\b({days})\b", stated[0], re.IGNORECASE) if stated else None
    orders = [order for tree in view.trees.values() for order in _weeks(tree)]
    for order in orders:
        start = WEEK.index(order[0])
        if order != (*WEEK[start:], *WEEK[:start]):
            sentence = next(iter(view.matching(rf"\b(?:{days}|week|day)s?\b")), view.question)
            return [
                ReadingPlace(
                    "days of the week", sentence, "the calendar's order", ", ".join(order), "contradicted"
                )
            ]
    if says and orders and says[1].casefold() not in {order[0] for order in orders}:
        return [
            ReadingPlace(
                "days of the week",
                stated[0],
                f"begins with {says[1]}",
                f"begins with {orders[0][0]}",
                "contradicted",
            )
        ]
    return []


def _weeks(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    for node in ast.walk(tree):
        parts: list[str] = []
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            parts = node.value.casefold().split()
        elif isinstance(node, ast.List | ast.Tuple):
            parts = [
                item.value.casefold()
                for item in node.elts
                if isinstance(item, ast.Constant) and isinstance(item.value, str)
            ]
        full = {day[:3]: day for day in WEEK}
        named = [
            full.get(part[:3], "") if part in (full.get(part[:3], ""), part[:3]) else "" for part in parts
        ]
        if len(named) == 7 and set(named) == set(WEEK):
            yield tuple(named)
