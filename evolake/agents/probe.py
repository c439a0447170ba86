"""Trying an endpoint: two small questions say whether it answers, in the form that was asked for, says what it used, and calls a function."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evolake.agents.bounds import parse_reply
from evolake.agents.endpoint import Endpoint, Rejected
from evolake.agents.ladder import RESPONSE_FORMATS
from evolake.agents.prices import plausible
from evolake.agents.reply_validation import read_completion, validate_reply
from evolake.agents.sampling import Sampling
from evolake.errors import AgentUnavailable
from evolake.jail.protocol import one_line

ASKED = [{"role": "user", "content": 'Reply with one JSON object, {"total": N}, where N is the sum of 17 and 25, and nothing else.'}]
TOOL = {
    "type": "function", "function": {
        "name": "report_total", "description": "Takes the sum.",
        "parameters": {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"], "additionalProperties": False},
    },
}
OFFERED = [{"role": "user", "content": "Call the function report_total with the sum of 17 and 25."}]
FORMS = {"schema": "as its schema says", "json_object": "as JSON; the endpoint takes no schema, which the prompt says then",
         "text": "as text; the endpoint takes no response format, which the prompt says then"}


SHOWN = 160
"""Characters of a reply that are shown where it has another form than was asked for."""


class ProbeReply(BaseModel):
    """What the first question wants."""

    model_config = ConfigDict(extra="forbid")
    total: int = Field(description="The sum.")


@dataclass(frozen=True)
class Tried:
    """One thing tried. needed: whether the model backend cannot work without it."""

    what: str
    ok: bool
    detail: str
    needed: bool


def probe(endpoint: Endpoint, model: str, *, max_output_tokens: int) -> Iterator[Tried]:
    """Asks a model of an endpoint. The calls are on no tape and in no account: the details say what they used."""
    try:
        body = endpoint.post(model, ASKED, ProbeReply, sampling=Sampling(max_output_tokens))
    except AgentUnavailable as error:
        yield Tried("answers", False, error.got or error.what, True)
        return
    if isinstance(body, Rejected):
        yield Tried("answers", False, body.reason, True)
        return
    received = read_completion(body.text, cut=body.cut)
    status, said = validate_reply(received, ProbeReply)
    form = FORMS[RESPONSE_FORMATS[endpoint.form(model).response_format]]
    other = f"{status}: {said}; the reply begins: {beginning(received.content or body.text)}"
    yield Tried("structured replies", not isinstance(said, str), other if isinstance(said, str) else form, True)
    counts = received.counts
    if counts is None or not plausible(counts, sum(len(item["content"]) for item in ASKED), received.content, max_output_tokens):
        yield Tried("usage", False, "none that can be true: calls are charged by estimate, and their cost is unknown", False)
    else:
        yield Tried("usage", True, f"{counts.input} tokens read, {counts.output} written", False)
    yield _function(endpoint, model, max_output_tokens)


def beginning(text: str) -> str:
    """The first characters of a reply, on one line and none that a terminal obeys."""
    return one_line(text, SHOWN) or "nothing printable"


def _function(endpoint: Endpoint, model: str, max_output_tokens: int) -> Tried:
    text = ""
    try:
        text = endpoint.post_tool(model, OFFERED, TOOL, max_output_tokens=max_output_tokens).text
        called: dict[str, Any] = parse_reply(text, "the reply")["choices"][0]["message"]["tool_calls"][0]["function"]
        ok = called["name"] == "report_total" and isinstance(parse_reply(called["arguments"], "the arguments")["total"], int)
        detail = "called as described" if ok else f"another call than was described: {beginning(json.dumps(called))}"
        return Tried("function calling", ok, detail, False)
    except AgentUnavailable as error:
        return Tried("function calling", False, error.got or error.what, False)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return Tried("function calling", False, f"no function was called; the reply begins: {beginning(_said(text))}", False)


def _said(text: str) -> str:
    """What a completion says; the whole body where it is none."""
    return read_completion(text).content or text
