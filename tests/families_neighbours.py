"""A grid of replies for the reward of an export: the label and what is nearly it, in every form that
docs/answers.md lets a reply give its answer.

The gate's own probes (`evolake.families.gates.consensus`) lie further off; here numbers differ by twice the
tolerance, 2e-9 relative, and days by one.
"""

import json
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from evolake.answers.forms import PERCENT, read_date
from evolake.answers.reading import cleaned, number
from evolake.families.gates.consensus import wrong_answers

STEP = Fraction(2, 10**9)
DIGITS = 60
SEVERAL = 3
"""Elements of a list or mapping that are changed, one at a time."""


def wrong_replies(label: Any, units: Sequence[str] = (), *, case_sensitive: bool = True) -> list[str]:
    """What must not be rewarded, without its box: the probes of the gate and the near misses, in every form.
    units: those that are asked for."""
    wrong = [*wrong_answers(label), *near_misses(label)]
    same = isinstance(label, str) and not case_sensitive
    return [
        reply
        for item in wrong
        if not (same and str(item).casefold() == label.casefold())
        for reply in in_forms(item, units)
    ]


def near_misses(label: Any) -> list[Any]:
    """Answers beyond the tolerance and hardly: numbers 2e-9 of it away, the day before and after, lists and
    mappings with one such part."""
    if isinstance(label, list):
        return [
            [*label[:at], near, *label[at + 1 :]]
            for at in range(min(SEVERAL, len(label)))
            for near in near_misses(label[at])
        ]
    if isinstance(label, dict):
        return [{**label, key: near} for key in sorted(label)[:SEVERAL] for near in near_misses(label[key])]
    if isinstance(label, str) and (day := read_date(label)) is not None:
        return [(day + timedelta(days=days)).isoformat() for days in (-1, 1)]
    value = _value(label)
    return [_decimal(value * (1 + sign * STEP)) for sign in (-1, 1)] if value else []


def in_forms(answer: Any, units: Sequence[str] = ()) -> list[str]:
    """The answer in each form that applies to it: as it is, with a full stop, named, in LaTeX, with each
    unit, without brackets, with commas, as a mixed number, as a day in words."""
    shown = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    result = [shown, f"x = {shown}", f"${shown}$", *([] if "{" in shown else [f"\\text{{{shown}}}"])]
    if isinstance(answer, list) and len(answer) > 1:
        result.append(shown[1:-1])
    if isinstance(answer, str) and (day := read_date(answer)) is not None:
        result += [f"{day.day} {day:%B} {day.year:04d}", f"{day:%B} {day.day}, {day.year:04d}"]
    value = _value(answer)
    if value is not None or (shown.isalnum() and isinstance(answer, str)):
        result.append(f"{shown}.")
    if value is not None:
        result += [f"{shown}{'' if unit == PERCENT else ' '}{unit}" for unit in units]
        result += [f"x = {shown}\\text{{ {unit}}}." for unit in units if unit != PERCENT]
        if value.denominator == 1:
            result += [f"{value.numerator:,}", f"{value.numerator:,}".replace(",", "{,}")]
        elif value.denominator < 10**6:
            whole, over = divmod(abs(value.numerator), value.denominator)
            sign = "-" if value < 0 else ""
            result += [
                f"\\frac{{{value.numerator}}}{{{value.denominator}}}",
                f"{sign}{whole or ''}\\frac{{{over}}}{{{value.denominator}}}",
            ]
    return list(dict.fromkeys(result))


def _value(answer: Any) -> Fraction | None:
    """What a number, or a text that is one, is worth; None for anything else."""
    if isinstance(answer, bool) or not isinstance(answer, int | float | str):
        return None
    result = number(cleaned(answer if isinstance(answer, str) else json.dumps(answer)))
    return None if result is None else result[0]


def _decimal(value: Fraction) -> str:
    """The value to DIGITS digits."""
    with localcontext() as context:
        context.prec = DIGITS
        return f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
