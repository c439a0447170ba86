"""Parse YAML from outside: bounded in length, depth, values and digits. Aliases are counted as what they
stand for.

A text of a kilobyte whose aliases name aliases stands for billions of values, and an anchor may hold itself.
"""

from __future__ import annotations

import re
from typing import Any

from evolake.reading.errors import Unparsable

MAX_CHARACTERS = 1 << 20
MAX_DEPTH = 50
MAX_VALUES = 20_000
MAX_DIGITS = 300
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
        if len(decoded) > MAX_CHARACTERS:
            raise _beyond(name, f"{len(decoded):,} characters; at most {MAX_CHARACTERS:,} are read")
        depth = 0
        for count, event in enumerate(yaml.parse(decoded, Loader=yaml.SafeLoader)):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH or count > MAX_VALUES:
                raise _beyond(name, f"deeper than {MAX_DEPTH}, or more than {MAX_VALUES} values")
            if (
                isinstance(event, yaml.ScalarEvent)
                and event.style is None
                and _LONG_NUMBER.fullmatch(event.value)
            ):
                raise _beyond(name, f"a number of more than {MAX_DIGITS} digits")
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
            raise _beyond(
                name, f"with its aliases it is deeper than {MAX_DEPTH}, or more than {MAX_VALUES} values"
            )
        if isinstance(item, dict):
            waiting += [(part, depth + 1) for part in item.values()]
        elif isinstance(item, list | tuple | set):
            waiting += [(part, depth + 1) for part in item]


def _beyond(name: str, got: str) -> Unparsable:
    return Unparsable(
        f"{name} cannot be read as YAML", wanted="YAML within the limits", got=got, do="shorten it"
    )
