"""docs/architecture.md shows the import graph as the code has it: in floors, without circles."""

import sys
from functools import cache
from graphlib import CycleError
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def drawn():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs" / "generate"))
        import rooms

        patch.setattr(rooms, "rooms", cache(rooms.rooms))  # it reads every file, which none here changes
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
    graph = {room: set(below) for room, below in drawn.rooms("evolake", "assets").items()}
    graph["evolake/lake"].add("evolake/report")
    with pytest.raises(CycleError):
        drawn.floors(graph)
