"""The import graph by room in docs/architecture.md: `python docs/generate/rooms.py` writes it there.

A room is a folder, or a module next to the folders. Imports of types and imports inside functions count.
"""

from __future__ import annotations

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from cells import code, table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture.md"
PACKAGES = ("pipelines", "assets", "resources", "evolake")
LINES = ("designs", "families", "programs", "prompts", "repair", "solvers", "utility")
BEGIN, END = "<!-- written by docs/generate/rooms.py -->\n\n", "\n<!-- up to here -->\n"


def rooms(*roots: str) -> dict[str, set[str]]:
    """Return room -> the rooms that its modules import. roots: the folders whose folders and modules are the
    rooms; a package that is none of them is one room."""
    graph: dict[str, set[str]] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            own = _room(path.relative_to(ROOT).with_suffix("").as_posix(), roots)
            found = {_room(name, roots) for name in _imported(path)}
            graph.setdefault(own, set()).update(found - {own})
    return graph


def floors(graph: dict[str, set[str]]) -> dict[str, int]:
    """Return room -> its floor: one above the highest that it imports, from 1.

    Raises:
        graphlib.CycleError: rooms import each other in a circle.
    """
    result: dict[str, int] = {}
    for room in TopologicalSorter(graph).static_order():
        result[room] = 1 + max((result[below] for below in graph.get(room, ())), default=0)
    return result


def house_table() -> str:
    """Return the table of all rooms but those inside a line: floors from the top, and what each imports."""
    graph = rooms("evolake", "assets")
    floor = floors(graph)
    order = sorted(graph, key=lambda room: (-floor[room], room))
    rows = [
        (floor[room], code(room), ", ".join(code(below) for below in sorted(graph[room]))) for room in order
    ]
    return table(("floor", "room", "imports"), rows)


def lines_block() -> str:
    """Return the rooms of each line, a row a line: floors from the top, ">" between them."""
    rows: list[str] = []
    for line in LINES:
        inside = f"evolake/{line}"
        graph = {
            room: {below for below in found if below.startswith(f"{inside}/")}
            for room, found in rooms("evolake", inside).items()
            if room.startswith(f"{inside}/") and not room.endswith("__init__.py")
        }
        floor = floors(graph)
        levels = [
            [
                room.removeprefix(f"{inside}/").removesuffix(".py")
                for room in sorted(graph)
                if floor[room] == number
            ]
            for number in range(max(floor.values()), 0, -1)
        ]
        rows.append(f"    {line:11}{' > '.join(', '.join(level) for level in levels)}\n")
    return "".join(rows)


def written(page: str) -> str:
    """Return a page with the graph as the code has it, between BEGIN and END."""
    before, _, rest = page.partition(BEGIN)
    text = house_table() + '\nInside a line, from the top (">" separates floors):\n\n' + lines_block()
    return before + BEGIN + text + END + rest.partition(END)[2]


def _room(name: str, roots: tuple[str, ...]) -> str:
    """Return the room of a module that is given as its path without the ending."""
    parts = name.split("/")
    for length in range(len(parts) - 1, 0, -1):
        root, below = "/".join(parts[:length]), "/".join(parts[: length + 1])
        if root in roots and (ROOT / below).is_dir():
            return below
        if root in roots and root != "assets" and (ROOT / f"{below}.py").is_file():
            return f"{below}.py"
    return parts[0]


@cache
def _imported(path: Path) -> list[str]:
    """Return the modules of the project that a file imports, as paths; what is imported from one counts as
    its part."""
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name.replace(".", "/") for name in names if name.split(".")[0] in PACKAGES]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
