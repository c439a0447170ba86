"""Read what a server sends: JSON within bounds, and a stream of events as the completion that it would have
sent whole.

A body of a few megabytes can be five million empty objects, which take a hundred times its size as Python
values, and a compressed one a thousand times its size as text. So the text is counted first: there are at
most as many values as commas, colons and opening brackets outside of strings.

Some servers only stream, some stream without being asked to. `httpx2` reads the events by the specification
of server-sent events; the data of each is a piece of the message, and `[DONE]` ends the stream. A stream with
a damaged event is broken as a whole: the message without that piece would be another one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2

from evolake.reading import Unparsable, parse_json
from evolake.reading.json_text import beyond_json

MAX_VALUES = 200_000
"""Of one JSON text: a completion has some dozens, the largest reply of a role some thousands."""
MAX_DIGITS = 4300
"""Of one number: as many as Python writes. A family's answer may be a large one."""
NO_LIMIT = 1 << 62
CONTENT_TYPE = "text/event-stream"
_BEGINS_STREAM = re.compile(r"\ufeff?\s*(?::|(?:data|event|id|retry):)")
_PIECES = ("content", "reasoning_content", "reasoning", "refusal")


def too_many(text: str) -> str:
    """Return why the text is not parsed as JSON, "" if it may be."""
    return beyond_json(text, values=MAX_VALUES, digits=NO_LIMIT, depth=NO_LIMIT)


def parse_reply(text: str, name: str) -> Any:
    """Return the value of JSON that a server or a model sent. Raises Unparsable."""
    return parse_json(text, name=name, values=MAX_VALUES, digits=MAX_DIGITS)


def is_event_stream(content_type: str, body: str) -> bool:
    """Return whether a body is a stream of events."""
    return CONTENT_TYPE in content_type.lower() or bool(_BEGINS_STREAM.match(body))


def join_events(body: str) -> str:
    """Return the completion as JSON; an error if the stream holds one.

    Raises:
        ValueError: the stream broke off before its end, or an event of it is damaged.
    """
    whole: dict[str, Any] = {}
    message: dict[str, list[str]] = {}
    calls: list[dict[str, Any]] = []
    finish, done = None, False
    for sent in _events(body):
        if sent.event == "error":
            return json.dumps({"error": sent.data})
        if done := sent.data.strip() == "[DONE]":
            break
        event = _event(sent.data)
        if event.get("error"):
            return json.dumps({"error": event["error"]})
        whole |= {name: event[name] for name in ("id", "created", "model", "usage") if event.get(name)}
        choices = [_of_kind(item, dict) for item in _of_kind(event.get("choices"), list)]
        choice = next((item for item in choices if not item.get("index")), {})
        finish = choice.get("finish_reason") or finish
        piece = _of_kind(choice.get("delta"), dict)
        if "delta" not in choice and (piece := _of_kind(choice.get("message"), dict)):
            # a whole message takes the place of its pieces
            message, calls = {}, []
        for name in _PIECES:
            if (said := piece.get(name)) is not None:
                text = said if isinstance(said, str) else message_text(_of_kind(said, list))
                message.setdefault(name, []).append(text)
        for call in _of_kind(piece.get("tool_calls"), list):
            _join_call(calls, _of_kind(call, dict))
    if not done and finish is None:
        raise ValueError("the stream broke off before its end")
    joined: dict[str, Any] = {"role": "assistant", "content": None}
    joined |= {name: "".join(texts) for name, texts in message.items()}
    if calls:
        joined["tool_calls"] = [
            {name: value for name, value in call.items() if name != "index"} for call in calls
        ]
    choice = {"index": 0, "message": joined, "finish_reason": finish}
    return json.dumps(whole | {"object": "chat.completion", "choices": [choice]})


def message_text(content: Any) -> str:
    """Return the text of a message: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return ""


def _events(body: str) -> Iterator[httpx2.ServerSentEvent]:
    """Yield the events that have data, the last one also if no blank line ends it."""
    response = httpx2.Response(
        200,
        headers={"content-type": f"{CONTENT_TYPE}; charset=utf-8"},
        content=(body.removeprefix("\ufeff") + "\n\n").encode(),
        request=httpx2.Request("POST", "http://stream"),
    )
    return (event for event in httpx2.EventSource(response, max_event_size=None) if event.data)


def _event(text: str) -> Mapping[str, Any]:
    """Return the object of an event. Raises ValueError: it is damaged, or beyond the bounds."""
    try:
        value = parse_reply(text, "an event")
    except Unparsable as error:
        raise ValueError(f"an event of the stream is damaged: {error.got}") from None
    return _of_kind(value, dict)


def _of_kind(value: Any, kind: type[Any]) -> Any:
    """Return the value, an empty one for null. Raises ValueError: it is of another kind."""
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise ValueError(
            f"an event of the stream is damaged: a {type(value).__name__}, not a {kind.__name__}"
        )
    return value


def _join_call(calls: list[dict[str, Any]], piece: Mapping[str, Any]) -> None:
    """Add a piece of a function call to the call that it continues, or begin a new one."""
    function = _of_kind(piece.get("function"), dict)
    own_id, name = str(piece.get("id") or ""), str(function.get("name") or "")
    given = function.get("arguments") or ""
    text = given if isinstance(given, str) else json.dumps(given)
    call = _continued(calls, piece.get("index"), own_id, name, text)
    if call is None:
        call = {"index": piece.get("index"), "id": own_id, "type": "function"}
        call["function"] = {"name": "", "arguments": ""}
        calls.append(call)
    call["id"] = call["id"] or own_id
    # some servers repeat the whole name in every piece
    call["function"]["name"] += "" if name == call["function"]["name"] else name
    call["function"]["arguments"] += text


def _continued(
    calls: list[dict[str, Any]], index: Any, own_id: str, name: str, text: str
) -> dict[str, Any] | None:
    """Return the call that a piece continues; None if it begins one.

    A new id begins a call, and so does a name after whole arguments: not every server counts its calls by
    `index`. A piece of nothing but arguments continues the call before it, whatever id was made up for it.
    """
    if isinstance(index, int):
        call = next((item for item in reversed(calls) if item["index"] == index), None)
    else:
        call = next((item for item in reversed(calls) if own_id and item["id"] == own_id), None)
        if call is None and calls and not name:
            call = calls[-1]
    if call is None:
        return None
    other = bool(own_id and call["id"] and own_id != call["id"]) and bool(name or not text)
    return None if other or (name and text and _is_object(call["function"]["arguments"])) else call


def _is_object(text: str) -> bool:
    """Return whether a text is a whole JSON object."""
    if not text.rstrip().endswith("}"):
        return False
    try:
        return isinstance(parse_reply(text, "the arguments"), dict)
    except Unparsable:
        return False
