"""The seed designs as what may immigrate: Python files in `designs` of the seeds."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.lake.added_seeds import SeedItem, SeedSource, file_item
from evolake.parsing import parse_python
from evolake.reading import TEXT_BYTES, Unreadable, read_bytes

WANTED = ("VARIABLES_SPEC", "HYPER_SPACE", "_grad_single")


def items(seeds: Path, settings: Any = None) -> list[SeedItem]:
    """By name."""
    return [file_item(path) for path in sorted((seeds / SEEDS.folder).glob("*.py")) if path.is_file()]


def check(path: Path) -> str:
    """Raise InputError where the file does not define what a design has; what it computes is for the
    gates."""
    do = "see evolake designs check"
    if not accepts(path):
        raise InputError(f"{path} is no design", wanted="a Python file", do=do)
    try:
        tree = parse_python(read_bytes(path, TEXT_BYTES))
    except Unreadable:
        raise
    except (
        SyntaxError,
        ValueError,
        RecursionError,
        MemoryError,
    ) as error:  # the last two: nested too deep for the parser
        raise InputError(f"{path} is no Python", got=str(error), do=do) from None
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assigned = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    defined |= {name.id for node in assigned for name in ast.walk(node) if isinstance(name, ast.Name)}
    if missing := [name for name in WANTED if name not in defined]:
        raise InputError(f"{path} is no design", wanted=", ".join(WANTED), got=f"no {missing[0]}", do=do)
    return path.stem


def accepts(path: Path) -> bool:
    """Return whether it looks like one."""
    return path.is_file() and path.suffix == ".py"


SEEDS = SeedSource("designs", items, accepts, check)
