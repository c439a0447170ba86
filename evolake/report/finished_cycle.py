"""A finished cycle of a line, with what the questions of its page come to.

The questions that reports ask of the lake, in SQL files next to them (`page.sql`, `story.sql`).

`-- name: NAME` begins a question. `{NAME}` in it stands for an earlier question of the file, or for a text
that the line gives. A question without a statement is that of `evolake/report/page.sql`, which lines share.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from evolake.lake import Catalogue, Lake
from evolake.lines import folder_of, lines
from evolake.report.champion import ANCESTRY, Champion, champion_of
from evolake.report.standing import Ask
from evolake.report.status import finished

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


Frames = Callable[..., pl.DataFrame]
"""(SQL, **parameters) -> a frame."""


@contextmanager
def asking(lake: Lake, line: str, cycle: str) -> Generator[tuple[Catalogue, Frames]]:
    """Give the lake's catalogue, in which every table of the line can be named, and what asks it:
    $line and $cycle are known already."""
    spec = lines().get(line)
    known = spec.tables.load() if spec and spec.tables else {}
    with Catalogue(lake, {(line, asset): schema for asset, schema in known.items()}) as catalogue:

        def ask(sql: str, **more: Any) -> pl.DataFrame:
            given = {"line": line, "cycle": cycle} | more
            return catalogue.frame(sql, {name: value for name, value in given.items() if f"${name}" in sql})

        yield catalogue, ask


def as_rows(frames: Frames) -> Ask:
    """Return what asks for rows instead of frames."""
    return lambda sql, **more: frames(sql, **more).to_dicts()


@dataclass(frozen=True)
class FinishedCycle:
    """A finished cycle of a line, with what every page says of it.

    Attributes:
        held: who is champion after it; None if nobody is.
        backend: who served the roles in it.
        tables: question -> its rows; "ancestry": what the champion descends from.
    """

    lake: Lake
    line: str
    cycle: str
    held: Champion | None
    backend: str
    tables: Mapping[str, pl.DataFrame]

    @property
    def champion(self) -> Champion:
        """Return who is champion, of a line that always has one."""
        assert self.held is not None, "a finished cycle has a champion"
        return self.held

    def rows(self, question: str) -> list[dict[str, Any]]:
        """Return the rows of a question."""
        return self.tables[question].to_dicts()


def read_cycle(root: Path, line: str, cycle: str, asked: Mapping[str, str]) -> FinishedCycle:
    """Return a finished cycle with the answers to `asked`: question -> SQL, in which $champion is the id of
    the champion.

    Raises:
        InputError: the lake has no such line or no such finished cycle.
    """
    lake = finished(root, line, cycle)
    with asking(lake, line, cycle) as (catalogue, ask):
        held = champion_of(lake, catalogue, line, cycle)
        champion = held.artifact_id if held else ""
        tables = {name: ask(sql, champion=champion) for name, sql in asked.items()}
        if held:
            tables["ancestry"] = ask(ANCESTRY, id=champion)
        backends = ask(questions(SHARED, "page.sql")["backends"])["backend"].to_list()
    return FinishedCycle(lake, line, cycle, held, ", ".join(backends) or "none", tables)
