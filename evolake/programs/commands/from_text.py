"""A project from a wish in words: a model writes program, evaluator and limits. What it wrote is checked as
any project is, and audited, before it is accepted. Its text runs in the jail alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from evolake import settings as settings_module
from evolake.agents import AgentFailure, check_backend, open_agents
from evolake.errors import InputError
from evolake.jail.protocol import one_line
from evolake.programs.audit.auditing import Asked, Subject, audit
from evolake.programs.evolution.checking import check_project
from evolake.programs.model.project import EVALUATOR, TOML, project_of
from evolake.programs.roles import AUTHOR, ProjectDraft, ProjectRequest
from evolake.programs.settings import ProgramsSettings
from evolake.reading import TEXT_BYTES, read_bytes

if TYPE_CHECKING:
    from evolake.settings import Settings

LINE, CYCLE = "programs", "0000"
PROGRAM, FINDINGS = "initial_program.py", "findings.txt"
DRAFTS = 2
"""A first one, and one more that is sent what was found of the first."""
RUNS = 2
"""Evaluations of the initial program under one seed, by each of two evaluators."""
LONGEST_WISH, LONGEST_FINDING = 8_000, 600
"""Characters."""


@dataclass(frozen=True)
class Written:
    """What a model wrote. files: of the last draft; none if it wrote none. lines: what the checks measured.
    findings: why it is refused; none if it is accepted."""

    files: Mapping[str, str]
    lines: tuple[str, ...]
    findings: tuple[str, ...]


def wish_in(given: str) -> str:
    """Return the wish that was typed, or that is in the file that was named.

    Raises:
        InputError: there is no text, it is too long, or the file is no text in UTF-8.
    """
    text = given
    if len(given) < 256 and "\n" not in given and Path(given).is_file():
        try:
            text = read_bytes(Path(given), TEXT_BYTES).decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"--from-text: {given} is no text in UTF-8", do="name a file of text") from None
    if not text.strip() or len(text) > LONGEST_WISH:
        raise InputError(
            "--from-text has no wish that can be sent",
            wanted=f"a sentence or the file of a text, up to {LONGEST_WISH:,} characters",
            got=f"{len(text):,} characters" if text.strip() else "nothing",
        )
    return text.strip()


def project_from_text(name: str, wish: str) -> Written:
    """Have a model write the project of a wish, and check it.

    Raises:
        InputError: no model is configured, or no audit is wanted.
        HostBusy: the machine is too busy to evaluate anything.
    """
    settings = settings_module.load(backend="model")
    own = settings.of(ProgramsSettings)
    other = "or write program and score yourself: --from-function FILE.py:NAME --score FILE.py:NAME"
    if not own.audit_s:
        raise InputError(
            "a project that a model wrote is audited before it is accepted",
            wanted="EVOLAKE_PROGRAMS__AUDIT_S above 0",
            got="0",
            do=f"set it, {other}",
        )
    try:
        check_backend(settings)
    except InputError as error:
        raise InputError(
            f"--from-text asks a model, and {error.what}",
            wanted=error.wanted,
            got=error.got,
            do=f"set what is missing, {other}",
        ) from None
    request, files, findings = ProjectRequest(wish=wish), dict[str, str](), list[str]()
    run = f"new-{uuid4().hex[:12]}"
    with open_agents(settings, settings.require_lake(), CYCLE, run, line=LINE) as agents:
        for number in range(DRAFTS):
            reply = agents.call(AUTHOR, request, seed=0, attempt=number).value
            if isinstance(reply, AgentFailure):
                return Written(files, (), (*findings, f"no project was written: {reply.reason}"))
            files = files_of(reply)
            lines, findings = examined(name, files, own, settings)
            if not findings:
                return Written(files, tuple(lines), ())
            request = ProjectRequest(
                wish=wish, program=reply.program, evaluator=reply.evaluator, findings=findings
            )
    return Written(files, (), tuple(findings))


def files_of(draft: ProjectDraft) -> dict[str, str]:
    """Return name -> text of the project that a draft describes. The score is protected: program and
    evaluator run in separate jails."""
    toml = (
        f"description = {json.dumps(draft.description)}\n\n"
        f"[program]\nentry = {json.dumps(draft.entry)}\n\n"
        f'[evaluator]\nmode = "separate"\ncpu_s = {draft.cpu_s:g}\nrepeats = {draft.repeats}\n\n'
        '[metrics]\ncombined_score = "max"\n'
    )
    return {PROGRAM: draft.program, EVALUATOR: draft.evaluator, TOML: toml}


def examined(
    name: str, files: Mapping[str, str], own: ProgramsSettings, settings: Settings
) -> tuple[list[str], list[str]]:
    """Return (what was measured, what is wrong), in lines: the checks of any new project, two evaluations
    that agree, and an audit of the evaluator."""
    try:
        data = {path: text.encode("utf-8") for path, text in files.items()}
        project = project_of(name, data)
        checked = check_project(project, own, settings, RUNS, name)
        if not checked.clean:
            return [], [one_line(" ".join(checked.lines()), LONGEST_FINDING)]
        # a second evaluator: one of them draws the cases of a seed once
        again = check_project(project, own, settings, RUNS, name)
        if checked.evaluations[0].metrics != again.evaluations[0].metrics or not checked.deterministic:
            return [], ["two evaluations under one seed give different metrics"]
        asked = Asked(Path(name), parts=("evaluator",), seconds=own.audit_s)
        found = audit(asked, Subject(project), own, settings)
    except (InputError, UnicodeEncodeError) as error:
        return [], [one_line(str(error), LONGEST_FINDING)]
    wrong = [
        one_line(f"the score can be forged, {item.name}: {item.reason}", LONGEST_FINDING)
        for item in found.findings
    ]
    tried = f"  audit     {found.figures['evaluator'].get('attacks', 'no attack was tried')}"
    return [*checked.lines()[:-1], tried], wrong
