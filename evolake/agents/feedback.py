"""What decides about a line's candidates, and where the role that proposes the next ones reads it.

A model that is not shown why its candidate was blocked or lost proposes it again. So each line declares, in a
module `feedback` of its package of roles, every column of its tables of verdicts: in which field of which
request it is shown, or why no model needs it. A test compares the declaration with the tables, the requests
and the prompts; the documentation prints it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec

from evolake.lines import lines


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


def columns_of(table: str, names: str) -> tuple[str, ...]:
    """Return columns as `table.column`. names: of the columns, separated by blanks.

    >>> columns_of("plans", "reason idea")
    ('plans.reason', 'plans.idea')
    """
    return tuple(f"{table}.{name}" for name in names.split())


def shown_in(places: tuple[str, ...], table: str, names: str) -> dict[str, tuple[str, ...]]:
    """Return columns of one table with the fields of requests that show them, for `Feedback.shown`. names: as
    in `columns_of`."""
    return dict.fromkeys(columns_of(table, names), places)


def feedback_of_line(line: str) -> Feedback | None:
    """Return the declaration of a line; None if it has none."""
    if (settings := lines()[line].settings) is None:
        return None
    module = f"{settings.module.rpartition('.')[0]}.roles.feedback"
    try:
        there = find_spec(module) is not None
    except ModuleNotFoundError:
        # the line has no package of roles
        return None
    return import_module(module).FEEDBACK if there else None
