"""What was learnt from failures: one-sentence items that hold for any family, shown to the author of the next
one.

Items are distinguished by their words, not by their letters; the list is capped, the oldest go first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SAME = 0.7
"""Share of common words from which on two items say the same."""
LONGEST = 300


def merged(existing: Sequence[str], candidates: Sequence[str], limit: int) -> list[str]:
    """At most `limit` items that all say something else, oldest first. A repeated item moves to the end: it
    was learnt again."""
    kept: list[str] = []
    for item in [*existing, *candidates]:
        sentence = one_sentence(item)
        if not sentence:
            continue
        kept = [other for other in kept if not same(other, sentence)]
        kept.append(sentence)
    return kept[-limit:]


def same(first: str, other: str) -> bool:
    """Return whether two items say the same."""
    left, right = _words(first), _words(other)
    return left == right or (bool(left | right) and len(left & right) >= SAME * len(left | right))


def one_sentence(text: str) -> str:
    """Return the first sentence, on one line, capped."""
    flat = " ".join(text.split())
    first = re.split(r"(?<=[.!?。！？])\s", flat, maxsplit=1)[0]
    return first[:LONGEST]


def _words(text: str) -> set[str]:
    return (
        set(re.findall(r"\w", text))
        if re.search(r"[一-鿿]", text)
        else set(re.findall(r"\w+", text.casefold()))
    )
