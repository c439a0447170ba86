"""Trusted code that runs inside the jail, in the candidate's own process, and hands the candidate's source to
Python."""

from __future__ import annotations

import builtins
import linecache
import sys
import types
from typing import Any

from evolake.jail.inside.candidate import CANDIDATE_FILE


def load_candidate(source: str) -> dict[str, Any]:
    """Execute `source` as a module and return its namespace. Errors are the candidate's and pass through,
    with line numbers of `source`."""
    # dataclasses look for the module of a class by its name
    sys.modules["candidate"] = module = types.ModuleType("candidate")
    namespace = vars(module)
    namespace["__builtins__"] = builtins
    linecache.cache[CANDIDATE_FILE] = (len(source), None, source.splitlines(keepends=True), CANDIDATE_FILE)
    exec(compile(source, CANDIDATE_FILE, "exec"), namespace)
    return namespace


def call_function(source: str, payload: Any) -> Any:
    """Call one function of the candidate. payload: {"function": name, "args": [JSON, ...]}. Returns what the
    function returns."""
    namespace = load_candidate(source)
    function = namespace.get(payload["function"])
    if not callable(function):
        raise NameError(f"the source defines no function named {payload['function']!r}")
    return function(*payload.get("args", ()))
