"""Call the functions of a program that runs in another jail. Runs inside the jail, in the evaluator's
process.

The program's file is STUB here, so that none of the program's code can run in this process, however the
evaluator loads it. Calls carry plain values there and back as bytes (see `to_plain`): numbers, texts, bytes,
lists, tuples, dicts, sets and numpy arrays of numbers or texts arrive as exactly the type that they were.
Nothing else crosses: an object of a program's own class would be code of the program in the evaluator's
process. What a program does to its arguments does not reach the evaluator's. Each call carries a number of
chance, which its answer has to repeat: an answer that was sent before its call was known, or twice, ends the
evaluation. The state of the global random generators goes with a call whenever the evaluator has changed it,
so that a program draws what it would draw in the evaluator's process.
"""

from __future__ import annotations

import base64
import builtins
import contextlib
import json
import math
import os
import random
import re
import select
import sys
import threading
from collections.abc import Callable
from typing import Any

from evolake.jail.inside.descriptors import CHANNEL_OF_PROGRAM

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


def sow(seed: int, *, numpy: bool) -> None:
    """One seed for the usual sources of chance."""
    random.seed(seed)
    if numpy:
        import numpy as np

        np.random.seed(seed % 2**32)


def chance_state() -> list[Any]:
    """Return the state of the generators that are loaded, as plain values that can be compared."""
    if "numpy.random" not in sys.modules:
        return [random.getstate(), None]
    kind, numbers, *rest = sys.modules["numpy.random"].get_state()
    return [random.getstate(), [kind, numbers.tobytes(), *rest]]


def set_chance_state(given: list[Any]) -> None:
    """Set the generators to what `chance_state` gave in another process."""
    random.setstate(given[0])
    if given[1] is not None:
        import numpy as np

        kind, numbers, *rest = given[1]
        np.random.set_state((kind, np.frombuffer(numbers, np.uint32), *rest))


STUB = '''"""The program runs in another process: each function here calls one there."""

from evolake.programs.sandbox.calling import functions

globals().update(functions(__name__))
del functions
'''
READ, WRITE = CHANNEL_OF_PROGRAM
MOST_TROUBLES = 5
NUMBER = "number"
EARLY, OTHER = "it sent an answer before it was called", "it sent an answer without its call's number"
FLOW = (StopIteration, StopAsyncIteration, LookupError, AttributeError, EOFError)
"""Exceptions by which Python's own code ends a loop, takes a default or tries something else without a word:
raised by a program they would steer the evaluator's `map`, `for`, `getattr` or `get`."""


class ProgramError(RuntimeError):
    """The program raised an exception that is none of Python's own or one of FLOW, or its process has
    ended."""


class _Channel:
    """The way to the program, used by one call at a time. troubles: why values could not cross. forged: what
    is wrong with the order of answers; "" while nothing is. calls: made so far. carried: bytes both ways."""

    def __init__(self) -> None:
        self.troubles: list[str] = []
        self.forged = ""
        self.watch = False
        self.calls = self.carried = 0
        self._owner = 0
        self._lock = threading.Lock()
        self._sent: list[Any] | None = None

    def open(self, *, watch: bool) -> None:
        """Begin, in the process that may call; the generators are as the program's are. watch: note arguments
        that are changed in place."""
        self.watch, self._owner, self._sent = watch, os.getpid(), chance_state()
        for descriptor in CHANNEL_OF_PROGRAM:
            os.set_inheritable(descriptor, False)

    def load(self) -> dict[str, Any]:
        return self._ask({"op": "load"})

    def call(self, module: int, name: str, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        try:
            given = to_plain((args, named))
        except NotPlain as error:
            raise self._trouble(f"{name} is given {error}") from None
        answer = self._ask(
            {"op": "call", "module": module, "name": name, "given": given, "watch": self.watch}
        )
        if answer.get("in_place") is True:
            self._trouble(f"{name} changes its arguments in place")
        try:
            return from_plain(answer.get("value"))
        except NotPlain as error:
            raise self._trouble(f"{name} returns {error}") from None

    def close(self) -> None:
        """Make sure, at the end of an evaluation, that no second answer to its last call is on the way."""
        if self._owner == os.getpid() and not self.forged and self._lock.acquire(blocking=False):
            with contextlib.suppress(ProgramError):
                self._exchange({"op": "end", "chance": None})
            self._lock.release()

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        if os.getpid() != self._owner:
            raise NotPlain("the program cannot be called from a process that the evaluator has started")
        with self._lock:
            state = chance_state()
            self.calls += 1
            changed, self._sent = (None if state == self._sent else to_plain(state)), state
            answer = self._exchange(message | {"chance": changed})
        if "raised" in answer:
            raise self._raised(answer)
        return answer

    def _exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the one answer to a message. Raises ProgramError, and after a forged answer nothing else."""
        number, answer = os.urandom(16).hex(), None
        if not self.forged:
            try:
                waiting = select.poll()
                waiting.register(READ, select.POLLIN)
                if any(event & select.POLLIN for _, event in waiting.poll(0)):
                    self.forged = EARLY
                else:
                    self._carry(send(WRITE, message | {NUMBER: number}))
                    answer = receive(READ, self._carry)
                    if answer is not None and answer.get(NUMBER) != number:
                        self.forged = OTHER
            except OSError:
                answer = None
        if self.forged or answer is None:
            raise ProgramError(self.forged or "the program's process has ended")
        return answer

    def _carry(self, length: int) -> None:
        self.carried += length

    def _raised(self, answer: dict[str, Any]) -> Exception:
        text = str(answer.get("text", ""))
        if answer.get("strange") is True:
            return self._trouble(text)
        kind = getattr(builtins, str(answer["raised"]), None)
        if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, FLOW):
            try:
                return kind(text)
            except Exception:  # UnicodeDecodeError wants five arguments
                pass
        return ProgramError(f"{answer['raised']}: {text}")

    def _trouble(self, text: str) -> NotPlain:
        if len(self.troubles) < MOST_TROUBLES:
            self.troubles.append(text)
        return NotPlain(text)


channel = _Channel()


def functions(name: str) -> dict[str, Callable[..., Any]]:
    """Load the program again and return its functions by their names. name: of the module that they are to
    belong to."""
    answer = channel.load()
    names, module = answer.get("names"), answer.get("module")
    if not isinstance(names, list) or type(module) is not int:
        raise ProgramError("the program's process has sent no list of functions")
    return {
        item: _function(module, item, name)
        for item in names
        if isinstance(item, str) and item.isidentifier() and not item.startswith("__")
    }


def _function(module: int, name: str, owner: str) -> Callable[..., Any]:
    def called(*args: Any, **named: Any) -> Any:
        return channel.call(module, name, args, named)

    called.__name__ = called.__qualname__ = name
    called.__module__ = owner
    return called
