"""Split what people write next to a value: a currency sign, a degree sign, a unit, and `x =`.

Such a mark counts if label and reply do not contradict each other in it. A label's mark may be left out (`6` for `6 \\text{ cm}`); another one is
wrong (`6 \\text{ m}`). A reply may add no unit that neither the label nor the question has. Standard library only, as the other modules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evolake.answers.mathematics import constant
from evolake.answers.reading import cleaned, number
from evolake.answers.units import DEGREE, DOLLAR, LONGEST_UNIT, PER_CENT, known_unit, plain_units, unit_name

_CURRENCIES = {"$": DOLLAR, "\\$": DOLLAR, "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee"}
CURRENCY_SIGNS = frozenset(sign for sign in _CURRENCIES if "$" not in sign)
"""Signs that are no mark of LaTeX, too."""
_CODES = {"USD": DOLLAR, "EUR": "euro", "GBP": "pound", "JPY": "yen", "INR": "rupee", "CNY": "yuan"}
CURRENCIES = frozenset({*_CURRENCIES.values(), *_CODES.values()})
_NO_QUANTITY = frozenset((
    "and", "billion", "dozen", "half", "hundred", "million", "mod", "none", "or", "pair", "quarter", "thousand", "times", "trillion",
))
"""Words in `\\text{...}` after a number that multiply it, or say more than a unit."""
_MONEY = re.compile(r"([+-]?)\s*+(\\\$|[€£¥₹]|\$(?=[^$]*+\Z))\s*+(?=[\d.\\])")
_MONEY_AND_MORE = re.compile(r"([+-]?)\s*+(?:US)?(\\?\$|[€£¥₹])\s*+([\d.,]*\d)\s*+((?:/|per\b|an?\b|[^\W\d_]).*)\Z", re.DOTALL)
_UNIT_STARTS = re.compile(r"\\(?:text|textrm|textbf|mathrm|mbox|rm|operatorname|[dt]?frac)\s*+\{|(?:\{\})?\^\s*+\{?\s*+\\circ|°|\\degree")
_UNIT_TAIL = re.compile(
    r"(?:\\(?:text|textrm|textbf|mathrm|mbox|rm|operatorname)\s*+\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\}"
    r"|\\[dt]?frac\s*+(?=\{\s*+\\(?:text|mathrm))\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\}\s*+\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\}"
    r"|(?:\{\})?\^\s*+(?:\{[^{}]*+\}|\\circ|-?\d)|\\(?:[,;:! ]|(?:cdot|times|per|degree)(?![A-Za-z]))|[⁻¹²³/·°~\s()])++\.?\Z"
)
_WORDS_OF_UNIT = re.compile(r"[A-Za-z][A-Za-z. /-]{0,40}\Z")
_BARE_STARTS = re.compile(r"(?<=[\d}])\s*+(?=\\?[A-Za-z%‰°µΩÅ])")
_PLAIN_UNIT = re.compile(r"(?<=[\d}])\s*+([A-Za-z]{1,20})\.?\Z")
_CODE_AFTER = re.compile(rf"(?<=[\d}}])\s*+({'|'.join(_CODES)})\Z")
_CODE_BEFORE = re.compile(rf"({'|'.join(_CODES)})\s*+(?=[+-]?[\d.])")
_VALUE = re.compile(r"\s*+([A-Za-z])\s*+(?:=(?!=)|\\in(?![A-Za-z])|∈)\s*+(?=\S)")
MOST_STARTS = 8
"""Places near the end of a text at which its unit may begin."""


def quantity(text: str, *, plain: bool = False, label: bool = False) -> tuple[str, str | None]:
    """Return (the text without its mark, the mark's name or None). plain: a word after the number is a unit, too (`6 cm`, `6cm`). label: so is a
    known unit of several letters after a blank."""
    shown = text.strip()
    if len(shown) > 2 and shown.startswith("$") and shown.endswith("$") and not shown.endswith("\\$"):
        shown = shown[1:-1].strip()
    if match := _MONEY.match(shown):
        return match[1] + shown[match.end() :], _CURRENCIES[match[2]]
    if match := _CODE_AFTER.search(shown):
        return shown[: match.start()], _CODES[match[1]]
    if match := _CODE_BEFORE.match(shown):
        return shown[match.end() :], _CODES[match[1]]
    for match in list(_UNIT_STARTS.finditer(shown))[-MOST_STARTS:]:
        if match.start() and _UNIT_TAIL.match(shown, match.start()):
            unit = plain_units(shown[match.start() :]).strip()
            if (known_unit(unit) or _WORDS_OF_UNIT.match(unit)) and not _NO_QUANTITY & set(unit_name(unit).split()):
                return shown[: match.start()], unit_name(unit)
    for match in list(_BARE_STARTS.finditer(shown))[-MOST_STARTS:]:
        unit = shown[match.end() :].rstrip(".")
        apart = label and bool(match[0]) and len(unit) > 1
        if len(unit) <= LONGEST_UNIT and "\\text" not in unit and (name := known_unit(unit)) and (plain or apart or name == PER_CENT):
            return shown[: match.start()], name
    match = _PLAIN_UNIT.search(shown) if plain else None
    if match and not _NO_QUANTITY & {unit_name(match[1])}:
        return shown[: match.start()], unit_name(match[1])
    return shown, None


def without_marks(content: str, label: str | float, units: Sequence[str] = ()) -> Iterator[tuple[str, str | float]]:
    """Yield (reply, label) without marks that do not contradict each other; nothing if they do, or if neither has one."""
    meant, meant_unit = quantity(label, label=True) if isinstance(label, str) else (label, None)
    said, said_unit = quantity(content, plain=isinstance(label, str) and ("\\" in label or meant_unit is not None))
    if isinstance(meant, str) and meant_unit is not None and not constant(meant):
        return
    allowed = {meant_unit} if meant_unit == PER_CENT else {meant_unit, None}
    if meant_unit is None:
        asked = set(map(unit_name, units))
        allowed |= (CURRENCIES & asked or ({DOLLAR} if not any(map(known_unit, units)) else set())) | ({DEGREE} if isinstance(label, str) or DEGREE in asked else set())
    if said_unit in allowed and (said_unit or meant_unit):
        yield said, meant
    if isinstance(meant, str) and (match := _VALUE.match(meant)) and constant(value := meant[match.end() :]):
        named = _VALUE.match(said)
        if said_unit in allowed and (named is None or named[1] == match[1]):
            yield said[named.end() :] if named else said, value


def money_last(text: str) -> str:
    """Return a text that begins with a currency sign, and has a unit behind its number, with the currency's name at the front of that unit: `3
    dollar/h` for `$3/h`."""
    match = _MONEY_AND_MORE.match(text.strip())
    if match is None:
        return text
    currency = _CURRENCIES[match[2]]
    return f"{match[1]}{match[3]} {match[4] if unit_name(match[4]) == currency else f'{currency} {match[4]}'}"


def bare_value(label: str) -> str:
    """Return a label without its mark if a constant is left; the label itself if not."""
    value, unit = quantity(label, label=True)
    return value if unit and constant(value) else label


def ungrouped(content: str) -> str | None:
    """Return a number that is grouped by blanks without them: `12 345` is 12345. None for anything else."""
    shown = cleaned(content)
    if not re.fullmatch(r"[+-]?[1-9]\d{0,2}(?:[ \u2009\u202f]\d{3})++(?:\.\d++)?", shown):
        return None
    joined = re.sub(r"\s", "", shown)
    return joined if number(joined) is not None else None
