"""Parsing by threads: no `SystemError` at random, and the same trees and errors as `ast.parse`."""

from __future__ import annotations

import ast
import gc
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import evolake.parsing
from evolake.parsing import parse_python

SOURCE = Path(evolake.parsing.__file__).read_text(encoding="utf-8") * 3

IN_THE_JAIL = ("evolake/families/sandbox/elsewhere.py", "evolake/prompts/python_tool_inside.py")
"""One thread in a process of its own."""


class Lingering:
    """Garbage whose end lets other threads run."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        time.sleep(0)


@pytest.fixture
def much_garbage() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(50)
    yield
    gc.set_threshold(*before)


def test_threads_that_parse_at_once_meet_no_system_error(much_garbage):
    """`ast.parse` itself fails here a few times in a hundred with CPython 3.11.7."""
    want = ast.dump(ast.parse(SOURCE))

    def parsed(number: int) -> bool:
        Lingering()
        return ast.dump(parse_python(SOURCE)) == want

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(parsed, range(60)))


def test_a_fork_can_parse_while_another_thread_of_its_parent_does():
    with evolake.parsing._one_at_a_time:
        child = os.fork()
        if not child:
            signal.alarm(20)
            parse_python("x = 1")
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_whoever_parses_on_the_host_does_it_here():
    root = Path(evolake.parsing.__file__).parents[1]
    folders = [root / name for name in ("evolake", "assets", "resources", "pipelines")]
    parsing = [
        path
        for folder in folders
        for path in folder.rglob("*.py")
        if "ast.parse(" in path.read_text(encoding="utf-8")
    ]
    assert {path.relative_to(root).as_posix() for path in parsing} == {"evolake/parsing.py", *IN_THE_JAIL}
