"""Bounds on what a server sends, held before anything is built of it: bytes after decoding, and values of
JSON.

A body of a few megabytes can be five million empty objects, which take a hundred times its size as Python
values, and a compressed one a thousand times its size as text. So the text is counted first: there are at
most as many values as commas, colons and opening brackets outside of strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from evolake.reading import Damaged, decompressed, parse_json
from evolake.reading.compressed import Kind
from evolake.reading.json_text import beyond_json

MAX_VALUES = 200_000
"""Of one JSON text: a completion has some dozens, the largest reply of a role some thousands."""
MAX_DIGITS = 4300
"""Of one number: as many as Python writes. A family's answer may be a large one."""
_KINDS: dict[str, Kind] = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "zlib"}
_NO_LIMIT = 1 << 62


class Undecodable(ValueError):
    """A body in an encoding that was not asked for, or broken in it."""


def too_many(text: str) -> str:
    """Return why the text is not parsed as JSON, "" if it may be."""
    return beyond_json(text, values=MAX_VALUES, digits=_NO_LIMIT, depth=_NO_LIMIT)


def parse_reply(text: str, name: str) -> Any:
    """Return the value of JSON that a server or a model sent. Raises Unparsable."""
    return parse_json(text, name=name, values=MAX_VALUES, digits=MAX_DIGITS)


def decoded(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield the body's chunks, decoded in steps, so that a caller that counts them can stop in time.

    Raises:
        Undecodable: the encoding is none of identity, gzip and deflate, or the bytes are broken.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        yield from chunks
        return
    if name not in _KINDS:
        raise Undecodable(f"a body in the encoding {name[:40]!r}, which was not asked for")
    source = iter(chunks)
    first = next(source, b"")
    if not first:  # an answer without a body
        return
    try:
        yield from decompressed(
            chain([first], source), _NO_LIMIT, name="a body", kind=_KINDS[name], ratio=_NO_LIMIT
        )
    except Damaged as error:
        raise Undecodable(f"a body broken in its encoding {name}: {error.got}") from None
