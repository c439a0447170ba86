"""Who carries out which plan of a cycle: what is submitted is taken as it is, the rest is written by whom
the setting `coder` names, which may be a coding agent of the user's own: a command line that is run on a copy
of the parent's repository, with the task as a file in it.

That command runs on the host, as the user, with the user's network and environment (but evolake's own
variables): that is what the user asks for by setting `EVOLAKE_SOLVERS__CODER=command:...`, and nothing else
starts it. What it leaves is a tree that is not trusted: only its sources are read, as a diff against the
parent, and the variant is built and judged in the jail as any other.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evolake.agents import Agents
from evolake.agents.coding_agent import LONGEST_OUTPUT, TASK, ended_badly, run_command, words_of
from evolake.agents.fences import as_text, cap, clean
from evolake.agents.session_roles import require_model
from evolake.lake.blobs import BlobStore
from evolake.scratch import Scratch
from evolake.settings import Settings
from evolake.solvers.evolution.authors import (
    Authored,
    Commission,
    SubmissionAuthor,
    is_submitted,
    reference_files,
    references_of,
    taken_tree,
)
from evolake.solvers.evolution.coder_turn import WhoElse, second_of
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.roles.coder import CODER_SESSION
from evolake.solvers.roles.models import RESEARCH_GOAL, SHORT_ID, CodeReply
from evolake.solvers.settings import SolversSettings

SETTING, PREFIX = "EVOLAKE_SOLVERS__CODER", "command:"
NOTES = "CHANGELOG.md"
LONGEST_CHANGELOG = 6_000


@dataclass
class CommandAuthor:
    """Runs the command once for each plan. runs: rows of CODER_RUNS so far."""

    words: tuple[str, ...]
    timeout_s: float
    blobs: BlobStore
    cycle: str
    origin: str = "command"
    runs: list[dict[str, Any]] = field(default_factory=list)

    def write(self, commission: Commission) -> Authored:
        """Return what it left, as a diff. A command that fails, hangs or changes nothing leaves its plan
        without a variant, and a row."""
        parent = commission.parents[0]
        with Scratch("coder", ignore_cleanup_errors=True) as place:
            folder = Path(place) / "workspace"
            shutil.copytree(parent.folder, folder)
            notes = (folder / NOTES).read_bytes() if (folder / NOTES).is_file() else b""
            (folder / TASK).write_text(task_text(commission))
            _lend(folder, commission)
            code, wall_s, output = run_command(self.words, folder, Path(place) / "output", self.timeout_s)
            diff, left, problem = (
                taken_tree(folder, parent, commission.base)
                if code == 0
                else ("", (), ended_badly(code, self.timeout_s))
            )
            changelog = (
                _changelog(folder / NOTES, notes)
                or "Written by a command of the user's own, without a word on it."
            )
        row = {
            "plan_id": commission.plan["plan_id"],
            "cycle": self.cycle,
            "program": Path(self.words[0]).name,
            "exit_code": code,
            "wall_s": wall_s,
            "output_sha": self.blobs.put(output),
            "variant_id": None,
            "reason": problem or None,
        }
        self.runs.append(row)
        if problem:
            return Authored(None, problem, left)
        title = " ".join(clean(commission.plan["hypothesis"]).split())[:60]
        return Authored(
            CodeReply(title=title, changelog=changelog, diff=diff),
            dropped=left,
            made=lambda variant_id: row.update(variant_id=variant_id),
        )


def _lend(folder: Path, commission: Commission) -> None:
    """Lays the sources of the other seeds next to those of the parent, to be read: nothing below `reference/`
    is taken."""
    for name, text in reference_files(commission).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        path.chmod(0o444)


def task_text(commission: Commission) -> str:
    """Return the task as the command reads it."""
    plan, parents, base = commission.plan, commission.parents, commission.base
    second, tried = (
        second_of(commission),
        as_text([item.model_dump(mode="json") for item in commission.tried]) if commission.tried else "",
    )
    parts = {
        "Goal": RESEARCH_GOAL,
        "The change to make": f"{plan['hypothesis']}\n\n{plan['instructions']}",
        "The solver": (
            f"It descends from {base.name}; the variant is {parents[0].variant_id[:SHORT_ID]} "
            f"({parents[0].title})."
        ),
        "What the second parent changed in its published solver": second.get("second_parent_diff", ""),
        "Its published solver, where that is another code base: carry its idea over": second.get(
            "second_base", ""
        ),
        "Other solvers, to be read": "\n".join(f"- {place}/" for place in sorted(references_of(commission))),
        "Files that may be changed": "\n".join(f"- {pattern}" for pattern in base.adapter.may_change),
        "How it will be measured": "\n".join(f"- {line}" for line in commission.facts.conditions),
        "Contests of the parent": "\n".join(commission.change()["contests"]),
        "What is known": "\n\n".join(commission.knowledge),
        "What the plans before this one in this cycle came to": tried,
        "Rules that block a variant": "\n".join(
            f"- {rule}" for rule in commission.long_rules or commission.rules
        ),
        "Task": (
            "Change the sources in this folder. Every clause that is learnt, shortened or deleted must "
            "reach the proof as it does now. Write what "
            f"you changed and why into {NOTES}. What you leave in the source files is taken, built from "
            "scratch in a jail and checked; other files "
            "are not."
        ),
    }
    return "\n\n".join(f"# {title}\n{text}" for title, text in parts.items() if text) + "\n"


def _changelog(path: Path, before: bytes) -> str:
    """Return what it wrote into the changelog; "" where that is as it was, or no file."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > 10 * LONGEST_OUTPUT:
        return ""
    data = path.read_bytes()
    return (
        "" if data == before else cap(clean(data.decode("utf-8", "replace")), LONGEST_CHANGELOG - 100).strip()
    )


@dataclass(frozen=True)
class Coding:
    """author: plan -> who carries it out; None: the roles of the coder. runs: gives rows of CODER_RUNS, once
    all is done."""

    author: WhoElse
    runs: Callable[[], list[dict[str, Any]]]


def check_coder(settings: Settings) -> None:
    """Raise InputError where the setting `coder` cannot be followed; makes nothing."""
    coder = settings.of(SolversSettings).coder
    require_model("a coder", CODER_SESSION, coder, settings.backend)
    if coder.startswith(PREFIX):
        words_of(coder, SETTING, PREFIX)


@contextmanager
def coding(settings: Settings, agents: Agents, workspace: Workspace, cycle: str) -> Generator[Coding]:
    """Open what the coder of these settings needs.

    Raises:
        InputError: as `check_coder`. JailUnavailable: a session's tools have no jail.
    """
    check_coder(settings)
    own, submitted = settings.of(SolversSettings), SubmissionAuthor(workspace.blobs)
    if own.coder == "session":
        from evolake.jail import open_pool
        from evolake.solvers.evolution.coder_session import SessionAuthor, Shop

        shop = Shop(
            workspace.blobs,
            workspace.cache,
            workspace.limits,
            lambda: workspace.suite("smoke"),
            workspace.trial_suite,
            cycle,
        )
        with open_pool(workers=1, preload=()) as pool:
            session = SessionAuthor(agents, pool.call, shop)
            yield Coding(lambda plan: submitted if is_submitted(plan) else session, list)
        return
    command = None
    if own.coder.startswith(PREFIX):
        command = CommandAuthor(
            words_of(own.coder, SETTING, PREFIX), own.coder_timeout_s, workspace.blobs, cycle
        )
    yield Coding(
        lambda plan: submitted if is_submitted(plan) else command, lambda: command.runs if command else []
    )
