"""Which recorded conversation answers a call, and which call is asked again.

A conversation is a first reply and the repairs after it. One that ended in a valid reply answers the same
call for ever, at no cost. One that failed answers nothing: the next run asks again, and its replies are next
to the old ones in the call cache as a further draw. A failure replays as the failure it was in three places
only: in the run that met it, so that one run gives one answer; under replay only, if nothing may be asked;
and in a study, whose failures are results (`redraw` false).

A key in the call cache is the hash of what was asked, then `-`, sixteen digits of the endpoint's address,
`-`, and the number of the draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from evolake.agents.call_cache import CachedCall, CallCache
from evolake.agents.question import Question
from evolake.agents.reply_validation import FINAL, Received, repair_messages, validate_reply
from evolake.canonical_json import text_sha


@dataclass(frozen=True)
class Asker:
    """Who asks. address: of the endpoint, "" for none. redraw: whether what failed in an earlier run is asked
    again."""

    address: str
    line: str
    cycle: str
    run_id: str
    replay_only: bool = False
    redraw: bool = True

    def owns(self, entry: CachedCall) -> bool:
        """Return whether this line paid for the entry in this cycle."""
        return (entry.line, entry.cycle) == (self.line, self.cycle)


@dataclass(frozen=True)
class Recorded:
    """What the call cache has of a conversation: `state` is answered, failed or open (it was cut off before
    its end); `last` is its last entry."""

    state: str
    last: CachedCall | None


def tag_of(address: str, draw: int) -> str:
    """Return what the key of a draw has behind the hash of what was asked."""
    return f"-{text_sha(address)[:16]}-{draw}"


def choose(call_cache: CallCache, question: str, asker: Asker, recorded: Callable[[str], Recorded]) -> str:
    """Return the tag of the conversation that a call continues with: one that answers it, one that was cut
    off, or a new one.

    Args:
        question: hash of the first thing asked. recorded: tag -> what the call cache has of that
            conversation.

    Raises:
        CorruptPart, LakeError: as reading the call cache does.
    """
    if asker.replay_only:
        return max(
            call_cache.tags(question),
            key=lambda tag: _rank(recorded(tag), asker),
            default=tag_of(asker.address, 0),
        )
    for draw in count():
        result = recorded(tag := tag_of(asker.address, draw))
        if (
            result.state != "failed"
            or not asker.redraw
            or (result.last is not None and result.last.run_id == asker.run_id)
        ):
            return tag
    raise AssertionError("draws do not end")


def _rank(result: Recorded, asker: Asker) -> tuple[bool, bool, bool, str, str]:
    """Under replay only: a whole conversation before one that was cut off, this cycle's own, an answer, the
    newest."""
    assert result.last is not None
    own = asker.owns(result.last)
    return (
        result.state != "open",
        own,
        own or result.state == "answered",
        result.last.created_at,
        result.last.key,
    )


def read_conversation(call_cache: CallCache, question: Question, attempts: range) -> Recorded:
    """Follow a conversation in the call cache from its first question."""
    last: CachedCall | None = None
    for number in attempts:
        entry = call_cache.read(question.key)
        if entry is None:
            return Recorded("open", last)
        last, received = entry, received_of(entry)
        status, said = validate_reply(received, question.job.role.reply, question.job.fault)
        if not isinstance(said, str):
            return Recorded("answered", last)
        if status in FINAL:
            break
        question = question.followed_by(repair_messages(received, status, said), number + 1)
    return Recorded("failed", last)


def received_of(entry: CachedCall, counts: Any = None) -> Received:
    """Return what came, as the call cache has it."""
    return Received(entry.outcome, entry.content, entry.detail, counts, entry.answered)
