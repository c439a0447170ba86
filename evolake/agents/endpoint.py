"""Ask one OpenAI-compatible endpoint through the `openai` client.

The client retries on 429, 5xx, timeouts and broken connections, and honours Retry-After up to two minutes (a
longer one is an error without a wait). `http_client` bounds what it reads. A try whose request went out and
whose answer never came whole (a reset, a timeout, a broken body) may have been billed. Each is reported to
the caller of `post` as it happens, who may forbid the next one.

Servers differ in what they accept. `ladder` says which form of a request is tried next, `output_limit` how a
limit that is too high is lowered. What worked is remembered a model, so the ladder is paid once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import openai
from pydantic import BaseModel

from evolake.agents.address import address
from evolake.agents.http_client import (
    LARGEST_REPLY,
    BoundedClient,
    Lost,
    NoMoreTries,
    PatientClient,
    ReplyTooLarge,
    Tries,
    request_timeout,
)
from evolake.agents.prices import estimate_tokens
from evolake.agents.prompts import models_fields
from evolake.agents.sampling import Sampling
from evolake.agents.server_errors import (
    LIMIT_NAMES,
    RESPONSE_FORMATS,
    STREAMS,
    RequestForm,
    ServerError,
    lowered_limit,
    next_forms,
    read_error,
)
from evolake.agents.wire import as_functions, as_replies, functions, marked, without_system
from evolake.errors import AgentUnavailable

_NOT_ALLOWED = (401, 403)
_UNREADABLE = (400, 404, 422, 501)
_TOO_LONG = (
    "context length",
    "context window",
    "context size",
    "context_length",
    "string_above_max_length",
    "prompt is too long",
)
_SHORTEST_SECRET = 12
_COMPLETIONS = "/chat/completions"


@dataclass(frozen=True)
class Body:
    """What one call brought: the body as text, how long the try took, and whether it was cut off at the
    cap."""

    text: str
    content_type: str
    latency_s: float
    cut: bool = False


@dataclass(frozen=True)
class Rejected:
    """The server will not take this prompt: `status` is rejected (too long for the model) or refused (content
    policy). Not billed."""

    status: str
    reason: str


@dataclass(frozen=True)
class _Wanted:
    """One thing to ask. reply: what the text shall fit; None asks for any. tools: functions to offer, of a
    turn of a session."""

    model: str
    messages: list[dict[str, str]]
    reply: type[BaseModel] | None
    sampling: Sampling
    tools: Sequence[Mapping[str, Any]]


class _Call:
    """One call on its way down the ladder: the form and the limit of its next request, and what was tried."""

    def __init__(self, wanted: _Wanted, form: RequestForm):
        self.wanted, self.form = wanted, form
        self._prompt_tokens = estimate_tokens(wanted.messages)
        self.limit = form.room.limit(wanted.sampling.max_output_tokens, self._prompt_tokens)
        self._tried, self._first = [form], ""

    def lower(self, refused: ServerError) -> bool:
        """Lower the limit if that is what the server refused; False: it is not."""
        self._first = self._first or str(refused)
        if refused.status not in _UNREADABLE:
            return False
        lowered = lowered_limit(refused.words, self.limit, self._prompt_tokens, self.form.room)
        if lowered is None:
            return False
        self.limit, room = lowered
        self.form = replace(self.form, room=room)
        return True

    def plainer(self, refused: ServerError) -> bool:
        """Take the next form that was not tried; False: there is none."""
        for form in next_forms(self.form, refused, offered=bool(self.wanted.tools)):
            if form not in self._tried:
                self.form = form
                self._tried.append(form)
                return True
        return False

    def story(self, refused: ServerError) -> str:
        """Return the first refusal, and the last where that is another."""
        last = str(refused)
        return last if self._first == last else f"{self._first}; and to a plainer request: {last}"


class Endpoint:
    """One endpoint. Safe under threads.

    Args:
        deadline_s: wall seconds a try may take, its last byte included.
        retries: tries after the first.
        max_bytes: a longer body is cut off.
        cache_hints: whether messages are marked for a prompt cache.
        wait: seconds the client wants to sleep before a retry -> seconds to sleep; None: as the client wants.

    Raises:
        InputError: proxies or certificates that the environment names cannot be used.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        deadline_s: float,
        retries: int,
        max_bytes: int = LARGEST_REPLY,
        cache_hints: bool = False,
        wait: Callable[[float], float] | None = None,
    ):
        self.base_url = base_url
        self._api_key, self._cache_hints = api_key, cache_hints
        base, query = _split_query(base_url)
        # Azure wants the key under this name, and its version in the query of every request
        headers = {"api-key": api_key} if "api-version" in query else {}
        self._http = BoundedClient(
            deadline_s=deadline_s, max_bytes=max_bytes, host=urlsplit(base).hostname or ""
        )
        self._client = partial(
            PatientClient,
            wait=float if wait is None else wait,
            base_url=base,
            api_key=api_key,
            max_retries=retries,
            timeout=request_timeout(deadline_s),
            http_client=self._http,
            default_query=query or None,
            default_headers={"Accept-Encoding": "identity"} | headers,
        )
        self._forms: dict[str, RequestForm] = {}
        self._lock = threading.Lock()

    def knows(self, model: str) -> bool:
        """Return whether the ladder has been walked for this model."""
        with self._lock:
            return model in self._forms

    def redact(self, text: str) -> str:
        """Return the text without the key: a server may echo it. A key too short to be a secret (`none`, for
        a local server) stays."""
        return text.replace(self._api_key, "[api key]") if len(self._api_key) >= _SHORTEST_SECRET else text

    def post(
        self,
        model: str,
        messages: list[dict[str, str]],
        reply: type[BaseModel] | None,
        *,
        sampling: Sampling,
        tools: Sequence[Mapping[str, Any]] = (),
        lost: Lost = lambda why: None,
    ) -> Body | Rejected:
        """Make one call, its retries included. reply: what the text shall fit; None asks for any text. tools:
        functions to offer, of a turn of a session (`agents.wire`). lost: see `Lost`.

        Raises:
            AgentUnavailable: no retry repairs it: key refused, no such model, endpoint down, an answer that
                is no JSON.
        """
        call = _Call(_Wanted(model, messages, reply, sampling, tools), self.form(model))
        client = self._client(tries=Tries(lost))
        while True:
            try:
                body = self._try(client, call)
            except openai.APIStatusError as error:
                refused = read_error(error)
                if not call.lower(refused):
                    if (rejection := _rejection(refused)) is not None:
                        return replace(rejection, reason=self.redact(rejection.reason))
                    if not call.plainer(refused):
                        raise self._unavailable(model, call.story(refused)) from None
            except NoMoreTries as error:
                raise error.error from None
            except openai.APITimeoutError:
                raise self._unavailable(model, "no whole reply in time") from None
            except openai.APIConnectionError as error:
                raise self._unavailable(model, f"connection failed: {error.__cause__ or error}") from None
            else:
                self._require_json(model, body)
                with self._lock:
                    self._forms[model] = call.form
                return body

    def post_tool(
        self, model: str, messages: list[dict[str, str]], tool: dict[str, Any], *, max_output_tokens: int
    ) -> Body:
        """Make one call that offers a function. This is how an endpoint is tried.

        Raises:
            AgentUnavailable: the server turned it down, or gave no answer.
        """
        form = self.form(model)
        limit = form.room.limit(max_output_tokens, estimate_tokens(messages))
        wanted = _Wanted(model, messages, None, Sampling(max_output_tokens), [tool["function"]])
        options: dict[str, Any] = _options(form, wanted, limit, messages) | {"tools": [tool]}
        start = time.monotonic()
        try:
            response = self._client().chat.completions.with_raw_response.create(**options).http_response
        except openai.APIStatusError as error:
            raise self._unavailable(model, str(read_error(error))) from None
        except openai.OpenAIError as error:
            raise self._unavailable(model, str(error)) from None
        return Body(
            self.redact(response.text), response.headers.get("content-type", ""), time.monotonic() - start
        )

    def listed(self) -> list[str]:
        """Return the models that the endpoint names; none where it has no list of them.

        Raises:
            AgentUnavailable: it does not answer, or refuses the key.
        """
        try:
            response = self._client().models.with_raw_response.list().http_response
            return [str(item["id"]) for item in response.json()["data"]]
        except openai.APIStatusError as error:
            if error.status_code in _NOT_ALLOWED:
                raise self._unavailable("", str(read_error(error))) from None
            return []
        except openai.APITimeoutError:
            raise self._unavailable("", "no whole reply in time") from None
        except openai.APIConnectionError as error:
            raise self._unavailable("", f"connection failed: {error.__cause__ or error}") from None
        except (
            openai.OpenAIError,
            ValueError,
            KeyError,
            TypeError,
        ):  # it answers, with something else than a list
            return []

    def form(self, model: str) -> RequestForm:
        """Return how a model is asked: in the form that worked last, else in the richest."""
        with self._lock:
            return self._forms.get(model, RequestForm())

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _try(self, client: PatientClient, call: _Call) -> Body:
        form, wanted, limit = call.form, call.wanted, call.limit
        reply, offers = wanted.reply, bool(wanted.tools) and form.functions
        messages = (
            as_functions(wanted.messages) if offers else as_replies(wanted.messages, wanted.tools, reply)
        )
        options: dict[str, Any] = _options(form, wanted, limit, messages)
        if self._cache_hints:
            options["messages"] = marked(options["messages"])
        options |= {"tools": functions(wanted.tools)} if offers else {}
        raw, wants = client.chat.completions.with_raw_response, RESPONSE_FORMATS[form.response_format]
        start = time.monotonic()
        try:
            if offers or reply is None or wants == "text":
                answer = raw.create(**options)
            elif wants == "schema":
                answer = raw.create(response_format=reply_format(reply), **options)
            else:
                answer = raw.create(response_format={"type": "json_object"}, **options)
        except ReplyTooLarge as error:
            return Body(
                self.redact(error.start.decode("utf-8", "replace")), "", time.monotonic() - start, cut=True
            )
        response = answer.http_response
        return Body(
            self.redact(response.text), response.headers.get("content-type", ""), time.monotonic() - start
        )

    def _require_json(self, model: str, body: Body) -> None:
        if body.cut or "json" in body.content_type or body.text.lstrip().startswith("{"):
            return
        start = " ".join(body.text.split())[:120]
        raise self._unavailable(
            model, f"an answer of type {body.content_type or 'unknown'}, not JSON: {start}"
        )

    def _unavailable(self, model: str, why: str) -> AgentUnavailable:
        return AgentUnavailable(
            f"model {model!r} at {address(self.base_url)} cannot be used",
            wanted="a chat completion",
            got=self.redact(why)[:500],
            do=(
                "check EVOLAKE_MODEL_BASE_URL, EVOLAKE_MODEL_API_KEY and EVOLAKE_MODELS, then run again; "
                "what was paid for replays at no cost"
            ),
        )


def reply_format(reply: type[BaseModel]) -> Any:
    """Return the response format that asks for a reply by its schema, in strict form, without fields that
    operators alone fill."""
    asked = openai.pydantic_function_tool(reply)["function"]
    schema = models_fields(asked.get("parameters", {}))
    return {"type": "json_schema", "json_schema": {"name": asked["name"], "schema": schema, "strict": True}}


def _split_query(base_url: str) -> tuple[str, dict[str, str]]:
    """Return the base URL without its query, and the query, which every request gets. An address of the
    completions themselves is that of their server.

    >>> _split_query("https://me.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21")
    ('https://me.openai.azure.com/openai/deployments/gpt', {'api-version': '2024-10-21'})
    """
    parts = urlsplit(base_url.strip())
    path = parts.path.rstrip("/").removesuffix(_COMPLETIONS)
    return urlunsplit((parts.scheme, parts.netloc, path, "", "")), dict(
        parse_qsl(parts.query, keep_blank_values=True)
    )


def _options(
    form: RequestForm, wanted: _Wanted, limit: int, messages: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return what a request says but for its response format and its tools."""
    sent = messages if form.system else without_system(messages)
    options: dict[str, Any] = {
        "model": wanted.model,
        "messages": sent,
        LIMIT_NAMES[form.limit_name]: limit,
    } | wanted.sampling.options()
    if form.stream:
        # not the client's own `stream`: its answers are read whole, and `event_stream` joins the events
        usage = {"stream_options": {"include_usage": True}} if STREAMS[form.stream] == "with usage" else {}
        options["extra_body"] = {**(options.get("extra_body") or {}), "stream": True, **usage}
    return options


def _rejection(error: ServerError) -> Rejected | None:
    if error.status == 413 or (
        error.status in _UNREADABLE and any(word in error.words for word in _TOO_LONG)
    ):
        return Rejected("rejected", f"the prompt is longer than the model can read: {error}")
    if error.code.lower() in ("content_filter", "content_policy_violation"):
        return Rejected("refused", f"the server's content filter turned the prompt down: {error}")
    return None
