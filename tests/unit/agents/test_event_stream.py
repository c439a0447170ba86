"""Streams of events, read by the specification of server-sent events and joined as servers mean them: no text
is lost, a damaged event breaks the stream, and calls are told apart without a right `index`."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.agents.event_stream import is_event_stream, join_events

DONE = "data: [DONE]\n\n"
SEPARATORS = "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e"


def event(delta: Any, finish: str | None = None, **more: Any) -> str:
    """One event of a stream; line separators other than CR and LF are in it as they are."""
    body = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}
    return f"data: {json.dumps(body, ensure_ascii=False)}\n\n"


def call(index: Any, name: str | None, arguments: Any, own_id: str | None = None) -> str:
    """An event with one piece of a function call; parts that are None are left out."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    piece = {key: value for key, value in (("index", index), ("id", own_id)) if value is not None}
    return event({"tool_calls": [piece | {"function": function}]})


def message(body: str) -> dict[str, Any]:
    return json.loads(join_events(body))["choices"][0]["message"]


END = event({}, "stop") + DONE
HELLO = event({"content": "hel"}) + event({"content": "lo"}) + END


@given(
    st.lists(st.text(alphabet=f'ab {SEPARATORS}\\"é漢', max_size=8), max_size=5),
    st.sampled_from(["\n", "\r", "\r\n"]),
)
def test_every_piece_arrives_as_it_was_sent_whatever_ends_the_lines(pieces, line_end):
    body = "".join(event({"content": piece}) for piece in pieces) + END
    assert (message(body.replace("\n", line_end))["content"] or "") == "".join(pieces)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(HELLO.replace("\n", "\r"), id="CR"),
        pytest.param(HELLO.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(HELLO.replace("}\n\n", "}\r\n\n"), id="ends mixed"),
        pytest.param("\ufeff" + HELLO, id="byte order mark"),
        pytest.param(HELLO.replace("data: ", "data:"), id="no blank after the colon"),
        pytest.param(": ping\n\n" + HELLO.replace("\n\n", "\n\n: ping\n\n"), id="comments"),
        pytest.param(HELLO.replace("data: ", "event: message\nid: 7\nretry: 10\ndata: "), id="other fields"),
        pytest.param(HELLO.replace('"choices"', '\ndata: "choices"'), id="an event of several lines of data"),
        pytest.param(HELLO.removesuffix("\n\n"), id="no blank line at the end"),
        pytest.param(HELLO.removesuffix(DONE), id="a finish reason and no [DONE]"),
        pytest.param(event({"content": "hello"}) + DONE, id="[DONE] and no finish reason"),
        pytest.param(HELLO + "data: {cut", id="what follows [DONE] is no part"),
        pytest.param("event: ping\ndata:\n\n" + HELLO, id="an event without data"),
        pytest.param('data: {"type": "ping"}\n\n' + HELLO, id="an event of another kind"),
        pytest.param('data: {"choices": null}\n\ndata: {"choices": []}\n\n' + HELLO, id="no choices"),
        pytest.param(event({"content": None, "role": "assistant"}) + HELLO, id="null"),
        pytest.param(event({"content": [{"type": "text", "text": "hello"}]}) + END, id="parts"),
        pytest.param(HELLO.replace("hel", "\\u0068el"), id="escapes"),
        pytest.param(
            'data: {"choices": [{"index": 0, "message": {"content": "hello"}, "finish_reason": "stop"}]}',
            id="a whole message",
        ),
        pytest.param(
            HELLO.removesuffix(END) + 'data: {"choices": [{"message": {"content": "hello"}}]}\n\n' + END,
            id="a whole message after its pieces",
        ),
        pytest.param(
            'data: {"choices": [{"index": 1, "delta": {"content": "other"}}]}\n\n' + HELLO,
            id="another choice",
        ),
    ],
)
def test_a_stream_is_read_by_the_specification(body):
    assert message(body)["content"] == "hello"


@pytest.mark.parametrize(
    "middle",
    [
        pytest.param('data: {"choices": [{"index": 0, "delta": {"content": "LOST\n\n', id="cut"),
        pytest.param('data: {"choices": [{"delta": {"content": "a"}}]}}\n\n', id="a brace too many"),
        pytest.param("data: ping\n\n", id="no JSON"),
        pytest.param('data: ["a"]\n\n', id="a list"),
        pytest.param('data: "a"\n\n', id="a text"),
        pytest.param('data: {"choices": {"delta": {"content": "a"}}}\n\n', id="choices are an object"),
        pytest.param('data: {"choices": 5}\n\n', id="choices are a number"),
        pytest.param('data: {"choices": ["a"]}\n\n', id="a choice is a text"),
        pytest.param('data: {"choices": [{"delta": "a"}]}\n\n', id="a delta is a text"),
        pytest.param(event({"content": 5}), id="content is a number"),
        pytest.param(event({"content": {"text": "a"}}), id="content is an object"),
        pytest.param(event({"tool_calls": {"index": 0}}), id="calls are an object"),
        pytest.param(event({"tool_calls": ["a"]}), id="a call is a text"),
        pytest.param(event({"tool_calls": [{"function": "a"}]}), id="a function is a text"),
        pytest.param("data: " + "[" * 300 + "\n\n", id="too deep"),
        pytest.param('data: {"a": [' + "0," * 200_001 + "0]}\n\n", id="too many values"),
    ],
)
def test_a_damaged_event_breaks_the_stream(middle):
    with pytest.raises(ValueError, match="damaged"):
        join_events(event({"content": "abc"}) + middle + event({"content": "d"}, "stop") + DONE)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ('data: {"error": {"code": 400, "message": "too long"}}\n\n', {"code": 400, "message": "too long"}),
        ("event: error\ndata: overloaded\n\n", "overloaded"),
        (event({"content": "a"}) + 'data: {"error": "down"}\n\n' + END, "down"),
    ],
)
def test_an_error_in_a_stream_is_the_answer(body, error):
    assert json.loads(join_events(body)) == {"error": error}


A, B = '{"path": "a.py"}', '{"path": "b.py"}'
ONE, TWO, TWICE = [("read", A)], [("read", A), ("list", B)], [("read", A), ("read", B)]
CALLS = {
    "by index": (TWICE, call(0, "read", A, "c1"), call(1, "read", B, "c2")),
    "one index, two ids": (TWO, call(0, "read", A, "c1"), call(0, "list", B, "c2")),
    "one index, one name, two ids": (TWICE, call(0, "read", A, "c1"), call(0, "read", B, "c2")),
    "one index, no ids": (TWO, call(0, "read", A), call(0, "list", B)),
    "one index, one name, no ids": (TWICE, call(0, "read", A), call(0, "read", B)),
    "no index": (TWICE, call(None, "read", A, "c1"), call(None, "read", B, "c2")),
    "no index, no ids": (TWICE, call(None, "read", A), call(None, "read", B)),
    "no index, one id for all": (TWICE, call(None, "read", A, "c"), call(None, "read", B, "c")),
    "in pieces": (ONE, call(0, "read", "", "c1"), call(0, None, A[:5]), call(0, None, A[5:])),
    "in pieces, no index": (ONE, call(None, "read", A[:5], "c1"), call(None, None, A[5:])),
    "in pieces, no index, the id again": (
        ONE,
        call(None, "read", A[:5], "c1"),
        call(None, None, A[5:], "c1"),
    ),
    "in pieces, the name again": (ONE, call(0, "read", A[:5], "c1"), call(0, "read", A[5:], "c1")),
    "the name again at the end": (ONE, call(0, "read", A, "c1"), call(0, "read", "", "c1")),
    "an id made up for each piece": (ONE, call(0, "read", A[:5], "c1"), call(0, None, A[5:], "c2")),
    "the name in pieces": (ONE, call(0, "re", None, "c1"), call(0, "ad", None), call(0, None, A)),
    "one index, two ids, in pieces": (
        TWO,
        call(0, "read", None, "c1"),
        call(0, None, A),
        call(0, "list", None, "c2"),
        call(0, None, B),
    ),
    "ids before names": (
        TWO,
        call(0, None, None, "c1"),
        call(0, "read", A),
        call(0, None, None, "c2"),
        call(0, "list", B),
    ),
    "in turns": (
        TWO,
        call(0, "read", A[:5], "c1"),
        call(1, "list", B[:4], "c2"),
        call(0, None, A[5:]),
        call(1, None, B[4:]),
    ),
    "without arguments": ([("stop", ""), *ONE], call(0, "stop", "", "c1"), call(0, "read", A, "c2")),
    "arguments that are an object": (ONE, call(0, "read", json.loads(A), "c1")),
    "in the order in which they come": (TWO, call(1, "read", A, "c1"), call(0, "list", B, "c2")),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_told_apart_by_ids_names_and_whole_arguments(name):
    wanted, *pieces = CALLS[name]
    joined = message("".join(pieces) + event({}, "tool_calls") + DONE)["tool_calls"]
    assert [(item["function"]["name"], item["function"]["arguments"]) for item in joined] == wanted
    assert all(item.keys() == {"id", "type", "function"} for item in joined)


@pytest.mark.parametrize(
    ("content_type", "body", "stream"),
    [
        ("text/event-stream; charset=utf-8", "", True),
        ("text/plain", ": ping\n\ndata: {}", True),
        ("text/plain", "data:{}", True),
        ("", "\ufeffevent: message\ndata: {}", True),
        ("application/json", '{"data": 1}', False),
        ("text/html", "<p>data: {}</p>", False),
        ("text/plain", "database down", False),
    ],
)
def test_a_stream_is_recognised_by_its_type_or_its_first_line(content_type, body, stream):
    assert is_event_stream(content_type, body) is stream
