"""Join a streamed completion (server-sent events) into the completion that the server would have sent whole.

Some servers only stream, some stream without being asked to. Each event is `data: {...}` with a piece of the
message; `[DONE]` ends the stream.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evolake.agents.bounds import parse_reply, too_many
from evolake.reading import Unparsable

CONTENT_TYPE = "text/event-stream"
_PIECES = ("content", "reasoning_content", "reasoning", "refusal")
_LONGEST_EVENT = 1_000_000


def is_event_stream(content_type: str, body: str) -> bool:
    """Return whether a body is a stream of events."""
    return CONTENT_TYPE in content_type.lower() or body.lstrip()[:6] == "data: "


def join_events(body: str) -> str:
    """Return the completion as JSON; an error if the stream holds one.

    Raises:
        ValueError: the stream broke off before its end.
    """
    whole: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant"}
    calls: dict[int, dict[str, Any]] = {}
    finish, done = None, False
    for line in body.splitlines():
        if not line.startswith("data:"):
            continue
        text = line.removeprefix("data:").strip()
        if text == "[DONE]":
            done = True
            continue
        event = _event(text)
        if event.get("error"):
            return json.dumps({"error": event["error"]})
        whole |= {name: event[name] for name in ("id", "created", "model", "usage") if event.get(name)}
        choice = next(
            (
                item
                for item in event.get("choices") or ()
                if isinstance(item, Mapping) and not item.get("index")
            ),
            {},
        )
        finish = choice.get("finish_reason") or finish
        piece = choice.get("delta") or choice.get("message")
        if isinstance(piece, Mapping):
            for name in _PIECES:
                if isinstance(piece.get(name), str):
                    message.setdefault(name, []).append(piece[name])
            _join_calls(calls, piece.get("tool_calls"))
    if not done and finish is None:
        raise ValueError("the stream broke off before its end")
    message = {name: "".join(value) if isinstance(value, list) else value for name, value in message.items()}
    if calls:
        message["tool_calls"] = [calls[place] for place in sorted(calls)]
    choice = {"index": 0, "message": {"content": None} | message, "finish_reason": finish}
    return json.dumps(whole | {"object": "chat.completion", "choices": [choice]})


def _event(text: str) -> Mapping[str, Any]:
    """Return the object of an event; an empty one if it is none."""
    if len(text) > _LONGEST_EVENT or too_many(text):
        return {}
    try:
        value = parse_reply(text, "an event")
    except Unparsable:
        return {}
    return value if isinstance(value, Mapping) else {}


def _join_calls(calls: dict[int, dict[str, Any]], pieces: Any) -> None:
    """Add the pieces of function calls to those that came before."""
    for place, piece in enumerate(pieces if isinstance(pieces, list) else ()):
        if not isinstance(piece, Mapping):
            continue
        number = piece.get("index")
        empty = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        call = calls.setdefault(number if isinstance(number, int) else place, empty)
        call["id"] = call["id"] or str(piece.get("id") or "")
        function = piece.get("function")
        if isinstance(function, Mapping):
            # some servers repeat the whole name in every piece
            name = str(function.get("name") or "")
            call["function"]["name"] += "" if name == call["function"]["name"] else name
            call["function"]["arguments"] += str(function.get("arguments") or "")
