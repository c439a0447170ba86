"""What a turn of a session is, and how a conversation of turns is put on the wire.

In the call cache and in the loop a conversation has one form, strings only: an assistant's message is the
JSON of its `Turn`, and each result is a message of the role `tool` under the tool's name. An endpoint that
knows functions gets it as tool calls and their results; any other gets the turns as JSON replies and the
results as the user's words. Which of the two it is decides nothing about what was asked, so it is no part of
a call cache's key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evolake.agents.event_stream import parse_reply
from evolake.agents.prompts import Message, compact_schema, reply_rule
from evolake.canonical_json import canonical_json
from evolake.reading import Unparsable

RESULT = "tool"
"""Role of a message that holds a result."""


class ToolCall(BaseModel):
    """One call of a tool."""

    model_config = ConfigDict(extra="forbid")
    tool: str = Field(description="name of the tool")
    arguments: dict[str, Any] | str = Field(
        default_factory=dict, description="a JSON object that fits the tool's parameters"
    )


class Turn(BaseModel):
    """What the agent does next."""

    model_config = ConfigDict(extra="forbid")
    thought: str = Field(default="", description="what you do and why, in a sentence or two")
    calls: list[ToolCall] = Field(min_length=1, description="tools to call now, one after another")


def turn_text(turn: Turn) -> str:
    """Return a turn as an assistant's message."""
    return canonical_json(turn.model_dump(mode="json"))


def called_text(message: Mapping[str, Any], said: str) -> str | None:
    """Return the text of a turn that came as function calls; None where the message has none. said: the text
    next to the calls."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or not calls:
        return None
    functions = [call.get("function") if isinstance(call, Mapping) else None for call in calls]
    result = [
        {"tool": str(function.get("name") or ""), "arguments": _arguments(function.get("arguments"))}
        for function in functions
        if isinstance(function, Mapping)
    ]
    return canonical_json({"thought": said, "calls": result})


def as_functions(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the conversation with tool calls and their results, as endpoints with functions read it. Ids are
    the place and nothing else."""
    sent: list[dict[str, Any]] = []
    for number, message in enumerate(messages):
        if message["role"] == RESULT:
            continue
        results = _results_after(messages, number)
        if message["role"] != "assistant" or not results:
            sent.append({"role": message["role"], "content": message["content"]})
            continue
        turn = Turn.model_validate_json(message["content"])
        ids = [f"t{number:04d}c{place:03d}" for place in range(len(results))]
        calls = [
            {
                "id": name,
                "type": "function",
                "function": {"name": call.tool, "arguments": _arguments_text(call.arguments)},
            }
            for name, call in zip(ids, turn.calls, strict=True)
        ]
        sent.append({"role": "assistant", "content": turn.thought, "tool_calls": calls})
        sent += [
            {"role": "tool", "tool_call_id": name, "content": result["content"]}
            for name, result in zip(ids, results, strict=True)
        ]
    return sent


def as_replies(
    messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], reply: type[BaseModel] | None
) -> list[dict[str, Any]]:
    """Return the conversation in plain messages, for endpoints without functions: the system's words say what
    the tools are and how a turn is written, and the results of a turn are one message of the user. Without
    tools: the messages as they are."""
    sent: list[dict[str, Any]] = []
    for number, message in enumerate(messages):
        if message["role"] == RESULT:
            continue
        sent.append({"role": message["role"], "content": message["content"]})
        if tools and reply is not None and message["role"] == "system":
            sent[-1]["content"] += (
                f"\n\nThe tools:\n{canonical_json([_compact_tool(tool) for tool in tools])}\n\n"
                f"{reply_rule(reply)}"
            )
        if results := _results_after(messages, number):
            text = "\n\n".join(f"Result of {result['name']}:\n{result['content']}" for result in results)
            sent.append({"role": "user", "content": text})
    return sent


def without_system(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages with the system's words at the head of the user's first message, for models that
    take no system message."""
    rules = "\n\n".join(str(message["content"]) for message in messages if message["role"] == "system")
    sent = [dict(message) for message in messages if message["role"] != "system"]
    first = next((number for number, message in enumerate(sent) if message["role"] == "user"), None)
    if not rules:
        return sent
    if first is None:
        return [{"role": "user", "content": rules}, *sent]
    sent[first]["content"] = f"{rules}\n\n{sent[first]['content']}"
    return sent


def marked(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages with marks for a prompt cache: on the first two, which a session's turns and the
    repairs of a reply share, and on the last one."""
    sent = [dict(message) for message in messages]
    for number in {0, min(1, len(sent) - 1), len(sent) - 1}:
        if isinstance(text := sent[number].get("content"), str) and text:
            part = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
            sent[number]["content"] = [part]
    return sent


def functions(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return tools as an endpoint with functions is offered them. tools: name, description and parameters
    (JSON Schema) of each."""
    return [{"type": "function", "function": _compact_tool(tool)} for tool in tools]


def _compact_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool as it is sent: pydantic's schema of its parameters, which names the question in the call
    cache, has more than a model needs."""
    return {**tool, "parameters": compact_schema(tool["parameters"])}


def _results_after(messages: Sequence[Message], number: int) -> list[Message]:
    result = []
    for message in messages[number + 1 :]:
        if message["role"] != RESULT:
            break
        result.append(message)
    return result


def _arguments(given: Any) -> Any:
    """Return what a function is called with: an object where it is one, else the text as it came."""
    if not isinstance(given, str):
        return given if isinstance(given, dict) else str(given)
    try:
        value = parse_reply(given or "{}", "the arguments")
    except Unparsable:
        return given
    return value if isinstance(value, dict) else given


def _arguments_text(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else canonical_json(arguments)
