"""Parse TOML and YAML from outside: bounded in length, depth, values, parts of keys and digits before
anything is built of it.

The standard TOML parser recurses once per bracket, takes a time that grows with the square of a dotted key's
parts, and refuses numbers of more than 4,300 digits with an error of another type. A kilobyte of YAML whose
aliases name aliases stands for billions of values, and an anchor may hold itself: aliases are counted as what
they stand for.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from evolake.reading.files import Unparsable

MAX_TOML_CHARACTERS = 4 << 20
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


def parse_toml(text: str | bytes, *, name: str, characters: int = MAX_TOML_CHARACTERS) -> dict[str, Any]:
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
        if why := _beyond_toml(decoded, characters):
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


def _beyond_toml(text: str, characters: int) -> str:
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


MAX_YAML_CHARACTERS = 1 << 20
MAX_VALUES = 20_000
_LONG_NUMBER = re.compile(rf"[+-]?[0-9_:,.a-fA-Fx]{{{MAX_DIGITS},}}")


def parse_yaml(text: str | bytes, *, name: str) -> Any:
    """Return the value of a YAML text in UTF-8 that holds plain values only.

    Args:
        name: what an error calls the text, such as the user's file.

    Raises:
        Unparsable: it is no YAML, holds other objects than plain values, or is beyond a limit.
    """
    import yaml

    try:
        decoded = (text.decode("utf-8") if isinstance(text, bytes | bytearray) else text).removeprefix(
            "\ufeff"
        )
        if len(decoded) > MAX_YAML_CHARACTERS:
            raise _beyond_yaml(name, f"{len(decoded):,} characters; at most {MAX_YAML_CHARACTERS:,} are read")
        depth = 0
        for count, event in enumerate(yaml.parse(decoded, Loader=yaml.SafeLoader)):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH or count > MAX_VALUES:
                raise _beyond_yaml(name, f"deeper than {MAX_DEPTH}, or more than {MAX_VALUES} values")
            if (
                isinstance(event, yaml.ScalarEvent)
                and event.style is None
                and _LONG_NUMBER.fullmatch(event.value)
            ):
                raise _beyond_yaml(name, f"a number of more than {MAX_DIGITS} digits")
        result = yaml.safe_load(decoded)
    except Unparsable:
        raise
    except (
        yaml.YAMLError,
        ValueError,
        OverflowError,
        RecursionError,
        TypeError,
        KeyError,
        AttributeError,
    ) as error:
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise Unparsable(f"{name} is no YAML", wanted="YAML in UTF-8", got=first, do="fix it") from None
    _count(result, name)
    return result


def _count(value: Any, name: str) -> None:
    """Walk a value as its users would, aliases and all."""
    waiting, seen = [(value, 0)], 0
    while waiting:
        item, depth = waiting.pop()
        seen += 1
        if depth > MAX_DEPTH or seen > MAX_VALUES:
            raise _beyond_yaml(
                name, f"with its aliases it is deeper than {MAX_DEPTH}, or more than {MAX_VALUES} values"
            )
        if isinstance(item, dict):
            waiting += [(part, depth + 1) for part in item.values()]
        elif isinstance(item, list | tuple | set):
            waiting += [(part, depth + 1) for part in item]


def _beyond_yaml(name: str, got: str) -> Unparsable:
    return Unparsable(
        f"{name} cannot be read as YAML", wanted="YAML within the limits", got=got, do="shorten it"
    )
