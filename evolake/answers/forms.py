"""What a reply may write around its answer: `x = 20`, `20 minutes`, `Paris.`, `5 March 2024` for 2024-03-05. docs/answers.md has the whole table.

Forms are undone on the side of the reply alone, one after another and each once; what is left is compared like any other answer, so no form makes
two values equal that differ. A unit counts where the question asks for it, and only before a label that is a number. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from evolake.answers.quantities import ungrouped, unit_name
from evolake.answers.reading import cleaned, number

PERCENT = "%"
_NAMED = re.compile(r"[^\W\d_]\w{0,15}\s*+=(?!=)\s*+")
_STOPPED = re.compile(r"[^.]*[^\W_][\])}]?\.\Z")
_WITH_UNIT = re.compile(r"([+-]?\d[\d.,/]*+(?: \d++/\d++)?(?:[eE][+-]?\d{1,3})?)\s*+([^\W\d_]++\.?|%)\Z")
_ASKED = re.compile(r"\b(?:how\s++(?:many|much)|number\s++of|in|to\s++the\s++nearest)\s++(?=([^\W\d_]++))", re.IGNORECASE)
_ASKED_ZH = re.compile(r"(?:多少|几)([\u4e00-\u9fff])([\u4e00-\u9fff]?)")
_ASKED_PERCENT = re.compile(r"\b(?:what|which|in|as\s++an?|how\s++many)\s++percent(?:age)?\b|\bpercentage\s++of\b|百分之多少|百分之几", re.IGNORECASE)
_NO_UNITS = frozenset((
    "dozen", "dozens", "hundred", "hundreds", "thousand", "thousands", "million", "millions", "billion", "billions", "half", "halves",
    "a", "all", "an", "and", "any", "are", "as", "at", "by", "each", "exactly", "how", "is", "many", "much", "of", "or", "order", "that", "the",
    "their", "them", "there", "this", "total", "which", "whole",
))
"""Words that multiply, and words that stand before a unit."""
_UNITS_OF_ONE_LETTER = frozenset("ghlms")
"""Any other letter alone is a name: a polynomial in x asks for no x."""
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_ISO_DATE = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})\Z")
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\s++(?:of\s++)?([A-Za-z]{3,9})\.?,?\s++(\d{4})\Z")
_MONTH_FIRST = re.compile(r"([A-Za-z]{3,9})\.?\s++(\d{1,2})(?:st|nd|rd|th)?,?\s++(\d{4})\Z")
_CLOCK = re.compile(r"(1[0-2]|0?[1-9]):([0-5]\d)\s*+([ap])\.?m\.?\Z", re.IGNORECASE)
_CLOCK_24 = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d\Z")
_BOLD = re.compile(r"\*\*(?!\s)([^*]++)(?<!\s)\*\*\Z")
_JOINED = re.compile(r",?\s+and\s+(?=[^,]+\Z)")
_SENTENCE = re.compile(
    r"(yes|no),\s++(?:it|that|they|he|she|there|this|you|we|i)\s++(?:does|do|did|is|are|was|were|can|could|will|would|has|have|must|should)"
    r"(n['’]t|not)?(\s+not)?\.?\Z", re.IGNORECASE,
)
"""`Yes, it does` and `No, they are not`: whether there is a negation must agree with the first word."""
_ASSIGNED = re.compile(r"([A-Za-z]\w{0,15})\s*+=(?!=)\s*+([^\s=,;\[\](){}]++)(?:\s*+[,;]\s*+(?:and\s++)?|\s++and\s++|\Z)")
MAX_FORM = 5000
"""Characters of the longest reply that is read as anything but itself."""


def asked_units(statement: str) -> list[str]:
    """Return the units in which a question asks for its answer, lower case, `%` for per cent: of "How many
    minutes ...?", ["minutes"].

    Words after "how many", "how much", "number of", "in" and "to the nearest", and after 多少 and 几. Words that multiply (dozen, thousand) are none,
    and letters are none but g, h, l, m and s.
    """
    result = [match[1].casefold() for match in _ASKED.finditer(statement)]
    for match in _ASKED_ZH.finditer(statement):
        result += [match[1], match[1] + match[2]]
    if _ASKED_PERCENT.search(statement):
        result += [PERCENT, "percent"]
    else:
        result = [word for word in result if word not in ("percent", "percentage")]
    return sorted({word for word in result if len(word) > 1 or not word.isascii() or word in {*_UNITS_OF_ONE_LETTER, PERCENT}} - _NO_UNITS)


def plainer(content: str, label: Any, units: Sequence[str] = ()) -> Iterator[str]:
    """Yield what is left of a reply's answer as one form after another is undone: bold type, the final full
    stop, `name =`, the unit, the words of a date, an hour of twelve, `and` before a list's last element, a
    mapping's missing braces, `Yes, it does`."""
    if len(content) > MAX_FORM:
        return
    text = cleaned(content)
    if bold := _BOLD.match(text):
        text = bold[1]
        yield text
    if _STOPPED.match(text) or (text.endswith(".") and number(text[:-1]) is not None):
        text = text[:-1].rstrip()
        yield text
    if isinstance(label, list | tuple | dict) and (values := _assignments(text)):
        if isinstance(label, dict):
            yield "{" + ", ".join(f"{name}: {value}" for name, value in values.items()) + "}"
        elif list(values) == sorted(values):
            yield "[" + ", ".join(values.values()) + "]"
        return
    if named := _NAMED.match(text):
        text = text[named.end() :]
        yield text
    if _is_number(label) and (match := _WITH_UNIT.match(text)) and _same_unit(match[2], units):
        yield match[1].rstrip()
    elif _is_number(label) and (joined := ungrouped(text)) is not None:
        yield joined
    elif isinstance(label, bool) or (isinstance(label, str) and label.casefold() in ("yes", "no")):
        if (match := _SENTENCE.match(text)) and (match[1].casefold() == "no") == bool(match[2] or match[3]):
            yield label if isinstance(label, str) and match[1].casefold() == label.casefold() else match[1]
    elif isinstance(label, list | tuple) and len(label) > 1 and text[:1] not in tuple("[({") and (match := _JOINED.search(text)):
        yield f"{text[: match.start()]}, {text[match.end() :]}"
    elif isinstance(label, dict) and ":" in text and not text.startswith("{"):
        yield f"{{{text}}}"
    elif isinstance(label, str) and _CLOCK_24.match(label.strip()) and (match := _CLOCK.match(text)):
        yield f"{int(match[1]) % 12 + 12 * (match[3].casefold() == 'p'):02}:{match[2]}"
    elif isinstance(label, str) and (day := read_date(label)) is not None and read_date(text) == day:
        yield label


def _assignments(text: str) -> dict[str, str]:
    """Names and values of `x = 3, y = -2`, at least two and each name once; {} for anything else."""
    result: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = _ASSIGNED.match(text, at)
        if match is None or match[1] in result:
            return {}
        result[match[1]], at = match[2], match.end()
    return result if len(result) > 1 else {}


def read_date(text: str) -> date | None:
    """Return the day that a text spells: 2024-03-05, 2024/3/5, 5 March 2024, Mar. 5th, 2024. None for
    anything else: 5/3/2024 is two days."""
    text = text.strip()
    if match := _ISO_DATE.match(text):
        year, month, day = int(match[1]), int(match[3]), int(match[4])
    elif match := _DAY_FIRST.match(text):
        year, month, day = int(match[3]), _MONTHS.get(match[2].lower(), 0), int(match[1])
    elif match := _MONTH_FIRST.match(text):
        year, month, day = int(match[3]), _MONTHS.get(match[1].lower(), 0), int(match[2])
    else:
        return None
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _is_number(label: Any) -> bool:
    if isinstance(label, str):
        return number(cleaned(label)) is not None
    return isinstance(label, int | float) and not isinstance(label, bool)


def _same_unit(written: str, units: Sequence[str]) -> bool:
    """Whether a word is one of the units, in the singular or the plural, or short for one (`L` for litres)."""
    word = written.casefold().rstrip(".")
    return any(word == unit or word + "s" == unit or word == unit + "s" for unit in units) or unit_name(written) in map(unit_name, units)
