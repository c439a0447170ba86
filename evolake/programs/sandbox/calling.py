"""Runs inside the jail, in the evaluator's process: the functions of a program that runs in another jail.

The program's file is STUB here, so that none of the program's code can run in this process, however the
evaluator loads it. Calls carry plain values there and back (see `values`); what a program does to its
arguments does not reach the evaluator's. The state of the global random generators goes with a call whenever
the evaluator has changed it, so that a program draws what it would draw in the evaluator's process.
"""

from __future__ import annotations

import builtins
import os
import threading
from collections.abc import Callable
from typing import Any

from evolake.jail.inside.descriptors import CHANNEL_OF_PROGRAM
from evolake.programs.sandbox import chance
from evolake.programs.sandbox.values import NotPlain, from_plain, receive, send, to_plain

STUB = '''"""The program runs in another process: each function here calls one there."""

from evolake.programs.sandbox.calling import functions

globals().update(functions(__name__))
del functions
'''
READ, WRITE = CHANNEL_OF_PROGRAM
MOST_TROUBLES = 5


class ProgramError(RuntimeError):
    """The program raised an exception that is none of Python's own, or its process has ended."""


class _Channel:
    """The way to the program, used by one call at a time. troubles: why values could not cross. calls: made
    so far. carried: bytes both ways."""

    def __init__(self) -> None:
        self.troubles: list[str] = []
        self.watch = False
        self.calls = self.carried = 0
        self._owner = 0
        self._lock = threading.Lock()
        self._sent: list[Any] | None = None

    def open(self, *, watch: bool) -> None:
        """Begin, in the process that may call; the generators are as the program's are. watch: note arguments
        that are changed in place."""
        self.watch, self._owner, self._sent = watch, os.getpid(), chance.state()
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

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        if os.getpid() != self._owner:
            raise NotPlain("the program cannot be called from a process that the evaluator has started")
        with self._lock:
            state = chance.state()
            self.calls += 1
            changed, self._sent = (None if state == self._sent else to_plain(state)), state
            try:
                self._carry(send(WRITE, message | {"chance": changed}))
                answer = receive(READ, self._carry)
            except OSError:
                answer = None
        if answer is None:
            raise ProgramError("the program's process has ended")
        if "raised" in answer:
            raise self._raised(answer)
        return answer

    def _carry(self, length: int) -> None:
        self.carried += length

    def _raised(self, answer: dict[str, Any]) -> Exception:
        text = str(answer.get("text", ""))
        if answer.get("strange") is True:
            return self._trouble(text)
        kind = getattr(builtins, str(answer["raised"]), None)
        if isinstance(kind, type) and issubclass(kind, Exception):
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
    names = [
        item
        for item in answer["names"]
        if isinstance(item, str) and item.isidentifier() and not item.startswith("__")
    ]
    return {item: _function(int(answer["module"]), item, name) for item in names}


def _function(module: int, name: str, owner: str) -> Callable[..., Any]:
    def called(*args: Any, **named: Any) -> Any:
        return channel.call(module, name, args, named)

    called.__name__ = called.__qualname__ = name
    called.__module__ = owner
    return called
