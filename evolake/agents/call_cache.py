"""The call cache: every paid reply, kept before it is used, and replayed instead of paid for again.

A key is the hash of what was asked (role, model, messages, the reply's schema, sampling and attempt), then
`-`, sixteen digits of the endpoint's address, `-`, and the number of the draw. Its entry is at
`<lake>/tape/ab/cdef....json` and is written whole *before* the reply is looked at, so a crash afterwards
costs nothing. Failed attempts that were billed, or may have been, are entries too. An entry is never
replaced; `evolake agents tape drop` removes entries. Nothing of the endpoint's credentials is ever in one.
Two callers that ask the same thing at the same time, threads or processes, are serialised by a lock on the
key's first two digits: the second one replays.

A conversation is a first reply and the repairs after it. One that ended in a valid reply answers the same
call for ever, at no cost. One that failed answers nothing: the next run asks again, as a further draw. A
failure replays as the failure it was in three places only: in the run that met it, so that one run gives one
answer; under replay only, if nothing may be asked; and in a study, whose failures are results (`redraw`
false).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

from filelock import FileLock

from evolake.agents.event_stream import MAX_DIGITS
from evolake.agents.prompts import Message
from evolake.agents.reply_validation import FINAL, Received, repair_messages, validate_reply
from evolake.agents.roles import Job
from evolake.agents.sampling import Sampling
from evolake.canonical_json import key_of, text_sha
from evolake.errors import CorruptPart, LakeError
from evolake.reading import Unreadable, parse_json, read_text

FORMAT = 1
LONGEST_LINE = 200
LARGEST_ENTRY = 256 << 20
_KEY = re.compile(r"[0-9a-f]{64}(-[0-9a-f]{16}-\d+)?")


@dataclass(frozen=True)
class CachedCall:
    """One paid (or possibly paid) answer of a model, as it came.

    `outcome` says what the transport saw: received, truncated, refused, empty, garbled or too_large; whether
    the text fits the role's model is judged afresh at every use. Token counts are None when the server did
    not give them, or gave some that cannot be true (`odd_usage`); `usd` is None when no price is known.
    `answered` is the model that the completion names, "" for none, and `endpoint` the address that was asked.
    """

    key: str
    role: str
    model: str
    attempt: int
    sampling: dict[str, Any]
    messages: list[dict[str, str]]
    schema_sha: str
    outcome: str
    detail: str
    content: str
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    charged_tokens: int
    usd: float | None
    charged_usd: float
    latency_s: float
    created_at: str
    line: str
    cycle: str
    run_id: str
    answered: str = ""
    odd_usage: bool = False
    endpoint: str = ""


def cache_key(
    role: str,
    model: str,
    messages: list[dict[str, str]],
    schema: dict[str, Any],
    sampling: dict[str, Any],
    attempt: int,
) -> str:
    """Return sha256, in hex, of everything that decides what is asked; who is asked, and which draw it is,
    follow it in an entry's key."""
    asked = {
        "role": role,
        "model": model,
        "messages": messages,
        "schema": schema,
        "sampling": sampling,
        "attempt": attempt,
    }
    return key_of(asked)


def is_key(text: str) -> bool:
    """Return whether a text is the key of an entry."""
    return _KEY.fullmatch(text) is not None


class CallCache:
    """The entries under one folder. Safe for any number of threads and processes on one machine."""

    def __init__(self, root: Path):
        self.root = root

    def path(self, key: str) -> Path:
        """Return where the entry of a key is."""
        return self.root / key[:2] / f"{key[2:]}.json"

    def read(self, key: str) -> CachedCall | None:
        """Return the entry, or None when this was never asked.

        Raises:
            CorruptPart: the file is damaged (its content against its own hash), or holds another key.
            LakeError: it cannot be read.
        """
        try:
            text = read_text(self.path(key), LARGEST_ENTRY)
        except FileNotFoundError:
            return None
        except Unreadable as error:
            raise self._damaged(key, error.got or error.what) from None
        except OSError as error:
            raise self._unusable("read", error) from None
        try:
            stored = parse_json(text, name="the entry", digits=MAX_DIGITS)
            if stored["format"] != FORMAT or stored["sha"] != key_of(stored["entry"]):
                raise ValueError("its own hash does not match")
            entry = CachedCall(**stored["entry"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._damaged(key, str(error) or type(error).__name__) from None
        if entry.key != key:
            raise self._damaged(key, f"it holds the key {entry.key}")
        return entry

    def all_keys(self) -> Iterator[str]:
        """Yield the key of every file that bears an entry's name, in order."""
        for path in sorted(self.root.glob("??/*.json")):
            if is_key(key := path.parent.name + path.stem):
                yield key

    def tags(self, question: str) -> list[str]:
        """Return what is behind `question` in the keys that begin with it."""
        result = (
            path.parent.name + path.stem for path in self.root.glob(f"{question[:2]}/{question[2:]}-*.json")
        )
        return sorted(key.removeprefix(question) for key in result if is_key(key))

    def drop(self, keys: Iterable[str]) -> int:
        """Remove entries, each under its lock and permanently; return how many there were. What was spent
        stays in the accounts.

        A kill in the middle leaves each entry whole or gone. Raises LakeError where one cannot be removed.
        """
        dropped = 0
        for key in keys:
            with self.lock(key):
                try:
                    self.path(key).unlink()
                    _sync_folder(self.path(key).parent)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    raise self._unusable("changed", error) from None
            dropped += 1
        return dropped

    def nearest(self, role: str, messages: list[dict[str, str]]) -> str:
        """Return where the entry of `role` that begins most like `messages` first differs from them, in
        words; "" where the call cache has none of the role.
        """
        asked, best = _lines(messages), (-1, "")
        for key in self.all_keys():
            try:
                entry = self.read(key)
            except CorruptPart:
                continue
            if entry is None or entry.role != role:
                continue
            there = _lines(entry.messages)
            same = next(
                (number for number, pair in enumerate(zip(asked, there, strict=False)) if pair[0] != pair[1]),
                min(len(asked), len(there)),
            )
            if same > best[0]:
                first, other = (
                    (lines[same] if same < len(lines) else "its end")[:LONGEST_LINE]
                    for lines in (asked, there)
                )
                best = (
                    same,
                    f"its nearest entry {entry.key[:12]} has {other!r} in line {same + 1} where this call "
                    f"has {first!r}",
                )
        return best[1]

    def write(self, entry: CachedCall) -> None:
        """Keep an entry; on return it is on disk. An entry that is already there stays as it is. Raises
        LakeError where it cannot be kept."""
        try:
            self._write(entry)
        except OSError as error:
            raise self._unusable("written", error) from None

    def _write(self, entry: CachedCall) -> None:
        path = self.path(entry.key)
        path.parent.mkdir(parents=True, exist_ok=True)
        body = asdict(entry)
        text = json.dumps(
            {"format": FORMAT, "sha": key_of(body), "entry": body}, ensure_ascii=False, indent=1
        )
        temporary = path.with_name(f".tmp-{uuid4().hex}")
        try:
            with temporary.open("xb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(temporary, path)
            except FileExistsError:
                return
        finally:
            temporary.unlink(missing_ok=True)
        _sync_folder(path.parent)

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Held while a key is looked up and, where it is absent, paid for."""
        folder = self.root / "locks"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(folder / f"{key[:2]}.lock", thread_local=False)
            lock.acquire()
        except OSError as error:
            raise self._unusable("locked", error) from None
        try:
            yield
        finally:
            lock.release()

    def _unusable(self, what: str, error: OSError) -> LakeError:
        return LakeError(
            f"the call cache cannot be {what}",
            wanted=f"files below {self.root} that this user may read and write",
            got=f"{error.strerror or error}: {error.filename or 'no file named'}",
            do=(
                "free space or fix the permissions, then run again; what is in the call cache replays at "
                "no cost"
            ),
        )

    def _damaged(self, key: str, why: str) -> CorruptPart:
        return CorruptPart(
            f"entry {key[:12]} of the call cache is damaged: {why}",
            wanted="the bytes that were written",
            got=str(self.path(key)),
            do="restore the file from a backup, or delete it to pay for this call again",
        )


def _lines(messages: list[dict[str, str]]) -> list[str]:
    """Return all messages as lines, each message under a line with the name of its role."""
    return [
        line for message in messages for line in (f"[{message['role']}]", *message["content"].splitlines())
    ]


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@dataclass(frozen=True)
class Question:
    """One attempt of one call.

    Attributes:
        job: the call. model: the name of the model that is asked.
        messages: the conversation so far. schema: of the reply.
        sampling: how the reply is drawn.
        number: of the attempt: ten times the call's, plus the number of the repair.
        tag: what distinguishes the conversations that begin with this question; "" until one is chosen
            (`evolake.agents.call_cache`).
        longest: tokens that a reply may have in any repair; None: twice as many as in this attempt.
    """

    job: Job[Any, Any]
    model: str
    messages: list[Message]
    schema: dict[str, Any]
    sampling: Sampling
    number: int
    tag: str = ""
    longest: int | None = None

    @property
    def role(self) -> str:
        """The name of the role that is asked."""
        return self.job.role.name

    @cached_property
    def sha(self) -> str:
        """The sha256 of everything that decides what is asked."""
        return cache_key(
            self.role, self.model, self.messages, self.schema, self.sampling.as_dict(), self.number
        )

    @property
    def key(self) -> str:
        """The key of its entry in the call cache."""
        return self.sha + self.tag

    def tagged(self, tag: str) -> Question:
        """Return the question as part of a conversation."""
        return replace(self, tag=tag)

    def repaired(self, received: Received, status: str, reason: str, number: int) -> Question:
        """Return the question after a reply that could not be used, and why. After one that ran into the
        limit of output tokens the limit is twice as high, once."""
        said = repair_messages(received, status, reason, turn=bool(self.job.role.tools))
        limit = self.sampling.max_output_tokens
        longest = self.longest or 2 * limit
        if status == "truncated":
            limit = min(2 * limit, longest)
        sampling = replace(self.sampling, max_output_tokens=limit)
        messages = [*self.messages, *said]
        return replace(self, messages=messages, sampling=sampling, number=number, longest=longest)


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
        question = question.repaired(received, status, said, number + 1)
    return Recorded("failed", last)


def received_of(entry: CachedCall, counts: Any = None) -> Received:
    """Return what came, as the call cache has it."""
    return Received(entry.outcome, entry.content, entry.detail, counts, entry.answered)
