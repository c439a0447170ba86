"""Say in one plain sentence what a finished cycle came to: who leads, with what gain, and how much of what
was made was accepted; and what `evolake watch` shows of a line. Reads and never writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from textwrap import shorten
from typing import Any

from evolake.errors import InputError
from evolake.lake import Catalogue, Lake, following
from evolake.lake.schemas import ADDED_SEEDS
from evolake.lines import lines
from evolake.report.artifacts import artifacts_of
from evolake.report.champion import Champion, champion_of
from evolake.report.finished_cycle import asking
from evolake.report.gain import NONE_YET
from evolake.report.numbers import counted
from evolake.report.status import lines_in_lake, sealed_cycles
from evolake.report.story import Story, plural, story_of

NAMED = 8
"""New seeds of a cycle that are named; of more than these the others are counted."""
REASON = 100
UNMADE, WARNED_FROM = "unmade", 1 / 3
"""Table of proposals that came to no candidate, of the lines that have one; share from which a run warns."""
STOPPED_BY = """
SELECT artifact_id, gate, rule_id FROM verdicts WHERE cycle <= $cycle AND outcome <> 'pass'
  AND artifact_id IN (
  SELECT unnest($wanted)) QUALIFY row_number() OVER (PARTITION BY artifact_id ORDER BY cycle DESC, gate_no,
    outcome, rule_id) = 1"""


def outcome_of(lake: Lake, line: str, cycle: str) -> str:
    """Return what a finished cycle of a line came to, in the line's own words where it has some
    (`LineArtifacts.outcome`), and what became of new seeds.
    """
    return "; ".join(filter(None, [_came_to(lake, line, cycle), new_seeds(lake, line, cycle)]))


def failed_proposals(lake: Lake, sealed: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence for each line some of whose proposals came to no candidate: how many of how many, and
    the commonest reason. It warns if these are a third of them or more.

    sealed: line -> cycles.
    """
    said = []
    for line, cycles in sealed.items():
        there = [cycle for cycle in cycles if lake.record(line, UNMADE, cycle)]
        reasons = Counter(reason for cycle in there for reason in lake.read(line, UNMADE, cycle)["reason"])
        if failed := reasons.total():
            total = failed + sum(story_of(lake, line, cycle).made for cycle in cycles)
            (reason, count), *_ = reasons.most_common(1)
            warning = "WARNING: " if failed >= WARNED_FROM * total else ""
            said.append(
                f"{warning}{line}: {failed} of {counted(total, 'proposal')} came to no candidate; "
                f"{count} of them: {shorten(reason or 'no reason given', REASON, placeholder=' ...')}"
            )
    return said


def new_seeds(lake: Lake, line: str, cycle: str) -> str:
    """Return what became of each seed that was added to the line and entered this cycle; "" if none did."""
    if lake.record(line, ADDED_SEEDS.name, cycle) is None:
        return ""
    seeds = lake.read(line, ADDED_SEEDS.name, cycle).sort("name").to_dicts()
    if not seeds:
        return ""
    with Catalogue(lake, shared_only=True) as catalogue:
        wanted = [row["artifact_id"] for row in seeds if row["artifact_id"]]
        stopped = {
            row["artifact_id"]: row
            for row in catalogue.frame(STOPPED_BY, {"cycle": cycle, "wanted": wanted}).to_dicts()
        }
    parts = [f"{row['name']} {_became(row, stopped.get(row['artifact_id']))}" for row in seeds[:NAMED]]
    more = [f"{len(seeds) - NAMED} more (evolake seeds list --line {line})"] if len(seeds) > NAMED else []
    return f"new seed{'' if len(seeds) == 1 else 's'}: {', '.join([*parts, *more])}"


def _became(seed: Mapping[str, Any], verdict: Mapping[str, Any] | None) -> str:
    """Return "accepted", "there already", or why it is neither. verdict: the first that is against it; None
    if no gate was reached."""
    if seed["state"] != "blocked":
        return "accepted" if seed["state"] == "accepted" else "was there already"
    reason = shorten(seed["reason"] or "", REASON, placeholder=" ...")
    return (
        f"blocked at the gate {verdict['gate']} by {verdict['rule_id']} ({reason})"
        if verdict
        else f"blocked before the gates ({reason})"
    )


def _came_to(lake: Lake, line: str, cycle: str) -> str:
    with asking(lake, line, cycle) as (catalogue, _):
        if own := artifacts_of(line).outcome:
            return own(catalogue, cycle)
        champion = champion_of(lake, catalogue, line, cycle)
    story = story_of(lake, line, cycle)
    accepted = f"{story.passed} of {story.made} new {plural(story.noun)} accepted"
    return f"{_leads(champion, line)}; {accepted}" if champion else accepted


def _leads(champion: Champion, line: str) -> str:
    """Return who leads, by how much."""
    text = f"champion {champion.title} ({champion.artifact_id[:8]})"
    if champion.gain is None:
        measure, _, better = artifacts_of(line).score.partition(", ")
        score = (
            f", {measure} {champion.score:.2f}{f' ({better})' if better else ''}"
            if champion.score is not None
            else ""
        )
        return f"{text}{score}, gain: {NONE_YET}"
    return f"{text}, {champion.gain.brief}"


@dataclass(frozen=True)
class AtWork:
    """The run that holds a line. cycle: "" for the seeds. published: its newest table. tables: how many so
    far. passed, stopped: at gates."""

    since: datetime
    cycle: str = ""
    published: str = ""
    tables: int = 0
    passed: int = 0
    stopped: int = 0

    def text(self, now: datetime) -> str:
        """In words, with how long it has been running."""
        minutes, seconds = divmod(max(int((now - self.since).total_seconds()), 0), 60)
        what = f"cycle {self.cycle}" if self.cycle else "the seeds, or nothing published yet"
        done = f", {counted(self.tables, 'table')} so far, last {self.published}" if self.published else ""
        gates = f"; gates passed {self.passed}, stopped {self.stopped}" if self.passed or self.stopped else ""
        return f"{what} for {minutes}:{seconds:02d} min{done}{gates}"


@dataclass(frozen=True)
class Seen:
    """A line as it is now. story: of its newest finished cycle, None before the first. at_work: None if no
    run holds it."""

    line: str
    done: Sequence[str] = ()
    story: Story | None = None
    at_work: AtWork | None = None


@dataclass
class Watcher:
    """Looks at the lines of a lake again and again. A finished cycle's story is read once, for as long as its
    seal is the same.

    wanted: lines; all that the lake has by default.
    """

    root: Path
    wanted: Sequence[str] = ()
    _stories: dict[tuple[str, str, str], Story] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = sorted({*lines_in_lake(self.root), *lines()})
        if strange := [line for line in self.wanted if line not in known]:
            raise InputError(
                f"no line {strange[0]!r}", wanted=f"some of: {', '.join(known)}", do="run `evolake status`"
            )

    def look(self) -> list[Seen]:
        """Return the lines as they are now, by name."""
        lake = Lake(self.root)
        return [self._seen(lake, line) for line in sorted(self.wanted) or self._there(lake)]

    def _there(self, lake: Lake) -> list[str]:
        return sorted({*lake.seals.lines(), *(line for line in lines() if lake.line_holder(line))})

    def _seen(self, lake: Lake, line: str) -> Seen:
        done = sealed_cycles(lake, line)
        seen = Seen(line, done, self._story(lake, line, done[-1]) if done else None)
        holder = lake.line_holder(line)
        return replace(seen, at_work=_at_work(lake, line, holder.run_id, holder.since)) if holder else seen

    def _story(self, lake: Lake, line: str, cycle: str) -> Story:
        seal = lake.seals.read(line, following(cycle))
        key = (line, cycle, seal.version if seal else "")
        if key not in self._stories:
            self._stories[key] = story_of(lake, line, cycle)
        return self._stories[key]


def _at_work(lake: Lake, line: str, run_id: str, since: datetime) -> AtWork:
    with Catalogue(lake) as catalogue:
        parts = catalogue.frame(PUBLISHED, {"line": line, "run": run_id}).to_dicts()
        if not parts:
            return AtWork(since.astimezone(UTC))
        newest = parts[0]
        gates = catalogue.frame(GATES, {"line": line, "cycle": newest["cycle"] or ""}).to_dicts()[0]
    return AtWork(
        since.astimezone(UTC),
        newest["cycle"] or "",
        newest["asset"],
        len(parts),
        gates["passed"] or 0,
        gates["stopped"] or 0,
    )


PUBLISHED = """
SELECT asset, cycle FROM parts WHERE line = $line AND run_id = $run AND state = 'current'
  AND NOT contains(asset, '__') AND asset <> 'opened'
AND NOT starts_with(asset, 'incoming_') ORDER BY created_at DESC, asset"""
GATES = """
SELECT sum(passed)::INTEGER AS passed, sum(blocked + errors)::INTEGER AS stopped FROM funnel($line)
  WHERE cycle = $cycle AND gate_no >= 0"""
