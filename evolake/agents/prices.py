"""What a call takes: tokens as the server counted them, dollars from the settings' price table, and estimates where a count is missing.

The estimate of a text is its UTF-8 bytes over two, plus sixteen a message, rounded up. Byte-pair tokenizers take three to four bytes a token in prose
and code and about two in random text, so for prompts this is an upper bound in practice; it is used to reserve budget before a call, and to charge a
reply whose server sent no usage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolake.settings import PriceSettings

_BYTES_A_TOKEN = 2
_TOKENS_A_MESSAGE = 16


@dataclass(frozen=True)
class Counts:
    """Tokens of one answer as the server counted them. `cached` is the part of `input` that a cache served; None: not told."""

    input: int
    output: int
    cached: int | None = None


def estimate_tokens(messages: list[dict[str, str]]) -> int:
    """Tokens of the messages, from above."""
    return sum(estimate_text(message["content"]) + _TOKENS_A_MESSAGE for message in messages)


def estimate_text(text: str) -> int:
    """Tokens of a text, from above."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN)


def price_usd(price: PriceSettings | None, counts: Counts) -> float | None:
    """Dollars for one answer; None when the model has no price."""
    if price is None:
        return None
    cached = min(counts.cached or 0, counts.input)
    cached_price = price.input if price.cached is None else price.cached
    return ((counts.input - cached) * price.input + cached * cached_price + counts.output * price.output) / 1e6


def read_counts(usage: Any) -> Counts | None:
    """Counts from a `usage` object of the wire; None when it is absent or makes no sense.

    Cached tokens are read from `prompt_tokens_details.cached_tokens` or, where a server has it so, from `prompt_cache_hit_tokens`.
    """
    if not isinstance(usage, Mapping):
        return None
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if prompt is None or completion is None:
        return None
    details = usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    if cached is None:
        cached = _count(usage.get("prompt_cache_hit_tokens"))
    return Counts(prompt, completion, None if cached is None else min(cached, prompt))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
