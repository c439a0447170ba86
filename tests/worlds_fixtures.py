"""Drawn families run in this process: their sources are our own tables' and need no jail."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from evolake.families.model.contract import Family
from evolake.families.model.statement import fill, stated

ENTRY = {"generator.py": "input", "reader.py": "read"}


def entries(family: Family) -> dict[str, Callable[..., Any]]:
    """File name -> the function that the contract names."""
    result = {}
    for name, source in family.sources().items():
        space: dict[str, Any] = {}
        exec(compile(source, name, "exec"), space)
        result[name] = space[ENTRY.get(name, "solution")]
    return result


def statements(family: Family, pairs: Sequence[tuple[int, int]]) -> list[str]:
    """The statements of these (difficulty, seed)."""
    make, texts = entries(family)["generator.py"], []
    for difficulty, seed in pairs:
        random.seed(seed)
        texts.append(fill(stated(family), make(difficulty)[1]))
    return texts
