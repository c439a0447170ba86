"""Which recorded conversation answers a call, and which call is asked anew.

A conversation is a first reply and the repairs after it. One that ended in a valid reply answers the same call for ever, at no cost. One that failed
answers nothing: the next run asks again, and its replies lie beside the old ones on the tape as a further draw. A failure replays as the failure it
was in three places only: in the run that met it, so that one run gives one answer; under replay only, where nothing may be asked; and in a study,
whose failures are results (`redraw` false).

A key on the tape is the hash of what was asked, then `-`, sixteen digits of the endpoint's address, `-`, and the number of the draw. Entries of
before 0.2.0 have the hash alone and name no endpoint. They answer the calls of the line and cycle that paid for them, and any under replay only;
a later cycle asks the endpoint that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from pydantic import BaseModel

from evolake.agents.fences import cap
from evolake.agents.prompts import Message
from evolake.agents.reply_validation import Received, validate_reply
from evolake.agents.tape import Entry, Tape, paid_by
from evolake.canonical_json import text_sha

BEFORE = ""
"""The tag of an entry that names no endpoint."""
FINAL = ("refused", "rejected")
"""Statuses after which nothing is repaired."""
SHOWN_REPLY_CHARS = 8_000


@dataclass(frozen=True)
class Asker:
    """Who asks. address: of the endpoint, "" for none. redraw: whether what failed in an earlier run is asked anew."""

    address: str
    line: str
    cycle: str
    run_id: str
    replay_only: bool = False
    redraw: bool = True

    def owns(self, entry: Entry) -> bool:
        """Whether this line paid for the entry in this cycle."""
        return (paid_by(entry), entry.cycle) == (self.line, self.cycle)


@dataclass(frozen=True)
class Recorded:
    """What the tape has of a conversation: `state` is answered, failed or open (it was cut off before its end); `last` is its last entry."""

    state: str
    last: Entry | None


def tag_of(address: str, draw: int) -> str:
    """What the key of a draw has behind the hash of what was asked."""
    return f"-{text_sha(address)[:16]}-{draw}"


def choose(tape: Tape, question: str, asker: Asker, recorded: Callable[[str], Recorded]) -> str:
    """The tag of the conversation that a call goes on with: one that answers it, one that was cut off, or a new one.

    Args:
        question: hash of the first thing asked. recorded: tag -> what the tape has of that conversation.

    Raises:
        CorruptPart, LakeError: as reading the tape does.
    """
    if asker.replay_only:
        return max(tape.tags(question), key=lambda tag: _rank(recorded(tag), asker), default=tag_of(asker.address, 0))
    for tag in _tags(tape, question, asker):
        result = recorded(tag)
        if result.state != "failed" or not asker.redraw or (result.last is not None and result.last.run_id == asker.run_id):
            return tag
    raise AssertionError("draws do not end")


def _tags(tape: Tape, question: str, asker: Asker) -> Iterator[str]:
    before = tape.read(question)
    if before is not None and asker.owns(before):
        yield BEFORE
    for draw in count():
        yield tag_of(asker.address, draw)


def _rank(result: Recorded, asker: Asker) -> tuple[bool, bool, bool, str, str]:
    """Under replay only: a whole conversation before one that was cut off, this cycle's own, an answer, the newest."""
    assert result.last is not None
    own = asker.owns(result.last)
    return result.state != "open", own, own or result.state == "answered", result.last.created_at, result.last.key


def read_conversation(
    tape: Tape, key: Callable[[list[Message], int], str], messages: list[Message], reply: type[BaseModel], attempts: range
) -> Recorded:
    """Follows a conversation on the tape. key: (messages, number of the attempt) -> key of its entry."""
    last: Entry | None = None
    for number in attempts:
        entry = tape.read(key(messages, number))
        if entry is None:
            return Recorded("open", last)
        last, received = entry, received_of(entry)
        status, said = validate_reply(received, reply)
        if not isinstance(said, str):
            return Recorded("answered", last)
        if status in FINAL:
            break
        messages = [*messages, *mending(received, status, said)]
    return Recorded("failed", last)


def received_of(entry: Entry, counts: Any = None) -> Received:
    """What came, as the tape has it."""
    return Received(entry.outcome, entry.content, entry.detail, counts, entry.answered)


def mending(received: Received, status: str, reason: str) -> list[Message]:
    """What is said to the model after an attempt that failed: its own reply, shortened, and what was wrong."""
    turns: list[Message] = []
    if received.content.strip():
        turns.append({"role": "assistant", "content": cap(received.content, SHOWN_REPLY_CHARS)})
    ask = {
        "truncated": "It was cut off because it was too long. Reply again, much shorter.",
        "too_large": "It was far too long and was thrown away. Reply again, much shorter.",
    }.get(status, "Reply again with one JSON object that fits the schema, and nothing else.")
    turns.append({"role": "user", "content": f"Your reply could not be used: {reason}.\n{ask}"})
    return turns
