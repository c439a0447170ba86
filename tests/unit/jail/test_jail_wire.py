"""The reply frame: what is read is one well-formed reply of this call, or a BadReply and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.jail.wire import BadReply, frame, longest_frame, parse_reply, unframe

NONCE = "0123456789abcdef"
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(JSON)
def test_what_is_framed_is_read_back(value):
    data = frame(NONCE, json.dumps({"status": "ok", "value": value}).encode())
    assert parse_reply(NONCE, data) == {"status": "ok", "value": value, "reason": ""}


@given(st.binary(max_size=300))
def test_arbitrary_bytes_give_bad_reply_only(data):
    with pytest.raises(BadReply):
        parse_reply(NONCE, data)


@given(st.binary(max_size=300))
def test_arbitrary_bodies_give_a_reply_or_bad_reply(body):
    try:
        reply = parse_reply(NONCE, frame(NONCE, body))
    except BadReply:
        return
    assert set(reply) == {"status", "value", "reason"}


@given(st.binary(min_size=1, max_size=50))
def test_anything_beside_the_frame_makes_it_void(extra):
    good = frame(NONCE, b'{"status": "ok"}')
    for data in (good + extra, extra + good):
        with pytest.raises(BadReply):
            parse_reply(NONCE, data)


def test_a_frame_of_another_call_is_void():
    with pytest.raises(BadReply, match="garbled reply"):
        unframe(NONCE, frame("another nonce", b"{}"))


@given(st.binary(max_size=2000))
def test_the_longest_frame_is_exact(body):
    assert len(frame(NONCE, body)) == longest_frame(NONCE, len(body))


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"[" * 100_000, "not JSON"),
        (b'{"status": "ok", "value": ' + b"[" * 150 + b"]" * 150 + b"}", "nested deeper"),
        (b'{"status": "ok", "value": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"status": "ok", "value": "\\ud800"}', "not Unicode"),
        (b'{"status": "ok", "value": "\xff"}', "not JSON"),
        (b'{"status": "broken"}', "expected shape"),
        (b'{"status": ["ok"], "reason": 3}', "expected shape"),
        (b"[]", "expected shape"),
    ],
)
def test_bombs_are_refused_with_a_reason(body, complaint):
    with pytest.raises(BadReply, match=complaint):
        parse_reply(NONCE, frame(NONCE, body))


def test_not_a_number_and_infinity_pass():
    reply = parse_reply(NONCE, frame(NONCE, b'{"status": "ok", "value": [Infinity, -Infinity]}'))
    assert reply["value"] == [float("inf"), float("-inf")]
