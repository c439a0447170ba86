"""Plain values as bytes: what crosses between an evaluator and a program that run in separate processes.

Numbers, texts, bytes, lists, tuples, dicts, sets and numpy arrays of numbers or texts cross by value, and
arrive as exactly the type that they were. Nothing else does: an object of a program's own class would be code
of the program in the evaluator's process. Runs inside the jail.
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
import sys
from collections.abc import Callable
from typing import Any

LONGEST = 64 << 20
DEEPEST = 50
DTYPE = re.compile(r"[<>|][biufcSU]\d+")
CONTAINERS = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
HEAD = 8


class NotPlain(TypeError):
    """A value that cannot cross. The message names its type."""


def to_plain(value: Any, depth: int = 0) -> Any:
    """Return `value` as JSON, each container as a list that begins with its kind. Raises NotPlain."""
    if depth > DEEPEST:
        raise NotPlain(f"a value that is nested deeper than {DEEPEST}")
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind in CONTAINERS.values():
        return [kind.__name__, *(to_plain(item, depth + 1) for item in value)]
    if kind is dict:
        return [
            "dict",
            *([to_plain(key, depth + 1), to_plain(item, depth + 1)] for key, item in value.items()),
        ]
    if kind is bytes:
        return ["bytes", base64.b64encode(value).decode()]
    if kind is complex:
        return ["complex", value.real, value.imag]
    if (numpy := sys.modules.get("numpy")) is not None:
        if kind is numpy.ndarray and DTYPE.fullmatch(value.dtype.str):
            return ["array", value.dtype.str, list(value.shape), base64.b64encode(value.tobytes()).decode()]
        if (
            kind.__module__ == "numpy"
            and isinstance(value, numpy.generic)
            and DTYPE.fullmatch(value.dtype.str)
        ):
            return ["scalar", value.dtype.str, base64.b64encode(value.tobytes()).decode()]
    raise NotPlain(f"a value of type {kind.__module__}.{kind.__qualname__}")


def from_plain(data: Any, depth: int = 0) -> Any:
    """Return the value that `to_plain` was given. Raises NotPlain for anything else, which only a hostile
    process sends."""
    if depth > DEEPEST:
        raise NotPlain(f"a value that is nested deeper than {DEEPEST}")
    if data is None or type(data) in (bool, int, float, str):
        return data
    if type(data) is not list:
        raise NotPlain("a value of an unknown kind")
    try:
        kind, *rest = data
        if kind in CONTAINERS:
            return CONTAINERS[kind](from_plain(item, depth + 1) for item in rest)
        if kind == "dict":
            return {from_plain(key, depth + 1): from_plain(item, depth + 1) for key, item in rest}
        if kind == "bytes":
            return base64.b64decode(rest[0], validate=True)
        if kind == "complex":
            return complex(float(rest[0]), float(rest[1]))
        if kind in ("array", "scalar"):
            return _numbers(kind, *rest)
    except (TypeError, ValueError, IndexError, KeyError, OverflowError, RecursionError) as error:
        raise NotPlain(f"a value that cannot be read ({type(error).__name__})") from None
    raise NotPlain("a value of an unknown kind")


def _numbers(kind: str, dtype: str, *rest: Any) -> Any:
    import numpy as np

    if not DTYPE.fullmatch(dtype):
        raise NotPlain("an array of an unknown type")
    data = base64.b64decode(rest[-1], validate=True)
    shape = tuple(rest[0]) if kind == "array" else ()
    if any(type(size) is not int or size < 0 for size in shape) or math.prod(shape) * np.dtype(
        dtype
    ).itemsize != len(data):
        raise NotPlain("an array of another size than it has")
    result = np.frombuffer(data, dtype).reshape(shape).copy()
    return result if kind == "array" else result[()]


def send(descriptor: int, message: dict[str, Any]) -> int:
    """Write one message, its length first; return that length. Raises NotPlain if it is too long."""
    try:
        body = json.dumps(message).encode()
    except (ValueError, RecursionError) as error:  # a number with thousands of digits
        raise NotPlain(f"a value that cannot be written ({error})") from None
    if len(body) > LONGEST:
        raise NotPlain(f"a value of {len(body)} bytes, more than {LONGEST}")
    data = memoryview(len(body).to_bytes(HEAD, "big") + body)
    while data:
        data = data[os.write(descriptor, data) :]
    return len(body)


def receive(descriptor: int, counted: Callable[[int], None] = lambda length: None) -> dict[str, Any] | None:
    """Return one message; None if the other end is gone, or sends what is none. counted: called with the
    message's length."""
    head = _read(descriptor, HEAD)
    length = int.from_bytes(head, "big")
    if len(head) < HEAD or length > LONGEST:
        return None
    counted(length)
    try:
        result = json.loads(_read(descriptor, length))
    except (ValueError, RecursionError):
        return None
    return result if isinstance(result, dict) else None


def _read(descriptor: int, length: int) -> bytes:
    parts = []
    while length > 0 and (part := os.read(descriptor, min(length, 1 << 20))):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
