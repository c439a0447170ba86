"""Runs inside the jail, in the process of one program of a policy: the program as an interpreter runs what is
typed into it.

What it prints is what its caller reads. Where its last statement is an expression whose value is not None,
that is printed too.
"""

from __future__ import annotations

import ast
from typing import Any

from evolake.jail.inside.candidate import CANDIDATE_FILE


def run(source: str, payload: Any) -> None:
    """Execute a program. Its errors pass through, with line numbers of `source`."""
    program = ast.parse(source, CANDIDATE_FILE)
    last = program.body.pop() if program.body and isinstance(program.body[-1], ast.Expr) else None
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(program, CANDIDATE_FILE, "exec"), namespace)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), CANDIDATE_FILE, "eval"), namespace)
        if value is not None:
            print(repr(value))
