"""Hold a session: a role that is a loop of tool calls on a workspace in the jail, under a budget, cached turn
by turn.

    ended = agents.session(CODER_SESSION, request, context, seed=seed)     # ended.value: the role's `finish`
                                                                         model, or an AgentFailure
    context.workspace.changed                                              # what the files have become

The loop asks, runs what the turn calls, and reports the results, until the session is finished or ends
otherwise. Each turn goes the way of any call (call cache, budget, wire), and is asked with the whole
conversation so far. A command is run once: builds and runs take minutes and say times, so what one said is
kept as soon as it has said it, at `<lake>/tape/sessions/ab/cdef....json`, written whole and never replaced.
Files and what was shown are functions of the turns and of what commands said; so a session is replayed to the
same bytes, and one that was killed continues from its last turn. How a session ended decides whether a later
run asks again. Its turns are rows of `session_turns`.

That a session is of no use is an `AgentFailure` with one of these words for a status:

    out_of_turns, out_of_tokens, out_of_usd, out_of_time     a bound of the settings was reached first
    looped          it did the same on the same files again and again
    flooded         it called more tools in one turn than it may, again and again
    unknown_tool, bad_call, outside     turn after turn of nothing but calls of no tool, with arguments of no
                                        use, or on what may not be changed
    unusable        turn after turn it called `finish` with files that are no reply
    withdrawn       it called `withdraw`, with the reason: an answer, not a failed proposal
    invalid, empty, truncated, garbled, too_large    reply after reply that is no turn (see
                                                     `evolake.agents.calls`)
    refused, rejected    the model declined, or the conversation is longer than it can read
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import BaseModel

from evolake.agents.call_cache import Question, Recorded, choose
from evolake.agents.calls import AgentCall, one_line_reason
from evolake.agents.fences import cap, clean
from evolake.agents.model import Attempt, ModelBackend
from evolake.agents.prompts import Message
from evolake.agents.reply_validation import FINAL, validate_reply
from evolake.agents.roles import AgentFailure, Job, Record
from evolake.agents.sampling import Sampling
from evolake.agents.session_tools import CHANGING, FILE_TOOLS, Result, SessionContext, run_tool
from evolake.agents.system_prompts import prompt_for
from evolake.agents.wire import RESULT, Turn, turn_text
from evolake.canonical_json import canonical_json, key_of, text_sha
from evolake.errors import CorruptPart
from evolake.lake import disk


class SessionRecords:
    """The records next to a call cache. Safe for any number of threads and processes on one machine."""

    def __init__(self, call_cache: Path):
        self.root = call_cache / "sessions"

    def path(self, name: str) -> Path:
        """Return where a record is."""
        sha = text_sha(name)
        return self.root / sha[:2] / f"{sha[2:]}.json"

    def read(self, name: str) -> dict[str, Any] | None:
        """Return a record, None if there is none.

        Raises:
            CorruptPart: it is damaged, or another's.
            LakeError: it cannot be read.
        """
        path = self.path(name)
        with disk.as_lake_error(
            "a record of a session cannot be read", f"a file {path} that this user may read"
        ):
            if not path.exists():
                return None
            data = disk.read(path)
        try:
            stored = json.loads(data)
            if stored["sha"] != key_of([name, stored["record"]]):
                raise ValueError("its own hash does not match")
            return stored["record"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise CorruptPart(
                f"a record of a session is damaged: {error}",
                wanted="the bytes that were written",
                got=str(path),
                do="restore the file from a backup, or delete it: the command is run again",
            ) from None

    def damage(self, path: Path) -> str:
        """Return what is wrong with the record that is at `path`, "" for nothing."""
        try:
            stored = json.loads(disk.read(path))
            if not isinstance(stored["record"], dict) or not isinstance(stored["sha"], str):
                return "it is no record of a session"
            if stored["sha"] != key_of([stored["name"], stored["record"]]):
                return "its own hash does not match"
            return "it lies where another belongs" if self.path(stored["name"]) != path else ""
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            return str(error) or type(error).__name__

    def write(self, name: str, record: dict[str, Any]) -> dict[str, Any]:
        """Keep a record, and return what is kept: the other one if another was first.

        Raises:
            LakeError: it cannot be kept.
        """
        path = self.path(name)
        data = json.dumps({"name": name, "sha": key_of([name, record]), "record": record}).encode()
        with disk.as_lake_error(
            "a record of a session cannot be kept", f"room and the right to write below {self.root}"
        ):
            disk.make_folder(path.parent)
            temporary = path.with_name(f".tmp-{os.getpid()}-{uuid4().hex}")
            try:
                disk.write_new(temporary, data)
                disk.link(temporary, path)
                disk.sync_folder(path.parent)
            finally:
                disk.discard(temporary)
        return self.read(name) or record


Note = Callable[[dict[str, Any]], None]


def turn_row(
    job: Job[Any, Any],
    call: AgentCall,
    said: Turn | str,
    *,
    session: str,
    turn: int,
    results: Sequence[Result],
    fault: str,
    tree: str,
) -> dict[str, Any]:
    """Return a row of SESSION_TURNS with `text`, what was said and done, in the place of its blob. said: the
    turn, or a reply that is none, as it came.
    """
    thought, calls = (said.thought, said.calls) if isinstance(said, Turn) else (said, [])
    done = [
        {"tool": asked.tool, "arguments": asked.arguments, "result": result.text, "fault": result.fault}
        for asked, result in zip(calls, results, strict=False)
    ]
    return {
        "session_id": text_sha(session),
        "turn": turn,
        "cycle": call.cycle,
        "artifact_id": job.artifact_id,
        "role": job.role.name,
        "model": call.model,
        "call_id": call.call_id,
        "status": call.status,
        "tools": [result.tool for result in results],
        "faults": [result.fault for result in results],
        "fault": fault or None,
        "outcome": None,
        "reason": None,
        "tree_sha": tree,
        "tools_s": round(sum(result.wall_s for result in results), 3),
        "text": canonical_json(
            {"thought": thought, "calls": done, "not_run": max(0, len(calls) - len(results))}
        ),
    }


FEW = 3
"""Turns left, from which on the agent is sent how many; likewise of tokens, for so many turns like the
last."""
NOT_CHANGED = "Not run: a change of a file before it in this turn failed."
USELESS = ("unknown_tool", "bad_call", "outside", "unusable")
"""Faults of calls that bring a session nowhere."""


@dataclass(frozen=True)
class Ending:
    """How a session ended. outcome: finished, or a word of the module's text."""

    outcome: str
    reason: str
    reply: BaseModel | None = None


@dataclass
class _SessionState:
    """A session so far."""

    messages: list[Message]
    sampling: Sampling
    turns: int = 0
    tokens: int = 0
    turn_tokens: int = 0
    usd: float = 0.0
    wall_s: float = 0.0
    commands: int = 0
    strikes: int = 0
    last: str = ""
    seen: Counter[str] = field(default_factory=Counter)
    rows: list[dict[str, Any]] = field(default_factory=list)


def conduct(
    backend: ModelBackend, job: Job[Any, Any], context: SessionContext, record: Record, note: Note
) -> BaseModel | AgentFailure:
    """Return the model that `finish` was called with, or an AgentFailure. The files of `context` are then
    what the session made of them.

    Args:
        record: called with each call, as by `ModelBackend.ask`. note: called with the row of each turn, also
            when an exception passes.

    Raises:
        MachineryError: the jail or what a command needs failed. InputError, BudgetExhausted,
            AgentUnavailable: as `ModelBackend.ask`. The next
        session with the same request continues from the last turn.
    """
    session = _Session(backend, job, context, record)
    try:
        ending = session.run()
    finally:
        for row in session.state.rows:
            note(row)
    if ending.reply is not None:
        return ending.reply
    return AgentFailure(job.role.name, ending.outcome, one_line_reason(ending.reason), session.state.turns)


class _Session:
    def __init__(self, backend: ModelBackend, job: Job[Any, Any], context: SessionContext, record: Record):
        self.backend, self.job, self.context, self.record = backend, job, context, record
        self.prompt, self.records = (
            prompt_for(backend.system_prompts, job.role.name),
            SessionRecords(backend.call_cache.root),
        )
        self.first = self._chosen(backend.first_question(job))
        self.name = self.first.key
        self.state = _SessionState(self.first.messages, self.first.sampling)

    def _chosen(self, question: Question) -> Question:
        """Return the first question of the session that this one continues; it depends on the files, too."""
        question = replace(question, schema=question.schema | {"workspace": self.context.workspace.sha})
        return question.tagged(
            choose(
                self.backend.call_cache,
                question.sha,
                self.backend.asker,
                lambda tag: self._recorded(question.sha + tag),
            )
        )

    def run(self) -> Ending:
        """Turn after turn to the end, which is kept."""
        known = self._ended(self.name)
        ending = self._take_turns(known)
        if self.state.rows:
            self.state.rows[-1] |= {"outcome": ending.outcome, "reason": ending.reason or None}
        if self.backend.endpoint is not None and known is None and self.state.last:
            end = {
                "outcome": ending.outcome,
                "reason": ending.reason,
                "turns": self.state.turns,
                "last": self.state.last,
            }
            self.records.write(f"end\x1f{self.name}", end)
        return ending

    def _take_turns(self, known: dict[str, Any] | None) -> Ending:
        """Take turns until the session ends. known: how it ended in an earlier run."""
        while True:
            if (ending := self._bound()) is not None:
                return ending
            if (ending := self._cut_short(known)) is not None:
                return ending
            if (ending := self._turn()) is not None:
                return ending

    def _turn(self) -> Ending | None:
        state, before = self.state, self.context.workspace.sha
        longest = 2 * self.first.sampling.max_output_tokens
        question = replace(self.first, messages=state.messages, sampling=state.sampling, longest=longest)
        attempt = self.backend.obtain(question, self.record)
        status, said = validate_reply(attempt.received, self.job.role.reply)
        call = self.backend.row(question, attempt, status, self.prompt, reason=said)
        self.record(call, attempt.charged)
        self._count(question.key, attempt)
        if isinstance(said, Turn):
            ending, results, fault = self._act(said, before)
            state.messages = [*map(_shortened, state.messages), *_turn_messages(said, results)]
        else:
            results, fault, ending = [], status, Ending(status, str(said)) if status in FINAL else None
            repaired = question.repaired(attempt.received, status, str(said), question.number)
            state.messages, state.sampling = repaired.messages, repaired.sampling
        state.rows.append(
            turn_row(
                self.job,
                call,
                said if isinstance(said, Turn) else attempt.received.content,
                session=self.name,
                turn=state.turns,
                results=results,
                fault=fault,
                tree=self.context.workspace.sha,
            )
        )
        state.strikes = state.strikes + 1 if fault else 0
        most = self.backend.session.strikes
        if ending is None and state.strikes >= most:
            why = results[0].text if results else str(said)
            ending = Ending(fault, f"{most} turns in a row were of no use, the last: {why}")
        return ending

    def _act(self, turn: Turn, before: str) -> tuple[Ending | None, list[Result], str]:
        """Run the calls of a turn; after a change that failed, no command and no `finish`. Return how the
        session ended, if it did, the results of the calls, and in which way the turn was useless.
        """
        state, limits = self.state, self.backend.session
        calls, flooded = turn.calls[: limits.calls], len(turn.calls) > limits.calls
        taken = key_of([before, [call.model_dump(mode="json") for call in turn.calls]])
        state.seen[taken] += 1
        results: list[Result] = []
        for call in calls:
            if call.tool not in FILE_TOOLS and any(
                result.fault and result.tool in CHANGING for result in results
            ):
                results.append(Result(clean(call.tool)[:60], NOT_CHANGED, "failed"))
                continue
            results.append(
                run_tool(self.context, call.tool, call.arguments, self._remember(call.tool, call.arguments))
            )
            state.wall_s += results[-1].wall_s
            if (reply := results[-1].finished) is not None:
                return Ending("finished", "", reply), results, ""
            if results[-1].withdrawn:
                return Ending("withdrawn", results[-1].withdrawn), results, ""
        notes = [f"(Only the first {limits.calls} of {len(turn.calls)} calls were run.)"] if flooded else []
        if state.seen[taken] >= limits.repeats:
            return (
                Ending("looped", f"the same turn was taken {limits.repeats} times on the same files"),
                results,
                "looped",
            )
        if notes := [*notes, *self._left()]:
            results[-1] = replace(results[-1], text="\n".join([results[-1].text, *notes]))
        useless = {result.fault for result in results} <= set(USELESS)
        if flooded:
            fault = "flooded"
        elif useless:
            fault = results[0].fault
        else:
            fault = ""
        return None, results, fault

    def _left(self) -> list[str]:
        """Return what is left of turns, seconds and tokens, in words, if it is little."""
        state, limits = self.state, self.backend.session
        turns = limits.turns - state.turns
        notes = [f"({turns} {'turn is' if turns == 1 else 'turns are'} left.)"] if turns <= FEW else []
        if limits.wall_s is not None and (seconds := limits.wall_s - state.wall_s) <= limits.wall_s / 4:
            notes.append(f"({max(0.0, seconds):.0f} of {limits.wall_s:,g} s are left.)")
        if limits.tokens is not None and (tokens := limits.tokens - state.tokens) <= FEW * state.turn_tokens:
            notes.append(
                f"({max(0, tokens):,} of {limits.tokens:,} tokens are left; this turn took "
                f"{state.turn_tokens:,}.)"
            )
        return notes

    def _remember(
        self, tool: str, arguments: Any
    ) -> Callable[[Callable[[], dict[str, Any]]], dict[str, Any]]:
        """Return how what a command says is kept: by the session, how many commands came before, what was
        called and the files that it ran on."""

        def remember(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
            self.state.commands += 1
            asked = canonical_json(
                [self.name, self.state.commands, tool, arguments, self.context.workspace.sha]
            )
            return self.records.read(f"said\x1f{asked}") or self.records.write(f"said\x1f{asked}", make())

        return remember

    def _count(self, key: str, attempt: Attempt) -> None:
        """Count what a turn took, as the call cache has it, so that a replay counts the same."""
        state, entry = self.state, self.backend.call_cache.read(key)
        state.turns += 1
        state.turn_tokens = entry.charged_tokens if entry else attempt.charged.tokens
        state.tokens += state.turn_tokens
        state.usd += entry.charged_usd if entry else attempt.charged.usd
        state.wall_s += entry.latency_s if entry else 0.0
        state.last = key if entry else state.last

    def _bound(self) -> Ending | None:
        """Return whether a bound was reached, and which."""
        state, most = self.state, self.backend.session
        for word, spent, bound in (
            ("turns", state.turns, most.turns),
            ("tokens", state.tokens, most.tokens),
            ("usd", state.usd, most.usd),
            ("time", state.wall_s, most.wall_s),
        ):
            if bound is not None and spent >= bound:
                return Ending(
                    f"out_of_{word}",
                    f"not finished within {bound:g} {'seconds' if word == 'time' else word} (it took "
                    f"{spent:g})",
                )
        return None

    def _cut_short(self, known: dict[str, Any] | None) -> Ending | None:
        """Return how it ended, if its last turn brought nothing that the call cache has."""
        if not known or known["last"] != self.state.last or not self.state.last:
            return None
        return Ending(known["outcome"], known["reason"]) if known["outcome"] in FINAL else None

    def _ended(self, name: str) -> dict[str, Any] | None:
        return self.records.read(f"end\x1f{name}")

    def _recorded(self, name: str) -> Recorded:
        """Return what is known of a session, for the choice of the one to continue with."""
        if (end := self._ended(name)) is not None:
            return Recorded(
                "answered" if end["outcome"] in ("finished", "withdrawn") else "failed",
                self.backend.call_cache.read(end["last"]),
            )
        return Recorded("open", self.backend.call_cache.read(name))


LONGEST_ARGUMENT, SHOWN_ARGUMENT = 4_000, 1_000
"""Characters of an argument from which on it is shortened in later turns, and what is then left: the files
have what was written."""


def _shortened(message: Message) -> Message:
    """Return a message of an earlier turn without the middle of its long arguments."""
    if message["role"] != "assistant" or len(message["content"]) <= LONGEST_ARGUMENT:
        return message
    try:
        turn = Turn.model_validate_json(message["content"])
    except ValueError:
        return message
    for call in turn.calls:
        given = call.arguments if isinstance(call.arguments, dict) else {"": call.arguments}
        given = {
            name: cap(value, SHOWN_ARGUMENT)
            if isinstance(value, str) and len(value) > LONGEST_ARGUMENT
            else value
            for name, value in given.items()
        }
        call.arguments = given if isinstance(call.arguments, dict) else given[""]
    return {**message, "content": turn_text(turn)}


def _turn_messages(turn: Turn, results: list[Result]) -> list[Message]:
    """Return a turn and what came of it, as messages."""
    done = Turn(thought=turn.thought, calls=turn.calls[: len(results)])
    said: Message = {"role": "assistant", "content": turn_text(done)}
    return [said, *({"role": RESULT, "name": result.tool, "content": result.text} for result in results)]
