"""The row of one call, and the sum over calls.

Every attempt is a row of `agent_calls`, also the failed, the replayed and those of the operators. `status` is
made of words joined by `+`:

    ok            the reply fits the role's model
    truncated     the model ran into its output limit; billed, and a failed attempt
    refused       the model or its content filter declined
    empty         no text in the reply
    garbled       the body is not a completion (JSON cut off, or another shape)
    invalid       the text is no JSON object that fits the role's model
    unusable      the reply fits the role's model and cannot be used, e.g. an edit that does not apply
                  (`Role.fault`)
    too_large     the body was longer than the cap and was cut off
    rejected      the server says the prompt is longer than its model can read; not billed
    replayed      before one of the words above: taken from the call cache, at no cost (`replayed` alone is
                  `replayed+ok`)
    lost          the request went out and no answer came whole (a reset, a timeout); it may have been billed
                  and is charged by estimate
    no_usage      after one of the words above: the server did not say what it counted, so the token and price
                  columns are null
    odd_usage     as no_usage, because what the server says it counted cannot be true (see `prices.plausible`)
    answered_by:NAME   after the words above: the completion bears another model's name than the one asked for
                       (see `prices.same_model`)
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

LONGEST_REASON = 500
_NO_NAME = re.compile(r"[^\w./:@-]", re.ASCII)


@dataclass(frozen=True)
class AgentCall:
    """One attempt of one call; the columns of `agent_calls`.

    `usd` is what this attempt cost now (0 when replayed, null when unknown); the tokens of a replayed attempt
    are those of the original. `latency_s` is the endpoint's: 0 for replays and for the operators, so that the
    same seed and call cache give the same bytes. `prompt_id` is the evolved system prompt that the model read
    (see `system_prompts`), null without one. `sampling` is how the reply was drawn. `attempt` is ten times
    the caller's attempt plus the number of the repair. `reason` says on one line why the reply could not be
    used, null if it could.
    """

    call_id: str
    artifact_id: str | None
    cycle: str
    role: str
    backend: str
    model: str
    prompt_sha: str
    response_sha: str | None
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    usd: float | None
    latency_s: float
    attempt: int
    status: str
    prompt_id: str | None = None
    sampling: str | None = None
    reason: str | None = None

    def row(self) -> dict[str, Any]:
        """Return the row as a dict in the order of the columns."""
        return asdict(self)


@dataclass(frozen=True)
class Usage:
    """What calls took. Unknown counts are charged by estimate (see `evolake.agents.budget`)."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.calls + other.calls, self.tokens + other.tokens, self.usd + other.usd)


def one_line_reason(text: str) -> str:
    """Return a reason as rows and failures hold it: on one line, at most LONGEST_REASON characters."""
    return " ".join(text.split())[:LONGEST_REASON]


def failure_of(status: str) -> str:
    """Return the word of a row's `status` that says why no valid reply came; "" where one did.

    >>> [failure_of(status) for status in ("ok", "replayed", "replayed+no_usage", "ok+answered_by:m", "replayed+invalid", "lost+no_usage")]
    ['', '', '', '', 'invalid', 'lost']
    """  # noqa: E501
    words = [
        word
        for word in status.split("+")
        if word not in ("ok", "replayed", "no_usage", "odd_usage") and not word.startswith("answered_by:")
    ]
    return words[0] if words else ""


def status_words(
    outcome: str, *, replayed: bool, usage_known: bool, odd_usage: bool = False, answered_by: str = ""
) -> str:
    """Return the `status` of a row. answered_by: the other model, "" where it is the one that was asked.

    >>> status_words("ok", replayed=True, usage_known=True)
    'replayed'
    >>> status_words("truncated", replayed=True, usage_known=False)
    'replayed+truncated+no_usage'
    >>> status_words("ok", replayed=False, usage_known=True, answered_by="m mini")
    'ok+answered_by:m_mini'
    """
    words = ["replayed"] if replayed else []
    if outcome != "ok" or not replayed:
        words.append(outcome)
    if not usage_known:
        words.append("odd_usage" if odd_usage else "no_usage")
    if answered_by:
        words.append(f"answered_by:{_NO_NAME.sub('_', answered_by)}")
    return "+".join(words)
