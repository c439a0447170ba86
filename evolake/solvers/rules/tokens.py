"""A C++ source as its compiler reads it: the first phases of translation, so that no rule is evaded by
another spelling of the same program.

Trigraphs, line splices and digraphs are replaced by what they stand for (`plain_text`, which keeps the
numbers of lines), and the text is cut into tokens by one regular expression, in time linear in its length.
What has no use but to be read otherwise than by a compiler is shown as an oddity: rules forbid a variant to
add any. Compilers disagree about some of these by their language standard, which is one more reason to refuse
them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

TRIGRAPHS = {"=": "#", "/": "\\", "'": "^", "(": "[", ")": "]", "!": "|", "<": "{", ">": "}", "-": "~"}
DIGRAPHS = {"%:%:": "##", "%:": "#", "<:": "[", ":>": "]", "<%": "{", "%>": "}"}
LONGEST_CHARACTER = 12
"""Of a character literal, quotes included; a longer one is an oddity."""
_TRIGRAPH = re.compile(r"\?\?([=/'()!<>-])")
_SPLICE = re.compile(r"\\[ \t\v\f]*(?:\r\n|\r|\n)")
_CONTROLS = re.compile("\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xa9])|\xef\xbb\xbf(?!\\A)")
"""Characters that are not seen or that turn the text around, in UTF-8 read as Latin-1."""
_PLAIN_RAW = re.compile(r'R"\((?:(?!//|/\*|\n[ \t]*\#|\?\?)[^"\\])*\)"')
"""A raw string that ends where a reader who knows none lets it end. Raw strings keep splices and trigraphs,
so this holds in sources without any."""
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\(.*?(?:\)(?P=mark)"|\Z))
    |(?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*(?:"|(?=\n)|\Z))
    |(?P<character>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*(?:'|(?=\n)|\Z))
    |(?P<number>\.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z_]|[0-9A-Za-z_.])*)
    |(?P<word>(?:[A-Za-z_$\x80-\xff]|\\[uUN])(?:[\w$\x80-\xff]|\\[uUN]|(?<=\\[uN])\{[^}\n]*\})*)
    |(?P<newline>\n)|(?P<space>[ \t\v\f\r]+)
    |(?P<digraph>%:%:|<::(?![:>])|<:|:>|<%|%>|%:)
    |(?P<mark_>\#\#|\[\[|::|.)""",
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """kind: word, number, string, character or mark. line: from 1. starts: whether it is the first of its
    line."""

    kind: str
    text: str
    line: int
    starts: bool


@lru_cache(maxsize=256)
def read_tokens(source: bytes) -> tuple[tuple[Token, ...], Counter[tuple[str, str]], str]:
    """Return (tokens, oddities, plain text) of one file.

    oddities: how often each (what it is, an example) is there. The plain text is the source without splices,
    trigraphs and digraphs.
    """
    odd: Counter[tuple[str, str]] = Counter()
    written = source.decode("latin-1")
    text = _joined(_TRIGRAPH.sub(lambda result: TRIGRAPHS[result[1]], written))
    if (match := _TRIGRAPH.search(written)) and _code(text) != _code(_joined(written)):
        odd["a trigraph", match[0]] += 1
    for match in _CONTROLS.finditer(text):
        odd["a character that is not seen", match[0].encode("latin-1").decode("utf-8", "replace")] += 1
    tokens: list[Token] = []
    plain: list[str] = []
    line, starts = 1, True
    kept = "??" not in written and not _SPLICE.search(written)
    for kind, part in _parts(text):
        summary = part
        if kind == "digraph":
            if part.startswith("<::"):  # a template's argument that begins with ::
                plain.append(part)
                tokens += [Token("mark", "<", line, starts), Token("mark", "::", line, False)]
                starts = False
                continue
            summary = DIGRAPHS[part]
            odd["a digraph", part] += 1
        if oddity := "" if kept and _PLAIN_RAW.fullmatch(part) else _oddity(kind, part):
            odd[oddity, part[:40]] += 1
        if kind in ("word", "number", "string", "raw", "character", "digraph", "mark_"):
            tokens.append(
                Token(
                    {"digraph": "mark", "mark_": "mark", "raw": "string"}.get(kind, kind),
                    summary,
                    line,
                    starts,
                )
            )
            starts = False
        plain.append(summary)
        if newlines := part.count("\n"):
            line += newlines
            starts = True if kind == "newline" else starts
    return tuple(tokens), odd, "".join(plain)


def plain_text(source: bytes) -> bytes:
    """Return the source as it is after the first phases of translation, line by line where it was."""
    return read_tokens(source)[2].encode("latin-1")


def nesting(source: bytes) -> int:
    """Return the most brackets that are open at one place."""
    deepest = depth = 0
    for token in read_tokens(source)[0]:
        if token.kind == "mark":
            depth += 2 if token.text == "[[" else token.text in ("(", "[", "{")
            depth = max(0, depth - (token.text in (")", "]", "}")))
            deepest = max(deepest, depth)
    return deepest


def _parts(text: str) -> Iterator[tuple[str, str]]:
    for match in _TOKEN.finditer(text):
        yield str(match.lastgroup if match.lastgroup != "mark" else "raw"), match[0]


def _code(text: str) -> list[str]:
    """Return the parts of a text that are neither comments nor white space."""
    return [part for kind, part in _parts(text) if kind not in ("comment", "newline", "space")]


def _joined(text: str) -> str:
    """Return the text without splices; lines that a splice took away are put back after the line that they
    belong to."""
    if not _SPLICE.search(text):
        return text
    lines, owed = [], 0
    for part in re.split(r"(\\[ \t\v\f]*(?:\r\n|\r|\n)|\n)", text):
        if part == "\n":
            lines.append("\n" * (1 + owed))
            owed = 0
        elif part.startswith("\\") and _SPLICE.fullmatch(part):
            owed += 1
        else:
            lines.append(part)
    return "".join(lines) + "\n" * owed


def _oddity(kind: str, part: str) -> str:
    if kind == "raw":
        return "a raw string"
    if kind == "word" and "\\" in part:
        return "a universal character name"
    if kind == "word" and not part.isascii():
        return "a name beyond ASCII"
    if kind == "number" and "'" in part:
        return "a digit separator"
    if kind == "character" and len(part) > LONGEST_CHARACTER:
        return "a long character literal"
    return (
        "an unclosed literal"
        if kind in ("string", "character") and (len(part) < 2 or part[-1] not in "\"'")
        else ""
    )
