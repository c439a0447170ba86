"""Read an error of a server: what it says in one line, whatever the shape of its body.

OpenAI sends {"error": {"message": ..., "param": ..., "code": ...}}. FastAPI sends {"detail": [{"loc": [...],
"msg": ..., "input": ...}]} with the rejected input, which may be the whole request; other servers send a
text, a list, or an object under another name. What repeats the request is left out: its words must not be
taken for the server's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import openai

from evolake.agents.bounds import parse_reply
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
