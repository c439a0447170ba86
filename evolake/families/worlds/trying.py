"""What a drawn world's own sources say, tried while it is drawn. They are made of this room's tables and need no jail."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any


def entry(source: str, name: str) -> Callable[..., Any]:
    """The function of a source."""
    space: dict[str, Any] = {}
    exec(compile(source, name, "exec"), space)
    return space[name]


def generating(source: str) -> Callable[[int, Random], Any]:
    """The inputs that a generator gives of (difficulty, random numbers)."""
    space: dict[str, Any] = {}
    exec(compile(source.replace("import random\n", ""), "generator", "exec"), space)

    def made(difficulty: int, random: Random) -> Any:
        space["random"] = random
        return space["input"](difficulty)[0]

    return made
