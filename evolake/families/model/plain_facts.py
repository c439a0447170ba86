"""Parts of a statement that hold numbers which no code has to have: Markdown tables, dates, turns in degrees,
and how many items a list has.

They are blanked out, as long as before, so that places in the text stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATES = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b(?:,? \d{{4}}\b)?"
    rf"|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?|\b\d{{4}}-\d{{2}}-\d{{2}}\b"
)
_TURNS = re.compile(
    r"(?<![\w.-])(?:45|90|180|270|360)(?:°| degrees?\b(?! (?:Celsius|Fahrenheit|centigrade|C\b|F\b))|"
    r"-degree\b)",
    re.IGNORECASE,
)
_DIGITS = re.compile(
    r"\bdigits? (?:above|over|beyond|greater than|larger than|up to) (?:9|nine)\b", re.IGNORECASE
)
_TABLE = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\Z")
_ITEM = re.compile(r"\s*(?:[-*•]|\(?(?:\d{1,3}|[a-z])[.)])\s+\S")
_SPLIT = re.compile(r",\s*(?:and|or)\s+|,\s+|;\s+|\s+(?:and|or)\s+")
_COUNTED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ANNOUNCED = re.compile(
    rf"\b(?P<count>{'|'.join(_COUNTED)}|[2-9]|1[0-2])\s+(?:[\w-]+\s+){{0,2}}?(?:kinds?|types?|sorts?|"
    r"values|forms|classes|categories|states|colours|colors|"
    r"cases|actions|moves|commands|directions|letters|symbols|signs|marks|rules|things|ways|options|"
    r"operations|brackets|pairs)\b(?P<between>[^.:!?\n]*):(?P<items>[^.!?:]*)",
    re.IGNORECASE,
)
LONGEST_LINE = 300


def without_plain_facts(sentence: str, following: Sequence[str] = ()) -> str:
    """Return the sentence with dates, turns and counts of lists blanked out. following: the lines after it,
    whose items a count may announce."""
    for expression in (_DATES, _TURNS, _DIGITS):
        sentence = expression.sub(lambda match: " " * len(match[0]), sentence)
    for match in _ANNOUNCED.finditer(sentence):
        said = match["count"].casefold()
        count = _COUNTED.index(said) + 2 if said in _COUNTED else int(said)
        if listed(match["items"], following) == count:
            start, end = match.span("count")
            sentence = sentence[:start] + " " * (end - start) + sentence[end:]
    return sentence


def listed(items: str, following: Sequence[str]) -> int:
    """Return how many items a list has that begins after a colon: on the line itself, or as the lines of a
    list right after it."""
    if items.strip(" `*_"):
        return len([item for item in _SPLIT.split(items.split(" which ")[0].strip()) if item.strip()])
    count = 0
    for line in following:
        if _ITEM.match(line):
            count += 1
        elif line.strip() or count:
            break
    return count


def without_tables(text: str) -> list[str]:
    """Return the lines but those of Markdown tables: a line of dashes between bars, the head before it, and
    the rows after it with as many bars."""
    lines, kept, at = text.split("\n"), list[str](), 0
    while at < len(lines):
        bare = lines[at][:LONGEST_LINE].strip()
        if kept and _TABLE.match(bare) and kept[-1].count("|") == bare.count("|"):
            kept.pop()
            while at < len(lines) and lines[at].count("|") == bare.count("|"):
                at += 1
        else:
            kept.append(lines[at])
            at += 1
    return kept
