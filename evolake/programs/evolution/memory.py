"""What the search knows when a generation begins: all programs so far, proposals that made none, the last
contest, times that were shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evolake.agents import Agents
from evolake.agents.attempts_table import TriedIdea, attempts_table
from evolake.agents.session.records import SessionRecords
from evolake.programs.evolution.archive import Islands, merit
from evolake.programs.evolution.population import Row

SHORT_ID = 8
LONGEST_MEMORY = 200
"""Failed proposals of a project that are carried from cycle to cycle, the newest."""
MOST_ATTEMPTS = 30
CONTESTS, FAILED_BEFORE = "contests", "unmade"
"""Entries of the population's state: project -> row of DECISIONS of the last cycle; project -> failed
proposals of all cycles."""
Recorded = Callable[[str, Callable[[], dict[str, Any]]], dict[str, Any]]
"""(name, make) -> the record of that name, made once: what a prompt shows of a clock is the same in a
replay."""


def _as_made(name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    return make()


def recorded_by(agents: Agents, project: str) -> Recorded:
    """Return what keeps the figures of a clock that prompts show: next to the call cache of a model, so that
    a replay asks the same bytes."""
    if agents.backend.name == "operators":
        return _as_made
    # Imported here: it brings the client of endpoints, which takes longer to load than all definitions.
    from evolake.agents.model import ModelBackend

    if not isinstance(agents.backend, ModelBackend):
        return _as_made
    records = SessionRecords(agents.backend.call_cache.root)

    def recorded(record: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        named = f"programs\x1f{project}\x1f{record}"
        return records.read(named) or records.write(named, make())

    return recorded


@dataclass(frozen=True)
class SearchMemory:
    """What is known of a project.

    Attributes:
        rows: of PROGRAMS, all of the project, in order. failed_proposals: rows of `FAILED_PROPOSALS` without
            a number, the oldest first.
        contest: the last decision on its champion; None before the first. champion: its id.
        recorded: keeps figures that a prompt shows and a replay may measure otherwise.
    """

    rows: Sequence[Row] = ()
    failed_proposals: Sequence[Row] = ()
    contest: Mapping[str, Any] | None = None
    champion: str = ""
    recorded: Recorded = field(default=_as_made, repr=False)

    def seconds(self, row: Row) -> float | None:
        """Return the processor time of an evaluation of a program, as the first prompt with it showed it."""
        if row.get("cpu_s") is None:
            return None
        return self.recorded(
            f"cpu_s\x1f{row['program_id']}", lambda: {"cpu_s": float(f"{row['cpu_s']:.2g}")}
        )["cpu_s"]

    def attempts(self, islands: Islands, about: str, most: int = MOST_ATTEMPTS) -> str:
        """Return the table of what was tried in all cycles. about: direction of the request."""
        known = {row["program_id"]: row for row in self.rows}
        made = [
            (row["cycle"], _tried(row, known, islands, self))
            for row in self.rows
            if row["operator"] != "initial"
        ]
        failed = [(row["cycle"], _failed_attempt(row)) for row in self.failed_proposals]
        tried = sorted([*made, *failed], key=lambda pair: pair[0])
        return attempts_table([item for _, item in tried], about=about, most=most)


def _tried(row: Row, known: Mapping[str, Row], islands: Islands, memory: SearchMemory) -> TriedIdea:
    parent = known.get(row["parents"][0]) if row["parents"] else None
    gain = ""
    if row["score"] is not None:
        gain = f"{row['score']:.9g}"
        if parent is not None and parent["score"] is not None:
            gain += f" ({merit(islands.project, row) - merit(islands.project, parent):+.3g})"
    state = "champion" if row["program_id"] == memory.champion else row["state"]
    return TriedIdea(
        row["cycle"],
        row["program_id"][:SHORT_ID],
        row["parents"][0][:SHORT_ID] if row["parents"] else "",
        row.get("idea") or row["operator"],
        state,
        gain,
        row["reason"] or "",
        memory.seconds(row),
    )


def _failed_attempt(row: Row) -> TriedIdea:
    return TriedIdea(
        row["cycle"],
        "",
        (row.get("parent_id") or "")[:SHORT_ID],
        row.get("idea") or "",
        "unmade",
        reason=row["reason"],
    )


def contest_text(memory: SearchMemory, islands: Islands) -> str:
    """Return who is champion, how the last contest ended, and why the best score of the search is not
    champion, if it is not."""
    found = memory.contest
    name = islands.project.score_name
    if found is None:
        return ""
    holder = f"The champion is {found['holder_id'][:SHORT_ID]}"
    if found["holder_mean"] is not None:
        holder += f": {name} {found['holder_mean']:.9g} under seeds that the search never had"
    lines = [
        holder
        + ("" if found["initial_mean"] is None else f"; the initial program {found['initial_mean']:.9g}")
        + "."
    ]
    if found["challenger_id"]:
        outcome = "won" if found["wins"] else "lost"
        lines.append(
            f"In cycle {found['cycle']} the challenger {found['challenger_id'][:SHORT_ID]} {outcome}: "
            f"{_reason(found)}."
        )
    if found["noise"]:
        lines.append(f"Noise of the score within a seed: {found['noise']:.3g}.")
    best = islands.ranked(islands.rows.values())[0]
    if best["program_id"] != found["holder_id"]:
        lost = best["program_id"] == found["challenger_id"]
        why = (
            "it lost that contest"
            if lost
            else "the contest at the end of this cycle decides, under fresh seeds"
        )
        lines.append(
            f"{best['program_id'][:SHORT_ID]} has the best score of the search, {best['score']:.9g}, and "
            f"is not champion: {why}."
        )
    return "\n".join(lines)


def _reason(found: Mapping[str, Any]) -> str:
    """Return the verdict in words, with the difference and its interval if the words lack them."""
    if found["difference"] is None or found["low"] is None or "better by" in found["reason"]:
        return found["reason"]
    ends = (
        f"better by {found['difference']:.4g} (95% interval {found['low']:.4g} to {found['high']:.4g}) on "
        f"{found['pairs']} held-out seeds"
    )
    return f"{ends}, {found['reason']}"


def front_lines(islands: Islands) -> list[str]:
    """Return metrics of the programs on the Pareto front; none if one metric decides."""
    if len(islands.project.metrics) < 2:
        return []
    front = islands.front()
    rows = [row for row in islands.ranked(islands.rows.values()) if row["program_id"] in front]
    metrics = [(row["program_id"][:SHORT_ID], json.loads(row["metrics"])) for row in rows[:8]]
    return [
        f"{name}: " + ", ".join(f"{key} {found[key]:.6g}" for key in islands.project.metrics if key in found)
        for name, found in metrics
    ]
