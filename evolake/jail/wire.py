"""How the supervisor and the fork server talk, and how a reply is framed.

Control: a SOCK_SEQPACKET pair, one JSON object a message, file descriptors next to it. Only trusted code
holds either end.

Reply: a pipe made by the supervisor for one call and closed after it; in the jail only that call's process
ever holds the writing end. The frame is one head line (magic, the call's nonce, length) and that many bytes
of JSON; anything before, after or next to it makes the reply void. A candidate can forge its *own* reply: it
lives in the same process as the code that writes it. That is harmless by design, since it can only forge what
it could have returned, and JSON runs no code where it is read. It cannot write another call's reply, having
neither its pipe nor its nonce.
"""

from __future__ import annotations

import json
import socket
from typing import Any

MAGIC = b"evolake-reply-1"
LONGEST_MESSAGE = 1 << 16
MOST_DESCRIPTORS = 12
DEEPEST_REPLY = 100
REPLY_STATUSES = ("ok", "error", "memory", "forbidden")


class BadReply(ValueError):
    """The bytes are not one well-formed reply of this call. The message is the candidate's reason."""


def send(control: socket.socket, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
    """One message. Raises OSError when the other end is gone."""
    data = json.dumps(message).encode()
    if len(data) > LONGEST_MESSAGE:
        raise ValueError(f"control message of {len(data)} bytes; at most {LONGEST_MESSAGE} fit")
    if descriptors:
        socket.send_fds(control, [data], list(descriptors))
    else:
        control.send(data)


def receive(control: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """Return the next message and its descriptors; (None, []) when the other end is gone."""
    try:
        data, descriptors, _, _ = socket.recv_fds(control, LONGEST_MESSAGE, MOST_DESCRIPTORS)
    except ConnectionError:
        return None, []
    return (json.loads(data), list(descriptors)) if data else (None, [])


def frame(nonce: str, body: bytes) -> bytes:
    """Return `body` as the reply of the call `nonce`."""
    return b"%s %s %d\n" % (MAGIC, nonce.encode(), len(body)) + body


def longest_frame(nonce: str, body_bytes: int) -> int:
    """Return size of the frame around `body_bytes` bytes."""
    return len(MAGIC) + len(nonce) + len(str(body_bytes)) + 3 + body_bytes


def unframe(nonce: str, data: bytes) -> bytes:
    """Return the body of the one frame that `data` is. Raises BadReply."""
    if not data:
        raise BadReply("ended without a reply")
    head, newline, body = data.partition(b"\n")
    if not newline or head != b"%s %s %d" % (MAGIC, nonce.encode(), len(body)):
        raise BadReply("garbled reply")
    return body


def parse_reply(nonce: str, data: bytes) -> dict[str, Any]:
    """Return {"status": one of REPLY_STATUSES, "value": JSON, "reason": str} of an untrusted reply. Raises
    BadReply, nothing else."""
    body = unframe(nonce, data)
    try:
        reply = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadReply(f"reply is not JSON ({type(error).__name__})") from None
    if (
        not isinstance(reply, dict)
        or reply.get("status") not in REPLY_STATUSES
        or not isinstance(reply.get("reason", ""), str)
    ):
        raise BadReply("reply has not the expected shape")
    if body.count(b"[") + body.count(b"{") > DEEPEST_REPLY and _depth_exceeds(reply, DEEPEST_REPLY):
        raise BadReply(f"reply is nested deeper than {DEEPEST_REPLY}")
    if b"\\ud" in body.lower():
        _refuse_lone_surrogates(reply)
    return {"status": reply["status"], "value": reply.get("value"), "reason": reply.get("reason", "")}


def _depth_exceeds(value: Any, deepest: int) -> bool:
    """Return whether containers nest deeper than `deepest`; level by level, so the depth of the value is no
    danger to this walk."""
    level = [value]
    for _ in range(deepest + 1):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _refuse_lone_surrogates(value: Any) -> None:
    """Half a surrogate pair parses, but no file or table can hold it."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (UnicodeEncodeError, RecursionError):
        raise BadReply("reply holds text that is not Unicode") from None
