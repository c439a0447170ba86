"""What a call takes: tokens as the server counted them, dollars from the settings' price table, and estimates
where a count is missing.

The estimate of a text is its UTF-8 bytes over two, plus sixteen per message, rounded up. Byte-pair tokenizers
take three to four bytes per token in prose and code and about two in random text, so for prompts this is an
upper bound in practice; it reserves budget before a call, and charges a reply whose server sent no usage, or
one that cannot be true (see `plausible`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolake.settings import PriceSettings

_BYTES_A_TOKEN = 2
_MOST_BYTES_A_TOKEN = 32
_TEMPLATE_TOKENS = 8192
_TOKENS_A_MESSAGE = 16
_SNAPSHOT = re.compile(r"(?:[-@:](?:v?\d[\d.]*|latest))+")


@dataclass(frozen=True)
class Counts:
    """Tokens of one answer as the server counted them. `cached` is the part of `input` that a cache served;
    None: not reported."""

    input: int
    output: int
    cached: int | None = None


def estimate_tokens(messages: list[dict[str, str]]) -> int:
    """Return the number of tokens of the messages, from above."""
    return sum(estimate_text(message["content"]) + _TOKENS_A_MESSAGE for message in messages)


def estimate_text(text: str) -> int:
    """Return the number of tokens of a text, from above."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN)


def plausible(counts: Counts, sent: int, content: str, max_output_tokens: int) -> bool:
    """Return whether a server's counts can be true.

    Not fewer tokens than there are bytes over 32, which no tokenizer reaches on prose or code; not more input
    than bytes and what a template may add; not more output than twice what the limit or the text allows
    (reasoning is output that is not shown).

    Args:
        sent: bytes of the messages and the schema. content: the text that came.
    """
    came = len(content.encode("utf-8", "replace"))
    least_input, least_output = sent // _MOST_BYTES_A_TOKEN, -(-came // _MOST_BYTES_A_TOKEN)
    most_output = 2 * max(max_output_tokens, came) + _TEMPLATE_TOKENS
    return (
        max(1, least_input) <= counts.input <= 2 * sent + _TEMPLATE_TOKENS
        and least_output <= counts.output <= most_output
    )


def same_model(asked: str, answered: str) -> bool:
    """Return whether a completion's model is the one that was asked for, or an alias of it; a completion that
    names none is taken as it.

    Compared are the last parts of a path, in lower case and without `.gguf`. A snapshot is its model: the
    name asked for and a date or version behind a dash (`m` and `m-2025-04-14`, `m-0613`), also where
    `-latest` was asked for.

    >>> same_model("gpt-x", "gpt-x-2025-04-14"), same_model("vendor/llama-x", "LLAMA-X"), same_model("gpt-x", "gpt-x-mini")
    (True, True, False)
    """  # noqa: E501
    wanted, got = (
        name.strip().lower().rpartition("/")[2].removesuffix(".gguf") for name in (asked, answered)
    )
    stem = wanted.removesuffix("-latest")
    return (
        not got
        or got in (wanted, stem)
        or bool(_SNAPSHOT.fullmatch(got.removeprefix(stem)) and got.startswith(stem))
    )


def price_usd(price: PriceSettings | None, counts: Counts) -> float | None:
    """Return dollars for one answer; None when the model has no price."""
    if price is None:
        return None
    cached = min(counts.cached or 0, counts.input)
    cached_price = price.input if price.cached is None else price.cached
    return (
        (counts.input - cached) * price.input + cached * cached_price + counts.output * price.output
    ) / 1e6


def read_counts(usage: Any) -> Counts | None:
    """Return the counts of a `usage` object of the wire; None when it is absent or makes no sense.

    Cached tokens are read from `prompt_tokens_details.cached_tokens` or, where a server has it so, from
    `prompt_cache_hit_tokens`.
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
