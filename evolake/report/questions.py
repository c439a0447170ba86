"""The questions that reports ask of the lake, in SQL files next to them (`page.sql`, `story.sql`).

`-- name: NAME` begins a question. `{NAME}` in it stands for an earlier question of the file, or for a text
that the line gives. A question without a statement is that of `evolake/report/page.sql`, which lines share.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from evolake.lines import folder_of

SHARED = "evolake.report"


@cache
def questions(package: str, file: str, **texts: str) -> dict[str, str]:
    """Return name -> SQL of the questions of a file in a package. texts: what stands for `{NAME}` in them."""
    known = dict(texts)
    _, *parts = (folder_of(package) / file).read_text(encoding="utf-8").split("-- name: ")
    for part in parts:
        name, _, sql = part.partition("\n")
        for earlier, text in known.items():
            sql = sql.replace(f"{{{earlier}}}", text)
        known[name.strip()] = sql.strip() or questions(SHARED, "page.sql")[name.strip()]
    return {name: sql for name, sql in known.items() if name not in texts}


def passed_gates(gates: Iterable[str]) -> str:
    """Return columns of a table of gates: how many passed each of them."""
    return ", ".join(f"sum(passed) FILTER (gate = '{gate}')::INTEGER AS passed_{gate}" for gate in gates)
