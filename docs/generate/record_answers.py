"""Ask a lake every question of the cookbook and record the answers (`python docs/generate/record_answers.py
LAKE`).

The lake should be one of `make demo`. Parameters are given the values below; $run_id is the run that
published most.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from cookbook_page import ANSWERS, ROOT

from evolake.cli.sql import all_tables
from evolake.lake import Catalogue, Lake
from evolake.lake.catalogue import Result

OF_DESIGNS = {"champion_ancestors", "champion_calls", "operator_yield"}
GIVEN = {"gate_no": "4", "since": "2026-01-01", "rule_id": "families-voters", "before": "1", "after": "2"}
ROWS, WIDTH = 12, 44  # what a page has room for


def record(root: Path) -> dict[str, dict[str, object]]:
    """Return question -> its SQL, the parameters it was given and its answer as text."""
    recorded: dict[str, dict[str, object]] = {}
    with Catalogue(Lake(root), extra_schemas=all_tables()) as catalogue:
        run = catalogue.query(
            "SELECT run_id FROM artifacts_all GROUP BY run_id ORDER BY count(*) DESC, run_id LIMIT 1"
        ).rows[0][0]
        for path in sorted((ROOT / "sql" / "cookbook").glob("*.sql")):
            statement = path.read_text()
            known = {"line": "designs" if path.stem in OF_DESIGNS else "families", "run_id": run} | GIVEN
            parameters = {name: known[name] for name in dict.fromkeys(re.findall(r"\$(\w+)", statement))}
            recorded[path.stem] = {
                "sql": statement,
                "parameters": parameters,
                "answer": as_text(catalogue.query(statement, parameters)),
            }
    return recorded


def as_text(result: Result) -> str:
    """Return a result as columns of text, its first rows and the beginning of long values."""
    shown = [[short(value) for value in row] for row in result.rows[:ROWS]]
    lines = [list(result.columns), *shown]
    widths = [max(len(line[at]) for line in lines) for at in range(len(result.columns))]
    text = "\n".join(
        "  ".join(value.ljust(width) for value, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
    left = len(result.rows) - len(shown)
    if left > 0:
        rest = f"\n... {left} more rows"
    elif shown:
        rest = ""
    else:
        rest = "\n(no rows)"
    return text + rest


def short(value: object) -> str:
    """Return a value in one line of at most `WIDTH` letters."""
    if value is None:
        text = ""
    elif isinstance(value, float):
        text = f"{value:.4g}"
    else:
        text = " ".join(str(value).split())
    return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."


if __name__ == "__main__":
    ANSWERS.write_text(json.dumps(record(Path(sys.argv[1])), indent=1) + "\n")
