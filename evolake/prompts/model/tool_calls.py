"""A call of a tool, as a policy writes it and as it is answered: one form of each, in plain text.

    <tool>search capital of Australia</tool>
    <result>
    [1] Canberra: Canberra is the capital of Australia ...
    </result>

Between the first two marks are the name of a tool and what it is given, which may have several lines. The
policy writes the call, evolake the result: its tokens are not the policy's. What a tool gives never holds one
of the four marks, so that the two can be distinguished in a stored reply.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass

CALL, CALL_END = "<tool>", "</tool>"
RESULT, RESULT_END = "\n<result>\n", "\n</result>\n"
"""What stands around the text of a result."""
MALFORMED, UNKNOWN = "malformed", "unknown"
"""Statuses of a call that no tool saw."""

_MARK = re.compile(r"<(/?)(tool|result)>")
_NOT_SAID = re.compile(r"<tool>.*?(?:</tool>|\Z)|<result>.*?(?:</result>|\Z)|</(?:tool|result)>", re.DOTALL)
_CALLED = re.compile(r"\s*(\w+)(?:[ \t]*\n|[ \t]+|\Z)(.*)", re.DOTALL)


@dataclass(frozen=True)
class ToolCall:
    """One call with what came of it.

    tool: the name as the policy wrote it; "" if none can be read. given: what the tool was given. status:
    "ok", MALFORMED, UNKNOWN, or the tool's own word for what went wrong. result: what the policy read.
    tokens: of the result, its marks included.
    """

    tool: str
    given: str
    status: str
    result: str
    tokens: int


def read_call(turn: str) -> tuple[str, str] | str:
    """Return (tool, what it is given) of the call that ends a turn; where it is none, what is wrong with it,
    in a sentence for the policy."""
    before = turn.partition(CALL_END)[0]
    start = before.rfind(CALL)
    if start < 0:
        return f"{CALL_END} without {CALL} before it"
    called = _CALLED.fullmatch(before[start + len(CALL) :])
    if called is None:
        return f"{CALL} is followed by the name of a tool"
    given = textwrap.dedent(called[2]).strip("\n").rstrip()
    return (called[1], given) if given else f"nothing after the name {called[1]}"


def outside_calls(reply: str) -> str:
    """Return what of a reply is outside calls and results: the policy's answer is looked for there, since no
    result of a tool is its own word."""
    return _NOT_SAID.sub("\n", reply)


def unmarked(text: str) -> str:
    """Return the text with its marks broken up, and without characters that print nothing."""
    plain = "".join(letter if letter.isprintable() or letter in "\n\t" else " " for letter in text)
    return _MARK.sub(r"< \1\2>", plain)


def is_unmarked(text: str) -> bool:
    """Return whether no mark is in the text."""
    return _MARK.search(text) is None


def calls_json(calls: Sequence[ToolCall] | None) -> str | None:
    """Return it as the column `calls` of the line's tables has them; null for a policy without tools."""
    return None if calls is None else json.dumps([asdict(call) for call in calls], ensure_ascii=False)
