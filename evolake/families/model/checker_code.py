"""What a checker may use. Exports carry the checkers' sources to trainers, who run them outside the jail: so
they are held to plain computing.

This is a fence for code that the gates have passed, not a sandbox: an import of anything but the listed
modules, private and double-underscored names, attributes that lead to other modules or to frames, and
built-ins that reach files, code or attributes by name are refused.
"""

from __future__ import annotations

import ast
import sys

from evolake.families.model.syntax import Unreadable, parse

MODULES = frozenset(
    {"bisect", "collections", "fractions", "functools", "heapq", "itertools", "json", "math", "re"}
)
"""Modules that a checker may import."""
BUILTINS = frozenset(
    {
        "breakpoint",
        "compile",
        "delattr",
        "eval",
        "exec",
        "exit",
        "getattr",
        "globals",
        "help",
        "input",
        "locals",
        "memoryview",
        "object",
        "open",
        "print",
        "quit",
        "setattr",
        "super",
        "type",
        "vars",
    }
)
"""Built-ins that a checker may not use."""
ATTRIBUTES = (frozenset(sys.stdlib_module_names) - {"copy"}) | {
    "ag_frame",
    "cr_frame",
    "f_back",
    "f_builtins",
    "f_globals",
    "f_locals",
    "format",
    "format_map",
    "gi_frame",
    "mro",
    "tb_frame",
    "tb_next",
    "update_wrapper",
    "wraps",
}
"""Attributes that a checker may not use: names of modules, of frames, of base classes, and functions that
read attributes by name."""


def impurity(source: str) -> str:
    """Return the first thing in a checker's source that it may not use, "" if there is none."""
    try:
        tree = parse(source)
    except Unreadable as error:
        return f"a source that cannot be parsed: {error}"
    for node in ast.walk(tree):
        if found := _refused(node):
            return f"line {getattr(node, 'lineno', 0)}: {found}"
    return ""


def _refused(node: ast.AST) -> str:
    if isinstance(node, ast.Import):
        return next((f"import {item.name}" for item in node.names if item.name not in MODULES), "")
    if isinstance(node, ast.ImportFrom):
        if node.module == "__future__" and not node.level:
            return ""
        if node.level or node.module not in MODULES:
            return f"import of {node.module}"
        return next(
            (f"import of {item.name}" for item in node.names if _hidden(item.name) or item.name == "*"), ""
        )
    if isinstance(node, ast.MatchClass):
        return next((f"the pattern {name}=" for name in node.kwd_attrs if _hidden(name)), "")
    if isinstance(node, ast.Name) and (node.id in BUILTINS or node.id.startswith("__")):
        return node.id
    return f".{node.attr}" if isinstance(node, ast.Attribute) and _hidden(node.attr) else ""


def _hidden(name: str) -> bool:
    return name.startswith("_") or name in ATTRIBUTES
