"""Split what people write beside a value: a currency sign, a degree sign, a unit in `\\text{...}`, and `x =`.

Such a mark counts if label and reply do not contradict each other in it. A label's mark may be left out (`6` for `6 \\text{ cm}`); another one is
wrong (`6 \\text{ m}`). A reply may add no unit that neither the label nor the question has. Standard library only, as the other modules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evolake.answers.mathematics import constant
from evolake.answers.reading import cleaned, number

DOLLAR, DEGREE = "dollar", "degree"
_CURRENCIES = {"$": DOLLAR, "\\$": DOLLAR, "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee"}
CURRENCY_SIGNS = frozenset(sign for sign in _CURRENCIES if "$" not in sign)
"""Signs that are no mark of LaTeX, too."""
_CODES = {"USD": DOLLAR, "EUR": "euro", "GBP": "pound", "JPY": "yen", "INR": "rupee"}
CURRENCIES = frozenset({*_CURRENCIES.values(), *_CODES.values()})
_UNIT_NAMES = {
    "mm": "millimetre", "cm": "centimetre", "m": "metre", "km": "kilometre", "in": "inch", "ft": "foot", "yd": "yard", "mi": "mile",
    "g": "gram", "kg": "kilogram", "mg": "milligram", "lb": "pound", "oz": "ounce", "l": "litre", "ml": "millilitre", "s": "second", "sec": "second",
    "min": "minute", "h": "hour", "hr": "hour", "inches": "inch", "feet": "foot", "deg": DEGREE,
}
"""Unit as it is written short, or in an irregular plural -> its name in the singular."""
_NO_QUANTITY = frozenset((
    "and", "billion", "dozen", "half", "hundred", "million", "mod", "none", "or", "pair", "percent", "quarter", "thousand", "times", "trillion",
))
"""Words in `\\text{...}` after a number that multiply it, or say more than a unit."""
_MONEY = re.compile(r"([+-]?)\s*+(\\\$|[€£¥₹]|\$(?=[^$]*+\Z))\s*+(?=[\d.\\])")
_DEGREES = re.compile(r"(?:\s|\\[,;:! ])*+(?:\^\s*+(?:\{\s*+\\circ\s*+\}|\\circ)|°|\\degree)\s*+\Z")
_UNIT = re.compile(
    r"(?:\s|\\[,;:! ]|~)*+\\(?:text|textrm|mathrm|mbox|textbf|rm)\s*+\{(?:\s|\\[,;:! ])*+"
    r"([A-Za-z][A-Za-z. /]{0,40}?)\s*+\}\s*+(\^\s*+\{?\s*+[23]\s*+\}?)?\s*+\.?\Z"
)
_PLAIN_UNIT = re.compile(r"(?<=[\d}])\s*+([A-Za-z]{1,20})(\^\{?[23]\}?)?\.?\Z")
_CODE_AFTER = re.compile(rf"(?<=[\d}}])\s*+({'|'.join(_CODES)})\Z")
_CODE_BEFORE = re.compile(rf"({'|'.join(_CODES)})\s*+(?=[+-]?[\d.])")
_VALUE = re.compile(r"\s*+([A-Za-z])\s*+=(?!=)\s*+(?=\S)")


def quantity(text: str, *, plain: bool = False) -> tuple[str, str | None]:
    """Return (the text without its mark, the mark in the singular or None). plain: a word after the number is a unit, too (`6 cm`)."""
    shown = text.strip()
    if len(shown) > 2 and shown.startswith("$") and shown.endswith("$") and not shown.endswith("\\$"):
        shown = shown[1:-1].strip()
    if match := _MONEY.match(shown):
        return match[1] + shown[match.end() :], _CURRENCIES[match[2]]
    if match := _CODE_AFTER.search(shown):
        return shown[: match.start()], _CODES[match[1]]
    if match := _CODE_BEFORE.match(shown):
        return shown[match.end() :], _CODES[match[1]]
    if match := _DEGREES.search(shown):
        return shown[: match.start()], DEGREE
    match = _UNIT.search(shown) or (_PLAIN_UNIT.search(shown) if plain else None)
    if match and not _NO_QUANTITY & {word.strip(".").casefold().removesuffix("s") for word in match[1].split()}:
        power = re.sub(r"\D", "", match[2] or "")
        return shown[: match.start()], unit_name(match[1]) + (f"^{power}" if power else "")
    return shown, None


def unit_name(word: str) -> str:
    """Return a unit's name in the singular: `cm`, `Centimeters` and `centimetre` are one; so are `cm^2` and `square centimetres`."""
    words = word.strip().strip(".").split()
    name = _UNIT_NAMES.get(words[-1] if len(words[-1]) == 1 else words[-1].casefold(), words[-1])
    if words[-1] == "L":
        name = "litre"
    name = name if len(name) < 3 else name.casefold()
    name = name.removesuffix("s") if len(name) > 3 else name
    name = _UNIT_NAMES.get(name, name)
    if name.endswith("meter"):
        name = name[:-5] + "metre"
    elif name.endswith("liter"):
        name = name[:-5] + "litre"
    before = [item.casefold() for item in words[:-1]]
    power = {"square": "^2", "sq": "^2", "cubic": "^3"}.get(" ".join(before))
    return name + power if power else " ".join([*before, name])


def without_marks(content: str, label: str | float, units: Sequence[str] = ()) -> Iterator[tuple[str, str | float]]:
    """Yield (reply, label) without marks that do not contradict each other; nothing if they do, or if neither has one."""
    said, said_unit = quantity(content, plain=isinstance(label, str) and "\\" in label)
    meant, meant_unit = quantity(label) if isinstance(label, str) else (label, None)
    if isinstance(meant, str) and meant_unit is not None and not constant(meant):
        return
    allowed = {meant_unit, None}
    if meant_unit is None:
        asked = set(map(unit_name, units))
        allowed |= (CURRENCIES & asked or {DOLLAR}) | ({DEGREE} if isinstance(label, str) or DEGREE in asked else set())
    if said_unit in allowed and (said_unit or meant_unit):
        yield said, meant
    if isinstance(meant, str) and (match := _VALUE.match(meant)) and constant(value := meant[match.end() :]):
        named = _VALUE.match(said)
        if said_unit in allowed and (named is None or named[1] == match[1]):
            yield said[named.end() :] if named else said, value


def bare_value(label: str) -> str:
    """Return a label without its mark if a constant is left; the label itself if not."""
    value, unit = quantity(label)
    return value if unit and constant(value) else label


def ungrouped(content: str) -> str | None:
    """Return a number that is grouped by blanks without them: `12 345` is 12345. None for anything else."""
    shown = cleaned(content)
    if not re.fullmatch(r"[+-]?[1-9]\d{0,2}(?:[ \u2009\u202f]\d{3})++", shown):
        return None
    joined = re.sub(r"\s", "", shown)
    return joined if number(joined) is not None else None
