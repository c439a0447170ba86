"""What a writer is sent in addition to the program: only what is known, each fact once, without empty
sections."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from evolake.agents.attempts import SiblingNote
from evolake.agents.fences import clean, fence
from evolake.report.gain import figures

COMBINE = "combine the strengths of two programs"
DIRECTIONS = (
    "numerical optimisation: find the constants and the structure of the best program by a search with "
    "many starts, and keep what it finds",
    "a new algorithm, other than those that were tried",
    "find the weakest step of the program and fix it; use the time limit for what helps",
    COMBINE,
    "simplify: take out what does not help, then tune what is left",
)
"""Of the children of one generation, in turn."""
LONGEST_TEXT, LONGEST_ARTIFACT = 8_000, 2_000
"""Characters of another program, and of a text that the evaluator hands on."""


class Standing(BaseModel):
    """A program with what it scored. name: its short id. folder: in a session, where its files can be read."""

    name: str = ""
    folder: str = ""
    score: float
    metrics: dict[str, float] = Field(default_factory=dict)
    idea: str = ""
    seconds: float | None = Field(default=None, description="processor time of an evaluation")


class Briefing(BaseModel):
    """What both kinds of writers are sent.

    Attributes:
        limits: of an evaluation, and what the sandbox has. contest: of the champion and the last challenger. parent_reason: why this parent.
        front: metrics of the programs on the Pareto front. attempts: the table of what was tried. artifacts: of the parent's evaluation.
        sibling: which request of its generation this is. round: what the evaluation of the writer's own draft gave.
    """

    project: str
    instructions: str = ""
    goal: str
    limits: str = ""
    contest: str = ""
    parent_reason: str = ""
    front: list[str] = Field(default_factory=list)
    artifacts: dict[str, str] = Field(default_factory=dict)
    attempts: str = ""
    guidance: list[str] = Field(default_factory=list)
    sibling: SiblingNote | None = None
    round: str = ""


def combines(brief: Briefing) -> bool:
    """Return whether a request is to combine two programs: it is sent the text of the best other one, all
    others by idea and score alone."""
    return brief.sibling is not None and brief.sibling.direction == COMBINE


def sections(brief: Briefing, parent: Standing, others: Sequence[Standing], texts: Sequence[str] = ()) -> str:
    """Return the sections of a prompt. texts: of the first of the others, as `against` gives them."""
    shown = [
        f"- {standing_line(item)}" + (f"\n{texts[place]}" if place < len(texts) else "")
        for place, item in enumerate(others)
    ]
    front = [f"- {line}" for line in brief.front]
    handed_on = [
        fence(text, name, LONGEST_ARTIFACT) for name, text in sorted(brief.artifacts.items()) if text.strip()
    ]
    parts = (
        ("Project", f"{brief.project}: {brief.goal}"),
        ("Its owner says", clean(brief.instructions)),
        ("Limits and cost", brief.limits),
        (
            "Parent",
            "" if brief.round else "\n".join(filter(None, (standing_line(parent), brief.parent_reason))),
        ),
        ("What its evaluation reported", "\n".join(handed_on)),
        ("Contest", brief.contest),
        ("Pareto front", "\n".join(front)),
        ("Other programs", "\n".join(shown)),
        ("Tried before", fence(brief.attempts, "attempts") if brief.attempts else ""),
        ("This request", brief.sibling.text() if brief.sibling else ""),
        ("Guidance by people", "\n".join(f"- {clean(note)}" for note in brief.guidance)),
        ("Your draft was evaluated", brief.round),
    )
    return "\n\n".join(f"# {title}\n{text}" for title, text in parts if text)


def standing_line(item: Standing) -> str:
    """Return name, score, further metrics, time and idea of a program in one line."""
    more = ", ".join(
        f"{name} {figures(value, 6)}" for name, value in item.metrics.items() if value != item.score
    )
    spent = "" if item.seconds is None else f"{item.seconds:g} s of processor time"
    idea = f"idea: {' '.join(clean(item.idea).split())[:300].rstrip('.')}" if item.idea else ""
    scored = f"{item.name} scored {item.score:.9g}".strip()
    return "; ".join(filter(None, (scored, more, spent, idea, f"in {item.folder}/" if item.folder else "")))


def against(files: Mapping[str, str], parent: Mapping[str, str], name: str) -> str:
    """Return another program as a diff from the parent, or its whole text if that is shorter."""
    lines = [
        line
        for path in files
        for line in difflib.unified_diff(
            clean(parent.get(path, "")).splitlines(),
            clean(files[path]).splitlines(),
            path,
            path,
            lineterm="",
            n=1,
        )
    ]
    diff, whole = "\n".join(lines), listing(files)
    if not diff:
        return ""
    return (
        fence(diff, f"diff from the parent to {name}", LONGEST_TEXT)
        if len(diff) < len(whole)
        else fence(whole, name, LONGEST_TEXT)
    )


def listing(files: Mapping[str, str]) -> str:
    """Return texts one after another, each below a line with its path, without any indentation; a single one
    bare."""
    if len(files) == 1:
        return next(iter(files.values()))
    return "\n".join(f"=== {path}\n{text}" for path, text in files.items())
