"""Read a C++ source as its compiler does, in the first phases of translation, so that no rule is evaded by
another spelling of the same program; and what the tokens of a variant's sources add to those of its base:
spellings, compiler switches, assembler, and how much of it is data.

Trigraphs, line splices and digraphs are replaced by what they stand for (`plain_text`, which keeps the
numbers of lines), and the text is cut into tokens by one regular expression, in time linear in its length.
What has no use but to be read otherwise than by a compiler is shown as an oddity, which rules forbid a
variant to add; compilers disagree about some of these.

Additions are counted over the whole tree, so that moving code is free. Unlike the syntax tree, tokens do not
depend on how well a grammar follows the macros.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

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


ASSEMBLER = ("asm", "__asm", "__asm__")
ATTRIBUTES = ("__attribute__", "__attribute", "__declspec", "alignas")
DIRECTIVES = {
    "define",
    "undef",
    "include",
    "if",
    "ifdef",
    "ifndef",
    "elif",
    "else",
    "endif",
    "error",
    "warning",
    "line",
    "pragma",
}
LONGEST_TEXT = 160
BETWEEN = (",", "{", "}", "-", "+", "~")
"""What is between the numbers of one list."""
BITS_OF_A_DIGIT = math.log2(10)
_RESERVED = re.compile(r"__\w+|_[A-Z]\w*")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|[uU][0-9a-fA-F]+)")
_INTEGER = re.compile(r"0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*")
Key = tuple[str, str]


def lexical_additions(
    variant: Mapping[str, bytes], base: Mapping[str, bytes]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return (facts, data) that the sources `variant` add to `base`; both map a path to bytes and may hold
    changed files only.

    facts: rows of kind, name, file, line, count. Kinds: spelling, assembler, attribute, directive, pragma,
    reserved. data: string_bytes, escapes (numeric ones in strings), number_bits, tokens: sums over all that
    is added; longest_string (adjacent literals are one), longest_run (of a string's characters without white
    space), longest_word (a name or a number), longest_list (of literals, one after another): the largest
    single thing that is added.
    """
    places: dict[Key, tuple[str, int]] = {}
    facts = _facts_of(variant, places) - _facts_of(base, {})
    rows = [
        {
            "kind": kind,
            "name": name,
            "file": places[kind, name][0],
            "line": places[kind, name][1],
            "count": count,
        }
        for (kind, name), count in sorted(facts.items())
    ]
    return rows, _data(_words(variant), _words(base))


def _facts_of(tree: Mapping[str, bytes], places: dict[Key, tuple[str, int]]) -> Counter[Key]:
    result: Counter[Key] = Counter()
    for path, source in sorted(tree.items()):
        tokens, odd, _ = read_tokens(source)
        for (what, example), count in odd.items():
            result["spelling", f"{what}: {example}"] += count
            places.setdefault(("spelling", f"{what}: {example}"), (path, 0))
        for kind, name, line in _facts(tokens):
            key = (kind, name[:LONGEST_TEXT])
            result[key] += 1
            places.setdefault(key, (path, line))
    return result


def _facts(tokens: tuple[Token, ...]) -> Iterator[tuple[str, str, int]]:
    for place, token in enumerate(tokens):
        if token.text == "#" and token.starts:
            yield from _directive(tokens, place)
        elif token.text == "[[":
            yield from (("attribute", word, token.line) for word in _inside(tokens, place, "[[", "]"))
        elif token.kind != "word":
            continue
        elif token.text in ASSEMBLER:
            yield "assembler", token.text, token.line
        elif token.text == "_Pragma":
            yield "pragma", " ".join(item.text for item in tokens[place : place + 4]), token.line
        elif token.text in ATTRIBUTES:
            opened = place + 1 < len(tokens) and tokens[place + 1].text == "("
            words = _inside(tokens, place + 1, "(", ")") if opened else ["of a macro"]
            yield from (("attribute", word, token.line) for word in words if token.text != "alignas")
        elif _RESERVED.fullmatch(token.text):
            yield "reserved", token.text, token.line


def _directive(tokens: tuple[Token, ...], place: int) -> Iterator[tuple[str, str, int]]:
    line = tokens[place].line
    words = []
    for token in tokens[place + 1 : place + 13]:
        if token.line != line:
            break
        words.append(token.text)
    if words and words[0] == "pragma":
        yield "pragma", " ".join(words[1:]), line
    elif words and words[0] not in DIRECTIVES:
        yield "directive", words[0], line


def _inside(tokens: tuple[Token, ...], place: int, opening: str, closing: str) -> list[str]:
    """Return the names of an attribute list: its words, arguments apart ("section" of `section(".text")`)."""
    result, depth = [], 0
    for token in tokens[place : place + 200]:
        depth += token.text in (opening, "(") or (opening == "[[" and token.text == "[")
        depth -= token.text in (closing, ")")
        if token.kind == "word" and depth <= 2:
            result.append(token.text.strip("_") or token.text)
        if depth <= 0:
            break
    return result


def _words(tree: Mapping[str, bytes]) -> dict[str, Counter[str]]:
    """Tokens by kind; neighbouring string literals are one. Of kind "list": numbers and characters with
    nothing but commas and the like between."""
    result: dict[str, Counter[str]] = {
        kind: Counter() for kind in ("string", "number", "character", "word", "mark", "list")
    }
    for source in tree.values():
        parts: list[str] = []
        result["list"].update(_lists(read_tokens(source)[0]))
        for token in read_tokens(source)[0]:
            if token.kind == "string":
                parts.append(token.text)
                continue
            if parts:
                result["string"]["".join(_bare(part) for part in parts)] += 1
                parts = []
            result[token.kind][token.text] += 1
        if parts:
            result["string"]["".join(_bare(part) for part in parts)] += 1
    return result


def _lists(tokens: tuple[Token, ...]) -> Iterator[str]:
    """Every list of two or more literals, wherever its braces are: a header that is included between them has
    none."""
    run: list[str] = []
    for token in tokens:
        if token.kind in ("number", "character"):
            run.append(token.text)
        elif token.text not in BETWEEN:
            if len(run) > 1:
                yield " ".join(run)
            run = []
    if len(run) > 1:
        yield " ".join(run)


def _data(ours: dict[str, Counter[str]], theirs: dict[str, Counter[str]]) -> dict[str, Any]:
    added = {kind: ours[kind] - theirs[kind] for kind in ours}
    strings = added["string"]
    runs = (part for text in strings for part in re.split(r"(?:\s|\\[nrt])+", text))
    return {
        "string_bytes": sum(len(text) * count for text, count in strings.items()),
        "escapes": sum(len(_ESCAPE.findall(text)) * count for text, count in strings.items()),
        "number_bits": round(sum(_bits(text) * count for text, count in added["number"].items()))
        + sum(8 * (len(text) - 2) * count for text, count in added["character"].items()),
        "longest_list": max((text.count(" ") + 1 for text in added["list"]), default=0),
        "tokens": sum(sum(result.values()) for kind, result in added.items() if kind != "list"),
        "longest_string": _longest(strings),
        "longest_run": _longest(runs),
        "longest_word": _longest([*added["word"], *added["number"]]),
    }


def _bare(literal: str) -> str:
    """Return what is between the quotes."""
    return literal.partition('"')[2].removesuffix('"')


def _bits(number: str) -> float:
    """Return how much a number literal can hold: of a whole number the bits of its value, of any other those
    of its digits."""
    if match := _INTEGER.fullmatch(number.rstrip("uUlLzZ")):
        digits = match[0].replace("'", "")
        octal = digits.startswith("0") and digits.isdigit() and len(digits) > 1
        if len(digits) <= 40 and not octal:
            return int(digits, 0).bit_length()
    return BITS_OF_A_DIGIT * sum(character.isalnum() for character in number)


def _longest(texts: Iterable[str]) -> int:
    return max((len(text) for text in texts), default=0)
