"""Another place and time for the second run of a source: another date, another time zone, another order of
sets. Runs inside the jail.

A process of the jail has one hash seed, and cannot become another. So the sets that a candidate makes are
turned round instead, where their order depends on the seed at all: those that hold texts, or objects, whose
hash is drawn again with each process (Python, `object.__hash__`). What it gets from a library is as it was,
and so are sets of code that it writes as a text and runs, and what numpy knows of the date. Nothing here
binds a candidate that wants to cheat; it shows what honest ones overlook.
"""

from __future__ import annotations

import ast
import builtins
import datetime
import os
import time
from collections.abc import Iterator
from numbers import Number
from typing import Any

SHIFT_S = 463 * 86_400 + 7 * 3_600 + 1_234.5
ZONE = "EVO-5:45"
_MODULE = __name__
_HASH = builtins.hash


class _Like(type):
    """Of a class that stands for a built-in: whatever is one of the built-in is one of it."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, builtins.frozenset if cls.__name__ == "frozenset" else builtins.set)


def _seeded(items: Any) -> bool:
    """Return whether the order of these depends on the hash seed or on addresses."""
    return any(
        _seeded(item) if isinstance(item, tuple | builtins.frozenset) else not isinstance(item, Number)
        for item in items
    )


def _turned(items: Any, kept: Iterator[Any]) -> Iterator[Any]:
    order = [*kept]
    return iter(order[::-1] if _seeded(order) else order)


class set(builtins.set, metaclass=_Like):
    """A set that gives its elements in the opposite order."""

    def __iter__(self) -> Iterator[Any]:
        return _turned(self, super().__iter__())

    def pop(self) -> Any:
        """Return the last of the elements, in that order, so as not to go through them all."""
        if not self:
            raise KeyError("pop from an empty set")
        result = next(iter(self))
        self.remove(result)
        return result


class frozenset(builtins.frozenset, metaclass=_Like):
    """The same, unchanging."""

    def __iter__(self) -> Iterator[Any]:
        return _turned(self, super().__iter__())


def _giving(kind: Any, base: Any, names: tuple[str, ...]) -> None:
    """Make these operations return an object of the same class."""
    for name in names:

        def operation(self: Any, *others: Any, _name: str = name) -> Any:
            result = getattr(base, _name)(self, *others)
            return result if result is NotImplemented else kind(result)

        setattr(kind, name, operation)


_NAMES = (
    "__or__",
    "__and__",
    "__sub__",
    "__xor__",
    "__ror__",
    "__rand__",
    "__rxor__",
    "union",
    "intersection",
    "difference",
    "symmetric_difference",
    "copy",
)
_giving(set, builtins.set, _NAMES)
_giving(frozenset, builtins.frozenset, _NAMES)


def hash(item: Any) -> int:
    """Return another number for what is hashed by the seed; of two such numbers the other one is now the
    smaller, too."""
    result = _HASH(item)
    return result if not _seeded((item,)) else ~(result ^ 0x5DEECE66D)


def gathered(result: Any) -> Any:
    """Return a set from here for one that an operation on the keys or items of a mapping gave."""
    return set(result) if type(result) is builtins.set else result


class _Sets(ast.NodeTransformer):
    """Displays and comprehensions of sets, operations on views of mappings, and calls of `__hash__`, as calls
    of what is here.

    prefix: of the names by which they are called; no name of the source begins with it.
    """

    def __init__(self, prefix: str):
        self.prefix = prefix
        self.hashed: str | None = None  # inside a `__hash__`, what it calls its own object

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        outer = self.hashed
        if node.name == "__hash__":
            self.hashed = next((item.arg for item in (*node.args.posonlyargs, *node.args.args)), None)
        self.generic_visit(node)
        self.hashed = outer
        return node

    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        return self._called("set", ast.List(elts=node.elts, ctx=ast.Load()))

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        self.generic_visit(node)
        return self._called("set", ast.GeneratorExp(elt=node.elt, generators=node.generators))

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return (
            self._called("gathered", node)
            if any(self._is_view(side) for side in (node.left, node.right))
            else node
        )

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if (
            not isinstance(node.func, ast.Attribute)
            or node.func.attr != "__hash__"
            or node.keywords
            or len(node.args) > 1
        ):
            return node
        of = node.args[0] if node.args else node.func.value
        of_base = (
            bool(node.args) and isinstance(of, ast.Name) and of.id == self.hashed
        )  # by `hash` the method would call itself
        return (
            node
            if of_base or isinstance(of, ast.Starred) or _is_super(node.func.value)
            else self._called("hash", of)
        )

    def _called(self, name: str, argument: ast.expr) -> ast.Call:
        return ast.Call(func=ast.Name(self.prefix + name, ast.Load()), args=[argument], keywords=[])

    def _is_view(self, node: ast.expr) -> bool:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == f"{self.prefix}gathered"
        ):
            return True
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("keys", "items")
            and not node.args
        )


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def moved(source: str) -> str:
    """Return the source with sets and hashes from here; as it is where it cannot be parsed. Called before the
    clock is moved."""
    prefix = "elsewhere_"
    while prefix in source:
        prefix += "_"
    try:
        tree = _Sets(prefix).visit(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    start = 0
    for node in tree.body:
        docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not docstring and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        start += 1
    names = [ast.alias(name) for name in ("set", "frozenset", "hash")]
    names += [ast.alias(name, prefix + name) for name in ("set", "hash", "gathered")]
    tree.body.insert(start, ast.ImportFrom(module=_MODULE, names=names, level=0))
    try:
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except RecursionError:
        return source


def move() -> None:
    """Put this process into another time and zone, and in front of other hashes, permanently."""
    os.environ |= {"TZ": ZONE, "PYTHONHASHSEED": "1"}
    builtins.hash = hash
    time.tzset()
    now, now_ns, local, utc = time.time, time.time_ns, time.localtime, time.gmtime

    def later() -> float:
        return now() + SHIFT_S

    class Date(datetime.date):
        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(later())

    class Datetime(datetime.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(later(), tz)

        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(later())

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(later(), datetime.UTC).replace(tzinfo=None)

    shift_ns = int(SHIFT_S * 10**9)
    time.time = later
    time.time_ns = lambda: now_ns() + shift_ns
    time.localtime = lambda seconds=None: local(later() if seconds is None else seconds)
    time.gmtime = lambda seconds=None: utc(later() if seconds is None else seconds)
    time.ctime = lambda seconds=None: time.asctime(time.localtime(seconds))
    written = time.strftime
    time.strftime = lambda form, at=None: written(form, time.localtime() if at is None else at)
    for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
        plain = getattr(time, name)
        setattr(time, name, lambda plain=plain: plain() + SHIFT_S)
    datetime.date, datetime.datetime = Date, Datetime  # pyright: ignore[reportAttributeAccessIssue]
