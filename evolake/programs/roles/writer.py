"""Who writes a program from its parents: a model by search-and-replace edits or whole files, or the operators
of `evolake.programs.search`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from evolake.agents.attempts import LONGEST_IDEA, MOST_SIBLINGS
from evolake.agents.roles import Role
from evolake.programs.model.blocks import as_kept
from evolake.programs.roles.brief import Briefing, Standing, against, combines, listing, sections
from evolake.programs.search.numbers import Relative
from evolake.programs.search.proposing import Background, child_of
from evolake.programs.search.trials import Trial, Trials
from evolake.text_edits import Misfit, replaced

_FAILED = re.compile(
    r"(?P<status>\w+: )?your idea \((?P<idea>.*?)\) was not applied: (?P<reason>.*)", re.DOTALL
)
NOTHING = "nothing"
"""Operator of a reply that changes nothing: the operators found nothing to change."""


class Measured(Standing):
    """A program with its texts and what it scored."""

    files: dict[str, str]


class TriedProgram(BaseModel):
    """A program that the search has tried, as `evolake.programs.search.trials.Trial` describes it."""

    files: dict[str, str]
    score: float | None = None
    operator: str = ""
    parent: int | None = None
    twin_score: float | None = None


class WriterRequest(Briefing):
    """A parent, and what is known around it. may_keep: whether a reply may change nothing. From `other` on it is for operators alone; models are not
    shown it."""

    parent: Measured
    best: list[Measured] = Field(default_factory=list)
    may_keep: bool = False
    other: dict[str, str] | None = None
    relatives: list[dict[str, str]] = Field(default_factory=list)
    scores: list[float] = Field(default_factory=list, description="of the relatives")
    maximize: bool = True
    trials: list[TriedProgram] = Field(
        default_factory=list, description="what the search has tried, in order"
    )
    place: int | None = Field(default=None, description="of the parent among the trials")
    numbers_only: bool = Field(
        default=False, description="whether only numbers of the parent are to be changed"
    )


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
    relatives = [
        Relative(texts, score) for texts, score in zip(request.relatives, request.scores, strict=True)
    ]
    trials = trials_of(request.trials, maximize=request.maximize)
    around = Background(trials, request.place, request.other, relatives, request.numbers_only)
    child = child_of(Relative(request.parent.files, request.parent.score), around, random)
    if child is None:
        return WriterReply(operator=NOTHING)
    changed = {name: text for name, text in child.texts.items() if text != request.parent.files[name]}
    return WriterReply(whole=changed, operator=child.operator)


def trials_of(programs: Iterable[TriedProgram], *, maximize: bool) -> Trials:
    """Return programs that were tried as the operators read them."""
    return Trials(
        [Trial(item.files, item.score, item.operator, item.parent, item.twin_score) for item in programs],
        maximize,
    )


def applied(reply: WriterReply, texts: Mapping[str, str]) -> dict[str, str] | str:
    """Return the parent's texts after a reply, or why it cannot be applied: a fact about the reply.

    Edits are looked for whatever the line ends; those of the parent, and its byte order mark, stay (see
    `blocks.as_kept`).
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
        "brief": sections(request, request.parent, request.best, texts),
        "program": listing(request.parent.files),
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
