"""Which code something that was computed earlier was computed by: a hash over the modules that could have had
a part in it.

The modules are found by their imports, and templates of programs by the calls that load them, so that no list
of them can be forgotten. A change of a comment or a docstring changes nothing.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from evolake.parsing import parse_python

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def code_version(roots: Sequence[str], carriers: Sequence[str] = (), package: str = "evolake") -> str:
    """Return 64 hex digits over the syntax trees of `roots` and of all modules of `package` that they import,
    at whatever depth.

    carriers: modules, with all below them, that hand values on without a part in them; neither they nor what
    they import is looked at, unless it is a root. Trees differ between minor versions of Python.
    """
    digest = hashlib.sha256()
    for name, source in sorted(sources_behind(roots, carriers, package).items()):
        digest.update(f"{name}\0{ast.dump(_bare(parse_python(source)))}\0".encode())
    return digest.hexdigest()


def sources_behind(
    roots: Sequence[str], carriers: Sequence[str] = (), package: str = "evolake"
) -> dict[str, str]:
    """Return module -> source text of the modules that `code_version` looks at; parameters as there."""
    result: dict[str, str] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in result or (
            name not in roots
            and any(name == carrier or name.startswith(f"{carrier}.") for carrier in carriers)
        ):
            continue
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            continue
        result[name] = Path(spec.origin).read_text(encoding="utf-8")
        waiting += _imported(parse_python(result[name]), package)
    return result


def _imported(tree: ast.AST, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == package:
            yield node.module
            yield from (name for alias in node.names if _is_module(name := f"{node.module}.{alias.name}"))
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == package)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("load_template", "fill_template")
        ):
            yield from (
                value.value
                for value in node.args[:1]
                if isinstance(value, ast.Constant) and isinstance(value.value, str)
            )


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # `a.b.c` where `a.b` is no package
        return False


def _bare(tree: ast.Module) -> ast.Module:
    """Without docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED):
            node.body = list(_statements(node.body))
    return tree


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if not (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
            and isinstance(statement.value.value, str)
        ):
            yield statement
