"""Choose the form of a request that a server takes: forms are tried from the richest to the plainest, and
what worked is kept.

A server that turns a form down says why, or only "400 Bad Request". What it names is changed first. If it
names nothing, the forms are walked in a fixed order: the output limit under its old name, no functions, a
plainer response format, the system message inside the user's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from evolake.agents.output_limit import OutputRoom
from evolake.agents.server_errors import ServerError

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
