"""The last number of a text with all that belongs to it, so that it says there what it says in a box.

A sign, a power, a fraction, what it is reckoned with, a relation, a list, brackets, a unit: `1 1/2` is no 2, `2^10` no 10, `x <= 20` no 20, and of
`20 hours` the hours are read too. What follows `=` stands for itself: of `3 + 4 = 7` the 7 is read. A text is cut into tokens once, and no more than
`LONGEST` on either side of its last number are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from evolake.answers.forms import PROSE, plainer
from evolake.answers.units import LONGEST_UNIT, leading_unit

_TOKEN = re.compile(
    r"(?P<number>(?:\d{1,3}(?:,\d{3}){1,40}+(?!\d)|\d++)(?:\.\d++)?(?:[eE][+-]?\d{1,3}(?![^\W_]))?|(?<![\w.])\.\d++)"
    r"|(?P<word>[^\W\d_]++(?:['’][^\W\d_]++)*+)"
    r"|(?P<end>\n|[-=]{1,3}>|→|\\(?:to|implies|quad|qquad|therefore|[Rr]ightarrow|Longrightarrow)(?![A-Za-z]))"
    r"|(?P<times>\\(?:times|cdot|div)(?![A-Za-z])|\*\*|[*/^×·÷⋅∙•⁄∕])|(?P<sign>[-+±∓])"
    r"|(?P<relation>[<>!=]=|[<>≤≥≠≈~⩽⩾≦≧≡√∛]|\\[A-Za-z]++)|(?P<equals>=)"
    r"|(?P<open>[\[({])|(?P<close>[\])}])|(?P<comma>,)|(?P<colon>:)|(?P<symbol>[%°€£¥₹‰])|(?P<space>[^\S\n]++)|(?P<other>.)"
)
_RECKONING = frozenset(("number", "comma", "space", "times", "sign", "open", "close"))
_ORDINAL = frozenset(("st", "nd", "rd", "th"))
_MULTIPLYING = frozenset((
    "billion", "cubic", "divided", "dozen", "double", "half", "hundred", "kilo", "light", "million", "minus", "pairs", "per", "plus", "quarter",
    "square", "thousand", "times", "trillion",
))
"""Words that make of the unit after them another one."""
_QUANTITIES = frozenset(("mean", "total"))
"""Words of prose that can be reckoned with before an operator."""
_NAMES_OF_ANSWERS = frozenset(("answer", "result", "solution"))
"""Words after which a dash between blanks is no minus."""
_ORNAMENTS = frozenset((
    "\\Box", "\\because", "\\blacksquare", "\\checkmark", "\\dots", "\\end", "\\ldots", "\\newline", "\\qed", "\\square",
))
"""Commands that make of a number no other one."""
_BARE = re.compile(r"([+-]?) ?\(([^()\[\]{},]+)\)\Z")
_PROSE_ZH = frozenset("是的和在有为了就也都")
_PARTS = re.compile(r"and {1,3}(?:(?:an?|one|two|three|\d{1,3}) {1,3})?(?:half|halves|thirds?|quarters?|fourths?|fifths?)\b", re.IGNORECASE)


LONGEST = 400
"""Tokens of the longest expression, to the left and to the right."""


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def last_number(text: str, units: Collection[str] = ()) -> tuple[int, int] | None:
    """(start, end) of the last number with all that belongs to it; None where there is no number. units: those that are asked for, lower case."""
    tokens, last = _near_last(text)
    if last is None:
        return None
    start, end = _start(tokens, last, lists=False), _unit(text, tokens, last, units)
    if end == last:
        first, end = _brackets(tokens, start, last)
        start = _start(tokens, first, lists=False) if first < start else start
        end = _reckoned_on(tokens, end)
    start = _quoted(tokens, start)
    return tokens[start].start, tokens[end].end


def without_brackets(text: str) -> str:
    """Return a number in brackets, its sign before them, without them: -5 for `-(5)`; any other text as it
    is."""
    match = _BARE.match(text)
    return match[1] + match[2].strip() if match and match[2].strip()[:1].isdigit() else text


def _quoted(tokens: list[_Token], start: int) -> int:
    """Where a list of quoted numbers begins to be one (`"1", "2"`); `start` where there is no other before it."""
    if not start or tokens[start - 1].text not in ('"', "'"):
        return start
    comma = _before(tokens, start - 1)
    return comma if comma > 0 and tokens[comma].kind == "comma" and tokens[_before(tokens, comma)].text == tokens[start - 1].text else start


def last_numbers(text: str) -> tuple[int, int] | None:
    """(start, end) of the last number with all numbers before it that commas divide; None where there is no number."""
    tokens, last = _near_last(text)
    return None if last is None else (tokens[_start(tokens, last, lists=True)].start, tokens[last].end)


def _near_last(text: str) -> tuple[list[_Token], int | None]:
    """Return the tokens around the last number, and its place among them; None where there is no number."""
    tokens = [_Token(str(match.lastgroup), match[0], match.start(), match.end()) for match in _TOKEN.finditer(text)]
    last = _last(tokens)
    if last is None:
        return [], None
    numbers = [place for place in range(max(0, last - LONGEST_UNIT), last) if tokens[place].kind == "number"]
    while numbers and tokens[last].end <= _unit_end(text, tokens[numbers[-1]].end):  # the power of a unit: m^2
        last = numbers.pop()
    first = max(0, last - LONGEST)
    return tokens[first : last + LONGEST], last - first


def _last(tokens: list[_Token]) -> int | None:
    """Return the place of the last number that is no part of a name (`x7`, `a.7`) and no ordinal (`7th`)."""
    for place in range(len(tokens) - 1, -1, -1):
        if tokens[place].kind != "number" or (place + 1 < len(tokens) and tokens[place + 1].text.lower() in _ORDINAL):
            continue
        before, further = (tokens[place - back] if place >= back else None for back in (1, 2))
        if before is not None and before.kind == "word" and before.text.isascii():
            if not (_times(before) and further is not None and further.kind == "number"):
                continue
        elif before is not None and (before.text == "_" or (before.text == "." and further is not None and further.kind in ("number", "word"))):
            continue
        return place
    return None


def _times(item: _Token) -> bool:
    return item.kind == "times" or item.text in ("x", "X")


def _before(tokens: list[_Token], place: int) -> int:
    """Return the place before this one that is no blank; -1 where there is none."""
    place -= 1
    return place - 1 if place >= 0 and tokens[place].kind == "space" else place


def _operand(tokens: list[_Token], place: int, by: int) -> bool:
    """Whether something to reckon with ends at `place`, before the operator at `by`: a number, a name, a bracket, a sign such as %."""
    item = tokens[place] if place >= 0 else None
    if item is None or item.kind != "word":
        return item is not None and (item.kind in ("number", "close", "symbol") or _is_command(item))
    if len(item.text) == 1 or not item.text[-1].isalpha():
        return item.text not in _PROSE_ZH
    name, operator = item.text.lower(), tokens[by]
    if name in PROSE - _QUANTITIES or not item.text.isascii() or operator.text == "•":
        return False
    if operator.kind != "sign":
        return operator.text not in ("x", "X")
    if by - place < 2 or by + 1 >= len(tokens) or tokens[by + 1].kind != "space" or name in _NAMES_OF_ANSWERS:
        return False  # a hyphen, or the sign of the number
    before = _before(tokens, place)
    alone = before < 0 or tokens[before].kind in ("end", "equals", "open", "times", "sign")
    return operator.text != "-" or (alone and item.text.islower())


def _is_command(item: _Token) -> bool:
    """Whether it is a name in LaTeX (`\\pi`), and nothing that only changes how a number looks."""
    return item.kind == "relation" and item.text[0] == "\\" and item.text not in _ORNAMENTS


def _start(tokens: list[_Token], last: int, *, lists: bool) -> int:
    """Where the expression begins that ends with the number at `last`.

    lists: numbers between commas are one expression wherever they stand; else only at the start of a line and after `=`, a colon or a bracket, for
    elsewhere a comma divides clauses.
    """
    # alone: where the last number of a list begins
    start, alone = last, None
    while (joined := _joined(tokens, start)) is not None:
        if joined.ends:
            return joined.place
        if joined.listed and alone is None:
            alone = start
        start = joined.place
    before = _before(tokens, start)
    whole = lists or before < 0 or tokens[before].kind in ("end", "equals", "colon", "open")
    return start if whole or alone is None else alone


class _Joined(NamedTuple):
    """An expression with what stands before it.

    place: where it begins. ends: nothing before that place belongs to it. listed: a comma was passed.
    """

    place: int
    ends: bool = False
    listed: bool = False


def _joined(tokens: list[_Token], start: int) -> _Joined | None:
    """Return the expression that begins at `start` together with what stands before it; None if that does not
    belong to it."""
    before = _before(tokens, start)
    if before < 0:
        return None
    token, touches, further = tokens[before], before == start - 1, _before(tokens, before)
    opens = touches and tokens[start].kind == "open"
    # "x <= 20", "\pi 20"; but "\checkmark 20" is 20
    if token.kind == "relation":
        return None if token.text in _ORNAMENTS else _Joined(before, ends=True)
    # "f(20)"
    if opens and token.kind == "word" and token.text.isascii():
        return _Joined(before, ends=True)
    # "3 * 20", "x + 20", "(1 + 2) / 20"
    if (_times(token) or token.kind == "sign") and _operand(tokens, further, before):
        return _Joined(_opening(tokens, further) if tokens[further].kind == "close" else further)
    # "-20"
    if token.kind == "sign" and _is_sign(tokens, before, touches=touches):
        return _Joined(before)
    # "12:30"
    if token.kind == "colon" and touches and further == before - 1 and further >= 0 and tokens[further].kind == "number":
        return _Joined(further)
    # "10, 20"
    if token.kind == "comma" and further >= 0 and tokens[further].kind == "number":
        return _Joined(further, listed=True)
    # "(1 + 2)(20)"
    if opens and token.kind == "close":
        return _Joined(_opening(tokens, before))
    # "1 1/2", "3(20)"
    if token.kind == "number" and (opens or not touches):
        return _Joined(before)
    # "2^{10}": the brace; its power comes next
    if token.kind == "open" and before and tokens[before - 1].text == "^":
        return _Joined(before)
    return None


def _is_sign(tokens: list[_Token], place: int, *, touches: bool) -> bool:
    """Whether a plus or minus with nothing to reckon with before it belongs to the number after it, and is neither hyphen, dash nor bullet."""
    before = _before(tokens, place)
    if touches:
        return not (place and tokens[place - 1].kind == "word")
    return before < 0 or tokens[before].kind in ("equals", "open", "comma")


def _opening(tokens: list[_Token], place: int) -> int:
    """Return the place of the bracket that the one at `place` closes; `place` where there is none."""
    depth = 0
    for at in range(place, -1, -1):
        depth += (tokens[at].kind == "close") - (tokens[at].kind == "open")
        if not depth:
            return at
    return place


def _unit(text: str, tokens: list[_Token], last: int, units: Collection[str]) -> int:
    """Return the place where the number ends: with its word or sign, with the brace of its power, or with
    "and a half". A word before the unit that is asked for (`20 gold coins`) is no unit, unless it
    multiplies."""
    after = last + 1
    if after < len(tokens) and tokens[after].kind == "close" and _is_power(tokens, last):
        return after
    if after < len(tokens) and tokens[after].kind == "space":
        after += 1
    if after >= len(tokens):
        return last
    item = tokens[after]
    if item.text.lower() == "and" and (parts := _PARTS.match(text, item.start)):
        return max(at for at in range(after, min(after + 6, len(tokens))) if tokens[at].end <= parts.end())
    rest = text[tokens[last].end : tokens[last].end + LONGEST_UNIT].casefold()
    gap = len(rest) - len(rest.lstrip())
    named = max((gap + len(unit) for unit in units if re.match(re.escape(unit.casefold()) + r"(?!\w)", rest[gap:])), default=0)
    end = max(_unit_end(text, tokens[last].end), tokens[last].end + named)
    if end > tokens[last].end and (named or item.text.lower() not in PROSE):
        return max(at for at in range(last, len(tokens)) if tokens[at].end <= end)
    counted = item.kind == "word" and item.text.lower() not in PROSE and item.text[0] not in _PROSE_ZH
    if counted and after > last + 1 and len(item.text) > 1 and item.text.lower() not in _MULTIPLYING and not _asked(item, units):
        further = tokens[after + 2] if after + 2 < len(tokens) and tokens[after + 1].kind == "space" else None
        counted = further is None or not _asked(further, units)
    return after if counted or item.kind == "symbol" else last


def _unit_end(text: str, start: int) -> int:
    """Return where the unit ends that the tables know and that begins at `start`; `start` without one."""
    return start + leading_unit(text[start : start + LONGEST_UNIT])[1]


def _asked(item: _Token, units: Collection[str]) -> bool:
    """Whether it is one of the units that are asked for, in the singular or the plural."""
    return item.kind == "word" and "1" in plainer(f"1 {item.text}", 1, tuple(units))


def _reckoned_on(tokens: list[_Token], last: int) -> int:
    """Return the place where what the number is reckoned with after it begins (`10^n`, `10 - x`, `10\\pi`,
    `10_2`, `10 < x`); `last` where nothing is."""
    after = last + 1
    touches = after < len(tokens) and tokens[after].kind != "space"
    after += not touches
    if after >= len(tokens):
        return last
    token, place = tokens[after], after + 1
    if _is_command(token):
        return after
    if place < len(tokens) and tokens[place].kind == "space" and token.text != "_":
        place += 1
    operand = tokens[place] if place < len(tokens) else None
    if operand is None or not (token.kind in ("times", "sign", "relation") or (token.text == "_" and touches)):
        return last
    name = operand.kind == "word" and (len(operand.text) == 1 or token.kind == "times" or token.text == "_") and operand.text.lower() not in PROSE
    return place if name or operand.kind in ("number", "open") or _is_command(operand) else last


def _is_power(tokens: list[_Token], last: int) -> bool:
    """Whether the number is an exponent in braces."""
    first = last - 1 if last and tokens[last - 1].kind == "sign" else last
    return first > 1 and tokens[first - 1].text == "{" and tokens[first - 2].text == "^"


def _brackets(tokens: list[_Token], start: int, last: int) -> tuple[int, int]:
    """Return the expression with the brackets that end right after it, where there are numbers in them and
    nothing else."""
    while last + 1 < len(tokens) and tokens[last + 1].kind == "close":
        opened = _opening(tokens, last + 1)
        if opened > last or any(token.kind not in _RECKONING for token in tokens[opened : last + 2]):
            break
        start, last = min(start, opened), last + 1
    return start, last
