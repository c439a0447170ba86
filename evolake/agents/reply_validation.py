"""Validate what a model answered: read the completion's envelope, find the JSON in its text and validate it
by the role's reply model.

`ModelBackend.ask` (`evolake/agents/model.py`) obtains an attempt, from the call cache or by `read_completion`
from the endpoint. `validate_reply` gives the status word; `validate_text` finds the JSON object and validates
it; `repair_messages` writes what the model is sent after a reply that does not fit. A session validates its
turns by the same functions. (The package `evolake.answers` compares answers to puzzles and problems; it has
no part in this.)

Every odd thing a server or a model does is a failed attempt with a name (see `evolake.agents.calls`), never
an exception: the body may have been paid for. The one exception is an answer that is no JSON at all, such as
a gateway's HTML page with status 200: that is a wrong address.

Models think before they answer, some of them aloud: in `<think>` tags, whose drafts are no answers, or in
prose with its own braces. The answer is the last complete object outside of such tags; a tag inside of an
object's strings is text.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from evolake.agents.event_stream import message_text, parse_reply, too_many
from evolake.agents.fences import cap, clean
from evolake.agents.prices import Counts, read_counts
from evolake.agents.prompts import Message
from evolake.agents.wire import called_text
from evolake.reading import Unparsable

MOST_SCANNED = 20_000_000
"""Characters looked at in one text, over all places at which an object may begin."""
MOST_CANDIDATES = 8
_LEAST_SCANNED = 200
_JSON: TypeAdapter[Any] = TypeAdapter(Any)
_MARK = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>|\{\s*[\"}]", re.IGNORECASE)
_TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_BRACE = re.compile(r'[{}]|"(?:[^"\\]|\\.)*"', re.DOTALL)


def json_candidates(text: str) -> list[str]:
    """Return the objects that may be the answer, the last one first; texts that look like objects and are
    none are among them.

    >>> json_candidates('<think>Is it {"n": 1}?</think> In {braces}: {"n": 2}, or rather {"n": 3}.')
    ['{"n": 3}', '{"n": 2}']
    """
    found: deque[tuple[int, int]] = deque(maxlen=MOST_CANDIDATES)
    place, thinking, left = 0, False, MOST_SCANNED
    while left > 0 and (mark := _MARK.search(text, place)) is not None:
        place = mark.end()
        if mark[0][0] == "<":
            if mark[1]:
                if not thinking:
                    # a template may open the tag before the reply begins: what came before a lone closing tag
                    # was reasoning too
                    found.clear()
                thinking = False
            else:
                thinking = True
            continue
        if thinking:
            continue
        start = mark.start()
        end = _end_of_object(text, start)
        left -= max(_LEAST_SCANNED, (end or len(text)) - start)
        if end is not None:
            found.append((start, end))
            place = end
        elif _begins_object(text[start:]):
            # the reply was cut off inside of this object: what is inside is no answer
            found.append((start, len(text)))
            break
        else:
            place = start + 1
    return [text[start:end] for start, end in reversed(found)]


def without_reasoning(text: str) -> str:
    """Return the text behind the reasoning at its beginning; all of it if it begins otherwise.

    >>> without_reasoning("<think>Hm.</think> I edit it."), without_reasoning("Is <think> a tag?")
    ('I edit it.', 'Is <think> a tag?')
    """
    first = _TAG.match(text.lstrip())
    if first is None or first[1]:
        return text
    rest = text.lstrip()[first.end() :]
    close = next((tag for tag in _TAG.finditer(rest) if tag[1]), None)
    return rest[close.end() :].strip() if close else ""


def ends_in_object(text: str) -> bool:
    """Return whether the last thing that a text says is a whole JSON object."""
    last = json_candidates(text)[:1]
    if not last or not text.rstrip().removesuffix("```").rstrip().endswith(last[0]):
        return False
    try:
        _JSON.validate_json(last[0])
    except ValueError:
        return False
    return True


def _end_of_object(text: str, start: int) -> int | None:
    """Return where the object that begins at `start` ends; None if its braces do not close."""
    depth = 0
    for token in _BRACE.finditer(text, start):
        if token[0] == "{":
            depth += 1
        elif token[0] == "}":
            depth -= 1
            if not depth:
                return token.end()
    return None


def _begins_object(text: str) -> bool:
    """Return whether a text is an object up to where it breaks off."""
    if too_many(text):
        return False
    try:
        return isinstance(_JSON.validate_json(text, experimental_allow_partial=True), dict)
    except ValueError:
        return False


FINAL = ("refused", "rejected")
"""Statuses after which nothing is repaired."""
SHOWN_REPLY_CHARS = 8_000
_REASONING = ("reasoning_content", "reasoning", "thinking")
_LONGEST_NAME = 80
_MAX_ERRORS = 8


@dataclass(frozen=True)
class Received:
    """A completion as it came: `outcome` is received, truncated, refused, empty, garbled or too_large;
    `detail` says more in one line; `model` is the name that it bears, "" for none.
    """

    outcome: str
    content: str
    detail: str = ""
    counts: Counts | None = None
    model: str = ""


def read_completion(text: str, *, cut: bool = False, calls: bool = False) -> Received:
    """Read the body of a chat completion. `cut` says that it was longer than the cap; `calls`, that functions
    were offered: their calls are read as the text of a turn."""
    if cut:
        return Received(
            "too_large", "", f"the reply was longer than {len(text.encode())} bytes and was cut off"
        )
    if crowded := too_many(text):
        return Received("too_large", "", f"the body is not read: {crowded}")
    try:
        body = parse_reply(text, "the body")
    except Unparsable as error:
        return Received("garbled", clean(text), f"the body is not JSON: {error.got}")
    if not isinstance(body, Mapping):
        return Received("garbled", clean(text), f"the body is a JSON {type(body).__name__}, not an object")
    return replace(
        _read_envelope(body, calls=calls),
        counts=read_counts(body.get("usage")),
        model=_model_name(body.get("model")),
    )


def _read_envelope(body: Mapping[str, Any], *, calls: bool = False) -> Received:
    """Return what the envelope holds, but for its counts and its model."""
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        says = body.get("error") or body.get("detail") or ""
        return Received("empty", "", f"the completion has no choices {clean(str(says)[:300])}".strip())
    message = choices[0].get("message")
    message = message if isinstance(message, Mapping) else {}
    content, thought = clean(message_text(message.get("content"))), _reasoning(message)
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal.strip():
        return Received("refused", content, f"the model declined: {clean(refusal[:300])}")
    finish = choices[0].get("finish_reason")
    if finish == "content_filter":
        return Received("refused", content, "the content filter stopped the reply")
    if finish == "error":
        return Received("garbled", content, "the server ended the reply in an error")
    if finish == "length":
        while_thinking = (
            f" after {len(thought)} characters of reasoning" if thought and not content.strip() else ""
        )
        return Received("truncated", content, f"the reply ran into the output limit{while_thinking}")
    if calls and (called := called_text(message, without_reasoning(content))) is not None:
        return Received("received", clean(called))
    if content.strip():
        return Received("received", content)
    if ends_in_object(thought):
        # some servers put the whole reply there; a draft in the middle of it is no answer
        return Received("received", thought)
    says = f"finish reason {clean(str(finish)[:40])}" + (
        f"; {len(thought)} characters of reasoning and no answer after it" if thought else ""
    )
    return Received("empty", content, f"the message has no text ({says})")


def billed(received: Received) -> bool:
    """Return whether this was, or may have been, paid for: all but a completion without choices and without
    usage."""
    return received.outcome != "empty" or received.counts is not None or bool(received.content)


def validate_text(content: str, reply: type[BaseModel]) -> BaseModel | str:
    """Return the reply, or what is wrong with the text in words a model can act on.

    The text may be the bare object, or words and drafts with objects among them: the last object that fits is
    the reply, and none that is in `<think>` tags.
    """
    first_error = ""
    for candidate in dict.fromkeys([content.strip(), *json_candidates(content)]):
        if crowded := too_many(candidate):
            first_error = first_error or f"not read: {crowded}"
            continue
        try:
            return reply.model_validate_json(candidate)
        except ValidationError as error:
            first_error = (
                _explain(error) if not first_error or first_error.startswith("not JSON") else first_error
            )
    return first_error


def validate_reply(
    received: Received, reply: type[BaseModel], fault: Callable[[Any], str] | None = None
) -> tuple[str, BaseModel | str]:
    """Return the status word of an attempt (see `evolake.agents.calls`), and its reply or what is wrong with
    it: the one entry for validation.

    fault: what is wrong with a reply that fits its model (`Role.fault`).
    """
    if received.outcome != "received":
        return received.outcome, received.detail
    said = validate_text(received.content, reply)
    if isinstance(said, str):
        return "invalid", said
    wrong = fault(said) if fault else ""
    return ("unusable", wrong) if wrong else ("ok", said)


def _model_name(value: Any) -> str:
    """Return the model that a completion says it comes from, on one line."""
    return (
        " ".join(clean(value[: 4 * _LONGEST_NAME]).split())[:_LONGEST_NAME] if isinstance(value, str) else ""
    )


def _explain(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False)
    if problems[0]["type"] == "json_invalid":
        return f"not JSON: {problems[0]['msg']}"
    lines = [
        f"{'.'.join(str(part) for part in problem['loc']) or 'the object'}: {problem['msg']}"
        for problem in problems[:_MAX_ERRORS]
    ]
    if len(problems) > _MAX_ERRORS:
        lines.append(f"and {len(problems) - _MAX_ERRORS} more")
    return "; ".join(clean(line)[:300] for line in lines)


def _reasoning(message: Mapping[str, Any]) -> str:
    """Return what a server gives apart from the message's text as the model's reasoning; "" for nothing."""
    return next(
        (
            clean(message[name]).strip()
            for name in _REASONING
            if isinstance(message.get(name), str) and message[name].strip()
        ),
        "",
    )


TURN_FORM = (
    "Call one tool or several, each by its name and with arguments that fit. `finish` ends the session with "
    "the files as they are, `withdraw` without a result."
)
REPLY_FORM = "Reply again with one JSON object that fits the schema, and nothing else."


def repair_messages(received: Received, status: str, reason: str, *, turn: bool = False) -> list[Message]:
    """Return what is said to the model after an attempt that failed: its own reply, shortened, what was
    wrong, and the form that is wanted. turn: whether that is a turn of a session, which calls tools."""
    turns: list[Message] = []
    if received.content.strip():
        turns.append({"role": "assistant", "content": cap(received.content, SHOWN_REPLY_CHARS)})
    if turn and reason.startswith("not JSON"):
        reason = "it calls no tool"
    form = TURN_FORM if turn else REPLY_FORM
    parts = " A long file can be written in parts: `write_file`, then `edit_file`." if turn else ""
    ask = {
        "truncated": f"Up to twice as many tokens are allowed now.{parts} {form}",
        "too_large": f"It was far too long and was thrown away: be much shorter. {form}",
        "unusable": "Mend that, keep the rest, and reply again with the whole JSON object.",
    }.get(status, form)
    turns.append({"role": "user", "content": f"Your reply could not be used: {reason}.\n{ask}"})
    return turns
