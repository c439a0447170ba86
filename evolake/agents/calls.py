"""The row of one call, the sum over calls, and what came of those of a proposing asset.

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

A proposal failed if no valid reply came of it; one whose candidate the gates blocked did not. A session is
one reply, valid if it was finished; a withdrawn one brought no proposal and did not fail. A cycle in which
every proposal failed is reported, and a few in a row are an error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evolake.errors import AgentUnavailable

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
        return dict(vars(self))


@dataclass(frozen=True)
class Usage:
    """What calls took. Unknown counts are charged by estimate (see `evolake.agents.budget`).

    cached: those of the tokens that a cache of the endpoint served.
    """

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    cached: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.tokens + other.tokens,
            self.usd + other.usd,
            self.cached + other.cached,
        )


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


FINISHED, WITHDRAWN, UNFINISHED = "finished", "withdrawn", "unfinished"
"""Outcomes of a session that brought a reply and of one that says there is none to bring, and what one is
called that has none yet."""


@dataclass(frozen=True)
class ProposalOutcomes:
    """What came of the attempts of one asset; a session is one.

    attempts: all. valid: those that brought a valid reply. proposed: those of them by a role whose reply is a
    proposal. proposing: attempts of such roles. failures: status word -> attempts that ended with it.
    withdrawn: sessions that ended without a proposal because they found no gain; they are in `attempts` and
    `proposing`, and in no other number.
    """

    attempts: int
    valid: int
    proposed: int
    proposing: int
    failures: Mapping[str, int]
    withdrawn: int = 0

    @property
    def failed(self) -> bool:
        """Whether every proposal failed: none came of those that were asked for, or nothing at all came
        before one was."""
        return (
            self.attempts > 0
            and self.proposed == self.withdrawn == 0
            and (self.proposing > 0 or self.valid == 0)
        )

    @property
    def words(self) -> str:
        """How often what failed, in words."""
        text = ", ".join(
            f"{word} {count}"
            for word, count in sorted(self.failures.items(), key=lambda item: (-item[1], item[0]))
        )
        withdrawn = f", {self.withdrawn} withdrawn because no gain was found" if self.withdrawn else ""
        return f"{self.attempts} attempts, {self.valid} with a valid reply{withdrawn}" + (
            f" ({text})" if text else ""
        )


def count_outcomes(
    rows: Iterable[Mapping[str, Any]], roles: Collection[str], turns: Iterable[Mapping[str, Any]] = ()
) -> ProposalOutcomes:
    """Of rows of AGENT_CALLS, those that are turns of sessions by their rows of SESSION_TURNS. roles: those
    whose reply is a proposal."""
    turns = list(turns)
    of_sessions = {turn["call_id"] for turn in turns}
    replies = [
        (row["role"], failure_of(row["status"])) for row in rows if row.get("call_id") not in of_sessions
    ]
    sessions: dict[str, tuple[str, str]] = {}
    for turn in turns:
        _, outcome = sessions.get(turn["session_id"], ("", ""))
        sessions[turn["session_id"]] = turn["role"], turn["outcome"] or outcome
    replies += [
        (role, "" if outcome == FINISHED else outcome or UNFINISHED) for role, outcome in sessions.values()
    ]
    proposing = [failure for role, failure in replies if role in roles]
    failures = Counter(failure for _, failure in replies if failure)
    withdrawn = failures.pop(WITHDRAWN, 0)
    return ProposalOutcomes(
        len(replies),
        sum(not item for _, item in replies),
        sum(not item for item in proposing),
        len(proposing),
        failures,
        withdrawn,
    )


def require_proposals(
    now: ProposalOutcomes,
    *,
    line: str,
    cycle: str,
    roles: Collection[str],
    before: Callable[[int], list[str]],
    allowed: int,
    last: str,
) -> None:
    """Stop a line that gets no proposal.

    Args:
        now: what came in `cycle`. before: how many -> the failed cycles that came right before it, at most so
            many. allowed: how many failed cycles
        in a row are let pass. last: what was wrong with the last reply, "" if it is not known.

    Raises:
        AgentUnavailable: this cycle failed, and as many as are allowed before it.
    """
    if not now.failed or len(earlier := before(allowed)) < allowed:
        return
    cycles = [*earlier, cycle]
    raise AgentUnavailable(
        f"{line}: every proposal failed in "
        f"{f'{len(cycles)} cycles in a row' if earlier else 'the cycle'}: {', '.join(cycles)}",
        wanted=f"a valid reply of {' or '.join(sorted(roles))}",
        got=f"in cycle {cycle} {now.words}" + (f"; the last: {last}" if last else ""),
        do=(
            f"`evolake doctor --call` tries the endpoint, `evolake agents tape list --line {line} --cycle "
            f"{cycle} --invalid` shows the replies; fix "
            "EVOLAKE_MODEL_BASE_URL or EVOLAKE_MODELS and run again: what failed is asked again. "
            "EVOLAKE_AGENTS__FAILED_CYCLES_ALLOWED says how many such "
            f"cycles may pass (now {allowed})"
        ),
    )
