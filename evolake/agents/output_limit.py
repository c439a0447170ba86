"""Lower the output limit of a request to what a server says it has room for.

A server refuses a request whose prompt and output limit are together longer than the model's context, or
whose output limit is higher than the model allows. Most say the numbers, each in its own words. Without
numbers the limit is halved.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SMALLEST = 256
"""Output tokens: no role's reply fits into fewer, so a lower limit would only pay for replies that are cut
off."""
MARGIN = 32
"""Tokens that are left free of a context, for what the server's chat template adds."""
_NUMBER = r"(\d[\d,]*)"
_CONTEXT = re.compile(rf"context[ _-](?:length|window|size)\D{{0,40}}?{_NUMBER}")
_PROMPT = re.compile(
    "|".join(
        (
            rf"{_NUMBER} (?:tokens )?(?:in|from|of) (?:the|your) (?:input )?(?:messages|prompt|input)",
            rf"{_NUMBER} (?:input|prompt) tokens",
            rf"(?:messages|prompt|input) (?:resulted in|contains?|has) {_NUMBER}",
            rf"request \({_NUMBER} tokens\)",
        )
    )
)
_OUTPUT = re.compile(
    "|".join(
        (
            rf"at most {_NUMBER} (?:completion|output)",
            rf"\[\d+, ?{_NUMBER}\]",
            rf"less than or equal to\W{{0,3}}{_NUMBER}",
            rf"> {_NUMBER}, which is the maximum",
            rf"maximum (?:allowed )?(?:number of )?(?:output|completion) tokens\D{{0,30}}{_NUMBER}",
        )
    )
)
_LIMIT_NAMED = re.compile(r"max_(?:completion_)?tokens|(?:output|completion) tokens|in the completion")
_TOO_MUCH = re.compile(r"too (?:large|high|big|long)|exceed|reduce|greater than|at most|maximum")


@dataclass(frozen=True)
class OutputRoom:
    """What is known of a model's limits. context: tokens of prompt and reply together. output: tokens of a
    reply. None: not known."""

    context: int | None = None
    output: int | None = None

    def limit(self, asked: int, prompt_tokens: int) -> int:
        """Return the output limit to send if `asked` is wanted; prompt_tokens is an estimate."""
        if self.output is not None:
            asked = min(asked, self.output)
        if self.context is not None:
            asked = min(asked, max(SMALLEST, self.context - prompt_tokens - MARGIN))
        return asked


def lowered_limit(
    says: str, sent: int, prompt_tokens: int, room: OutputRoom
) -> tuple[int, OutputRoom] | None:
    """Return the output limit to try after a server refused one, and what is known now; None if the error is
    another or too little room is left.

    Args:
        says: what the server said, in lower case. sent: the limit that it refused. prompt_tokens: an
            estimate, used if it does not say.

    >>> vllm = "this model's maximum context length is 4096 tokens. however, you requested 8692 tokens (500 in the messages, 8192 in the completion)"
    >>> lowered_limit(vllm, 8192, 400, OutputRoom())
    (3564, OutputRoom(context=4096, output=None))
    >>> lowered_limit("max_tokens is too large: 8192. this model supports at most 4096 completion tokens", 8192, 400, OutputRoom())
    (4096, OutputRoom(context=None, output=4096))
    """  # noqa: E501
    context, output = _number(_CONTEXT, says), _number(_OUTPUT, says) if _LIMIT_NAMED.search(says) else None
    if output is not None and output < sent:
        limit, room = output, OutputRoom(room.context, output)
    elif context is not None:
        prompt = _number(_PROMPT, says)
        limit, room = (
            context - (prompt_tokens if prompt is None else prompt) - MARGIN,
            OutputRoom(context, room.output),
        )
    elif _LIMIT_NAMED.search(says) and _TOO_MUCH.search(says):
        limit, room = sent // 2, OutputRoom(room.context, sent // 2)
    else:
        return None
    return (limit, room) if SMALLEST <= limit < sent else None


def _number(pattern: re.Pattern[str], says: str) -> int | None:
    found = pattern.search(says)
    return int(next(group for group in found.groups() if group).replace(",", "")[:12]) if found else None
