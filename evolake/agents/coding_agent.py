"""A coding agent of the user's own, a command line, that writes what a session would write.

It runs on the host, as the user, with the user's network and environment but evolake's own variables: the
user asks for that by `EVOLAKE_AGENTS__COMMAND`, and `WARNING` says it when a run starts. What it leaves is
not trusted: only files that the session may edit are taken, as texts, and are then judged in the jail like
any other proposal. What it costs is unknown: its rows have no tokens and no price.

A command is run once: what it left is kept in the call cache's folder, so a re-run replays it.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from evolake.agents.calls import AgentCall, Usage, status_words
from evolake.agents.prompts import build_messages, schema_text, session_rule
from evolake.agents.roles import AgentFailure, Backend, Job, Record
from evolake.agents.session import SessionRecords
from evolake.agents.session_tools import LONGEST_FILE, NO_GAIN, Outside, SessionContext, Workspace
from evolake.canonical_json import key_of
from evolake.errors import InputError
from evolake.scratch import Scratch
from evolake.settings import SessionSettings

TASK, CARD = "TASK.md", "FINISH.json"
MOST_FILES, DEEPEST = 10_000, 32
LONGEST_OUTPUT = 200_000
SETTING = "EVOLAKE_AGENTS__COMMAND"
WARNING = (
    "{setting}: {program} runs OUTSIDE of the jail, as you, with your files and your network. What it writes "
    "is judged in the jail. What it costs is not known here."
)


def words_of(text: str, setting: str, prefix: str = "") -> tuple[str, ...]:
    """Return the words of a command line that a setting has behind a prefix.

    Raises:
        InputError: it is none, or names no program.
    """
    try:
        words = tuple(shlex.split(text.removeprefix(prefix)))
    except ValueError as error:
        raise InputError(
            f"{setting} cannot be used",
            wanted=f"{prefix}PROGRAM ARGUMENTS",
            got=str(error),
            do="close its quotes",
        ) from None
    if not words or shutil.which(words[0]) is None:
        raise InputError(
            f"{setting} names no program",
            wanted="one on PATH, or its path",
            got=repr(words[0]) if words else "no program",
            do="install it, or name another",
        )
    return words


def run_command(
    words: tuple[str, ...], folder: Path, log: Path, timeout_s: float
) -> tuple[int | None, float, bytes]:
    """Return exit code (None: it was ended at the limit, or could not be started), seconds, and the end of
    what it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EVOLAKE_")} | {
        "EVOLAKE_TASK": str(folder / TASK)
    }
    began = time.monotonic()
    code: int | None = None
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                words,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            output.write(f"it could not be started: {error}".encode())
        else:
            try:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    code = process.wait(timeout_s)
            finally:
                with contextlib.suppress(ProcessLookupError):  # what it left running too
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LONGEST_OUTPUT))
        return code, round(time.monotonic() - began, 3), file.read()


def ended_badly(code: int | None, timeout_s: float) -> str:
    """Return why a command that ended with this code left nothing, "" if it ended well."""
    if code is None:
        return f"the command did not end within {timeout_s:g} s, or could not be started"
    return f"the command ended with exit code {code}" if code else ""


@dataclass
class CodingAgent:
    """The backend whose sessions are held by a command. inner: serves all other roles."""

    words: tuple[str, ...]
    timeout_s: float
    records: SessionRecords
    cycle: str
    inner: Backend
    name: str = "command"

    def __post_init__(self) -> None:
        self.threads, self.ask, self.warm, self.close = (
            self.inner.threads,
            self.inner.ask,
            self.inner.warm,
            self.inner.close,
        )

    def hold(self, job: Job[Any, Any], context: SessionContext, record: Record) -> BaseModel | AgentFailure:
        """Return what the command wrote into `FINISH.json`, with the files of `context` as it left them; an
        AgentFailure if it left nothing that can be used."""
        task = task_text(job, context)
        name = key_of([self.words, job.role.name, task, context.workspace.sha, job.seed, job.attempt])
        kept = self.records.read(f"command\x1f{name}")
        done = kept or self.records.write(f"command\x1f{name}", self._run(task, context))
        status, said = _outcome(done, context)
        row = AgentCall(
            call_id=name,
            artifact_id=job.artifact_id,
            cycle=self.cycle,
            role=job.role.name,
            backend=self.name,
            model=Path(self.words[0]).name,
            prompt_sha=key_of(task),
            response_sha=key_of(done),
            input_tokens=None,
            cached_tokens=None,
            output_tokens=None,
            usd=None,
            latency_s=0.0 if kept else done["wall_s"],
            attempt=10 * job.attempt,
            status=status_words(status, replayed=kept is not None, usage_known=False),
            reason=said if isinstance(said, str) else None,
        )
        record(row, Usage(0 if kept else 1))
        return AgentFailure(job.role.name, status, said, 1) if isinstance(said, str) else said

    def _run(self, task: str, context: SessionContext) -> dict[str, Any]:
        with Scratch("coding-agent", ignore_cleanup_errors=True) as place:
            folder = Path(place) / "workspace"
            context.workspace.lay_out(context.parent, folder)
            for path, text in context.references.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(text.encode("utf-8", "surrogateescape"))
            (folder / TASK).write_text(task)
            code, wall_s, output = run_command(self.words, folder, Path(place) / "output", self.timeout_s)
            done = {
                "problem": ended_badly(code, self.timeout_s) or odd_file(folder, context.workspace),
                "wall_s": wall_s,
                "changes": left_in(folder, context.workspace),
                "card": _text_at(folder, CARD),
                "output": output.decode("utf-8", "replace")[-4_000:],
            }
            # by a program of the system: Python's own way recurses, and fails on many nested folders
            subprocess.run(["rm", "-rf", "--", str(folder)], check=False, stderr=subprocess.DEVNULL)
            return done


def task_text(job: Job[Any, Any], context: SessionContext) -> str:
    """Return the task as the command reads it: the role's prompt, and how its result is taken."""
    system, user = (message["content"] for message in build_messages(job.role, job.request))
    return "\n\n".join(
        [
            system.removesuffix(session_rule(SessionSettings())).strip(),
            user,
            "# How your result is taken\nYou work in this folder with tools of your own; those named above "
            "are not here. Change the files. What you leave in those that may be changed is your result, and "
            "nothing else is taken; it is evaluated afterwards. If you find nothing better, change nothing. "
            f"At the end write {CARD}: one JSON object that fits this schema:\n"
            f"{schema_text(context.finish.model_json_schema())}\n",
        ]
    )


def left_in(folder: Path, workspace: Workspace) -> dict[str, str | None]:
    """Return path -> text of the files that may be edited and were changed; None for one that is gone. Links
    and files that are too large are not read."""
    names = {name for name in [*workspace.files, *_names_in(folder)] if os.path.lexists(folder / name)}
    found = {name: _text_at(folder, name) for name in names if workspace.may_edit(name)}
    changes: dict[str, str | None] = {
        name: text for name, text in found.items() if text is not None and text != workspace.files.get(name)
    }
    gone = {name: None for name in workspace.files if workspace.may_edit(name) and name not in names}
    return changes | gone


def odd_file(folder: Path, workspace: Workspace) -> str:
    """Return why a file that was given cannot be read any more; "" if each can, or is gone."""
    for name in workspace.files:
        if workspace.may_edit(name) and os.path.lexists(folder / name) and _text_at(folder, name) is None:
            return f"{name} is a link, no ordinary file, or too large to be read"
    return ""


def _names_in(folder: Path) -> list[str]:
    """Return the first `MOST_FILES` files, none below `DEEPEST` folders."""
    names: list[str] = []
    for place, folders, files in os.walk(folder):
        inside = Path(place).relative_to(folder)
        folders[:] = sorted(folders) if len(inside.parts) < DEEPEST else []
        names += [(inside / name).as_posix() for name in sorted(files)]
        if len(names) > MOST_FILES:
            break
    return names[:MOST_FILES]


def _text_at(folder: Path, name: str) -> str | None:
    """Return the text of an ordinary file that no link leads to; None if it is none."""
    path = folder / name
    inside = path.resolve() == folder.resolve() / name
    if not inside or not path.is_file() or path.stat().st_size > LONGEST_FILE:
        return None
    return path.read_bytes().decode("utf-8", "replace")


def _outcome(done: Mapping[str, Any], context: SessionContext) -> tuple[str, BaseModel | str]:
    """Return the status of what a command left, and the card or why there is none."""
    if done["problem"]:
        return "unusable", f"{done['problem']}: {done['output'][-300:]}"
    try:
        context.workspace.take(done["changes"])
    except Outside as error:
        return "outside", str(error)
    if context.must_change and not context.workspace.changed:
        return "withdrawn", NO_GAIN
    try:
        card = context.finish.model_validate_json(done["card"] or "")
    except ValidationError as error:
        return "invalid", f"{CARD}: {error.errors()[0]['msg']}"
    fault = context.finish_fault(card)
    return ("unusable", fault) if fault else ("ok", card)
