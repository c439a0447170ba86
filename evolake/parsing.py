"""`ast.parse` where threads work side by side.

While CPython turns what it has parsed into the nodes of a tree it counts its depth in one place for all threads, and collecting garbage may let
another thread run in between. Two threads that parse at once meet `SystemError: AST constructor recursion depth mismatch` at random (CPython's issue
106905; seen with 3.11.7). A candidate would be blocked, or made by another operator, by chance. Hence one thread at a time; and where a library
parses meanwhile, again.
"""

from __future__ import annotations

import ast
import os
import threading
from typing import Literal, overload

MISMATCH = "recursion depth mismatch"
TIMES = 20
_one_at_a_time = threading.Lock()


def _in_a_fork() -> None:
    """A thread that held the lock is not in the child."""
    global _one_at_a_time
    _one_at_a_time = threading.Lock()


os.register_at_fork(after_in_child=_in_a_fork)


@overload
def parse_python(source: str | bytes, mode: Literal["exec"] = "exec") -> ast.Module: ...
@overload
def parse_python(source: str | bytes, mode: Literal["eval"]) -> ast.Expression: ...
def parse_python(source: str | bytes, mode: Literal["exec", "eval"] = "exec") -> ast.Module | ast.Expression:
    """The tree of a source. Called by any thread.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse`, for what is no Python or nested too deep for the parser.
    """
    for _ in range(TIMES - 1):
        try:
            return _parsed(source, mode)
        except SystemError as error:
            if MISMATCH not in str(error):
                raise
    return _parsed(source, mode)


def _parsed(source: str | bytes, mode: str) -> ast.Module | ast.Expression:
    with _one_at_a_time:
        return ast.parse(source, mode=mode)  # pyright: ignore[reportReturnType]
