"""Finished cycles in the logs where people look: MLflow, Weights & Biases, OpenTelemetry.

All comes from rows of the lake: a cycle's numbers are those of its story, its spans the rows of calls,
verdicts and evaluations. The ids follow from lake, line and cycle: a cycle that is logged again replaces what
was there. Table `<line>.logged` notes which content is in which log. A log that cannot be written is a row
with the reason and a warning, never the end of a cycle; the next cycle tries again.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from evolake.agents.calls import failure_of
from evolake.lake import Lake, following
from evolake.lake.schemas import LOGGED
from evolake.report.artifacts import Kind, artifacts_of
from evolake.report.finished_cycle import Frames, as_rows, asking, questions
from evolake.report.log_writers import WRITERS, CycleLog, Span
from evolake.report.status import sealed_cycles
from evolake.report.story import Story, story_in
from evolake.settings import LogsSettings

MOST_SPANS = 10_000
"""Evaluations of a cycle that become spans; more are counted in the span of the cycle."""
AT_END_S, PATIENCE_S = 60.0, 180.0
"""Seconds at the end of a cycle after which no further cycle is logged, and after which logging is ended."""
FAILED, DONE = "failed", "logged"


def log_of(lake: Lake, line: str, cycle: str) -> CycleLog:
    """Return what is logged of a finished cycle.

    Raises:
        LakeError: a table that it needs is damaged.
    """
    asked = questions("evolake.report", "logs.sql", own=line)
    with asking(lake, line, cycle) as (catalogue, frames):
        ask = as_rows(frames)
        story = story_in(lake, catalogue, ask, line, cycle)
        [opened] = ask(asked["opened"]) or [{"began": None}]
        [sealed] = ask(asked["sealed"], next=following(cycle)) or [{"sealed_at": None}]
        ended = _instant(sealed["sealed_at"]) or _instant(opened["began"]) or datetime.now(UTC)
        runs = artifacts_of(line).evaluations.format(published=asked["published"]) or asked["evaluations"]
        spans = [
            *(_call(row) for row in ask(asked["calls"])),
            *(_gate(row) for row in ask(asked["gates"])),
            *(_evaluation(row) for row in ask(runs)),
        ]
        titles = artifacts_of(line).titles
        named = f"SELECT 'score/' || name AS name, score FROM ({titles}) WHERE cycle = $cycle"
        scores = ask(named if titles else asked["title"])
        numbers = _numbers(story) | {row["name"]: row["score"] for row in scores}
        facts = {name: str(value) for name, value in opened.items() if name != "began" and value is not None}
        there = {name for name, _ in catalogue.views()}
        made = _scores(frames, line, ask(asked["scored"]), there)
    return CycleLog(
        lake.id,
        line,
        cycle,
        _instant(opened["began"]) or ended,
        ended,
        facts | {about.lower().replace(" ", "_"): text for about, text in story.lines()},
        {
            _name(name): float(value)
            for name, value in numbers.items()
            if value is not None and _finite(value)
        },
        made,
        spans[:MOST_SPANS],
        max(0, len(spans) - MOST_SPANS),
    )


def _numbers(story: Story) -> dict[str, float | None]:
    trend = [value for cycle, value in story.trend.points if cycle == story.cycle]
    return {
        "candidates": story.made,
        "passed": story.passed,
        "living": story.live,
        "cpu_s": story.cost.cpu_s,
        "calls": story.cost.calls,
        "tokens": story.cost.tokens,
        "usd": story.cost.usd,
        **{f"stopped/{gate.name}": gate.stopped for gate in story.gates},
        **{f"trend/{story.trend.measure}": value for value in trend},
    }


def _scores(frames: Frames, line: str, born: Iterable[Mapping[str, Any]], there: set[str]) -> list[float]:
    """Return the scores that the cycle's tables hold of its candidates. there: tables of the lake."""
    found: list[float] = []
    kinds: dict[str, list[str]] = {}
    for row in born:
        kinds.setdefault(row["kind"], []).append(row["artifact_id"])
    for name, ids in kinds.items():
        kind = artifacts_of(line).kinds.get(name, Kind())
        known: dict[str, float] = {}
        tables = [f"{line}.{table}" for table in (*kind.tables, *kind.scores) if kind.score]
        for table in filter(there.__contains__, tables):
            frame = frames(f"FROM {table} WHERE cycle = $cycle AND list_contains($ids, {kind.key})", ids=ids)
            for row in frame.to_dicts():
                if _finite(row.get(kind.score)):
                    known.setdefault(row[kind.key], float(row[kind.score]))
        found += [known[item] for item in ids if item in known]
    return found


def _call(row: Mapping[str, Any]) -> Span:
    return _span("call", row, not failure_of(row["status"]))


def _gate(row: Mapping[str, Any]) -> Span:
    return _span("gate", row, not row["blocked"])


def _evaluation(row: Mapping[str, Any]) -> Span:
    return _span("evaluation", row, row["status"] in ("ok", "solved"))


def _span(kind: str, row: Mapping[str, Any], good: bool) -> Span:
    """Return a row as a span that ends when the row was published, and took as long as it says."""
    ended = row["ended"]
    began = ended - timedelta(seconds=row["seconds"] if _finite(row["seconds"]) else 0)
    facts = {
        name: value for name, value in row.items() if name not in ("what", "ended") and value is not None
    }
    return Span(kind, f"{kind} {row['what']}", began, ended, facts, good)


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _name(text: str) -> str:
    """Return a name that every log accepts."""
    return re.sub(r"[^\w ./-]", "_", text, flags=re.ASCII)


def _instant(value: Any) -> datetime | None:
    return datetime.fromisoformat(value).astimezone(UTC) if isinstance(value, str) else value


def log_cycles(
    lake: Lake,
    line: str,
    logs: LogsSettings,
    *,
    newest: str = "",
    again: bool = False,
    until: float = math.inf,
) -> list[dict[str, Any]]:
    """Log a line's finished cycles that are in a log not, or with other content; return their rows of
    `logged`.

    Args:
        newest: a cycle that has just ended: of those before it only what is missing is looked at.
        again: log also what is there.
        until: by `time.monotonic`: no further cycle is begun.
    """
    result: list[dict[str, Any]] = []
    places = {name: str(place) for name in WRITERS if (place := getattr(logs, name))}
    for cycle in reversed(sealed_cycles(lake, line)):
        known = {row["target"]: row for row in _logged(lake, line, cycle)}
        there = {
            name
            for name, row in known.items()
            if row["state"] == DONE and row["place"] == shown(places.get(name, ""))
        }
        if (newest not in ("", cycle) and not again and places.keys() <= there) or time.monotonic() > until:
            continue
        log = log_of(lake, line, cycle)
        due = [name for name in places if again or name not in there or known[name]["version"] != log.version]
        for name in due:
            known[name] = _written(log, name, places[name])
        if due:
            lake.publish(
                line,
                LOGGED.name,
                LOGGED.frame(known.values()),
                cycle=cycle,
                run_id=LOGGED.name,
                schema=LOGGED,
            )
        result += [known[name] for name in due]
    return result


def _logged(lake: Lake, line: str, cycle: str) -> list[dict[str, Any]]:
    if lake.record(line, LOGGED.name, cycle) is None:
        return []
    return lake.read(line, LOGGED.name, cycle).to_dicts()


def _written(log: CycleLog, name: str, place: str) -> dict[str, Any]:
    """Write one cycle into one log; return its row."""
    row = {"cycle": log.cycle, "target": name, "place": shown(place), "tried_at": datetime.now(UTC)}
    try:
        WRITERS[name](log, place)
    except Exception as error:  # whatever the package of another raises is a row
        reason = " ".join(f"{type(error).__name__}: {error}".replace(place, shown(place)).split())
        return row | {"state": FAILED, "reason": reason[:500]}
    return row | {"state": DONE, "version": log.version}


def shown(place: str) -> str:
    """Return an address without user, password and query, which may be secrets."""
    return re.sub(r"(?<=//)[^/@]*@|\?.*", "", place)


def log_at_end(lake: Lake, line: str, cycle: str, logs: LogsSettings) -> list[str]:
    """Log the cycle that has just ended, and what an earlier one could not, in another process, so that no
    log can hold up or end a run. Return a sentence for each log that has not got the cycle."""
    places = {name for name in WRITERS if getattr(logs, name)}
    if not places:
        return []
    given = {"lake": str(lake.root), "line": line, "cycle": cycle, "logs": logs.model_dump(mode="json")}
    command = [sys.executable, "-P", "-m", __name__]
    try:
        done = subprocess.run(
            command, input=json.dumps(given), capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        end = done.stderr.strip().rpartition("\n")[2] or f"ended with {done.returncode}"
    except subprocess.TimeoutExpired:
        end = f"it took more than {PATIENCE_S:g} s"
    known = {row["target"]: row for row in _logged(lake, line, cycle)}
    return [
        f"cycle {cycle} is not in the log {name}: {known[name]['reason'] if name in known else end}; "
        f"the next cycle tries again, or: evolake lake log {line}"
        for name in sorted(places)
        if name not in known or known[name]["state"] != DONE
    ]


if __name__ == "__main__":
    given = json.loads(sys.stdin.read())
    log_cycles(
        Lake(given["lake"]),
        given["line"],
        LogsSettings(**given["logs"]),
        newest=given["cycle"],
        until=time.monotonic() + AT_END_S,
    )
