"""docs/architecture.md shows the import graph as the code has it: in floors, without circles."""

from __future__ import annotations

import sys
from graphlib import CycleError
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def drawn(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "generate"))
    import rooms

    yield rooms
    del sys.modules["rooms"]


def test_the_page_shows_the_graph_of_the_code(drawn):
    page = drawn.PAGE.read_text()
    assert drawn.written(page) == page, "run python docs/generate/rooms.py"


def test_every_import_runs_down(drawn):
    graph = drawn.rooms("evolake", "assets")
    floor = drawn.floors(graph)
    assert len(graph) > 40 and "evolake/lake" in graph["evolake/report"]
    assert all(floor[room] > floor[below] for room, found in graph.items() for below in found)


def test_a_circle_of_rooms_is_found(drawn):
    graph = drawn.rooms("evolake", "assets")
    graph["evolake/lake"].add("evolake/report")
    with pytest.raises(CycleError):
        drawn.floors(graph)
