"""A real HTTP server on loopback that speaks the OpenAI wire format and misbehaves on demand.

    with LoopbackModel([status(429, {"Retry-After": "7"}), say({"answer": 1})]) as server:
        ...                     # point EVOLAKE_MODEL_BASE_URL at server.base_url
        server.requests         # what was asked, in order: Asked(model, messages, response_format, body,
                                headers); header names in lower case

The script is a list of actions, one a request (the last one repeats), or a function from `Asked` to an
action; `serve(...)` makes such a function from one that gives the reply's object.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
KEY = "loopback-secret-key-0123456789"


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    model: str
    messages: list[dict[str, str]]
    response_format: dict[str, Any] | None
    body: dict[str, Any]
    headers: dict[str, str]
    path: str = ""

    @property
    def form(self) -> str:
        """`json_schema`, `json_object` or `text`."""
        return (self.response_format or {"type": "text"})["type"]


@dataclass(frozen=True)
class Action:
    """What to answer: a status, headers and a body; or a way of not answering (`reset`, `drip`)."""

    code: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    content_type: str = "application/json"
    way: str = "answer"


Script = Sequence[Action] | Callable[[Asked], Action]


def completion(
    content: Any, *, usage: dict[str, Any] | None = USAGE, finish: str = "stop", refusal: str | None = None
) -> dict[str, Any]:
    """A chat completion whose one choice says `content` (anything but a string or None is sent as JSON)."""
    text = content if content is None or isinstance(content, str) else json.dumps(content)
    message = {"role": "assistant", "content": text, "refusal": refusal}
    choices = [{"index": 0, "message": message, "finish_reason": finish}]
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "loopback",
        "choices": choices,
    }
    return body if usage is None else body | {"usage": usage}


def say(content: Any, **options: Any) -> Action:
    """A well-formed completion; options as for `completion`."""
    return raw(json.dumps(completion(content, **options)).encode())


def call(*calls: tuple[str, Any], thought: str = "", usage: dict[str, Any] | None = USAGE) -> Action:
    """A completion that calls functions: (name, arguments as an object, or any text that is sent as it
    is)."""
    body = completion(thought, usage=usage, finish="tool_calls")
    body["choices"][0]["message"]["tool_calls"] = [
        {
            "id": f"id-{number}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for number, (name, given) in enumerate(calls)
    ]
    return raw(json.dumps(body).encode())


def raw(body: bytes, content_type: str = "application/json") -> Action:
    """Any bytes, with status 200."""
    return Action(body=body, content_type=content_type)


def status(
    code: int, headers: dict[str, str] | None = None, *, message: str = "no", error_code: str | None = None
) -> Action:
    """An error in the shape OpenAI gives it."""
    error = {"error": {"message": message, "type": "error", "param": None, "code": error_code}}
    return Action(code=code, headers=headers or {}, body=json.dumps(error).encode())


def bad_gateway() -> Action:
    """A 502 of a proxy: an HTML page."""
    return Action(
        code=502, body=b"<html><body><h1>502 Bad Gateway</h1></body></html>", content_type="text/html"
    )


def huge(size: int = 10_000_000) -> Action:
    """A valid completion whose text alone is `size` bytes."""
    return say("x" * size)


def as_asked(action: Action, asked: Asked) -> Action:
    """A completion from `completion` under the name of the model that was asked, with counts that a long
    prompt and a long reply can have."""
    if b'"model": "loopback"' not in action.body:
        return action
    body = json.loads(action.body)
    offered = json.dumps(
        [
            asked.response_format,
            asked.body.get("tools"),
            [message.get("tool_calls") for message in asked.messages],
        ]
    )
    sent = sum(len(str(message["content"]).encode()) for message in asked.messages) + len(offered)
    content = body["choices"][0]["message"]["content"] or ""
    text = (content if isinstance(content, str) else json.dumps(content)) + json.dumps(
        body["choices"][0]["message"].get("tool_calls", "")
    )
    if body.get("usage") == USAGE:
        bytes_a_token = 20 if "tools" in asked.body else 30
        prompt, reply = (
            max(USAGE["prompt_tokens"], sent // bytes_a_token),
            max(USAGE["completion_tokens"], len(text.encode()) // 30),
        )
        body["usage"] = {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply}
    return replace(action, body=json.dumps(body | {"model": asked.model}).encode())


def streamed(
    content: str,
    *,
    calls: Sequence[tuple[str, Any]] = (),
    usage: dict[str, Any] | None = USAGE,
    whole: bool = True,
) -> Action:
    """A completion as server-sent events, some characters an event; not `whole`: it breaks off before its
    end."""
    pieces: list[dict[str, Any]] = [
        {"content": content[place : place + 4]} for place in range(0, len(content), 4)
    ]
    for number, (name, given) in enumerate(calls):
        text = json.dumps(given)
        first = {
            "index": number,
            "id": f"id-{number}",
            "type": "function",
            "function": {"name": name, "arguments": text[:3]},
        }
        pieces.append({"tool_calls": [first]})
        pieces.append({"tool_calls": [{"index": number, "function": {"arguments": text[3:]}}]})
    envelope = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test"}
    events = [
        envelope | {"choices": [{"index": 0, "delta": piece, "finish_reason": None}]} for piece in pieces
    ]
    last = envelope | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    counted = [envelope | {"choices": [], "usage": usage}] if usage else []
    lines = [json.dumps(event) for event in (*events, *([last, *counted] if whole else []))] + (
        ["[DONE]"] if whole else []
    )
    return raw("".join(f"data: {line}\n\n" for line in lines).encode(), "text/event-stream; charset=utf-8")


def fault_of(code: int, body: Any) -> Action:
    """An error whose body is any JSON."""
    return Action(code=code, body=json.dumps(body).encode())


RESET = Action(way="reset")
DRIP = Action(way="drip")


def serve(reply: Callable[[Asked], Any]) -> Callable[[Asked], Action]:
    """A script of well-formed completions: `reply` gives the object for a request."""
    return lambda asked: say(reply(asked))


class LoopbackModel:
    """The server; a context manager. `requests` grows as requests come in. port: where another one was
    before; 0 for any. models: those that it lists; without any it has no list."""

    def __init__(self, script: Script, port: int = 0, models: Sequence[str] = ("played",)):
        self.models = models
        self.requests: list[Asked] = []
        self._script = script
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._server.server_port

    @property
    def base_url(self) -> str:
        """What a client is given as its base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> LoopbackModel:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _next(self, asked: Asked) -> Action:
        with self._lock:
            self.requests.append(asked)
            number = len(self.requests)
        if callable(self._script):
            return self._script(asked)
        return self._script[min(number, len(self._script)) - 1]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                """The list of models, where there is one; it is no request to a model."""
                known = json.dumps(
                    {"object": "list", "data": [{"id": name, "object": "model"} for name in model.models]}
                ).encode()
                self._answer(raw(known) if model.models else status(404))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(
                    body.get("model", ""),
                    body.get("messages", []),
                    body.get("response_format"),
                    body,
                    headers,
                    self.path,
                )
                action = model._next(asked)
                if action.way == "reset":
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.connection.close()
                    self.close_connection = True
                elif action.way == "drip":
                    self._drip()
                else:
                    self._answer(as_asked(action, asked))

            def _answer(self, action: Action) -> None:
                self.send_response(action.code)
                for name, value in action.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", action.content_type)
                self.send_header("Content-Length", str(len(action.body)))
                self.end_headers()
                try:
                    self.wfile.write(action.body)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def _drip(self) -> None:
                """One byte every few milliseconds for ever: no single read takes long."""
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "1000000")
                self.end_headers()
                self.close_connection = True
                try:
                    while not model._stopping.wait(0.005):
                        self.wfile.write(b" ")
                        self.wfile.flush()
                except (BrokenPipeError, ConnectionResetError):
                    return

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        return Handler
