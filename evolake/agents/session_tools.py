"""The files and tools of a session: text in memory, held to what may be changed, and what running a tool
comes to. No file of the host is opened by a name that an agent gave.

Files are looked at and changed in the jail (`evolake.jail.file_tools`). What comes back is checked here
before the workspace takes it: only plain paths that the caller lets be edited, and sizes within bounds. A
command is declared by the caller and runs on a copy of the workspace, which is thrown away: what a session
leaves is its edits and nothing else. What goes wrong is a `Result` with a fault, in words for the agent; only
our own machinery raises.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evolake.agents.fences import cap, clean
from evolake.errors import InputError
from evolake.jail import Limits, Outcome
from evolake.jail.file_tools import MOST_LINES
from evolake.jail.patience import patiently, starved
from evolake.jail.protocol import plain_name
from evolake.scratch import Scratch

LONGEST_FILE = 2_000_000
LARGEST = 64_000_000
"""Characters of one file, and of all."""
LONGEST_NAME = 200


class Outside(Exception):
    """A change that the workspace does not take; the text says why."""


@dataclass
class Workspace:
    """files: path -> text, all that the agent sees; bytes that are no UTF-8 are lone surrogates. editable:
    whether a path may be written."""

    files: dict[str, str]
    editable: Callable[[str], bool]
    original: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.original = dict(self.files)

    @classmethod
    def of_folder(cls, folder: Path, names: Iterable[str], editable: Callable[[str], bool]) -> Workspace:
        """Return the named files of a folder, paths relative to it."""
        return cls(
            {name: (folder / name).read_bytes().decode("utf-8", "surrogateescape") for name in sorted(names)},
            editable,
        )

    @property
    def sha(self) -> str:
        """sha256 (hex) of all paths and texts."""
        digest = hashlib.sha256()
        for name, text in sorted(self.files.items()):
            data = _bytes(text)
            digest.update(f"{len(name)} {name} {len(data)}\n".encode("utf-8", "surrogateescape"))
            digest.update(data)
        return digest.hexdigest()

    @property
    def changed(self) -> dict[str, str | None]:
        """Return path -> what it holds now where that is not what it held; None for one that is gone."""
        names = sorted(set(self.files) | set(self.original))
        return {
            name: self.files.get(name) for name in names if self.files.get(name) != self.original.get(name)
        }

    def take(self, changes: Mapping[str, str | None]) -> None:
        """Make the changes, all or none. Raises Outside where one may not be made."""
        for path, text in changes.items():
            self._check(path, text)
        after = {name: text for name, text in (self.files | dict(changes)).items() if text is not None}
        if sum(map(len, after.values())) > LARGEST:
            raise Outside(f"the workspace would hold more than {LARGEST} characters")
        if clash := next(
            (
                name
                for name in changes
                if name in after and any(other.startswith(f"{name}/") for other in after)
            ),
            None,
        ):
            raise Outside(f"{clash} is a folder")
        if clash := next(
            (
                name
                for name in after
                if name not in self.files and any(part in after for part in _above(name))
            ),
            None,
        ):
            raise Outside(f"a folder of {clash} is a file")
        self.files = after

    def may_edit(self, path: str) -> bool:
        """Return whether a path is plain and may be written."""
        try:
            short = (
                all(len(part.encode()) <= LONGEST_NAME for part in path.split("/"))
                and len(path) <= 4 * LONGEST_NAME
            )
            return short and plain_name(path) == path and path.isprintable() and self.editable(path)
        except (InputError, UnicodeEncodeError):
            return False

    def lay_out(self, parent: Path | None, folder: Path) -> None:
        """Write a copy of `parent` at `folder`, which must not exist, with the changes made in it; without a
        parent, all files.

        Raises:
            InputError: a link is where a file would be written.
        """
        if parent is None:
            folder.mkdir()
        else:
            shutil.copytree(parent, folder, symlinks=True)
        for name, text in (self.files if parent is None else self.changed).items():
            path = folder / plain_name(name)
            if path.is_symlink() or any(folder.joinpath(part).is_symlink() for part in _above(name)):
                raise InputError(
                    f"{name} cannot be written: a link is in its place", do="take a tree without links"
                )
            if text is None:
                path.unlink(missing_ok=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_bytes(text))

    def _check(self, path: str, text: str | None) -> None:
        if not self.may_edit(path):
            raise Outside(f"{path!r} may not be changed: it is outside of what may be edited")
        if text is not None and len(text) > LONGEST_FILE:
            raise Outside(f"{path} would have more than {LONGEST_FILE} characters")


def well_formed(text: str) -> str:
    """Return the text as UTF-8 can hold it; what is none is a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _above(name: str) -> list[str]:
    """Return the folders that a path is in."""
    return [str(parent) for parent in Path(name).parents][:-1]


def _bytes(text: str) -> bytes:
    """Return the file of a text; what an agent wrote may hold surrogates that no byte stands for."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


LONGEST_RESULT = 12_000
"""Characters of a result that the agent is shown; what is cut is marked."""
DRIVER = "evolake.jail.file_tools:act"
JAIL_LIMITS = Limits(cpu_s=5, wall_s=20, memory_mb=1024, output_bytes=80_000_000)
FINISH, WITHDRAW = "finish", "withdraw"


class Arguments(BaseModel):
    """What a tool is called with."""

    model_config = ConfigDict(extra="forbid")


class _Listed(Arguments):
    path: str = Field(default="", description="a folder, or a file; empty for all")


class _Read(Arguments):
    path: str
    first_line: int = Field(default=1, ge=1)
    last_line: int | None = Field(
        default=None, ge=1, description=f"at most {MOST_LINES} lines are shown at once"
    )


class _Grep(Arguments):
    pattern: str = Field(description="a regular expression of Python", max_length=1000)
    path: str = Field(default="", description="the folder or file to look in; empty for all")


class _Edit(Arguments):
    path: str
    search: str = Field(
        min_length=1,
        description=(
            "text that stands in the file exactly once, character for character, line ends and tabs included"
        ),
    )
    replace: str


class _Write(Arguments):
    path: str
    text: str


class _Delete(Arguments):
    path: str


class Withdrawal(Arguments):
    """What `withdraw` is called with."""

    reason: str = Field(
        min_length=1, max_length=4000, description="what was tried, what it gave, and why nothing is proposed"
    )


FILE_TOOLS: Mapping[str, tuple[str, type[Arguments]]] = {
    "list_files": ("List the files with their numbers of lines.", _Listed),
    "read_file": ("Read lines of a file; their numbers are put in front.", _Read),
    "grep": ("Find the lines that match a pattern.", _Grep),
    "edit_file": ("Replace a text that stands in a file exactly once.", _Edit),
    "write_file": ("Write a whole file, new or in place of what is there.", _Write),
    "delete_file": ("Delete a file.", _Delete),
}
CHANGING = ("edit_file", "write_file", "delete_file")


@dataclass(frozen=True)
class CommandReport:
    """What a command says, and rows that the caller keeps of it; both are recorded, so that a replay gives
    the same rows."""

    text: str
    rows: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Command:
    """A command that a session may run on a copy of its workspace, in the jail.

    Attributes:
        run: (folder of the copy, arguments) -> what it says, or a report with rows. What the candidate does
            wrong is said; what it raises is ours.
    """

    name: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Path, Any], str | CommandReport]


@dataclass(frozen=True)
class Result:
    """What a call of a tool came to.

    Attributes:
        text: for the agent. fault: "" or its kind: unknown_tool, bad_call, outside, failed, unusable.
        finished: the reply, of a call of `finish`. withdrawn: the reason, of a call of `withdraw`. wall_s:
            seconds that a command took.
    """

    tool: str
    text: str
    fault: str = ""
    finished: BaseModel | None = None
    withdrawn: str = ""
    wall_s: float = 0.0


CommandSpec = tuple[str, str, type[Arguments]]
"""Name, description and arguments of a command, as a role offers it."""
Call = Callable[[str, str, Any, Limits], Outcome]
"""What `Pool.call` is."""
Remember = Callable[[Callable[[], dict[str, Any]]], dict[str, Any]]
"""Gives the record of a command: the one that is kept, else a new one, made and kept."""


@dataclass(frozen=True)
class SessionContext:
    """What a session works with.

    workspace: its files. parent: the folder that they were read from, of which commands get a copy with the
    changes; None if there is no other file. finish: what its last call says. finish_fault: why files and last
    call together are no reply, "" if they are one; a function of the two alone. call: the jail. commands: by
    name. reference: makes the files that may be read next to those of the workspace, path -> text; their
    paths begin with one folder that the workspace has not, and a listing or a search sees them only when it
    is asked for that. keep: takes the rows of each command, new or recorded. must_change: whether `finish`
    with the files unchanged is a withdrawal: no gain was found.
    """

    workspace: Workspace
    parent: Path | None
    finish: type[BaseModel]
    call: Call
    commands: Mapping[str, Command] = field(default_factory=dict)
    reference: Callable[[], Mapping[str, str]] = dict
    finish_fault: Callable[[Any], str] = lambda said: ""
    keep: Callable[[Sequence[Mapping[str, Any]]], None] = lambda rows: None
    must_change: bool = False

    @cached_property
    def references(self) -> Mapping[str, str]:
        """Those files, without any that the workspace began with."""
        return {name: text for name, text in self.reference().items() if name not in self.workspace.original}


def offered(commands: Sequence[CommandSpec], finish: type[BaseModel]) -> tuple[dict[str, Any], ...]:
    """Return the tools of a role that is a session, as it offers them. finish: what its last call says."""
    named = [(name, *summary) for name, summary in FILE_TOOLS.items()]
    ends = (
        (FINISH, "End the session: the files as they are now are your result.", finish),
        (
            WITHDRAW,
            "End the session without a result, because no gain was found. This is a valid outcome and no "
            "failure.",
            Withdrawal,
        ),
    )
    return tuple(
        {"name": name, "description": description, "parameters": model.model_json_schema()}
        for name, description, model in (*named, *commands, *ends)
    )


NO_GAIN = "no gain found: the files are unchanged"


def run_tool(context: SessionContext, name: str, arguments: Any, remember: Remember) -> Result:
    """Make one call of a tool. remember: how what a command says is kept.

    Raises:
        MachineryError: the jail, a compiler or a checker failed.
    """
    models: dict[str, type[BaseModel]] = {tool: model for tool, (_, model) in FILE_TOOLS.items()}
    models |= {item: command.arguments for item, command in context.commands.items()} | {
        FINISH: context.finish,
        WITHDRAW: Withdrawal,
    }
    if name not in models:
        return Result(
            clean(name)[:60],
            f"There is no tool of this name. There are: {', '.join(models)}.",
            "unknown_tool",
        )
    if not isinstance(arguments, Mapping):
        return Result(name, "The arguments are no JSON object.", "bad_call")
    try:
        given = models[name].model_validate(arguments)
    except (ValidationError, RecursionError) as error:
        return Result(name, f"The arguments cannot be used: {_explained(error)}", "bad_call")
    if isinstance(given, Withdrawal):
        return Result(name, "The session has ended without a result.", withdrawn=clean(given.reason))
    if name == FINISH and context.must_change and not context.workspace.changed:
        return Result(name, f"The session has ended: {NO_GAIN}.", withdrawn=NO_GAIN)
    if name == FINISH:
        if wrong := context.finish_fault(given):
            text = (
                f"The session is not finished, because its files are no reply: {wrong}. Correct that and "
                "call `finish` again, or call `withdraw`."
            )
            return Result(name, shown(text), "unusable")
        return Result(name, "The session is finished.", finished=given)
    if name in context.commands:
        record = remember(lambda: _command(context, context.commands[name], given))
        context.keep(record.get("rows", ()))
        return Result(name, record["text"], wall_s=record["wall_s"])
    return _on_files(context, name, given.model_dump())


def shown(text: str, limit: int = LONGEST_RESULT) -> str:
    """Return a result as the agent sees it: clean, and cut with a note."""
    return cap(clean(text), limit) or "(nothing)"


def _command(context: SessionContext, command: Command, arguments: Any) -> dict[str, Any]:
    began = monotonic()
    with Scratch("session") as parent:
        folder = Path(parent) / "work"
        context.workspace.lay_out(context.parent, folder)
        said = command.run(folder, arguments)
    report = CommandReport(said) if isinstance(said, str) else said
    rows = {"rows": [dict(row) for row in report.rows]} if report.rows else {}
    return {"text": shown(report.text), "wall_s": round(monotonic() - began, 3), **rows}


def _on_files(context: SessionContext, name: str, arguments: dict[str, Any]) -> Result:
    files, path = context.workspace.files, str(arguments["path"])
    if name in CHANGING and not context.workspace.may_edit(path):
        return Result(
            name,
            f"{shown(path, 200)!r} may not be changed: it lies outside of what may be edited.",
            "outside",
        )
    if name not in CHANGING and (others := _others_with(context, path)):
        files = others
    if name in ("list_files", "grep"):
        seen = files
    elif path in files:
        seen = {path: files[path]}
    else:
        seen = {}
    payload = {"files": seen, "arguments": arguments}
    outcome = patiently(
        lambda stretch: context.call(DRIVER, name, payload, replace(JAIL_LIMITS, stretch=stretch)),
        starved,
        f"the tool {name} of a session",
    )
    if outcome.status != "ok":
        return Result(
            name, f"It could not be done within its limits: {outcome.status}. Ask for less.", "failed"
        )
    reply = outcome.value
    if not _well_formed(reply):
        return Result(name, "It could not be done.", "failed")
    if reply["fault"]:
        return Result(name, shown(reply["fault"]), "failed")
    try:
        context.workspace.take(reply["changed"] if name in CHANGING else {})
    except Outside as error:
        return Result(name, str(error), "outside")
    return Result(name, shown(reply["text"]))


def _others_with(context: SessionContext, path: str) -> Mapping[str, str]:
    """Return the files below a path that are there to be read next to the workspace's; none where the
    workspace has some there."""
    folder = path.removeprefix("./").strip("/")
    if not folder or any(_below(name, folder) for name in context.workspace.files):
        return {}
    return {name: text for name, text in context.references.items() if _below(name, folder)}


def _below(name: str, folder: str) -> bool:
    return name == folder or name.startswith(f"{folder}/")


def _well_formed(reply: Any) -> bool:
    """Return whether what came out of the jail has the form of a reply of the driver."""
    if not isinstance(reply, dict) or set(reply) != {"text", "changed", "fault"}:
        return False
    changed = reply["changed"]
    texts = isinstance(reply["text"], str) and isinstance(reply["fault"], str)
    return (
        texts
        and isinstance(changed, dict)
        and all(value is None or isinstance(value, str) for value in changed.values())
    )


def _explained(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return "they are nested too deeply"
    faults = error.errors(include_url=False, include_context=False)[:5]
    report = [f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}" for fault in faults]
    return shown("; ".join(report), 600)
