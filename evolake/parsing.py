"""Parse Python where threads work side by side, and bounded.

While CPython turns what it has parsed into the nodes of a tree it counts its depth in one place for all
threads. Two threads that parse at the same time meet `SystemError: AST constructor recursion depth mismatch`
at random (CPython's issue 106905; seen with 3.11.7). A candidate would be blocked, or made by another
operator, by chance. Hence one thread at a time; and if a library parses meanwhile, again.

`bounded` parses what a candidate wrote, bounded in depth. Python's parser, `ast.unparse` and the libraries
that measure programs recurse without their own bound: `1 + 1 + ...` of 900 terms parses and can then be
neither written nor visited. The parser also raises MemoryError for what it cannot hold on its stack.
"""

from __future__ import annotations

import ast
import hashlib
import os
import threading
from typing import Literal, overload

MISMATCH = "recursion depth mismatch"
TIMES = 20
MAX_NESTING = 120
"""Depth of a tree. Seeds are at most 16 deep and a child adds two; `ast.unparse` fails from about 400 on,
less where the stack is in use."""
MAX_BITS = 14_000
"""Of an integer, which hexadecimal digits may make as long as they like: Python refuses to write more than
4,300 decimal digits."""
KEPT = 512
_sound: set[tuple[bytes, str]] = set()
"""sha256 and mode of sources whose trees were walked and found bounded: gates parse one many times, to change
another place of it each time."""
_one_at_a_time = threading.Lock()


def _in_a_fork() -> None:
    """Replace the lock: a thread that held it is not in the child."""
    global _one_at_a_time
    _one_at_a_time = threading.Lock()


os.register_at_fork(after_in_child=_in_a_fork)


@overload
def parse_python(source: str | bytes, mode: Literal["exec"] = "exec") -> ast.Module: ...
@overload
def parse_python(source: str | bytes, mode: Literal["eval"]) -> ast.Expression: ...
def parse_python(source: str | bytes, mode: Literal["exec", "eval"] = "exec") -> ast.Module | ast.Expression:
    """Return the tree of a source. Called by any thread.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse`, for what is no Python or nested
            too deep for the parser.
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


class Unreadable(ValueError):
    """A source that is no Python, or none that is taken apart here. A fact about the candidate."""


@overload
def bounded(source: str, longest: int, mode: Literal["exec"] = "exec") -> ast.Module: ...
@overload
def bounded(source: str, longest: int, mode: Literal["eval"]) -> ast.Expression: ...
def bounded(source: str, longest: int, mode: Literal["exec", "eval"] = "exec") -> ast.Module | ast.Expression:
    """Return the tree of a source of at most `longest` characters. Raises Unreadable: too long, too deep, or
    not to be parsed."""
    if len(source) > longest:
        raise Unreadable(f"longer than {longest} characters")
    try:
        tree = parse_python(source, mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"cannot be parsed: {str(error) or type(error).__name__}") from None
    key = hashlib.sha256(source.encode("utf-8", "surrogatepass")).digest(), mode
    if key in _sound:
        return tree
    depth, bits = extent(tree)
    if depth > MAX_NESTING:
        raise Unreadable(f"nested deeper than {MAX_NESTING}")
    if bits > MAX_BITS:
        raise Unreadable(f"an integer of more than {MAX_BITS} bits")
    if len(_sound) >= KEPT:
        _sound.clear()
    _sound.add(key)
    return tree


def extent(tree: ast.AST) -> tuple[int, int]:
    """Return the depth of a tree, and the bits of its largest whole number; without recursion."""
    deepest, bits, waiting = 0, 0, [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(node, ast.Constant):
            if isinstance(node.value, int):
                bits = max(bits, node.value.bit_length())
            continue
        for name in node._fields:
            part = getattr(node, name, None)
            if isinstance(part, ast.AST):
                waiting.append((part, depth + 1))
            elif isinstance(part, list):
                waiting += [(item, depth + 1) for item in part if isinstance(item, ast.AST)]
    return deepest, bits
