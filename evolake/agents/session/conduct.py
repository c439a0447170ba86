"""The loop of a session: ask, run what the turn calls, tell what came of it, until it is finished or ends otherwise.

Each turn goes the way of any call (tape, budget, wire), and is asked with the whole conversation so far. The files and what was told are functions of
the turns and of what commands said, and both are kept; so a session is replayed to the same bytes, and one that was killed goes on from its last
turn. That a session is of no use is an `AgentFailure` with one of these words for a status:

    out_of_turns, out_of_tokens, out_of_usd, out_of_time     a bound of the settings was reached before it was finished
    looped          it did the same on the same files again and again
    flooded         it called more tools at once than a turn may, again and again
    unknown_tool, bad_call, outside     turn after turn of nothing but calls of no tool, with arguments of no use, or on what may not be changed
    invalid, empty, truncated, garbled, too_large    reply after reply that is no turn (see `evolake.agents.calls`)
    refused, rejected    the model declined, or the conversation is longer than it can read
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from evolake.agents.backends import Record
from evolake.agents.conversations import FINAL, Recorded, choose, mending
from evolake.agents.model import Attempt, ModelBackend
from evolake.agents.prompts import Message
from evolake.agents.reply_validation import validate_reply
from evolake.agents.roles import AgentFailure, Job
from evolake.agents.session.kept import Kept
from evolake.agents.session.rows import Note, turn_row
from evolake.agents.session.tools import Bench, Result, run_tool
from evolake.agents.system_prompts import prompt_for
from evolake.agents.wire import RESULT, Turn, turn_text
from evolake.canonical_json import canonical_json, key_of

MOST_CALLS = 12
"""Calls of one turn that are run."""
STRIKES = 3
"""Turns in a row of no use, after which a session ends."""
REPEATS = 4
"""Times that one turn may be taken on the same files."""
FEW = 3
"""Turns left, from which on the agent is told how many."""


@dataclass(frozen=True)
class Ending:
    """How a session ended. outcome: finished, or a word of the module's text."""

    outcome: str
    reason: str
    reply: BaseModel | None = None


@dataclass
class _Course:
    """A session so far."""

    messages: list[Message]
    turns: int = 0
    tokens: int = 0
    usd: float = 0.0
    wall_s: float = 0.0
    commands: int = 0
    strikes: int = 0
    last: str = ""
    seen: Counter[str] = field(default_factory=Counter)
    rows: list[dict[str, Any]] = field(default_factory=list)


def conduct(backend: ModelBackend, job: Job[Any, Any], bench: Bench, record: Record, note: Note) -> BaseModel | AgentFailure:
    """The model that `finish` was called with, or an AgentFailure. The files of `bench` are then what the session made of them.

    Args:
        record: told of each call, as by `ModelBackend.ask`. note: given the row of each turn, also where an exception passes.

    Raises:
        MachineryError: the jail or what a command needs failed. InputError, BudgetExhausted, AgentUnavailable: as `ModelBackend.ask`. The next
        session with the same request goes on from the last turn.
    """
    session = _Session(backend, job, bench, record)
    try:
        ending = session.run()
    finally:
        for row in session.course.rows:
            note(row)
    if ending.reply is not None:
        return ending.reply
    return AgentFailure(job.role.name, ending.outcome, " ".join(ending.reason.split())[:500], session.course.turns)


class _Session:
    def __init__(self, backend: ModelBackend, job: Job[Any, Any], bench: Bench, record: Record):
        self.backend, self.job, self.bench, self.record = backend, job, bench, record
        self.model, self.prompt = backend.model_of(job.role.name), prompt_for(backend.system_prompts, job.role.name)
        self.tools, self.number, self.kept = [dict(tool) for tool in job.role.tools], 10 * job.attempt, Kept(backend.tape.root)
        messages, reply = backend.first_of(job, lambda said, form: self._recorded(self._named(said, form)[0]), goes_on=True)
        self.schema = self._schema(reply)
        self.name, self.tag = self._named(messages, reply)
        self.course = _Course(messages)

    def _schema(self, reply: dict[str, Any]) -> dict[str, Any]:
        return {"turn": reply, "tools": self.tools, "workspace": self.bench.workspace.sha}

    def _named(self, messages: list[Message], reply: dict[str, Any]) -> tuple[str, str]:
        """The session that begins so and that this one goes on with: its name, and the tag in it."""
        question = self.backend.question(self.job, self.model, messages, self._schema(reply), self.number)
        tag = choose(self.backend.tape, question, self.backend.asker, lambda tag: self._recorded(question + tag))
        return question + tag, tag

    def run(self) -> Ending:
        """Turn after turn to the end, which is kept."""
        known = self._ended(self.name)
        while (ending := self._bound() or self._cut_short(known)) is None and (ending := self._turn()) is None:
            pass
        if self.course.rows:
            self.course.rows[-1] |= {"outcome": ending.outcome, "reason": ending.reason or None}
        if self.backend.endpoint is not None and known is None and self.course.last:
            end = {"outcome": ending.outcome, "reason": ending.reason, "turns": self.course.turns, "last": self.course.last}
            self.kept.write(f"end\x1f{self.name}", end)
        return ending

    def _turn(self) -> Ending | None:
        course, before = self.course, self.bench.workspace.sha
        key = self.backend.question(self.job, self.model, course.messages, self.schema, self.number) + self.tag
        attempt = self.backend.obtain(self.job, self.model, course.messages, self.schema, key, self.number, self.record)
        status, said = validate_reply(attempt.received, self.job.role.reply)
        call = self.backend.row(self.job, self.model, course.messages, key, attempt, status, self.number, self.prompt)
        self.record(call, attempt.charged)
        self._count(key, attempt)
        if isinstance(said, Turn):
            ending, results, fault = self._act(said, before)
            course.messages = [*course.messages, *_told(said, results)]
        else:
            results, fault, ending = [], status, Ending(status, str(said)) if status in FINAL else None
            course.messages = [*course.messages, *mending(attempt.received, status, str(said))]
        course.rows.append(turn_row(
            self.job, call, session=self.name, turn=course.turns, thought=said.thought if isinstance(said, Turn) else attempt.received.content,
            calls=said.calls if isinstance(said, Turn) else [], results=results, fault=fault, tree=self.bench.workspace.sha,
        ))
        course.strikes = course.strikes + 1 if fault else 0
        if ending is None and course.strikes >= STRIKES:
            why = results[0].text if results else str(said)
            ending = Ending(fault, f"{STRIKES} turns in a row were of no use, the last: {why}")
        return ending

    def _act(self, turn: Turn, before: str) -> tuple[Ending | None, list[Result], str]:
        """Runs the calls of a turn. Gives how the session ended, if so, what the calls came to, and what kind of no use the turn was."""
        course, calls = self.course, turn.calls[:MOST_CALLS]
        taken = key_of([before, [call.model_dump(mode="json") for call in turn.calls]])
        course.seen[taken] += 1
        results: list[Result] = []
        for call in calls:
            results.append(run_tool(self.bench, call.tool, call.arguments, self._remember(call.tool, call.arguments)))
            course.wall_s += results[-1].wall_s
            if (reply := results[-1].finished) is not None:
                return Ending("finished", "", reply), results, ""
        notes = [f"(Only the first {MOST_CALLS} of {len(turn.calls)} calls were run.)"] if len(turn.calls) > MOST_CALLS else []
        if course.seen[taken] >= REPEATS:
            return Ending("looped", f"the same turn was taken {REPEATS} times on the same files"), results, "looped"
        left = self.backend.session.turns - course.turns
        notes += [f"({left} {'turn is' if left == 1 else 'turns are'} left.)"] if left <= FEW else []
        if notes:
            results[-1] = Result(results[-1].tool, "\n".join([results[-1].text, *notes]), results[-1].fault, wall_s=results[-1].wall_s)
        useless = {result.fault for result in results} <= {"unknown_tool", "bad_call", "outside"}
        return None, results, "flooded" if len(turn.calls) > MOST_CALLS else results[0].fault if useless else ""

    def _remember(self, tool: str, arguments: Any) -> Callable[[Callable[[], dict[str, Any]]], dict[str, Any]]:
        """How what a command says is kept: by the session, how many commands came before, what was called and the files that it ran on."""

        def remember(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
            self.course.commands += 1
            asked = canonical_json([self.name, self.course.commands, tool, arguments, self.bench.workspace.sha])
            return self.kept.read(f"said\x1f{asked}") or self.kept.write(f"said\x1f{asked}", make())

        return remember

    def _count(self, key: str, attempt: Attempt) -> None:
        """What a turn took, as the tape has it, so that a replay counts the same."""
        course, entry = self.course, self.backend.tape.read(key)
        course.turns += 1
        course.tokens += entry.charged_tokens if entry else attempt.charged.tokens
        course.usd += entry.charged_usd if entry else attempt.charged.usd
        course.wall_s += entry.latency_s if entry else 0.0
        course.last = key if entry else course.last

    def _bound(self) -> Ending | None:
        """Whether a bound was reached, and which."""
        course, most = self.course, self.backend.session
        for word, spent, bound in (
            ("turns", course.turns, most.turns), ("tokens", course.tokens, most.tokens), ("usd", course.usd, most.usd),
            ("time", course.wall_s, most.wall_s),
        ):
            if bound is not None and spent >= bound:
                return Ending(f"out_of_{word}", f"not finished within {bound:g} {'seconds' if word == 'time' else word} (it took {spent:g})")
        return None

    def _cut_short(self, known: dict[str, Any] | None) -> Ending | None:
        """How it ended where its last turn brought nothing that the tape has."""
        return Ending(known["outcome"], known["reason"]) if known and known["outcome"] in FINAL and known["last"] == self.course.last else None

    def _ended(self, name: str) -> dict[str, Any] | None:
        return self.kept.read(f"end\x1f{name}")

    def _recorded(self, name: str) -> Recorded:
        """What is known of a session, for the choice of the one to go on with."""
        if (end := self._ended(name)) is not None:
            return Recorded("answered" if end["outcome"] == "finished" else "failed", self.backend.tape.read(end["last"]))
        return Recorded("open", self.backend.tape.read(name))


def _told(turn: Turn, results: list[Result]) -> list[Message]:
    """A turn and what came of it, as messages."""
    done = Turn(thought=turn.thought, calls=turn.calls[: len(results)])
    said: Message = {"role": "assistant", "content": turn_text(done)}
    return [said, *({"role": RESULT, "name": result.tool, "content": result.text} for result in results)]
