"""From what somebody wrote to a value: the last \\boxed{...}, LaTeX wrapping, numbers, lists and mappings.

Nothing here evaluates text. Every step is one pass over it with possessive patterns or a scanner that never goes back, so a hostile answer of
hundreds of kilobytes costs time in proportion to its length. Standard library only: the exported reward function carries this file along.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from typing import Any

MAX_DEPTH = 60
MAX_NUMBER = 4300
"""Characters of the longest number; anything longer is a string. Python itself refuses to convert more digits than this."""

_BOX = re.compile(r"\\boxed\s*+\{|\\[{}\\]|[{}]")
_THOUGHT = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_COLOUR = re.compile(r"\\(?:text)?color\s*+\{[A-Za-z0-9!.]{1,30}\}\s*+(?:\{([^{}\\]*+)\})?")
_WRAPPERS = re.compile(r"\\(?:text|textbf|textrm|texttt|mathrm|mathbf|mathit|operatorname)\s*+\{([^{}\\]*+)\}")
_FRACTION = re.compile(r"\\[dt]?frac\s*+\{\s*+([+-]?\d[\d,]*+)\s*+\}\s*+\{\s*+([+-]?\d[\d,]*+)\s*+\}")
_SHORT_FRACTION = re.compile(r"\\[dt]?frac\s?(\d)\s?(\d)(?!\d)")
_BEFORE_FRACTION = re.compile(r"(?<=\d)(?:\\[,;!: ]|\s)*+(?=\\[dt]?frac)")
_POWER_OF_TEN = re.compile(r"(?<=[\d.])\s*+(?:\\times|\\cdot|[×·*]|(?<=\s)x(?=\s))\s*+10\s*+\^\s*+(?:\{\s*+([+-]?\d{1,3})\s*+\}|([+-]?\d{1,3})(?!\d))")
_RAISED = re.compile("(?<=10)[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]++")
_VULGAR = re.compile("(\\d?)\\s*+([¼-¾⅐-⅞])")
_NOISE = re.compile(r"\\(?:left|right|displaystyle|big|Big)(?![A-Za-z])|\\[,;!: ()]|\$")
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_CHARACTERS = str.maketrans({
    **_FULL_WIDTH, "−": "-", "–": "-", "【": "[", "】": "]", "“": '"', "”": '"', "\u00a0": " ", "\u3000": " ", "⁄": "/", "∕": "/",
})
_INTEGER = re.compile(r"([+-]?)\s?(0|[1-9]\d*+)\Z")
_GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})++(?![\d,])")
_MIXED = re.compile(r"([+-]?)([1-9]\d*+)\s([1-9]\d*+)/([1-9]\d*+)\Z")
_RATIONAL = re.compile(r"([+-]?(?:0|[1-9]\d*+))\s*+/\s*+([1-9]\d*+)\Z")
_DECIMAL = re.compile(r"[+-]?(?:(?:0|[1-9]\d*+)(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d{1,3})?\Z")
_CLOSERS = {"[": "]", "(": ")", "{": "}"}


def final_part(reply: str) -> str:
    """Return the reply after its last thinking tag; "" if the last one opens, for then nothing but thinking
    is there. A reply without tags as it is."""
    tags = list(_THOUGHT.finditer(reply))
    if not tags:
        return reply
    if tags[-1][1]:
        return reply[tags[-1].end() :]
    return ""


def extract_boxed(text: str) -> str | None:
    """Return what stands in the last complete, outermost \\boxed{...} outside of thinking tags; None where
    there is none. Braces are balanced; `\\{` and `\\}` do not count.
    """
    text = final_part(text)
    open_braces: list[int | None] = []  # for each open brace, where a box's content starts, None for another brace
    result: tuple[int, int] | None = None
    for match in _BOX.finditer(text):
        token = match[0]
        if token.startswith("\\boxed"):
            open_braces.append(match.end())
        elif token == "{":
            open_braces.append(None)
        elif token == "}" and open_braces:
            start = open_braces.pop()
            if start is not None:
                result = (start, match.start())  # boxes close from the inside out, so an outer one replaces what it holds
    return None if result is None else text[result[0] : result[1]]


def cleaned(text: str) -> str:
    """Return the text without surrounding blanks, one pair of quotes, and the wrapping that LaTeX and
    full-width typing put around values."""
    if not text.isascii():
        text = _RAISED.sub(lambda match: "^" + unicodedata.normalize("NFKC", match[0]).replace("−", "-"), text)
        text = _VULGAR.sub(lambda match: f"{match[1]} {unicodedata.normalize('NFKC', match[2])}", text)
    if "^" in text:
        text = _POWER_OF_TEN.sub(lambda match: f"e{match[1] or match[2]}", text)
    text = text.replace("{,}", ",")
    if "\\" in text or "$" in text:
        text = _BEFORE_FRACTION.sub(" ", text)
        text = _FRACTION.sub(r"\1/\2", text)
        text = _SHORT_FRACTION.sub(r"\1/\2", text)
        text = _COLOUR.sub(lambda match: match[1] or "", _WRAPPERS.sub(r"\1", text))
        text = _NOISE.sub("", text).replace("\\{", "{").replace("\\}", "}").replace("\\[", "").replace("\\]", "")
        text = text.replace("\\%", "%").replace("\\_", "_").replace("\\#", "#").replace("\\&", "&")
    text = text.translate(_CHARACTERS).strip()
    if len(text) >= 2 and text[0] in "\"'" and text[-1] == text[0] and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text


def number(text: str) -> tuple[Fraction, bool] | None:
    """(value, whether it is exact) of a cleaned text that is a number, else None. Decimals with a fractional part are not exact.

    Integers (without leading zeros: "007" is a code, not a number), thousands grouped by commas, a/b, mixed numbers (1 1/2), decimals, exponents
    up to three digits.
    """
    if not text or len(text) > MAX_NUMBER or text[0] not in "+-.0123456789":
        return None
    if "," in text:
        text = _GROUPED.sub(lambda match: match[0].replace(",", ""), text)
    if match := _INTEGER.match(text):
        return Fraction(int(match[1] + match[2])), True
    if match := _RATIONAL.match(text):
        return Fraction(int(match[1]), int(match[2])), True
    if match := _MIXED.match(text):
        whole, over, under = int(match[2]), int(match[3]), int(match[4])
        return (Fraction(whole * under + over, under) * (-1 if match[1] == "-" else 1), True) if over < under else None
    if _DECIMAL.match(text):
        value = Fraction(text[:-1] if text.endswith(".") else text.replace(".e", "e").replace(".E", "E"))
        return value, value.denominator == 1
    return None


def structure(text: str) -> Any:
    """Return the list or mapping that a cleaned text spells, leaves as strings; None where it is no such
    thing.

    Brackets, parentheses and braces hold elements divided by commas; braces with colons hold a mapping; (x) without a comma is x itself.
    """
    return _Scanner(text).run() if text[:1] in _CLOSERS else None


class _Frame:
    """An open bracket and what it holds so far."""

    __slots__ = ("closer", "comma", "items", "keys", "ready")

    def __init__(self, opener: str):
        self.closer = _CLOSERS[opener]
        self.items: list[Any] = []
        self.keys: list[str] = []
        self.comma = False
        self.ready = True  # an element may begin


class _Scanner:
    """One pass over the text with a stack of its own: Python's call stack does not grow with the nesting."""

    def __init__(self, text: str):
        self.text = text
        self.at = 0
        self.spent: set[str] = set()  # quotes that do not occur any further

    def run(self) -> Any:
        stack: list[_Frame] = []
        text, end = self.text, len(self.text)
        while self.at < end:
            character = text[self.at]
            if character.isspace():
                self.at += 1
            elif character in "[({":
                if len(stack) >= MAX_DEPTH or (stack and not stack[-1].ready):
                    return None
                stack.append(_Frame(character))
                self.at += 1
            elif not stack:
                return None
            elif character in "])}":
                done = self._close(stack.pop(), character)
                self.at += 1
                if done is None:
                    return None
                if not stack:
                    return done[0] if not text[self.at :].strip() else None
                stack[-1].items.append(done[0])
                stack[-1].ready = False
            elif character == ",":
                if stack[-1].ready:
                    return None
                stack[-1].ready = stack[-1].comma = True
                self.at += 1
            elif character == ":" and stack[-1].closer == "}":
                if not self._key(stack[-1]):
                    return None
                self.at += 1
            else:
                if not stack[-1].ready:
                    return None
                stack[-1].items.append(self._leaf(stack[-1].closer == "}"))
                stack[-1].ready = False
        return None

    def _key(self, frame: _Frame) -> bool:
        """Return whether the element just read was a key."""
        if frame.ready or not frame.items or not isinstance(frame.items[-1], str) or len(frame.keys) != len(frame.items) - 1:
            return False
        frame.keys.append(frame.items.pop())
        frame.ready = True
        return True

    def _close(self, frame: _Frame, character: str) -> tuple[Any] | None:
        """Return (what the frame holds,), or None for a wrong bracket or a dangling key."""
        if character != frame.closer:
            return None
        if frame.closer == "}" and (frame.keys or not frame.items):
            if len(frame.keys) != len(frame.items) or len(set(frame.keys)) != len(frame.keys):
                return None
            return (dict(zip(frame.keys, frame.items, strict=True)),)
        if frame.keys:
            return None
        if frame.closer == ")" and len(frame.items) == 1 and not frame.comma:
            return (frame.items[0],)
        return (frame.items,)

    def _leaf(self, colon_ends: bool) -> str:
        """Return a quoted or bare element, from here to the next mark."""
        text, start = self.text, self.at
        quote = text[start]
        if quote in "\"'" and quote not in self.spent:
            close = start + 1
            while (close := text.find(quote, close)) != -1 and text[close - 1] == "\\":
                close += 1
            if close != -1:
                self.at = close + 1
                return text[start + 1 : close].replace("\\" + quote, quote)
            self.spent.add(quote)
        match = (_BARE_KEY if colon_ends else _BARE).match(text, start)
        self.at = match.end() if match else start + 1
        return text[start : self.at].strip()


_BARE = re.compile(r"[^\[\](){},]++")
_BARE_KEY = re.compile(r"[^\[\](){},:]++")
