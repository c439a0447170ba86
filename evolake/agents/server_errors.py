"""Read an error of a server in one line, whatever the shape of its body, and change the request by it.

OpenAI sends {"error": {"message": ..., "param": ..., "code": ...}}. FastAPI sends {"detail": [{"loc": [...],
"msg": ..., "input": ...}]} with the rejected input, which may be the whole request; other servers send a
text, a list, or an object under another name. What repeats the request is left out: its words must not be
taken for the server's.

A server refuses a request whose prompt and output limit are together longer than the model's context, or
whose output limit is higher than the model allows. Most say the numbers, each in its own words; without
numbers the limit is halved.

Forms of a request are tried from the richest to the plainest, and what worked is kept. What a refusal names
is changed first. If it names nothing ("400 Bad Request"), the order is fixed: the output limit under its old
name, no functions, a plainer response format, the system message inside the user's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import openai

from evolake.agents.event_stream import parse_reply
from evolake.agents.fences import clean
from evolake.reading import Unparsable

LONGEST_TEXT = 600
_TEXTS = (
    "message",
    "msg",
    "detail",
    "details",
    "error",
    "errors",
    "error_description",
    "description",
    "title",
    "reason",
    "metadata",
    "raw",
)
"""Names under which servers put what they say, the plainest first."""
_DEEPEST = 5


@dataclass(frozen=True)
class ServerError:
    """An error as a server sent it.

    Attributes:
        status: of HTTP. text: what it says, on one line, with the parameter that it names. code: its own word
            for the error, "" for none.
        retry_after: seconds or a date as the server wrote it, "" for none.
    """

    status: int
    text: str
    code: str = ""
    retry_after: str = ""

    @property
    def words(self) -> str:
        """The text and the code in lower case, to look for words in."""
        return f"{self.text} {self.code}".lower()

    def __str__(self) -> str:
        return f"HTTP {self.status}: {self.text or 'no text'}" + (
            f" (Retry-After: {self.retry_after})" if self.retry_after else ""
        )


def read_error(error: openai.APIStatusError) -> ServerError:
    """Return what the server said."""
    text = error.response.text
    try:
        body: Any = parse_reply(text, "the error")
    except Unparsable:
        body = text
    code = error_field(body, "code")
    return ServerError(
        error.status_code, server_text(body), code, error.response.headers.get("retry-after") or ""
    )


def server_text(body: Any) -> str:
    """Return what the body of an error says, on one line of at most LONGEST_TEXT characters.

    >>> server_text({"detail": [{"loc": ["body", "max_completion_tokens"], "msg": "Extra inputs are not permitted", "input": 8192}]})
    'body.max_completion_tokens: Extra inputs are not permitted'
    >>> server_text({"error": {"message": "Unsupported value", "param": "temperature"}})
    'Unsupported value (parameter temperature)'
    """  # noqa: E501
    found = _texts(body, _DEEPEST)
    if found:
        text = "; ".join(dict.fromkeys(found))
    elif body in (None, "", {}, []):
        text = ""
    else:
        text = str(body)
    return " ".join(clean(text).split())[:LONGEST_TEXT]


def error_field(body: Any, name: str) -> str:
    """Return a field of the error object of a body, as text; "" for none."""
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    value = inner.get(name) if isinstance(inner, Mapping) else None
    return str(value) if isinstance(value, str | int) else ""


def _texts(value: Any, deep: int) -> list[str]:
    if isinstance(value, str):
        return [value] if value.strip() else []
    if not deep:
        return []
    if isinstance(value, list):
        return [text for item in value[:20] for text in _texts(item, deep - 1)]
    if not isinstance(value, Mapping):
        return []
    texts = [text for name in _TEXTS if name in value for text in _texts(value[name], deep - 1)]
    place = value.get("loc")
    if isinstance(place, list) and texts:
        return [f"{'.'.join(str(part) for part in place)}: {texts[0]}"]
    parameter = value.get("param")
    return (
        [f"{texts[0]} (parameter {parameter})", *texts[1:]]
        if texts and isinstance(parameter, str) and parameter
        else texts
    )


SMALLEST = 256
"""Output tokens: no role's reply fits into fewer, so a lower limit would only pay for replies that are cut
off."""
MARGIN = 32
"""Tokens that are left free of a context, for what the server's chat template adds."""
_NUMBER = r"(\d[\d,]*)"
_CONTEXT = re.compile(rf"context[ _-](?:length|window|size)\D{{0,40}}?{_NUMBER}")
_PROMPT = re.compile(
    "|".join(
        (
            rf"{_NUMBER} (?:tokens )?(?:in|from|of) (?:the|your) (?:input )?(?:messages|prompt|input)",
            rf"{_NUMBER} (?:input|prompt) tokens",
            rf"(?:messages|prompt|input) (?:resulted in|contains?|has) {_NUMBER}",
            rf"request \({_NUMBER} tokens\)",
        )
    )
)
_OUTPUT = re.compile(
    "|".join(
        (
            rf"at most {_NUMBER} (?:completion|output)",
            rf"\[\d+, ?{_NUMBER}\]",
            rf"less than or equal to\W{{0,3}}{_NUMBER}",
            rf"> {_NUMBER}, which is the maximum",
            rf"maximum (?:allowed )?(?:number of )?(?:output|completion) tokens\D{{0,30}}{_NUMBER}",
        )
    )
)
_LIMIT_NAMED = re.compile(r"max_(?:completion_)?tokens|(?:output|completion) tokens|in the completion")
_TOO_MUCH = re.compile(r"too (?:large|high|big|long)|exceed|reduce|greater than|at most|maximum")


@dataclass(frozen=True)
class OutputRoom:
    """What is known of a model's limits. context: tokens of prompt and reply together. output: tokens of a
    reply. None: not known."""

    context: int | None = None
    output: int | None = None

    def limit(self, asked: int, prompt_tokens: int) -> int:
        """Return the output limit to send if `asked` is wanted; prompt_tokens is an estimate."""
        if self.output is not None:
            asked = min(asked, self.output)
        if self.context is not None:
            asked = min(asked, max(SMALLEST, self.context - prompt_tokens - MARGIN))
        return asked


def lowered_limit(
    says: str, sent: int, prompt_tokens: int, room: OutputRoom
) -> tuple[int, OutputRoom] | None:
    """Return the output limit to try after a server refused one, and what is known now; None if the error is
    another or too little room is left.

    Args:
        says: what the server said, in lower case. sent: the limit that it refused. prompt_tokens: an
            estimate, used if it does not say.

    >>> vllm = "this model's maximum context length is 4096 tokens. however, you requested 8692 tokens (500 in the messages, 8192 in the completion)"
    >>> lowered_limit(vllm, 8192, 400, OutputRoom())
    (3564, OutputRoom(context=4096, output=None))
    >>> lowered_limit("max_tokens is too large: 8192. this model supports at most 4096 completion tokens", 8192, 400, OutputRoom())
    (4096, OutputRoom(context=None, output=4096))
    """  # noqa: E501
    context, output = _number(_CONTEXT, says), _number(_OUTPUT, says) if _LIMIT_NAMED.search(says) else None
    if output is not None and output < sent:
        limit, room = output, OutputRoom(room.context, output)
    elif context is not None:
        prompt = _number(_PROMPT, says)
        limit, room = (
            context - (prompt_tokens if prompt is None else prompt) - MARGIN,
            OutputRoom(context, room.output),
        )
    elif _LIMIT_NAMED.search(says) and _TOO_MUCH.search(says):
        limit, room = sent // 2, OutputRoom(room.context, sent // 2)
    else:
        return None
    return (limit, room) if SMALLEST <= limit < sent else None


def _number(pattern: re.Pattern[str], says: str) -> int | None:
    found = pattern.search(says)
    return int(next(group for group in found.groups() if group).replace(",", "")[:12]) if found else None


RESPONSE_FORMATS = ("schema", "json_object", "text")
LIMIT_NAMES = ("max_completion_tokens", "max_tokens")
STREAMS = ("no", "with usage", "plain")
_UNSUPPORTED = (400, 404, 405, 415, 422, 501)


@dataclass(frozen=True)
class RequestForm:
    """How a model is asked.

    Attributes:
        response_format, limit_name, stream: places in RESPONSE_FORMATS, LIMIT_NAMES and STREAMS.
        functions: whether tools are offered as functions. system: whether the system message is its own
            message.
        room: what is known of the model's limits.
    """

    response_format: int = 0
    limit_name: int = 0
    functions: bool = True
    system: bool = True
    stream: int = 0
    room: OutputRoom = field(default_factory=OutputRoom)


_Change = Callable[[RequestForm], RequestForm | None]


def _plainer_format(form: RequestForm) -> RequestForm | None:
    return (
        replace(form, response_format=form.response_format + 1)
        if form.response_format + 1 < len(RESPONSE_FORMATS)
        else None
    )


def _old_limit_name(form: RequestForm) -> RequestForm | None:
    return replace(form, limit_name=1) if form.limit_name == 0 else None


def _new_limit_name(form: RequestForm) -> RequestForm | None:
    return replace(form, limit_name=0) if form.limit_name == 1 else None


def _without_functions(form: RequestForm) -> RequestForm | None:
    return replace(form, functions=False) if form.functions else None


def _without_system(form: RequestForm) -> RequestForm | None:
    return replace(form, system=False) if form.system else None


def _streamed(form: RequestForm) -> RequestForm | None:
    return replace(form, stream=1) if form.stream == 0 else None


def _streamed_plainly(form: RequestForm) -> RequestForm | None:
    return replace(form, stream=2) if form.stream == 1 else None


_NAMED: tuple[tuple[re.Pattern[str], _Change], ...] = tuple(
    (re.compile(pattern), change)
    for pattern, change in (
        (r"stream_options|include_usage", _streamed_plainly),
        (
            r"stream(?:ing)?\b.*(?:only|must|requir|true|enable|support)|(?:only|must|requir|"
            r"enable).*\bstream",
            _streamed,
        ),
        (r"max_completion_tokens", _old_limit_name),
        (r"\bmax_tokens", _new_limit_name),
        (
            r"system (?:role|message|prompt|instruction)|role\W+system|'system'|\"system\"|developer "
            r"(?:role|message|instruction)|roles must alternate",
            _without_system,
        ),
        (
            r"response_format|json_schema|json_object|json mode|structured output|grammar|guided|schema",
            _plainer_format,
        ),
    )
)
_TOOLS = re.compile(r"tool|function")
_UNNAMED: tuple[_Change, ...] = (_old_limit_name, _without_functions, _plainer_format, _without_system)


def next_forms(form: RequestForm, error: ServerError, *, offered: bool) -> Iterator[RequestForm]:
    """Yield the forms to try after a server has turned one down, the likeliest first; none if the error is
    about something else.

    offered: whether functions were offered.
    """
    if error.status not in _UNSUPPORTED:
        return
    named = [change for pattern, change in _NAMED if pattern.search(error.words)]
    if offered and _TOOLS.search(error.words):
        named.insert(0, _without_functions)
    # a 404 is most often a wrong address or model, which no other form mends
    unnamed = _UNNAMED if error.status != 404 or "parameter" in error.words else ()
    for change in (*named, *unnamed):
        if change is _without_functions and not offered:
            continue
        if (result := change(form)) is not None:
            yield result
