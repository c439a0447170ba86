"""What a reply may write around its answer: `x = 20`, `20 minutes`, `Paris.`, `5 March 2024` for 2024-03-05. docs/answers.md has the whole table.

Forms are undone on the side of the reply alone, one after another and each once; what is left is compared like any other answer, so no form makes
two values equal that differ. A unit counts where the question asks for it, and only before a label that is a number. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from evolake.answers.quantities import money_last, ungrouped
from evolake.answers.reading import cleaned, number
from evolake.answers.units import LONGEST_UNIT, PER_CENT, known_unit, leading_unit, plain_units, unit_name

PERCENT = "%"
_NAMED = re.compile(r"(?:[^\W\d_]\w{0,15}(?:\([A-Za-z]\))?|\((?P<names>[A-Za-z](?:\s*+,\s*+[A-Za-z])++)\))\s*+(?:=(?!=)|\\in(?![A-Za-z])|∈)\s*+")
_STOPPED = re.compile(r"[^.]*[^\W_][\])}]?\.\Z")
_WITH_UNIT = re.compile(r"([+-]?(?:\d{1,3}(?:[ \u2009\u202f]\d{3})++(?!\d)|\d[\d.,/]*+|\.\d++)(?: \d++/\d++)?(?:[eE][+-]?\d{1,3})?)\s*+([^\s\d].*)\Z", re.DOTALL)
_ASKED = re.compile(
    r"\b(?:(?P<counted>how\s++(?:many|much)|(?:number|amount)\s++of)|(?P<rounded>to\s++the\s++nearest)|in(?:\s++units?\s++of)?)(?![^\W_])\s*+",
    re.IGNORECASE,
)
_ASKED_ZH = re.compile(r"(?:多少|几)\s*+(?:([\u4e00-\u9fff]{1,8})|(?=[^\W\d]))")
_ASKED_PERCENT = re.compile(r"\b(?:what|which|in|as\s++an?|how\s++many)\s++percent(?:age)?\b|\bpercentage\s++of\b|百分之多少|百分之几", re.IGNORECASE)
_BEFORE_UNIT = re.compile(
    r"(?:(?:more|fewer|less|additional|extra|other|different|distinct|whole|full|total|unique|possible|remaining)\s++)++", re.IGNORECASE
)
_ROUNDED_TO = re.compile(
    r"(?:(?:whole|full|(?:tenth|hundredth|thousandth|quarter|half)\s++of\s++an?|(?:ten|hundred|thousand|\d[\d.,]*+)(?=\s++[^\W\d_]))\s++)++",
    re.IGNORECASE,
)
"""Words between "how many", or "to the nearest", and the unit."""
_END_OF_ASKING = re.compile(r"[?!;:,，。？！、；：\n]|\.(?=\s|\Z)")
_NOUN = re.compile(r"\s*+([^\W\d_]++(?:['’-][^\W\d_]++)*+)")
_NO_UNITS = frozenset((
    "dozen", "dozens", "hundred", "hundreds", "thousand", "thousands", "million", "millions", "billion", "billions", "half", "halves", "double",
    "a", "all", "an", "and", "any", "are", "as", "at", "by", "each", "exactly", "how", "is", "many", "much", "of", "or", "order", "that", "the",
    "their", "them", "there", "this", "total", "which", "whole", "square", "cubic",
))
"""Words that multiply, and words that stand before a unit."""
_MULTIPLYING_ZH = frozenset("十百千万亿")
_UNITS_OF_ONE_LETTER = frozenset("ghlmsL")
"""Any other letter alone is a name: a polynomial in x asks for no x."""
_NAMED_BY = {
    "A": ("current",), "C": ("charge",), "F": ("capacitance",), "H": ("inductance",), "J": ("energy", "work", "heat"), "K": ("temperature",),
    "N": ("force", "weigh", "thrust", "tension"), "T": ("field",), "V": ("voltage", "potential", "emf"), "W": ("power",),
}
"""Letter -> words of a question that make a unit of it."""
MOST_NOUNS = 3
"""Words of a noun that is counted."""
PROSE = frozenset((
    "a", "about", "above", "after", "again", "agree", "agrees", "all", "also", "altogether", "am", "an", "and", "answers", "appears", "are", "around",
    "as", "at", "away", "back", "be", "because", "become", "becomes", "been", "before", "belong", "belongs", "below", "between", "but", "by", "can",
    "come", "comes", "correct", "correctly", "could", "did", "do", "does", "each", "either", "else", "equal", "equals", "even", "every", "exactly",
    "fit", "fits", "fitting", "follow", "follows", "for", "from", "fulfil", "fulfills", "fulfils", "give", "given", "gives", "go", "goes", "had",
    "happen", "happens", "has", "have", "he", "her", "here", "his", "hold", "holds", "how", "i", "if", "in", "indeed", "instead", "into", "is", "it",
    "its", "just", "left", "less", "look", "looks", "make", "makes", "match", "matches", "may", "me", "mean", "means", "meets", "might", "more",
    "must", "my", "need", "needs", "no", "nor", "not", "now", "obey", "obeys", "occur", "occurs", "of", "off", "on", "only", "or", "our", "out",
    "over", "overall", "please", "reach", "reaches", "remain", "remaining", "remains", "respectively", "right", "satisfies", "satisfy", "satisfying",
    "seem", "seems", "she", "should", "since", "so", "solve", "solves", "stand", "stands", "still", "such", "suffice", "suffices", "suit", "suits",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "think", "this", "those", "though", "thus", "to", "together", "too",
    "total", "under", "until", "up", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with",
    "within", "without", "work", "works", "would", "wrong", "yes", "yet", "you", "your",
))
"""Words after a number that are no unit of it."""
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
_WEEKDAY = re.compile(r"(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?,?\s*+", re.IGNORECASE)
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_CLOCK = re.compile(r"(1[0-2]|0?[1-9])(?:[:.]([0-5]\d)(?::([0-5]\d))?)?\s*+([ap])\.?\s?m\.?\Z", re.IGNORECASE)
_CLOCK_24 = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?\Z")
_NAMED_TIMES = {"noon": (12, 0, 0), "midday": (12, 0, 0), "midnight": (0, 0, 0)}
_MARKED = re.compile(r"(?:\*\*(?!\s)([^*]++)(?<!\s)\*\*|(`{1,3})(?!\s)([^`]++)(?<!\s)\2)\Z")
_OPTION = re.compile(r"(?:(?:option|choice)\s++)?(?:[(\[{]\s*+([A-Za-z])\s*+[)\]}][.:]?|([A-Za-z])\s*+[).:])\s*+(.*)\Z", re.IGNORECASE | re.DOTALL)
_MORE_OPTIONS = re.compile(r"[(\[{]\s*+[A-Za-z]\s*+[)\]}]|\A(?:[A-Za-z]\Z|[A-Z]\b(?!\s[a-z])|and\b|or\b|,|&)|\b(?:and|or)\s++[A-Z]\Z")
"""What after a letter makes it no choice of one: `(A) and (B)`, `A: B`."""
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
    """Return the units in which a question asks for its answer, as it writes them, `%` for per cent: of "How many minutes ...?", ["minutes"].

    They are read whole (km/h, square metres, degrees Celsius) after "how many", "how much", "number of", "in" and "to the nearest", and after 多少 and
    几. A noun that is counted may be given with or without the words before and after it (gold coins, coins). Words that multiply (dozen, thousand)
    are none, and letters are none but g, h, l, m and s, and those of a quantity that the question names (a force in N).
    """
    result: list[str] = []
    rounded: list[str] = []
    for match in _ASKED.finditer(statement):
        tail = plain_units(statement[match.end() : match.end() + LONGEST_UNIT])
        if tail.count("$") > 1 or not re.match(r"\$(?!\d)", tail):
            tail = tail.replace("$", " ")
        tail = _END_OF_ASKING.split((_ROUNDED_TO if match["rounded"] else _BEFORE_UNIT).sub("", tail.strip(), count=1))[0]
        found = _asked_after(tail, counted=bool(match["counted"]), statement=statement)
        (rounded if match["rounded"] else result).extend(found)
    for match in _ASKED_ZH.finditer(statement):
        result += _asked_zh(match[1]) if match[1] else _asked_after(statement[match.end() :][:LONGEST_UNIT], counted=False, statement=statement)
    if not any(map(known_unit, result)):
        result += [unit for unit in rounded if known_unit(unit) != "cent"]
    percent = _ASKED_PERCENT.search(statement) or PERCENT in result
    result = [unit for unit in result if known_unit(unit) != PER_CENT]
    return sorted({*result, *([PERCENT, PER_CENT] if percent else [])})


def _asked_after(tail: str, *, counted: bool, statement: str) -> list[str]:
    """Return the unit that a text begins with, or the noun; in all forms in which a reply may give it."""
    nouns = _nouns(tail)
    first = _NOUN.match(tail)
    if nouns and nouns[0] in _NO_UNITS - {"square", "cubic"}:
        return []
    name, end = ("", 0) if first and first[1].casefold() in PROSE and first[1] not in _NAMED_BY else leading_unit(tail)
    if name:
        unit = tail[:end].strip()
        if len(unit) == 1 and unit.isalpha() and unit.isascii() and unit not in _UNITS_OF_ONE_LETTER:
            named = any(word in statement.casefold() for word in _NAMED_BY.get(unit, ()))
            return [unit] if named else []
        more = _nouns(tail[end:], after_unit=True) if counted and tail[end : end + 1] == " " else []
        daily = re.split(r"\s+an?\s+", unit)[:1]  # "how many hours a day": hours will do
        return [*daily, unit, *(f"{unit} {noun}" for noun in more)]
    if not counted:
        return nouns[:1] if nouns and nouns[0] not in _NO_UNITS and len(nouns[0]) > 1 else []
    last = nouns[-1].split(" of ")[0].split() if nouns else []
    whole = not {"and", "or", "per"}.isdisjoint(last)
    shorter = [] if whole else [" ".join(last[start:stop]) for start in range(1, len(last)) for stop in range(start + 1, len(last) + 1)]
    return [noun for noun in [*nouns, *(part for part in shorter if not known_unit(part))] if noun not in _NO_UNITS and len(noun) > 1]


def _nouns(text: str, *, after_unit: bool = False) -> list[str]:
    """Return what a text counts, in lower case, a word longer each: pairs, pairs of shoes. Of `boys and girls` and `words per minute` only all of it. after_unit: it may
    begin with `of`."""
    taken: list[str] = []
    result: list[str] = []
    at = 0
    while match := _NOUN.match(text, at):
        word, at = match[1].casefold(), match.end()
        if word in ("and", "or") and taken and (after := _NOUN.match(text, at)) and after[1].casefold() not in PROSE:
            return [" ".join([*taken, word, after[1].casefold()])]
        if word == "per" and taken:
            return [" ".join([*taken, word, text[at : at + leading_unit(text[at:])[1]].strip() or "".join(_nouns(text[at:])[:1])])]
        if (word in PROSE and not (word == "of" and (taken or after_unit))) or len(taken) - 2 * ("of" in taken) == MOST_NOUNS:
            break
        taken.append(word)
        if word != "of":
            result.append(" ".join(taken))
    return result


def _asked_zh(run: str) -> list[str]:
    """Return the units that a run of Chinese characters may begin with."""
    starts = [run[:size] for size in range(1, len(run) + 1)]
    whole = next((start for start in reversed(starts) if known_unit(start)), "")
    return [
        start
        for start in starts[: max(len(whole), MOST_NOUNS)]
        if start not in _MULTIPLYING_ZH and (len(start) >= len(whole) or known_unit(start) == known_unit(whole))
    ]


def plainer(content: str, label: Any, units: Sequence[str] = ()) -> Iterator[str]:
    """Yield what is left of a reply's answer as one form after another is undone: bold type and backticks,
    the final full stop, `name =`, the unit, the words of a date, the hours of a time, `and` before a list's
    last element, a mapping's missing braces, `Yes, it does`, the text of a choice after its letter."""
    if len(content) > MAX_FORM:
        return
    text = cleaned(money_last(plain_units(content)) if _is_number(label) else content)
    for _ in range(2):
        if marked := _MARKED.match(text):
            text = marked[1] or marked[3]
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
    named = _NAMED.match(text)
    if named and list(names := (named["names"] or "").replace(" ", "").split(",")) == sorted(names):
        text = text[named.end() :]
        yield text
    if _is_number(label) and (match := _WITH_UNIT.match(text)) and len(match[2]) <= LONGEST_UNIT and _same_unit(match[2], units):
        yield ungrouped(match[1]) or match[1]
    elif _is_number(label) and (joined := ungrouped(text)) is not None:
        yield joined
    elif isinstance(label, bool) or (isinstance(label, str) and label.casefold() in ("yes", "no")):
        if (match := _SENTENCE.match(text)) and (match[1].casefold() == "no") == bool(match[2] or match[3]):
            yield label if isinstance(label, str) and match[1].casefold() == label.casefold() else match[1]
    elif isinstance(label, list | tuple) and len(label) > 1 and text[:1] not in tuple("[({") and (match := _JOINED.search(text)):
        yield f"{text[: match.start()]}, {text[match.end() :]}"
    elif isinstance(label, dict) and ":" in text and not text.startswith("{"):
        yield f"{{{text}}}"
    elif isinstance(label, str) and (meant := read_time(label)) is not None and (said := read_time(text)) is not None:
        yield label if said == meant else f"{said[0]:02}:{said[1]:02}" + (f":{said[2]:02}" if said[2] else "")
    elif isinstance(label, str) and (day := read_date(label)) is not None and (given := read_date(text)) is not None:
        yield label if given == day else given.isoformat()
    elif isinstance(label, str) and len(label) == 1 and label.isalpha() and (match := _OPTION.match(text)) and not _MORE_OPTIONS.search(match[3]):
        yield match[1] or match[2]


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
    """Return the day that a text spells: 2024-03-05, 2024/3/5, 5 March 2024, Mar. 5th, 2024, with or
    without its day of the week. None for anything else: 5/3/2024 is two days."""
    text = text.strip()
    weekday = _WEEKDAY.match(text)
    text = text[weekday.end() :] if weekday else text
    if match := _ISO_DATE.match(text):
        year, month, day = int(match[1]), int(match[3]), int(match[4])
    elif match := _DAY_FIRST.match(text):
        year, month, day = int(match[3]), _MONTHS.get(match[2].lower(), 0), int(match[1])
    elif match := _MONTH_FIRST.match(text):
        year, month, day = int(match[3]), _MONTHS.get(match[1].lower(), 0), int(match[2])
    else:
        return None
    try:
        result = date(year, month, day)
    except ValueError:
        return None
    return result if weekday is None or weekday[1][:3].casefold() == _WEEKDAYS[result.weekday()] else None


def read_time(text: str) -> tuple[int, int, int] | None:
    """Return the hour, of 24, the minute and the second that a text spells: 14:05, 2:05 pm, 2 p.m., noon. None for anything else."""
    text = text.strip()
    if match := _CLOCK_24.match(text):
        return int(match[1]), int(match[2]), int(match[3] or 0)
    if match := _CLOCK.match(text):
        return int(match[1]) % 12 + 12 * (match[4].casefold() == "p"), int(match[2] or 0), int(match[3] or 0)
    return _NAMED_TIMES.get(text.casefold())


def _is_number(label: Any) -> bool:
    if isinstance(label, str):
        return number(cleaned(label)) is not None
    return isinstance(label, int | float) and not isinstance(label, bool)


def _same_unit(written: str, units: Sequence[str]) -> bool:
    """Whether a unit is one of those, in any of its spellings; in capitals, too; C and F are degrees where these are asked for."""
    names = set(map(unit_name, units))
    spelled = [written, *([written.casefold()] if written.isupper() and len(written) > 1 else []), *(["°" + written] if written.strip(" .") in ("C", "F") else [])]
    return any(unit_name(item) in names for item in spelled)
