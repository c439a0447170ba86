"""Before a run does anything: does the endpoint answer, take the key and have the models? Else the first call
would say so, minutes later.

The list of models costs nothing and is asked first. A model that is not in it, or a server that has no such
list, is asked one small question, which is in no cache and in no budget.

Trying an endpoint asks two small questions and one of real size. The small ones show whether it answers in
the form that was asked for, says what it used, and calls a function. The large one shows whether a prompt as
long as those of a cycle fits together with the output limit of the settings, and whether all of it is read:
some servers cut long prompts off in silence (Ollama's `num_ctx`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from evolake.agents.address import address
from evolake.agents.endpoint import Endpoint, Rejected
from evolake.agents.event_stream import parse_reply
from evolake.agents.prices import estimate_tokens, plausible
from evolake.agents.reply_validation import read_completion, validate_reply
from evolake.agents.sampling import Sampling
from evolake.agents.server_errors import RESPONSE_FORMATS
from evolake.errors import AgentUnavailable, InputError
from evolake.jail.protocol import one_line
from evolake.terminal import say

if TYPE_CHECKING:
    from evolake.settings import Settings


LONGEST_ANSWER = 2_000
"""Output tokens that the question may take: some models think first."""
MEND = (
    "correct EVOLAKE_MODEL_BASE_URL, EVOLAKE_MODEL_API_KEY or EVOLAKE_MODELS (`evolake doctor --call` "
    "tries them), or use --backend operators"
)


def check_endpoint(settings: Settings) -> None:
    """Nothing for the backend `operators`, and for a run that makes no new call.

    Raises:
        InputError: something is missing in the settings, or a model of them cannot be asked; says what the
            endpoint said.
    """
    if settings.backend != "model" or settings.replay_only:
        return
    from evolake.agents.agents import check_backend
    from evolake.agents.coding_agent import SETTING, WARNING, words_of

    check_backend(settings)
    if settings.agents.command:
        program = words_of(settings.agents.command, SETTING)[0]
        say(WARNING.format(setting=SETTING, program=program), err=True)
        if not settings.model_base_url:
            return
    key = settings.model_api_key.get_secret_value().strip() if settings.model_api_key else ""
    endpoint = Endpoint(
        settings.model_base_url or "",
        key,
        deadline_s=settings.model_timeout_s,
        retries=min(1, settings.model_max_retries),
    )
    with closing(endpoint):
        try:
            listed = endpoint.listed()
        except AgentUnavailable as error:
            raise _refused(endpoint, error.got or error.what) from None
        for model in sorted(set(settings.models.values()) - set(listed)):
            _ask(endpoint, model, settings.model_max_output_tokens)


def _ask(endpoint: Endpoint, model: str, most_tokens: int) -> None:

    first = next(probe(endpoint, model, max_output_tokens=min(LONGEST_ANSWER, most_tokens)))
    if first.what == "answers" and not first.ok:
        raise _refused(endpoint, f"{model}: {first.detail}")


def _refused(endpoint: Endpoint, said: str) -> InputError:
    where = f"an answer of {address(endpoint.base_url)}"
    return InputError(
        "the model backend cannot be asked, so nothing was begun", wanted=where, got=said, do=MEND
    )


ASKED = [
    {
        "role": "user",
        "content": 'Reply with one JSON object, {"total": N}, where N is the sum of 17 and 25, and nothing else.',  # noqa: E501
    }
]
TOOL = {
    "type": "function",
    "function": {
        "name": "report_total",
        "description": "Takes the sum.",
        "parameters": {
            "type": "object",
            "properties": {"total": {"type": "integer"}},
            "required": ["total"],
            "additionalProperties": False,
        },
    },
}
OFFERED = [{"role": "user", "content": "Call the function report_total with the sum of 17 and 25."}]
FORMS = {
    "schema": "as its schema says",
    "json_object": "as JSON; the endpoint takes no schema, which the prompt says then",
    "text": "as text; the endpoint takes no response format, which the prompt says then",
}


REAL_SIZE = "request of real size"
REAL_CHARACTERS = 24_000
"""Of the large question: a prompt of a designer or a coder has about as many."""
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


def probe(
    endpoint: Endpoint, model: str, *, max_output_tokens: int, real_limit: int | None = None
) -> Iterator[Tried]:
    """Ask a model of an endpoint. The calls are in no cache and in no account: the details say what they
    used.

    max_output_tokens: of the small questions. real_limit: of the large one, which is asked only if this is
    given.
    """
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
    yield Tried(
        "structured replies", not isinstance(said, str), other if isinstance(said, str) else form, True
    )
    counts = received.counts
    if counts is None or not plausible(
        counts, sum(len(item["content"]) for item in ASKED), received.content, max_output_tokens
    ):
        yield Tried(
            "usage",
            False,
            "none that can be true: calls are charged by estimate, and their cost is unknown",
            False,
        )
    else:
        yield Tried("usage", True, f"{counts.input} tokens read, {counts.output} written", False)
    yield _function(endpoint, model, max_output_tokens)
    if real_limit is not None:
        yield _real_size(endpoint, model, real_limit)


def long_question() -> list[dict[str, str]]:
    """Return a question of REAL_CHARACTERS whose answer needs its first line and its last."""
    lines, size = ["number: 17"], 0
    while size < REAL_CHARACTERS:
        lines.append(f"line {len(lines)} says nothing; it only has the length of a line.")
        size += len(lines[-1]) + 1
    ask = (
        'Reply with one JSON object, {"total": N}, where N is the sum of the numbers in the first and the '
        "last line below, and nothing else."
    )
    return [{"role": "user", "content": "\n".join([ask, "", *lines, "number: 25"])}]


def _real_size(endpoint: Endpoint, model: str, limit: int) -> Tried:
    asked = long_question()
    size = f"a prompt of {len(asked[0]['content']):,} characters"
    try:
        body = endpoint.post(model, asked, ProbeReply, sampling=Sampling(limit))
    except AgentUnavailable as error:
        return Tried(REAL_SIZE, False, f"{size}: {error.got or error.what}", True)
    if isinstance(body, Rejected):
        return Tried(REAL_SIZE, False, f"{size} does not fit: {body.reason}", True)
    received = read_completion(body.text, cut=body.cut)
    _, said = validate_reply(received, ProbeReply)
    room = endpoint.form(model).room
    if not isinstance(said, ProbeReply):
        return Tried(REAL_SIZE, False, f"{size} was taken and not answered: {said}", False)
    read = f", of which it counted {received.counts.input:,} tokens" if received.counts else ""
    if said.total != 42:
        return Tried(
            REAL_SIZE,
            False,
            f"{size}{read} was answered with {said.total} for 42: the server may cut long prompts off",
            False,
        )
    if room.output is not None or room.context is not None:
        # what is left of a context is known by the prompt's own count, if there is one
        prompt = received.counts.input if received.counts else estimate_tokens(asked)
        context = (
            f"its context has {room.context:,} tokens"
            if room.context is not None
            else f"it writes at most {room.output:,} tokens"
        )
        return Tried(
            REAL_SIZE,
            False,
            f"{context}: replies after {size} are limited to {room.limit(limit, prompt):,} tokens, not "
            f"{limit:,}",
            False,
        )
    return Tried(
        REAL_SIZE, True, f"{size}{read} was read whole, with {limit:,} tokens left for the reply", False
    )


def beginning(text: str) -> str:
    """Return the first characters of a reply, on one line and none that a terminal obeys."""
    return one_line(text, SHOWN) or "nothing printable"


def _function(endpoint: Endpoint, model: str, max_output_tokens: int) -> Tried:
    text = ""
    try:
        text = endpoint.post_tool(model, OFFERED, TOOL, max_output_tokens=max_output_tokens).text
        called: dict[str, Any] = parse_reply(text, "the reply")["choices"][0]["message"]["tool_calls"][0][
            "function"
        ]
        ok = called["name"] == "report_total" and isinstance(
            parse_reply(called["arguments"], "the arguments")["total"], int
        )
        detail = (
            "called as described"
            if ok
            else f"another call than was described: {beginning(json.dumps(called))}"
        )
        return Tried("function calling", ok, detail, False)
    except AgentUnavailable as error:
        return Tried("function calling", False, error.got or error.what, False)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return Tried(
            "function calling",
            False,
            f"no function was called; the reply begins: {beginning(_said(text))}",
            False,
        )


def _said(text: str) -> str:
    """Return what a completion says; the whole body where it is none."""
    return read_completion(text).content or text
