"""What a generation leaves, and what the next one knows and draws its parents from: all programs so far,
proposals that made none, the last contest, times that were shown.

What a generation made is a blob that is noted in the lake as soon as it is done. A cycle that was killed
reads the notes back and continues after the last one whose key is still the same. A model is asked to change
the best program in at least half of the requests, and no much worse one without a reason; operators are given
the trials.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from evolake.agents import Agents
from evolake.agents.attempts import TriedIdea, attempts_table
from evolake.agents.session import SessionRecords
from evolake.canonical_json import canonical_json
from evolake.lake import BlobStore
from evolake.programs.evolution.population import Islands, Row, merit, stored_texts
from evolake.programs.search.proposing import polish_drawn
from evolake.programs.search.trials import UNLIFTED, Choice, Trial, Trials, choose_parent

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


EntryRow = dict[str, Any]
REPEATED = "the program is there already"


@dataclass(frozen=True)
class GenerationEntry:
    """Rows of PROGRAMS, VERDICTS, MEASURED, DERIVATIONS and AGENT_CALLS. islands: the living programs
    afterwards. repeated: children that were there already. unanswered: reasons of proposals that came to
    nothing. turns: of sessions, as `Agents.turns` gives them. `unmade`: the same proposals, and those that
    were there already, with reason, idea, operator and parent."""

    programs: list[EntryRow] = field(default_factory=list[EntryRow])
    verdicts: list[EntryRow] = field(default_factory=list[EntryRow])
    measured: list[EntryRow] = field(default_factory=list[EntryRow])
    derivations: list[EntryRow] = field(default_factory=list[EntryRow])
    calls: list[EntryRow] = field(default_factory=list[EntryRow])
    islands: list[EntryRow] = field(default_factory=list[EntryRow])
    repeated: int = 0
    unanswered: list[str] = field(default_factory=list[str])
    turns: list[EntryRow] = field(default_factory=list[EntryRow])
    unmade: list[EntryRow] = field(default_factory=list[EntryRow])

    def followed_by(self, other: GenerationEntry) -> GenerationEntry:
        """Return the entry with what another made after it; the living programs are those after the other."""
        joined = {
            name: [*getattr(self, name), *getattr(other, name)]
            for name in (
                "programs",
                "verdicts",
                "measured",
                "derivations",
                "calls",
                "unanswered",
                "turns",
                "unmade",
            )
        }
        return GenerationEntry(**joined, islands=other.islands, repeated=self.repeated + other.repeated)


def entry_bytes(entry: GenerationEntry) -> bytes:
    """Return an entry as canonical JSON."""
    return canonical_json(vars(entry), ascii_only=True).encode()


def read_entry(data: bytes) -> GenerationEntry:
    """Return the entry that `entry_bytes` wrote."""
    return GenerationEntry(**json.loads(data))


def failed_rows(noted: Iterable[Mapping[str, Any]], entries: Iterable[GenerationEntry]) -> list[EntryRow]:
    """Return rows of `FAILED_PROPOSALS` of a cycle. noted: its rows of JOURNAL, in order; entries: what they
    name."""
    found = [(note, item) for note, entry in zip(noted, entries, strict=True) for item in entry.unmade]
    return [
        {
            "number": number,
            "cycle": note["cycle"],
            "project": note["project"],
            "generation": note["generation"],
            **item,
        }
        for number, (note, item) in enumerate(found)
    ]


LEAST_SHARE = 0.5
"""Share of the best program's gain over the initial one that another program needs to be changed instead of
it."""


def parent_for_model(
    islands: Islands, place: int, initial: Row | None, random: np.random.Generator
) -> tuple[Row, str]:
    """Return the parent of a request, and why it is this one.

    place: of the request in its generation; requests with an even one change the best program. initial: of
    the project.
    """
    best = islands.ranked(islands.rows.values())[0]
    if place % 2 == 0:
        return best, "It is the best so far."
    drawn = islands.parents(place % islands.count, random)[0]
    if drawn["program_id"] == best["program_id"]:
        return best, "It is the best so far."
    if drawn["program_id"] in islands.front() and len(islands.project.metrics) > 1:
        return drawn, "It is not the best by the score, but on the Pareto front."
    if initial is not None and not close(islands, drawn, best, initial):
        return best, "It is the best so far, and others are far behind."
    return drawn, f"It is another line of descent than the best ({best['score']:.9g}), and not far behind it."


def worth_showing(islands: Islands, row: Row, best: Row, initial: Row | None) -> bool:
    """Return whether another program may teach a writer something: it is not far behind the best, or on the
    front of several metrics."""
    if len(islands.project.metrics) > 1 and row["program_id"] in islands.front():
        return True
    return initial is None or row["program_id"] == best["program_id"] or close(islands, row, best, initial)


def close(islands: Islands, row: Row, best: Row, initial: Row) -> bool:
    """Return whether a program has at least `LEAST_SHARE` of the best program's gain over the initial
    program."""
    if initial["score"] is None:
        return True
    start = merit(islands.project, initial)
    return merit(islands.project, row) - start >= LEAST_SHARE * (merit(islands.project, best) - start)


NEWEST, BEST = 240, 60
"""Trials that operators are given: the newest ones, and of older ones the best."""
EVALUATED = ("run", "result", "novel")
"""Gates that block a program after its evaluation, or in it."""
NAMED_BY = 12
BEHAVES_AS = re.compile(rf"novel: it behaves as ([0-9a-f]{{{NAMED_BY}}})")
"""Reason of the gate `novel`, as `gates.no_duplicate` writes it."""


@dataclass(frozen=True)
class Tried:
    """rows: of PROGRAMS, those of `trials`, in the same order."""

    rows: Sequence[Row] = ()
    trials: Trials = field(default=Trials(()), repr=False)

    @cached_property
    def name(self) -> str:
        """Hash of the programs."""
        return hashlib.sha256("".join(row["program_id"] for row in self.rows).encode()).hexdigest()

    def place(self, row: Row) -> int | None:
        """Return the place of a program among those tried; None if it is too old to be among them."""
        return next(
            (place for place, item in enumerate(self.rows) if item["program_id"] == row["program_id"]), None
        )


def tried_programs(rows: Sequence[Row], islands: Islands, blobs: BlobStore) -> Tried:
    """Return what was tried. rows: of all programs of a project, in order. Programs that a gate blocked
    unevaluated are left out."""
    held = [
        row
        for row in rows
        if row["score"] is not None or (row["reason"] or "").partition(":")[0] in EVALUATED
    ]
    older = islands.ranked(row for row in held[:-NEWEST] if row["score"] is not None)[:BEST]
    kept = sorted([*older, *held[-NEWEST:]], key=lambda row: row["number"])
    places = {row["program_id"]: place for place, row in enumerate(kept)}
    scores = _scores_of_twins(rows, kept)
    trials = [
        Trial(
            texts=stored_texts(blobs, row["files_sha"]),
            score=row["score"],
            operator=row["operator"],
            parent=places.get(row["parents"][0]) if row["parents"] else None,
            twin_score=_twin_score(row, scores) if row["score"] is None else None,
        )
        for row in kept
    ]
    return Tried(kept, Trials(trials, islands.project.higher_is_better))


def _scores_of_twins(rows: Sequence[Row], kept: Iterable[Row]) -> dict[str, float | None]:
    """Scores of the programs that the reasons of blocked ones among `kept` name, by the start of their id."""
    found = [BEHAVES_AS.match(row["reason"] or "") for row in kept if row["score"] is None]
    wanted = {item.group(1) for item in found if item}
    return {name: row["score"] for row in rows if wanted and (name := row["program_id"][:NAMED_BY]) in wanted}


def _twin_score(row: Row, scores: Mapping[str, float | None]) -> float | None:
    """Score of the program that a blocked one behaves as, which the gate's reason names; None if it was not
    blocked because of one."""
    found = BEHAVES_AS.match(row["reason"] or "")
    return scores.get(found.group(1)) if found else None


def parents_for_operators(
    tried: Tried, islands: Islands, island: int, random: np.random.Generator, polish_cost: float | None = None
) -> tuple[tuple[Row, Row], str]:
    """Return a parent and another one, and which operators may change the parent (`Choice.only`).
    polish_cost: as of `proposing.Background`."""
    parent, other = islands.parents(island, random)
    trials = tried.trials
    draw = None if polish_cost is None else partial(polish_drawn, trials, polish_cost, random)
    choice = choose_parent(trials, random, draw)
    if choice.place is None and choice.only == UNLIFTED and _lifted(tried, parent):
        choice = Choice(trials.best_unlifted, UNLIFTED)
    if choice.place is not None:
        parent = tried.rows[choice.place]
    return (parent, parent if _lifted(tried, other) else other), choice.only


def _lifted(tried: Tried, row: Row) -> bool:
    place = tried.place(row)
    return place is not None and tried.trials.lifted(place)
