"""What decides about a line's candidates, and where the role that proposes the next ones reads it.

A model that is not shown why its candidate was blocked or lost proposes it again. So each line declares, in
its `feedback.toml`, every column of its tables of verdicts: in which field of which request it is shown, or
why no model needs it. A test compares the declaration with the tables, the requests and the prompts; the
documentation prints it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evolake.lines import folder_of, lines


@dataclass(frozen=True)
class Feedback:
    """The declaration of one line.

    Attributes:
        tables: its tables of verdicts, as `LineSpec.tables` names them.
        shown: `table.column` -> fields of requests that show it to a model, as `role.field`.
        left_out: reason -> columns that no model is shown: `table.column`, `column` of all of these tables,
            or `table.*` for all columns of one.
        missing: `table.column` that decide and are shown nowhere yet. A list that only gets shorter.
    """

    tables: tuple[str, ...]
    shown: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    missing: tuple[str, ...] = ()

    def place_of(self, table: str, column: str) -> str:
        """Return where a column is declared: "shown", "missing", the reason why it is left out, or "" if it
        is declared nowhere."""
        name = f"{table}.{column}"
        if name in self.shown:
            return "shown"
        if name in self.missing:
            return "missing"
        names = {name, column, f"{table}.*"}
        return next(
            (reason for reason, columns in self.left_out.items() if not names.isdisjoint(columns)), ""
        )


def read_feedback(path: Path) -> Feedback:
    """Return the declaration that a TOML file holds, in the words of `Feedback`.

    `tables` are separated by blanks. `shown` and `left_out` have a line for columns that go together:

        metrics: wrong solved | standings solvers_coder.parent       shown in these fields of requests
        cycle runs.host champion_trials.* | names the row            left out, and why

    `table:` in front stands for all columns of the line. `[fields]` names fields that several lines have. A
    line that begins with # is a comment.
    """
    given = tomllib.loads(path.read_text(encoding="utf-8"))
    fields = {name: places.split() for name, places in given.get("fields", {}).items()}
    shown: dict[str, tuple[str, ...]] = {}
    for columns, places in _lines(given["shown"]):
        shown |= dict.fromkeys(columns, tuple(p for name in places.split() for p in fields.get(name, [name])))
    left_out: dict[str, tuple[str, ...]] = {}
    for columns, reason in _lines(given.get("left_out", "")):
        left_out[reason] = (*left_out.get(reason, ()), *columns)
    missing = tuple(given.get("missing", "").split())
    return Feedback(tuple(given["tables"].split()), shown, left_out, missing)


def _lines(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    for line in text.splitlines():
        if line and not line.startswith("#"):
            columns, _, said = line.partition(" | ")
            table, mark, names = columns.rpartition(": ")
            yield tuple(f"{table}.{name}" if mark else name for name in names.split()), said


def feedback_of_line(line: str) -> Feedback | None:
    """Return the declaration of a line; None if it has none."""
    if (settings := lines()[line].settings) is None:
        return None
    path = folder_of(settings.module.rpartition(".")[0]) / "feedback.toml"
    return read_feedback(path) if path.is_file() else None
