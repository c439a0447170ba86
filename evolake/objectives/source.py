"""Self-contained source text of an objective, cut from the family files.

The families are real modules, checked and tested like any other. What a design's results are scored with is
text: the imports a family needs, its constants with drawn values, the helpers it uses, its `objective`. Text
is cut by line ranges, never unparsed, so every Python version cuts the same bytes.

A family whose `objective` takes what the helpers are named for, `objective(levels)`, leaves the reading to
us: its text begins with `levels = read_levels(...)` and gives WORST if nothing can be read.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from evolake.objectives.family import NAME
from evolake.parsing import parse_python

FAMILY_FOLDER = "evolake.objectives.families"
HELPERS = "levels"


def canonical(source: str) -> str:
    """Return source with the differences taken out that cannot matter: line ends, blanks at the end of lines,
    blank lines at both ends."""
    lines = [line.rstrip() for line in source.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    return "\n".join(lines).strip("\n") + "\n"


def objective_id(source: str) -> str:
    """Return sha256 of the canonical source, hex: equal objectives have equal ids."""
    return hashlib.sha256(canonical(source).encode()).hexdigest()


def assemble(
    module: str, parameters: Mapping[str, Any], *, folder: str = FAMILY_FOLDER, helpers: str = HELPERS
) -> str:
    """Return source text of family `module` with its constants replaced.

    Args:
        module: file name in `folder` without .py. parameters: constant name -> int or float.
        folder: package that holds the family files. helpers: the file in it whose functions they share.

    Raises:
        ValueError: a parameter that the family does not have.
    """
    family, shared_pieces = _pieces(folder, module), _pieces(folder, helpers)
    unknown = sorted(set(parameters) - set(family.constants))
    if unknown:
        raise ValueError(
            f"family {module} has no parameter {', '.join(unknown)} (it has {', '.join(family.constants)})"
        )
    constants = [
        f"{name} = {parameters[name]!r}" if name in parameters else text
        for name, text in family.constants.items()
    ]
    objective, reads = _objective(family, shared_pieces, helpers)
    used = _closure(family.imported | reads, shared_pieces)
    shared = [text for name, text in shared_pieces.constants.items() if name in used]
    helped = [text for name, text in shared_pieces.functions.items() if name in used]
    functions = [*helped, *(family.functions | {"objective": objective}).values()]
    names = set().union(
        *family.uses.values(), *(shared_pieces.uses[name] for name in used & set(shared_pieces.functions))
    )
    imports = sorted(text for name, text in (family.modules | shared_pieces.modules).items() if name in names)
    head = [f'"""{family.docstring}"""', "\n".join(imports), "\n".join([*constants, *shared])]
    return canonical("\n\n".join(part for part in head if part) + "\n\n\n" + "\n\n\n".join(functions))


def excerpt(names: set[str], *modules: tuple[str, str]) -> str:
    """Return the text of functions and constants of modules, each (folder, file name without .py), with the
    imports and whatever else of theirs they use.

    Args:
        names: what is asked for; names that no module has are left out. Of a name that two have, the first
            one's counts.
    """
    pieces = [_pieces(*module) for module in modules]
    result = [
        (
            piece,
            _closure({name for name in names if name in piece.functions or name in piece.constants}, piece),
        )
        for piece in pieces
    ]
    seen: set[str] = set()
    constants, functions, imports = [], [], set()
    for piece, used in result:
        constants += [text for name, text in piece.constants.items() if name in used - seen]
        functions += [text for name, text in piece.functions.items() if name in used - seen]
        reads = set().union(*(piece.uses[name] for name in used & set(piece.functions)))
        imports |= {text for name, text in piece.modules.items() if name in reads}
        seen |= used
    return "\n\n\n".join(["\n\n".join(["\n".join(sorted(imports)), "\n".join(constants)]), *functions])


def _objective(family: _Pieces, shared: _Pieces, helpers: str) -> tuple[str, set[str]]:
    """Return the text of the family's `objective` with the reading in it, and the names that this takes of
    the helpers."""
    node, reader = family.nodes["objective"], f"read_{helpers}"
    if node.args.args[0].arg != helpers:
        return family.functions["objective"], set()
    results = shared.nodes[reader].args.args[0].arg
    lines = family.functions["objective"].split("\n")
    body = (node.body[0].end_lineno or node.lineno) - node.lineno + 1
    reading = [f"    {helpers} = {reader}({results})", f"    if not {helpers}:", "        return WORST"]
    return "\n".join([f"def objective({results}):", *lines[1:body], *reading, *lines[body:]]), {
        reader,
        "WORST",
    }


class _Pieces:
    """A family file taken apart: name -> text, in file order."""

    def __init__(self, text: str):
        lines = text.split("\n")
        tree = parse_python(text)
        self.docstring = ast.get_docstring(tree, clean=False) or ""
        self.modules: dict[str, str] = {}
        self.imported: set[str] = set()
        self.constants: dict[str, str] = {}
        self.functions: dict[str, str] = {}
        self.uses: dict[str, set[str]] = {}
        self.nodes: dict[str, ast.FunctionDef] = {}
        for node in tree.body:
            piece = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            if isinstance(node, ast.Import):
                self.modules[node.names[0].asname or node.names[0].name] = piece
            elif isinstance(node, ast.ImportFrom):
                self.imported |= {alias.name for alias in node.names}
            elif (
                isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Name)
                and node.targets[0].id != NAME
            ):
                self.constants[node.targets[0].id] = piece
            elif isinstance(node, ast.FunctionDef):
                self.functions[node.name], self.nodes[node.name] = piece, node
                self.uses[node.name] = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


@cache
def _pieces(folder: str, module: str) -> _Pieces:
    return _Pieces((resources.files(folder) / f"{module}.py").read_text(encoding="utf-8"))


def _closure(names: set[str], pieces: _Pieces) -> set[str]:
    """`names` and whatever they use of the same file."""
    reached: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= {
            other
            for other in pieces.uses.get(name, ())
            if other in pieces.functions or other in pieces.constants
        } - reached
    return reached
