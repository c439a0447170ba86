"""The wire: one OpenAI-compatible endpoint through the `openai` client, with bounds the client does not have.

The client retries on 429, 5xx, timeouts and broken connections, and honours Retry-After up to two minutes (a longer one is an error at once).
Added here: a deadline for a whole try (the client's timeout is per read, so a slow drip would never end; only the headers are still per read), a cap
on the reply's bytes after decoding, no redirects (a key belongs to the address it was given for), an injectable wait, and the raw body, so that no
parsing error can lose a paid reply.

A try whose request went out and whose answer never came whole (a reset, a timeout, a broken body) may have been billed. Each is told to the caller
of `post` as it happens, who may forbid the next one.

Servers differ in what they accept, so a request goes down a ladder of response formats: the client's `parse` with the reply's schema, then
`json_object`, then none; and an output limit under its new name, then its old one. A turn of a session is asked with functions first, and as a reply
where a server turns functions down. What worked is remembered a model, so the ladder is paid once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import openai
from pydantic import BaseModel

from evolake.agents.address import address
from evolake.agents.bounds import Undecodable, decoded
from evolake.agents.sampling import Sampling
from evolake.agents.wire import as_functions, as_replies, functions
from evolake.errors import AgentUnavailable, EvolakeError

RUNGS = ("schema", "json_object", "text")
LIMIT_NAMES = ("max_completion_tokens", "max_tokens")
CONNECT_S = 10.0
_NOT_ALLOWED = (401, 403)
_UNSUPPORTED = (400, 404, 422, 501)
_BODY_HEADERS = ("content-encoding", "transfer-encoding", "content-length")
_SHORTEST_SECRET = 12


@dataclass(frozen=True)
class Body:
    """What one call brought: the body as text, how long the try took, and whether it was cut off at the cap."""

    text: str
    content_type: str
    latency_s: float
    cut: bool = False


@dataclass(frozen=True)
class Rejected:
    """The server will not take this prompt: `status` is rejected (too long for the model) or refused (content policy). Not billed."""

    status: str
    reason: str


@dataclass(frozen=True)
class _Form:
    rung: int = 0
    limit_name: int = 0
    functions: bool = True


@dataclass(frozen=True)
class _Wanted:
    """One thing to ask. reply: what the text shall fit; None asks for any. tools: functions to offer, of a turn of a session."""

    model: str
    messages: list[dict[str, str]]
    reply: type[BaseModel] | None
    sampling: Sampling
    tools: Sequence[Mapping[str, Any]]


class ReplyTooLarge(openai.OpenAIError):
    """The body passed the cap. An OpenAIError, so the client hands it through and does not retry."""

    def __init__(self, start: bytes):
        super().__init__(f"reply cut off after {len(start)} bytes")
        self.start = start


class NoMoreTries(openai.OpenAIError):
    """The caller forbids a further try. An OpenAIError, so the client hands it through."""

    def __init__(self, error: EvolakeError):
        super().__init__(str(error))
        self.error = error


Lost = Callable[[str], EvolakeError | None]
"""Told of a try that was sent and brought no answer, and why; an error it gives is raised instead of the next try."""
_UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol, httpx2.ProxyError, httpx2.LocalProtocolError)


LARGEST_REPLY = 4_000_000
"""Bytes of a reply; a longer one is cut off and counts as a failed attempt."""


@dataclass
class _Tries:
    """The tries of one `post`, in one thread."""

    lost: Lost
    forbidden: EvolakeError | None = None


class BoundedClient(httpx2.Client):
    """An HTTP client that reads every body under a deadline and a cap."""

    tries = threading.local()
    """`tries.now`: of the `post` under way in this thread."""

    def __init__(self, *, deadline_s: float, max_bytes: int):
        super().__init__(timeout=_timeout(deadline_s), follow_redirects=False)
        self._deadline_s, self._max_bytes = deadline_s, max_bytes

    def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """As the parent's, but the body is read here, whatever `stream` says, and a try that went out for nothing is told."""
        now: _Tries | None = getattr(self.tries, "now", None)
        if now is not None and now.forbidden is not None:
            raise NoMoreTries(now.forbidden)
        try:
            return self._sent(request, options)
        except httpx2.RequestError as error:
            if now is not None and not isinstance(error, _UNSENT):
                now.forbidden = now.lost(f"{type(error).__name__}: {error}")
            raise

    def _sent(self, request: httpx2.Request, options: dict[str, Any]) -> httpx2.Response:
        end = time.monotonic() + self._deadline_s
        options.pop("follow_redirects", None)
        response = super().send(request, stream=True, follow_redirects=False, **options)
        body = bytearray()
        try:
            for chunk in decoded(response.iter_raw(), response.headers.get("content-encoding", "")):
                body += chunk
                if len(body) > self._max_bytes:
                    if response.is_error:
                        break
                    raise ReplyTooLarge(bytes(body[: self._max_bytes]))
                if time.monotonic() > end:
                    raise httpx2.ReadTimeout(f"no whole reply within {self._deadline_s:g} s", request=request)
        except Undecodable as error:
            raise httpx2.DecodingError(str(error), request=request) from None
        finally:
            response.close()
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in _BODY_HEADERS]
        return httpx2.Response(response.status_code, headers=headers, content=bytes(body), request=request)


class PatientClient(openai.OpenAI):
    """The `openai` client with an injectable wait between tries. `wait` gets the seconds the client would sleep and returns those it shall."""

    def __init__(self, *, wait: Callable[[float], float], **options: Any):
        super().__init__(**options)
        self._wait = wait

    def _calculate_retry_timeout(self, *arguments: Any, **options: Any) -> float:
        return self._wait(super()._calculate_retry_timeout(*arguments, **options))


class Endpoint:
    """One endpoint. Safe under threads.

    Args:
        deadline_s: wall seconds a try may take, its last byte included.
        retries: tries after the first.
        max_bytes: a longer body is cut off.
        wait: seconds the client wants to sleep before a retry -> seconds to sleep; None: as the client wants.
    """

    def __init__(
        self, base_url: str, api_key: str, *, deadline_s: float, retries: int, max_bytes: int = LARGEST_REPLY,
        wait: Callable[[float], float] | None = None,
    ):
        self.base_url = base_url
        self._api_key = api_key
        self._client = PatientClient(
            wait=float if wait is None else wait, base_url=base_url, api_key=api_key, max_retries=retries, timeout=_timeout(deadline_s),
            http_client=BoundedClient(deadline_s=deadline_s, max_bytes=max_bytes), default_headers={"Accept-Encoding": "identity"},
        )
        self._forms: dict[str, _Form] = {}
        self._lock = threading.Lock()

    def knows(self, model: str) -> bool:
        """Whether the ladder has been walked for this model."""
        with self._lock:
            return model in self._forms

    def redact(self, text: str) -> str:
        """The text without the key: a server may echo it. A key too short to be a secret (`none`, for a local server) stays."""
        return text.replace(self._api_key, "[api key]") if len(self._api_key) >= _SHORTEST_SECRET else text

    def post(
        self, model: str, messages: list[dict[str, str]], reply: type[BaseModel] | None, *, sampling: Sampling,
        tools: Sequence[Mapping[str, Any]] = (), lost: Lost = lambda why: None,
    ) -> Body | Rejected:
        """One call, its retries included. reply: what the text shall fit; None asks for any text. tools: functions to offer, of a turn of a session
        (`agents.wire`). lost: see `Lost`.

        Raises:
            AgentUnavailable: no retry mends it: key refused, no such model, endpoint down, an answer that is no JSON.
        """
        with self._lock:
            form = self._forms.get(model, _Form())
        BoundedClient.tries.now = _Tries(lost)
        try:
            return self._posted(form, _Wanted(model, messages, reply, sampling, tools))
        finally:
            BoundedClient.tries.now = None

    def _posted(self, form: _Form, wanted: _Wanted) -> Body | Rejected:
        model = wanted.model
        while True:
            try:
                body = self._try(form, wanted)
            except openai.APIStatusError as error:
                if (rejection := _rejection(error)) is not None:
                    return replace(rejection, reason=self.redact(rejection.reason))
                lower = _step_down(form, error, offered=bool(wanted.tools))
                if lower is None:
                    raise self._unavailable(model, _server_says(error)) from None
                form = lower
            except NoMoreTries as error:
                raise error.error from None
            except openai.APITimeoutError:
                raise self._unavailable(model, "no whole reply in time") from None
            except openai.APIConnectionError as error:
                raise self._unavailable(model, f"connection failed: {error.__cause__ or error}") from None
            else:
                if not (body.cut or "json" in body.content_type or body.text.lstrip().startswith("{")):
                    start = " ".join(body.text.split())[:120]
                    raise self._unavailable(model, f"an answer of type {body.content_type or 'unknown'}, not JSON: {start}")
                with self._lock:
                    self._forms[model] = form
                return body

    def post_tool(self, model: str, messages: list[dict[str, str]], tool: dict[str, Any], *, max_output_tokens: int) -> Body:
        """One call that offers a function. This is how an endpoint is tried.

        Raises:
            AgentUnavailable: the server turned it down, or gave no answer.
        """
        with self._lock:
            limit = LIMIT_NAMES[self._forms.get(model, _Form()).limit_name]
        options: dict[str, Any] = {"model": model, "messages": messages, "tools": [tool], limit: max_output_tokens}
        start = time.monotonic()
        try:
            response = self._client.chat.completions.with_raw_response.create(**options).http_response
        except openai.APIStatusError as error:
            raise self._unavailable(model, _server_says(error)) from None
        except openai.OpenAIError as error:
            raise self._unavailable(model, str(error)) from None
        return Body(self.redact(response.text), response.headers.get("content-type", ""), time.monotonic() - start)

    def listed(self) -> list[str]:
        """The models that the endpoint names; none where it has no list of them.

        Raises:
            AgentUnavailable: it does not answer, or refuses the key.
        """
        try:
            response = self._client.models.with_raw_response.list().http_response
            return [str(item["id"]) for item in response.json()["data"]]
        except openai.APIStatusError as error:
            if error.status_code in _NOT_ALLOWED:
                raise self._unavailable("", _server_says(error)) from None
            return []
        except openai.APITimeoutError:
            raise self._unavailable("", "no whole reply in time") from None
        except openai.APIConnectionError as error:
            raise self._unavailable("", f"connection failed: {error.__cause__ or error}") from None
        except (openai.OpenAIError, ValueError, KeyError, TypeError):  # it answers, with something else than a list
            return []

    def form(self, model: str) -> str:
        """Which of RUNGS a model is asked by: the last that worked, else the first."""
        with self._lock:
            return RUNGS[self._forms.get(model, _Form()).rung]

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def _try(self, form: _Form, wanted: _Wanted) -> Body:
        sampling, reply, offers = wanted.sampling, wanted.reply, bool(wanted.tools) and form.functions
        messages = as_functions(wanted.messages) if offers else as_replies(wanted.messages, wanted.tools, reply)
        options: dict[str, Any] = {"model": wanted.model, "messages": messages, LIMIT_NAMES[form.limit_name]: sampling.max_output_tokens}
        options |= sampling.options() | ({"tools": functions(wanted.tools)} if offers else {})
        raw = self._client.chat.completions.with_raw_response
        start = time.monotonic()
        try:
            if offers or reply is None or RUNGS[form.rung] == "text":
                answer = raw.create(**options)
            elif RUNGS[form.rung] == "schema":
                answer = raw.parse(response_format=reply, **options)
            else:
                answer = raw.create(response_format={"type": "json_object"}, **options)
        except ReplyTooLarge as error:
            return Body(self.redact(error.start.decode("utf-8", "replace")), "", time.monotonic() - start, cut=True)
        response = answer.http_response
        return Body(self.redact(response.text), response.headers.get("content-type", ""), time.monotonic() - start)

    def _unavailable(self, model: str, why: str) -> AgentUnavailable:
        return AgentUnavailable(
            f"model {model!r} at {address(self.base_url)} cannot be used", wanted="a chat completion", got=self.redact(why)[:500],
            do="check EVOLAKE_MODEL_BASE_URL, EVOLAKE_MODEL_API_KEY and EVOLAKE_MODELS, then run again; what was paid for replays at no cost",
        )


def _timeout(deadline_s: float) -> httpx2.Timeout:
    return httpx2.Timeout(deadline_s, connect=min(CONNECT_S, deadline_s))


def _step_down(form: _Form, error: openai.APIStatusError, *, offered: bool) -> _Form | None:
    """The next form to try after a server has turned one down; None when nothing is left to try or the error is another."""
    if error.status_code not in _UNSUPPORTED:
        return None
    says = f"{error.param or ''} {error.message}".lower()
    if form.limit_name == 0 and LIMIT_NAMES[0] in says:
        return replace(form, limit_name=1)
    if offered and form.functions and (error.status_code != 404 or "tool" in says or "function" in says):
        return replace(form, functions=False)
    if error.status_code == 404 and "response_format" not in says:
        return None
    return replace(form, rung=form.rung + 1) if form.rung + 1 < len(RUNGS) else None


def _rejection(error: openai.APIStatusError) -> Rejected | None:
    code, says = str(error.code or "").lower(), str(error.message).lower()
    too_long = code in ("context_length_exceeded", "string_above_max_length") or "context length" in says or "context window" in says
    if error.status_code == 413 or (error.status_code in _UNSUPPORTED and too_long):
        return Rejected("rejected", f"the prompt is longer than the model can read: {_server_says(error)}")
    if code in ("content_filter", "content_policy_violation"):
        return Rejected("refused", f"the server's content filter turned the prompt down: {_server_says(error)}")
    return None


def _server_says(error: openai.APIStatusError) -> str:
    body = error.body if isinstance(error.body, str) else error.message
    wait = error.response.headers.get("retry-after")
    return f"HTTP {error.status_code}: {' '.join(str(body).split())[:300]}" + (f" (Retry-After: {wait})" if wait else "")
