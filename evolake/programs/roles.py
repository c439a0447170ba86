"""The roles that write a program from its parents: the writer, a model by search-and-replace edits or whole
files, or the operators of `evolake.programs.search`; and the writer as a session, which reads, changes and
evaluates a program by tools before it is done.

A writer is sent only what is known in addition to the program, each fact once, without empty sections.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from evolake.agents.attempts import LONGEST_IDEA, MOST_SIBLINGS, SiblingNote
from evolake.agents.fences import clean, fence
from evolake.agents.roles import Role
from evolake.agents.session_roles import session_role
from evolake.agents.session_tools import Arguments
from evolake.errors import MachineryError
from evolake.programs.model.program_text import as_kept
from evolake.programs.search.proposing import Background, child_of
from evolake.programs.search.trials import Trial, Trials
from evolake.report.numbers import figures
from evolake.text_edits import Misfit, replaced

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
LONGEST_TEXT, LONGEST_ARTIFACT, LONGEST_FINDING = 8_000, 2_000, 500
"""Characters of another program, of a text that the evaluator hands on, and of the idea of a program."""


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
        generation: which one this is.
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
    generation: str = ""
    guidance: list[str] = Field(default_factory=list)
    sibling: SiblingNote | None = None
    round: str = ""


def combines(brief: Briefing) -> bool:
    """Return whether a request is to combine two programs: it is sent the text of the best other one, all
    others by idea and score alone."""
    return brief.sibling is not None and brief.sibling.direction == COMBINE


def before(brief: Briefing) -> str:
    """Return the sections of a prompt that all requests of a cycle share; a server with a prompt cache reads
    them once."""
    return _sections(
        ("Project", f"{brief.project}: {brief.goal}"),
        ("Its owner says", clean(brief.instructions)),
        ("Guidance by people", "\n".join(f"- {clean(note)}" for note in brief.guidance)),
        ("Limits and cost", brief.limits),
    )


def around(brief: Briefing, parent: Standing, others: Sequence[Standing], texts: Sequence[str] = ()) -> str:
    """Return the sections behind the program. texts: of the first of the others, as `against` gives them."""
    shown = [
        f"- {standing_line(item)}" + (f"\n{texts[place]}" if place < len(texts) else "")
        for place, item in enumerate(others)
    ]
    front = [f"- {line}" for line in brief.front]
    handed_on = [
        fence(text, name, LONGEST_ARTIFACT) for name, text in sorted(brief.artifacts.items()) if text.strip()
    ]
    request = [brief.generation, brief.sibling.text() if brief.sibling else ""]
    return _sections(
        (
            "Parent",
            "" if brief.round else "\n".join(filter(None, (standing_line(parent), brief.parent_reason))),
        ),
        ("What its evaluation reported", "\n".join(handed_on)),
        ("Contest", brief.contest),
        ("Pareto front", "\n".join(front)),
        ("Other programs", "\n".join(shown)),
        ("Tried before", fence(brief.attempts, "attempts") if brief.attempts else ""),
        ("This request", "\n".join(filter(None, request))),
        ("Your draft was evaluated", brief.round),
    )


def _sections(*parts: tuple[str, str]) -> str:
    return "\n\n".join(f"# {title}\n{text}" for title, text in parts if text)


def standing_line(item: Standing) -> str:
    """Return name, score, further metrics, time and idea of a program in one line."""
    more = ", ".join(
        f"{name} {figures(value, 6)}" for name, value in item.metrics.items() if value != item.score
    )
    spent = "" if item.seconds is None else f"{item.seconds:g} s of processor time"
    idea = f"idea: {' '.join(clean(item.idea).split())[:LONGEST_FINDING].rstrip('.')}" if item.idea else ""
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


_FAILED = re.compile(
    r"(?P<status>\w+: )?your idea \((?P<idea>.*?)\) was not applied: (?P<reason>.*)", re.DOTALL
)
NOTHING = "nothing"
"""Operator of a reply that changes nothing: the operators found nothing to change."""


class Measured(Standing):
    """A program with its texts and what it scored."""

    files: dict[str, str]


class WriterRequest(Briefing):
    """A parent, and what is known around it. may_keep: whether a reply may change nothing. From `other` on it is for operators alone; models are not
    shown it."""

    parent: Measured
    best: list[Measured] = Field(default_factory=list)
    may_keep: bool = False
    other: dict[str, str] | None = None
    trials: Trials = Field(default=Trials(()), exclude=True)
    tried: str = Field(default="", description="names what the trials are")
    place: int | None = Field(default=None, description="of the parent among the trials")
    only: str = Field(default="", description="as of `trials.Choice`")
    polish_cost: float | None = Field(default=None, description="as of `proposing.Background`")


class Edit(BaseModel):
    """A text that stands in a file exactly once, and what is to stand there."""

    model_config = ConfigDict(extra="forbid")
    file: str
    search: str = Field(min_length=1)
    replace: str


class WriterReply(BaseModel):
    """Edits of the parent, in order, or whole files; whole files are taken first."""

    model_config = ConfigDict(extra="forbid")
    idea: str = ""
    edits: list[Edit] = Field(default_factory=list)
    whole: dict[str, str] = Field(default_factory=dict)
    operator: str = Field(default="", description="leave empty")


class WriterGroupRequest(BaseModel):
    """Requests of one wave for children of one parent: the others differ from the first in number and direction alone."""

    first: WriterRequest
    others: list[WriterRequest] = Field(default_factory=list)

    @property
    def requests(self) -> list[WriterRequest]:
        """All of them, in order."""
        return [self.first, *self.others]


class WriterGroupReply(BaseModel):
    model_config = ConfigDict(extra="forbid")
    programs: list[WriterReply] = Field(description="one for each direction, in their order")


def write(request: WriterRequest, random: np.random.Generator) -> WriterReply:
    """Return a child by one of the operators."""
    around = Background(request.trials, request.place, request.other, request.only, request.polish_cost)
    child = child_of(Trial(request.parent.files, request.parent.score), around, random)
    if child is None:
        return WriterReply(operator=NOTHING)
    changed = {name: text for name, text in child.texts.items() if text != request.parent.files[name]}
    return WriterReply(whole=changed, operator=child.operator)


def applied(reply: WriterReply, texts: Mapping[str, str]) -> dict[str, str] | str:
    """Return the parent's texts after a reply, or why it cannot be applied: a fact about the reply.

    Edits are looked for whatever the line ends; those of the parent, and its byte order mark, stay (see
    `program_text.as_kept`).
    """
    changed = dict(texts)
    for name, text in reply.whole.items():
        if name not in changed:
            return f"there is no file {name!r} that evolves"
        changed[name] = text
    for number, edit in enumerate(reply.edits, 1):
        if edit.file not in changed:
            return f"edit {number}: there is no file {edit.file!r} that evolves"
        done = replaced(changed[edit.file], edit.search, edit.replace, edit.file)
        if isinstance(done, Misfit):
            return f"edit {number}: {done.reason}"
        changed[edit.file] = done.text
    return {name: as_kept(texts[name], text, name) for name, text in changed.items()}


def fault(request: WriterRequest, reply: WriterReply) -> str:
    """Return why a model's reply makes no program, in words for the model; "" if it does. `failed_idea` reads
    the idea from it."""
    made = applied(reply, request.parent.files)
    if isinstance(made, dict) and (request.may_keep or made != request.parent.files):
        return ""
    why = made if isinstance(made, str) else "it changes nothing: give edits or a whole file"
    return f"your idea ({' '.join(reply.idea.split())[:LONGEST_IDEA]}) was not applied: {why}"


def failed_idea(reason: str) -> tuple[str, str]:
    """Return (reason, idea) of a reply that made no program."""
    found = _FAILED.match(reason)
    return ((found["status"] or "") + found["reason"], found["idea"]) if found else (reason, "")


def prompt_values(request: WriterRequest) -> dict[str, str]:
    """Return the values of the prompt."""
    return _values_of(request, request.best[:1] if combines(request) else ())


def _values_of(request: WriterRequest, with_text: Sequence[Measured]) -> dict[str, str]:
    texts = [against(item.files, request.parent.files, item.name) for item in with_text]
    return {
        "brief": before(request),
        "program": listing(request.parent.files),
        "around": around(request, request.parent, request.best, texts),
        "files": ", ".join(request.parent.files),
    }


def write_group(request: WriterGroupRequest, random: np.random.Generator) -> WriterGroupReply:
    """Return a child for each request, by one of the operators."""
    return WriterGroupReply(programs=[write(item, random) for item in request.requests])


def group_fault(request: WriterGroupRequest, reply: WriterGroupReply) -> str:
    """Return why none of the replies makes a program, or that their number is wrong; "" otherwise. One that
    makes none is asked for again alone."""
    wanted, got = len(request.requests), len(reply.programs)
    if wanted != got:
        return f"`programs` needs {wanted} entries, one for each direction; got {got}"
    faults = [fault(asked, given) for asked, given in zip(request.requests, reply.programs, strict=True)]
    return "" if "" in faults else faults[0]


def group_values(request: WriterGroupRequest) -> dict[str, str]:
    """Return the values of the prompt: what the requests share once, and their directions."""
    first = request.first
    notes = [item.sibling for item in request.requests if item.sibling]
    shared = first.model_copy(update={"sibling": None})
    directions = [f"{place}. {note.direction or 'as you see fit'}" for place, note in enumerate(notes, 1)]
    if notes:
        directions.insert(
            0,
            f"They are {', '.join(str(note.number) for note in notes)} of {notes[0].count} of this "
            "generation.",
        )
    if notes and notes[0].siblings:
        directions += [
            "Others of this generation proposed (do something else):",
            *(f"- {item}" for item in notes[0].siblings[-MOST_SIBLINGS:]),
        ]
    return _values_of(shared, first.best[:1] if any(map(combines, request.requests)) else ()) | {
        "directions": "\n".join(directions)
    }


WRITER = Role("programs_writer", WriterRequest, WriterReply, write, values=prompt_values, fault=fault)
"""A child of a program."""
WRITER_GROUP = Role(
    "programs_writer_group",
    WriterGroupRequest,
    WriterGroupReply,
    write_group,
    values=group_values,
    fault=group_fault,
)
"""Several children of a program."""


class WriterSessionRequest(Briefing):
    """What the session is for, and what it starts from. files: those that evolve, as the parent has them."""

    files: list[str]
    program: str = Field(default="", description="the texts, if they are short: they need no turn to be read")
    parent: Standing
    best: list[Standing] = Field(default_factory=list)


def session_values(request: WriterSessionRequest) -> dict[str, str]:
    """Return the values of the prompt."""
    program = f"# The program\n{fence(request.program, 'program')}" if request.program else ""
    parts = before(request), program, around(request, request.parent, request.best)
    return {"brief": "\n\n".join(filter(None, parts)), "files": ", ".join(request.files)}


class ProgramCard(BaseModel):
    """What the session ends with; its files are the program."""

    model_config = ConfigDict(extra="forbid")
    idea: str = Field(
        max_length=2000, description="what was changed, on what evidence, and what it should improve"
    )


class Check(Arguments):
    """Without arguments."""


class Evaluate(Arguments):
    """Without arguments."""


class RunScript(Arguments):
    script: str = Field(min_length=1, max_length=60_000, description="Python text")


WRITER_SESSION = session_role(
    "programs_writer_session",
    WriterSessionRequest,
    ProgramCard,
    setting="EVOLAKE_PROGRAMS__WRITER",
    values=session_values,
    commands=(
        (
            "check",
            "Say whether the program may be evaluated: only its blocks are changed, it can be read, and "
            "it has no way to the evaluator.",
            Check,
        ),
        (
            "evaluate",
            "Build the program and evaluate it as a candidate is: its score and metrics, or the gate that "
            "blocks it and why.",
            Evaluate,
        ),
        (
            "run",
            "Run a Python script next to the program's files, which it may import, in the sandbox, "
            "without the evaluator and without files: the end of what it prints. It counts as an "
            "evaluation.",
            RunScript,
        ),
    ),
)
"""Change a program in a workspace."""


class ProjectRequest(BaseModel):
    """A wish in words. program, evaluator: of a first draft that was refused. findings: what was wrong with it."""

    wish: str
    program: str = ""
    evaluator: str = ""
    findings: list[str] = Field(default_factory=list)


class ProjectDraft(BaseModel):
    """A project as its author writes it; `cases` and `score` of the evaluator protect the score."""

    model_config = ConfigDict(extra="forbid")
    description: str = Field(min_length=1, max_length=300, description="one sentence: what is optimized")
    program: str
    evaluator: str
    entry: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="function of the program")
    cpu_s: float = Field(gt=0, le=600, description="processor seconds of an evaluation at most")
    repeats: int = Field(default=1, ge=1, le=8, description="seeds of a candidate's evaluations")


def _no_author(request: ProjectRequest, random: np.random.Generator) -> NoReturn:
    raise MachineryError("operators write no project", wanted="the backend model")


AUTHOR = Role("programs_author", ProjectRequest, ProjectDraft, _no_author)
"""A project from a wish in words (`evolake programs new --from-text`)."""
