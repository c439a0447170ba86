"""How long each file of tests takes: the measured table, and the plugin that writes it.

    pytest --write-durations ...

adds up, per file, the wall time and the cpu time (this process and the children that it waited for) of the
tests that ran, and puts them in tests/durations.json in place of what was there for these files. `make
durations` does it for the whole suite. The table decides which files `make test` runs and in which order
files start (conftest.py).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).with_suffix(".json")


def read() -> dict[str, tuple[float, float]]:
    """Return file -> (wall seconds, cpu seconds), measured on two quiet cores. Files that are not measured
    yet are absent."""
    return {file: (wall, cpu) for file, (wall, cpu) in json.loads(TABLE.read_text()).items()}


def merge(measured: dict[str, tuple[float, float]]) -> None:
    """Replace the entries of the measured files, drop those of files that are gone, and write the table,
    longest first."""
    table = {file: times for file, times in {**read(), **measured}.items() if (ROOT / file).is_file()}
    lines = [
        f'  "{file}": [{wall:.1f}, {cpu:.1f}]'
        for file, (wall, cpu) in sorted(table.items(), key=lambda entry: (-entry[1][0], entry[0]))
    ]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


class Recorder:
    """Add up the times of each file's tests in the process that runs them; the first process collects and
    writes them."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        began, cpu = time.perf_counter(), sum(os.times()[:4])
        try:
            return (yield)
        finally:
            total = self.times.setdefault(item.path.relative_to(ROOT).as_posix(), [0.0, 0.0])
            total[0] += time.perf_counter() - began
            total[1] += sum(os.times()[:4]) - cpu

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """xdist: a worker has ended, and handed over its times."""
        for file, (wall, cpu) in getattr(node, "workeroutput", {}).get("durations", {}).items():
            total = self.times.setdefault(file, [0.0, 0.0])
            total[0] += wall
            total[1] += cpu

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["durations"] = self.times

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self, config: pytest.Config) -> None:
        if not hasattr(config, "workerinput") and self.times:
            merge({file: (wall, cpu) for file, (wall, cpu) in self.times.items()})
