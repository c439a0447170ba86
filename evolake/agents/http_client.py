"""Send HTTP requests to an endpoint with bounds that the `openai` client does not have.

A deadline for a whole try (the client's timeout is per read, so a slow drip would never end; only the headers
are still per read), a cap on the reply's bytes after decoding, no redirects (a key belongs to the address it
was given for), an injectable wait, and the raw body, so that no parsing error can lose a paid reply.

Two kinds of answer are turned into what the client expects: a stream of events is joined into one completion,
and a success whose body is an error (OpenRouter sends its rate limits so) becomes an answer of that error's
status, which the client waits for as for any other.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any
from urllib.request import proxy_bypass

import httpx2
import openai

from evolake.agents.event_stream import (
    CONTENT_TYPE,
    NO_LIMIT,
    is_event_stream,
    join_events,
    parse_reply,
    too_many,
)
from evolake.errors import EvolakeError, InputError
from evolake.reading import Damaged, Unparsable, decompressed
from evolake.reading.compressed import Kind

_KINDS: dict[str, Kind] = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "zlib"}


class Undecodable(ValueError):
    """A body in an encoding that was not asked for, or broken in it."""


def decoded(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield the body's chunks, decoded in steps, so that a caller that counts them can stop in time.

    Raises:
        Undecodable: the encoding is none of identity, gzip and deflate, or the bytes are broken.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        yield from chunks
        return
    if name not in _KINDS:
        raise Undecodable(f"a body in the encoding {name[:40]!r}, which was not asked for")
    source = iter(chunks)
    first = next(source, b"")
    if not first:  # an answer without a body
        return
    try:
        yield from decompressed(
            chain([first], source), NO_LIMIT, name="a body", kind=_KINDS[name], ratio=NO_LIMIT
        )
    except Damaged as error:
        raise Undecodable(f"a body broken in its encoding {name}: {error.got}") from None


CONNECT_S = 10.0
STREAM_OVERHEAD = 8
"""A stream may have so many times the bytes of a whole reply: each of its events repeats the envelope for a
few characters."""
RATE_LIMITED, BAD_GATEWAY = 429, 502
_BODY_HEADERS = ("content-encoding", "transfer-encoding", "content-length", "content-type")
_LONGEST_ERROR = 100_000


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
"""Called for a try that was sent and brought no answer, and why; an error it gives is raised instead of the
next try."""
_UNSENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.ProxyError,
    httpx2.LocalProtocolError,
)


PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
ENVIRONMENT = {
    PROXIES: (
        "an http:// or https:// proxy; for socks5:// the package socksio (pip install socksio)",
        "correct or unset it, or name the endpoint's host in NO_PROXY",
    ),
    CERTIFICATES: ("a file, or a folder, of certificates in PEM form", "correct or unset it"),
}
"""Variables of the environment that decide how a host is reached -> what they may be, and what to do."""
PASSWORD = re.compile(r"//[^/@]*@")


def _unusable(names: tuple[str, ...], why: str) -> InputError:
    """Return the error for variables that cannot be used; those that are set are named."""
    given = [
        f"{name}={value}" for name, value in sorted(os.environ.items()) if name.upper() in names and value
    ]
    wanted, do = ENVIRONMENT[names]
    named = " and ".join(item.partition("=")[0] for item in given) or "the environment"
    return InputError(
        f"{named} cannot be used to reach the model endpoint",
        wanted=wanted,
        got=PASSWORD.sub("//...@", f"{', '.join(given)}: {why}"),
        do=do,
    )


LARGEST_REPLY = 4_000_000
"""Bytes of a reply; a longer one is cut off and counts as a failed attempt."""


@dataclass
class Tries:
    """The tries of one call."""

    lost: Lost
    forbidden: EvolakeError | None = None


_TRIES = "evolake.tries"
"""Extension of a request that carries the `Tries` of its call."""


class BoundedClient(httpx2.Client):
    """An HTTP client that reads every body under a deadline and a cap."""

    def __init__(self, *, deadline_s: float, max_bytes: int, host: str = ""):
        """host: the only one that it is for; no proxy is set up for one that NO_PROXY names.

        Raises:
            InputError: proxies or certificates that the environment names cannot be used.
        """
        own = not (host and proxy_bypass(host))
        options: dict[str, Any] = {"timeout": request_timeout(deadline_s), "follow_redirects": False}
        try:
            certificates = httpx2.create_ssl_context()  # by SSL_CERT_FILE and SSL_CERT_DIR
        except OSError as error:
            raise _unusable(CERTIFICATES, f"{error.strerror or error}") from None
        try:
            super().__init__(verify=certificates, trust_env=own, **options)
        except (ImportError, ValueError, httpx2.InvalidURL) as error:
            raise _unusable(PROXIES, str(error)) from None
        self._deadline_s, self._max_bytes = deadline_s, max_bytes

    def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """As the parent's, but the body is read here, whatever `stream` says, and a try that brought no
        answer is reported."""
        tries: Tries | None = request.extensions.get(_TRIES)
        if tries is not None and tries.forbidden is not None:
            raise NoMoreTries(tries.forbidden)
        try:
            return self._sent(request, options)
        except httpx2.RequestError as error:
            if tries is not None and not isinstance(error, _UNSENT):
                tries.forbidden = tries.lost(f"{type(error).__name__}: {error}")
            raise

    def _sent(self, request: httpx2.Request, options: dict[str, Any]) -> httpx2.Response:
        end = time.monotonic() + self._deadline_s
        options.pop("follow_redirects", None)
        response = super().send(request, stream=True, follow_redirects=False, **options)
        kind = response.headers.get("content-type", "")
        most = self._max_bytes * (STREAM_OVERHEAD if CONTENT_TYPE in kind.lower() else 1)
        body = bytearray()
        try:
            for chunk in decoded(response.iter_raw(), response.headers.get("content-encoding", "")):
                body += chunk
                if len(body) > most:
                    if response.is_error:
                        break
                    raise ReplyTooLarge(bytes(body[: self._max_bytes]))
                if time.monotonic() > end:
                    raise httpx2.ReadTimeout(f"no whole reply within {self._deadline_s:g} s", request=request)
        except Undecodable as error:
            raise httpx2.DecodingError(str(error), request=request) from None
        finally:
            response.close()
        code, content = response.status_code, bytes(body)
        if response.is_success and is_event_stream(kind, content[:100].decode("utf-8", "replace")):
            kind, content = "application/json", self._joined(content, request)
        if response.is_success:
            code = error_status(content) or code
        headers = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name.lower() not in _BODY_HEADERS
        ]
        return httpx2.Response(
            code, headers=[*headers, ("content-type", kind)], content=content, request=request
        )

    def _joined(self, content: bytes, request: httpx2.Request) -> bytes:
        try:
            joined = join_events(content.decode()).encode()
        except ValueError as error:
            raise httpx2.ReadError(str(error), request=request) from None
        if len(joined) > self._max_bytes:
            raise ReplyTooLarge(joined[: self._max_bytes])
        return joined


def error_status(content: bytes) -> int | None:
    """Return the HTTP status that the body of a success asks for, because it is an error that was not billed;
    None if it is none.

    >>> error_status(b'{"error": {"code": 429, "message": "slow down"}}'), error_status(b'{"error": "no model"}'), error_status(b'{"choices": [{}]}')
    (429, 502, None)
    """  # noqa: E501
    if (
        len(content) > _LONGEST_ERROR
        or b'"error"' not in content
        or too_many(text := content.decode("utf-8", "replace"))
    ):
        return None
    try:
        body = parse_reply(text, "the body")
    except Unparsable:
        return None
    if not isinstance(body, Mapping) or not (error := body.get("error") or _choice_error(body)):
        return None
    usage = body.get("usage")
    if isinstance(usage, Mapping) and usage.get("completion_tokens"):
        return None
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, str) and "rate" in code.lower():
        return RATE_LIMITED
    number = int(code) if isinstance(code, int | str) and str(code).isdecimal() else 0
    return number if 400 <= number < 600 else BAD_GATEWAY


def _choice_error(body: Mapping[str, Any]) -> Any:
    """Return the error of a completion's only choice, if that says nothing else or ends in one."""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping):
        return None
    if choice.get("finish_reason") == "error":
        return choice.get("error") or "the reply ended in an error"
    message = choice.get("message")
    return (
        None
        if isinstance(message, Mapping) and (message.get("content") or message.get("tool_calls"))
        else choice.get("error")
    )


class PatientClient(openai.OpenAI):
    """The `openai` client of one call, with an injectable wait between its tries. `wait` gets the seconds the
    client would sleep and returns those it shall. tries: what its requests carry to `BoundedClient`."""

    def __init__(self, *, wait: Callable[[float], float], tries: Tries | None = None, **options: Any):
        super().__init__(**options)
        self._wait, self._tries = wait, tries

    def _prepare_request(self, request: httpx2.Request) -> None:
        if self._tries is not None:
            request.extensions[_TRIES] = self._tries

    def _calculate_retry_timeout(self, *arguments: Any, **options: Any) -> float:
        return self._wait(super()._calculate_retry_timeout(*arguments, **options))


def request_timeout(deadline_s: float) -> httpx2.Timeout:
    """Return the client's own timeouts: of connecting, and of every single read."""
    return httpx2.Timeout(deadline_s, connect=min(CONNECT_S, deadline_s))
