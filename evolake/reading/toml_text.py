"""Parse TOML from outside: bounded in length, depth, parts of keys and digits before anything is built of it.

The standard parser recurses once per bracket, takes a time that grows with the square of a dotted key's
parts, and refuses numbers of more than 4,300 digits with an error of another type.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from evolake.reading.errors import Unparsable

MAX_CHARACTERS = 4 << 20
MAX_DEPTH = 50
MAX_PARTS = 20
"""Parts of one dotted key, or of a table's name."""
MAX_DIGITS = 300
_STRING = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:"{3,5})?'
    r"|'''(?:[^']++|'(?!''))*+(?:'{3,5})?"
    r'|"(?:[^"\\\n]++|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+",
    re.DOTALL,
)
"""A string of any kind, or a comment; one that does not end reaches to the end of its line or text."""
_KEY = re.compile(rf"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){{{MAX_PARTS},}}", re.ASCII)
_NUMBER = re.compile(rf"(?<!\w)[+-]?\w{{{MAX_DIGITS + 1}}}", re.ASCII)
_BRACKET = re.compile(r"[\[\]{}]")


def parse_toml(text: str | bytes, *, name: str, characters: int = MAX_CHARACTERS) -> dict[str, Any]:
    """Return the values of a TOML text in UTF-8; a byte order mark at its start is left out.

    Args:
        name: what an error calls the text, such as the user's file. characters: its limit.

    Raises:
        Unparsable: it is no TOML, or beyond a limit.
    """
    try:
        decoded = (
            (text.decode("utf-8") if isinstance(text, bytes | bytearray) else text)
            .removeprefix("\ufeff")
            .replace("\r\n", "\n")
        )
        if why := _beyond(decoded, characters):
            raise Unparsable(
                f"{name} cannot be read as TOML", wanted="TOML within the limits", got=why, do="shorten it"
            )
        return tomllib.loads(decoded)
    except RecursionError:
        raise Unparsable(
            f"{name} cannot be read as TOML", got="it is nested too deep", do="flatten it"
        ) from None
    except Unparsable:
        raise
    except ValueError as error:  # TOMLDecodeError, UnicodeDecodeError, and numbers that Python refuses
        raise Unparsable(f"{name} is no TOML", wanted="TOML in UTF-8", got=str(error), do="fix it") from None


def _beyond(text: str, characters: int) -> str:
    if len(text) > characters:
        return f"{len(text):,} characters; at most {characters:,} are read"
    bare = _STRING.sub("s", text)
    at = 0
    for bracket in _BRACKET.finditer(bare):
        at = at + 1 if bracket[0] in "[{" else max(0, at - 1)
        if at > MAX_DEPTH:
            return f"it is nested deeper than {MAX_DEPTH}"
    if _KEY.search(bare):
        return f"a key of more than {MAX_PARTS} parts"
    if _NUMBER.search(bare):
        return f"a number or name of more than {MAX_DIGITS} characters"
    return ""
