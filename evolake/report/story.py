"""What happened in a cycle, said once: the report's first page, the UI's page of `<line>/story` and `evolake
watch` take it from here.

Most of it is the same for every line and comes from the shared tables. What only the line knows (how much its
champion gains, what was measured, what to look at next) its `LineSpec.story` adds: a function (the shared
story, ask) -> the story, where ask(sql, **parameters) gives rows of the lake.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import shorten

from evolake.agents.calls import failure_of
from evolake.contest import family_sentence
from evolake.lake import Catalogue, Lake
from evolake.lines import lines
from evolake.report.champion import Champion, champion_of
from evolake.report.finished_cycle import as_rows, asking, questions
from evolake.report.numbers import counted, dollars, duration, figures, polyline
from evolake.report.standing import NOBODY, Ask, Row

SQL = questions("evolake.report", "story.sql")
DRAWN = 24
"""Points of a trend that a picture within a page of the UI has room for."""
PICTURE = (400, 110)
"""Width and height of that picture in pixels."""
BLOCKED_BY_RULE = "evolake sql --file cookbook/blocked_by_rule.sql"
INLINE = 999
"""Characters that Dagster's UI shows of a Markdown entry without a click."""


@dataclass(frozen=True)
class Gate:
    """How many candidates of the cycle came to a gate, and how many it stopped, errors among them."""

    name: str
    came: int
    stopped: int


@dataclass(frozen=True)
class Block:
    """A rule, how many candidates of the cycle it stopped, and one of its reasons."""

    rule: str
    stopped: int
    reason: str


@dataclass(frozen=True)
class Cost:
    """What was spent: processor seconds (None: the line does not count them), calls of roles, tokens, US
    dollars (None: a price is unknown)."""

    cpu_s: float | None = None
    calls: int = 0
    tokens: int = 0
    usd: float | None = 0.0

    def text(self) -> str:
        """In words, what is nothing left out."""
        parts = [f"{duration(self.cpu_s)} of processor time"] if self.cpu_s is not None else []
        if self.tokens:
            cost = f"{self.tokens:,} tokens ({dollars(self.usd)})"
        elif self.calls:
            cost = "no tokens"
        else:
            cost = "no calls"
        parts.append(cost)
        return ", ".join(parts)


@dataclass(frozen=True)
class Trend:
    """A measure of the line after each cycle. points: (cycle, value), oldest first. unit: behind a value,
    with its space."""

    measure: str = ""
    points: Sequence[tuple[str, float]] = ()
    unit: str = ""


@dataclass(frozen=True)
class Story:
    """One cycle of one line.

    Attributes:
        champion, champion_id, since: who leads after the cycle and from which cycle on; "" if the line
            promotes none.
        leads: what the line has to show where it has no champion; "" elsewhere.
        gain: what the champion is better at, by how much, with its interval; "" if nothing is known.
        short_gain: the same in the fewest words, for a table.
        duel: why the best of the ranking is not the champion; "" where it is.
        made: candidates of the cycle. passed: those that every gate let through. noun: what one is called.
            live: artifacts that continue.
        gates, blocks: the cycle's funnel, in the order of the gates; who stopped most first.
        `beside`: what came to the gates and was not proposed, so that their counts agree for a reader; "" for
            nothing.
        unanswered: cycle -> which roles gave no valid reply at all, of this cycle and those before it that
            had such a role.
        measured, changed, goes_on, look: sentences; "" for nothing to say. look: what to do or look at next.
        contests: the family-wise statement on the promotions of the line up to the cycle; "" if it held no
            contest.
        cost, spent: of the cycle, and of the line up to it.
    """

    line: str
    cycle: str
    champion: str = ""
    champion_id: str = ""
    since: str = ""
    leads: str = ""
    gain: str = ""
    short_gain: str = ""
    duel: str = ""
    noun: str = "candidate"
    made: int = 0
    passed: int = 0
    live: int = 0
    beside: str = ""
    gates: Sequence[Gate] = ()
    blocks: Sequence[Block] = ()
    unanswered: Mapping[str, str] = field(default_factory=dict[str, str])
    measured: str = ""
    contests: str = ""
    changed: str = ""
    goes_on: str = ""
    look: str = ""
    cost: Cost = field(default_factory=Cost)
    spent: Cost = field(default_factory=Cost)
    trend: Trend = field(default_factory=Trend)

    def lines(self) -> list[tuple[str, str]]:
        """Return (what it is about, sentence), at most ten, in the order that a reader asks; those with
        nothing to say are left out."""
        since = f", since cycle {self.since}" if self.since else ""
        parts = [
            (
                "Leads",
                f"{self.champion} ({self.champion_id[:12]}){since}"
                if self.champion
                else self.leads or NOBODY,
            ),
            ("Gain", self.gain),
            ("Rank 1", self.duel),
            ("Proposed", "; ".join([self.proposed(), *self.silent()])),
            ("Blocked", self.blocked()),
            ("Measured", "; ".join(filter(None, [self.measured, self.contests]))),
            ("Changed", self.changed),
            (
                "Cost",
                self.cost.text()
                + (f"; so far {so_far}" if (so_far := self.spent.text()) != self.cost.text() else ""),
            ),
            ("Population", self.goes_on),
            ("Next", self.look),
        ]
        return [(about, sentence) for about, sentence in parts if sentence]

    def proposed(self) -> str:
        """Return how many candidates were made, how many passed, and what else the gates saw."""
        text = f"{counted(self.made, self.noun, plural(self.noun))}; {self.passed} passed every gate"
        return f"{text}, plus {self.beside}" if self.beside else text

    def silent(self) -> list[str]:
        """Return the sentence on roles that gave no valid reply in the cycle; none where each gave one."""
        return [self.unanswered[self.cycle]] if self.cycle in self.unanswered else []

    def blocked(self) -> str:
        """Return where candidates were stopped, and what stopped most of them."""
        stops = ", ".join(f"{gate.stopped} at {gate.name}" for gate in self.gates if gate.stopped)
        if not stops:
            return "nothing" if self.made else ""
        return (
            f"{stops}. Most often by {self.blocks[0].rule}: {self.blocks[0].reason}" if self.blocks else stops
        )


def contests(ask: Ask, table: str, **same: str) -> str:
    """Return the family-wise statement on the duels of a line up to the cycle; decisions without a test
    are not counted.

    Args:
        table: of the line's decisions, with columns wins and test. same: column -> value of the rows that are
            contests for the title.
    """
    rows = [row for row in ask(f"SELECT * FROM {table} WHERE cycle <= $cycle") if row["test"]]
    rows = [row for row in rows if all(row[name] == value for name, value in same.items())]
    return family_sentence(len(rows), sum(bool(row["wins"]) for row in rows))


def markdown(story: Story, longest: int = INLINE) -> str:
    """Return the story as a list in Markdown. What candidates and models are called is text in it, never
    markup.

    longest: characters. Sentences are cut at a word, the longest first, until it fits: the UI hides a longer
    text behind a button.
    """
    summary = story.lines()
    for width in (400, 300, 220, 160, 120, 90, 60):
        text = "\n".join(
            f"- **{about}**: {as_text(shorten(sentence, width, placeholder=' …'))}"
            for about, sentence in summary
        )
        if len(text) <= longest:
            return text
    return text[:longest]


def picture(trend: Trend) -> str:
    """Return the trend as a picture in Markdown that Dagster's UI shows without a click, with its first and
    its newest value; "" for fewer than two points. A figure as PNG has more characters than the UI shows at
    the same time, and stays behind its button."""
    points = list(trend.points)[-DRAWN:]
    if len(points) < 2:
        return ""
    values = [value for _, value in points]
    width, height = PICTURE
    line = " ".join(f"{x:.0f},{y:.0f}" for x, y in polyline(values, width, height - 18, 4))
    ends = "".join(
        f'<text x="{x}" y="{height - 4}" font-size="12" '
        f'text-anchor="{anchor}">{figures(value)}{trend.unit}, cycle {cycle}</text>'
        for x, anchor, (cycle, value) in ((4, "start", points[0]), (width - 4, "end", points[-1]))
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"><polyline '
        f'points="{line}" fill="none" stroke="#0072B2" stroke-width="2"/>{ends}</svg>'
    )
    return (
        f"{as_text(shorten(trend.measure, 60, placeholder=' …'))}: "
        f"![trend](data:image/svg+xml;base64,{b64encode(svg.encode()).decode()})"
    )


def as_text(sentence: str) -> str:
    """Return a sentence that is text in Markdown, whatever is in it."""
    return re.sub(r"([\\`*_\[\]<>#|~!])", r"\\\1", " ".join(sentence.split()))


def plural(noun: str) -> str:
    """Return the plural of a word: family -> families."""
    return noun[:-1] + "ies" if noun.endswith("y") else noun + "s"


def story_of(lake: Lake, line: str, cycle: str, *, closing: bool = False) -> Story:
    """Return the story of one cycle, from what is in the lake; later cycles are not looked at. closing: it is
    about to be sealed.

    Raises:
        LakeError: a table that it needs is damaged.
    """
    with asking(lake, line, cycle) as (catalogue, frames):
        return story_in(lake, catalogue, as_rows(frames), line, cycle, closing=closing)


def story_in(
    lake: Lake, catalogue: Catalogue, ask: Ask, line: str, cycle: str, *, closing: bool = False
) -> Story:
    """Return the story of one cycle as `story_of` does, by a catalogue that is open already. ask: as by
    `asking`."""
    spec = lines().get(line)
    summary = _shared(ask, champion_of(lake, catalogue, line, cycle, closing=closing), line, cycle)
    return spec.story.load()(summary, ask) if spec and spec.story else summary


def with_cpu(summary: Story, seconds: Sequence[Row]) -> Story:
    """Return the story with processor time in its costs. seconds: rows of cycle and cpu_s up to the cycle, as
    a line counts them."""
    now = sum(float(row["cpu_s"] or 0) for row in seconds if row["cycle"] == summary.cycle)
    total = sum(float(row["cpu_s"] or 0) for row in seconds)
    return replace(summary, cost=replace(summary.cost, cpu_s=now), spent=replace(summary.spent, cpu_s=total))


def why_nothing_passed(line: str, made: int, passed: int) -> str:
    """Return how to find out why no candidate of the cycle passed; "" if one did, or none was made."""
    return f"why nothing passed: {BLOCKED_BY_RULE} -p line={line}" if made and not passed else ""


def _shared(ask: Ask, champion: Champion | None, line: str, cycle: str) -> Story:
    made = ask(SQL["made"], kind=champion.kind if champion else None)[0]
    calls = {row["cycle"]: row for row in ask(SQL["calls"])}
    summary = Story(
        line,
        cycle,
        made=made["made"],
        passed=made["passed"],
        live=made["live"],
        gates=[Gate(**row) for row in ask(SQL["gates"])],
        blocks=[Block(**row) for row in ask(SQL["blocks"])],
        goes_on=f"{counted(made['live'], 'artifact')} so far",
        unanswered=_unanswered(ask(SQL["attempts"])),
        look=f"another cycle: evolake run --lines {line}",
        cost=_cost([calls[cycle]] if cycle in calls else []),
        spent=_cost(list(calls.values())),
    )
    if seconds := ask(SQL["seconds"]):
        summary = with_cpu(summary, seconds)
    if champion is None:
        return summary
    return replace(
        summary,
        champion=champion.title,
        champion_id=champion.artifact_id,
        since=champion.since,
        changed=_change(ask, champion, cycle),
        gain=str(champion.gain or ""),
        short_gain=champion.gain.short if champion.gain else "",
    )


def _unanswered(attempts: Sequence[Row]) -> dict[str, str]:
    """Cycle -> its roles none of whose attempts brought a valid reply. attempts: rows of cycle, role, status
    and their number."""
    asked = {(row["cycle"], row["role"]): Counter[str]() for row in attempts}
    for row in attempts:
        asked[row["cycle"], row["role"]][failure_of(row["status"])] += row["attempts"]
    details: dict[str, list[str]] = {}
    for (cycle, role), failures in asked.items():
        if "" not in failures:
            words = ", ".join(f"{word} {count}" for word, count in failures.most_common())
            details.setdefault(cycle, []).append(f"{role} ({words})")
    return {cycle: f"no valid reply of {' or '.join(roles)}" for cycle, roles in details.items()}


def _change(ask: Ask, champion: Champion, cycle: str) -> str:
    if champion.since != cycle:
        return f"nothing at the top: {champion.title} stays champion"
    before = ask(SQL["before"], since=champion.since)
    return (
        f"{champion.title} took the title from {before[0]['title']}"
        if before
        else f"{champion.title} is the first champion"
    )


def _cost(rows: Sequence[Row]) -> Cost:
    unknown = any(row["unpriced"] for row in rows)
    return Cost(
        None,
        sum(row["calls"] for row in rows),
        sum(row["tokens"] for row in rows),
        None if unknown else sum(row["usd"] for row in rows),
    )
