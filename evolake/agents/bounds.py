"""Bounds on what a server sends, held before anything is built of it: bytes after decoding, and values of JSON.

A body of a few megabytes can be five million empty objects, which take a hundred times its size as Python values, and a compressed one a thousand
times its size as text. So the text is counted first: there are at most as many values as commas, colons and opening brackets outside of strings.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator

MAX_VALUES = 200_000
"""Of one JSON text: a completion has some dozens, the largest reply of a role some thousands."""
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_MARKS = ",:[{"
_WINDOWS = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}
_STEP = 1 << 16


class Undecodable(ValueError):
    """A body in an encoding that nobody asked for, or broken in it."""


def values_in(text: str) -> int:
    """How many values the JSON text holds, from above; in time proportional to its length. Objects count their keys as well."""
    marks = sum(map(text.count, _MARKS))
    if marks < MAX_VALUES:
        return marks + 1
    bare = _STRING.sub("", text)
    return sum(map(bare.count, _MARKS)) + 1


def too_many(text: str) -> str:
    """Why the text is not taken apart, "" where it may be."""
    result = values_in(text)
    return f"it holds {result} values; at most {MAX_VALUES} are read" if result > MAX_VALUES else ""


def decoded(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The body's chunks, decoded in steps of 64 KiB, so that whoever counts them can stop in time.

    Raises:
        Undecodable: the encoding is none of identity, gzip and deflate, or the bytes are broken.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        yield from chunks
        return
    if name not in _WINDOWS:
        raise Undecodable(f"a body in the encoding {name[:40]!r}, which was not asked for")
    decoder = zlib.decompressobj(_WINDOWS[name])
    try:
        for chunk in chunks:
            while chunk:
                yield decoder.decompress(chunk, _STEP)
                chunk = decoder.unconsumed_tail
        yield decoder.flush()
    except zlib.error as error:
        raise Undecodable(f"a body broken in its encoding {name}: {error}") from None
