"""Which lines a page has, each at which cycle: every line with a finished cycle; one without its own section
gets what the shared tables say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evolake.errors import InputError
from evolake.lake import Catalogue, Lake
from evolake.lines import lines
from evolake.report.finished_cycle import questions, read_cycle
from evolake.report.pages import Section, render, sentence
from evolake.report.rules_applied import half_applied
from evolake.report.status import known_line, lines_in_lake, sealed_cycles
from evolake.report.story import Story, story_of
from evolake.settings import load


def read_sections(root: Path, wanted: Sequence[str] = (), cycle: str | None = None) -> list[Section]:
    """Return the sections of a page, by line.

    Args:
        wanted: lines; all that have the cycle by default. cycle: as "0003"; the newest finished one of each
            line by default.

    Raises:
        InputError: a line of `wanted` is not in the lake or has not finished the cycle; or no line has.
    """
    return [section_of(root, line, chosen) for line, chosen in chosen_cycles(root, wanted, cycle).items()]


def chosen_cycles(root: Path, wanted: Sequence[str] = (), cycle: str | None = None) -> dict[str, str]:
    """Return line -> cycle, by line. Raises what `read_sections` raises."""
    lake = Lake(root)
    done = {
        line: sealed_cycles(lake, line)
        for line in sorted({known_line(root, line) for line in wanted} or set(lines_in_lake(root)))
    }
    fitting = {
        line: cycle or cycles[-1] for line, cycles in done.items() if cycles and cycle in (None, *cycles)
    }
    missing = [line for line in done if line not in fitting]
    if missing and (wanted or not fitting):
        raise _unfinished(root, missing[0], done[missing[0]], cycle)
    if not fitting:
        raise InputError(f"no cycle of any line is finished in {root}", do="run `evolake run --cycles 1`")
    return fitting


def section_of(root: Path, line: str, cycle: str) -> Section:
    """Return what the page says of one line."""
    spec = lines().get(line)
    return spec.report.load()(root, cycle) if spec and spec.report else any_section(root, line, cycle)


def read_stories(root: Path, chosen: Mapping[str, str]) -> list[Story]:
    """Return the story of each line's cycle, in the order given. chosen: line -> cycle, as by
    `chosen_cycles`."""
    lake, rules, stories = Lake(root), load().seeds / "rules", list[Story]()
    with Catalogue(lake, shared_only=True) as catalogue:
        for line, cycle in chosen.items():
            story, half = story_of(lake, line, cycle), half_applied(lake, catalogue, line, rules)
            stories.append(replace(story, look="; ".join(filter(None, (half, story.look)))))
    return stories


def read_findings(root: Path) -> dict[str, list[str]]:
    """Return study -> what it has to say; those that are not finished are left out."""
    details = {name: spec.findings.load()(root) for name, spec in lines().items() if spec.findings}
    return {name: sentences for name, sentences in details.items() if sentences}


def _unfinished(root: Path, line: str, done: Sequence[str], cycle: str | None) -> InputError:
    if not done:
        return InputError(
            f"no cycle of {line} is finished in {root}", do=f"run `evolake run --cycles 1 --lines {line}`"
        )
    return InputError(
        f"cycle {cycle!r} of {line} is not finished",
        wanted=f"one of {', '.join(done)}",
        do="run `evolake status`",
    )


SHOWN = {
    "states": "Made a cycle",
    "gates": "Gates",
    "blocked": "What was blocked, and by which rule",
    "calls": "Calls",
    "ancestry": "Ancestry of the champion",
}
"""Question -> its heading, of a line without a page."""


def any_section(root: Path, line: str, cycle: str) -> Section:
    """Return champion where the line has one, gates, blocks, calls, ancestry; no figures."""
    report = read_cycle(root, line, cycle, questions("evolake.report", "page.sql"))
    tables = {title: report.tables[name] for name, title in SHOWN.items() if name in report.tables}
    given = {"line": line, "cycle": cycle, "champion": report.held}
    headline = sentence("evolake.report", "any_headline.html.j2", **given)
    body = render("evolake.report", "any_line.html.j2", **given, headline=headline, tables=tables)
    return Section(line, cycle, headline, body, {})
