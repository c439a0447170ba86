"""Audit a project, an evaluator with a program, or a finished run."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evolake.errors import HostBusy, InputError
from evolake.file_names import id_like, shell_word
from evolake.gates import load_rules
from evolake.programs.audit.gains import Gain, record_of, stated_scores
from evolake.programs.audit.measuring import Part, measurement
from evolake.programs.audit.runs import Run, read_run
from evolake.programs.audit.soundness import CYCLE, LINE, Budget, Referee, Soundness, first_evaluation, sound
from evolake.programs.audit.verdict import IMPORTED_TOO, UNKNOWN_MODE, About, Audit, Entry
from evolake.programs.model.project import (
    EVALUATOR,
    LEFT_OUT,
    SHINKA_EVALUATOR,
    TOML,
    Mode,
    Project,
    find_project,
    is_project,
    limits_of,
    load_project,
    project_of,
    with_files,
)
from evolake.programs.sandbox.evaluating import Evaluation
from evolake.programs.sandbox.meeting import with_mode
from evolake.programs.settings import ProgramsSettings
from evolake.reading import TEXT_BYTES, read_bytes
from evolake.seeds import child_seed
from evolake.settings import Settings

PARTS: tuple[About, ...] = ("evaluator", "measurement", "gain")
SHARES: Mapping[About, float] = {"evaluator": 0.5, "measurement": 0.15, "gain": 0.35}
"""Of the time, for each part."""
IMPORTED = 0.3
"""Share of the evaluator's part for attacks on the imported program."""
SEEDS = 3
LEVELS = 4
"""Folders above a run in which its project is looked for."""
LEAST: Mapping[About, int] = {"evaluator": 8, "measurement": 6, "gain": 20}
"""Evaluations that each part takes at least."""


@dataclass(frozen=True)
class Asked:
    """What is to be audited.

    path, program: as they were typed. project: folder of a run's project. mode: how evaluator and program are
    to meet; None: as the project has it. attack: the one to run. parts: of the audit. seconds: processor
    seconds that it may take, about."""

    path: Path
    program: Path | None = None
    project: Path | None = None
    mode: Mode | None = None
    attack: str = ""
    parts: tuple[About, ...] = PARTS
    seconds: float = 120.0

    @property
    def command(self) -> str:
        """Return the command that audits the same."""
        words = ["evolake audit", shell_word(self.path)]
        words += [shell_word(self.program)] if self.program else []
        words += ["--project", shell_word(self.project)] if self.project else []
        words += ["--mode", self.mode] if self.mode else []
        return " ".join(words)


@dataclass(frozen=True)
class Subject:
    """What was found at a path. project: None if a run's is not known. best: text of the best program's main
    file. place: folder of a run's project."""

    project: Project | None
    run: Run | None = None
    best: str | None = None
    place: str = ""


def subject_of(asked: Asked, settings: ProgramsSettings, seeds: Sequence[Path]) -> Subject:
    """Return what is to be audited.

    Raises:
        InputError: it is neither a project nor a run nor an evaluator with a program, or cannot be read.
    """
    path, program = asked.path, asked.program
    if path.is_file() and path.suffix == ".py":
        if program is None:
            raise InputError(
                f"{path} is an evaluator without a program", wanted="evolake audit EVALUATOR.py PROGRAM.py"
            )
        return Subject(_pair(path, program))
    best = _text(program) if program else None
    folder = path if path.exists() else find_project(str(path), settings, seeds)
    if is_project(folder):
        return Subject(load_project(folder, any_name=True), None, best)
    if path.exists() and (run := read_run(path)) is not None:
        place = asked.project or next(
            (item for item in path.resolve().parents[:LEVELS] if is_project(item)), None
        )
        without = _folder_in(path.resolve(), place.resolve()) if place else ""
        project = load_project(place, without, any_name=True) if place else None
        found = run.best.text if run.best else None
        return Subject(project, run, best if best is not None else found, str(place or ""))
    raise InputError(
        f"there is nothing to audit at {path}",
        wanted="a project's folder or name, EVALUATOR.py PROGRAM.py, or a finished run of OpenEvolve, "
        "ShinkaEvolve, GEPA, LLM4AD or CodeEvolve",
        got="no such file or folder" if not path.exists() else f"no {EVALUATOR} or {TOML}, and no such run",
        do="docs/audit.md has what is read; --each audits the projects in a folder",
    )


def _folder_in(path: Path, folder: Path) -> str:
    """Return the name in a folder under which a path is; "" if it is elsewhere."""
    return path.relative_to(folder).parts[0] if folder in path.parents else ""


def _pair(evaluator: Path, program: Path) -> Project:
    """Return the project of an evaluator's file and a program's, under their own names."""
    files = {item.name: read_bytes(item, TEXT_BYTES) for item in (evaluator, program)}
    if len(files) < 2:
        raise InputError("evaluator and program have one name", got=program.name, do="rename one of them")
    toml = (
        f"[program]\nfiles = [{json.dumps(program.name)}]\n[evaluator]\nfile = {json.dumps(evaluator.name)}\n"
    )
    return project_of(id_like(evaluator.stem), {**files, TOML: toml.encode()}, str(program.parent))


def _text(program: Path) -> str:
    try:
        return read_bytes(program, TEXT_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{program} is no text in UTF-8", do="name the file of a program") from None


def audit(
    asked: Asked,
    subject: Subject,
    own: ProgramsSettings,
    settings: Settings,
    *,
    held: Mapping[str, Part] | None = None,
    note: Callable[[Part], None] = lambda part: None,
) -> Audit:
    """Return the audit of what `subject_of` found.

    held: parts that an earlier process has done. note: called with each further one as soon as it is done.

    Raises:
        InputError: the initial program has no score.
    """
    done: dict[About, Part] = {part: (held or {})[part] for part in PARTS if part in (held or {})}
    run = subject.run
    if subject.project is None:
        part = Part("gain") if run is None else record_of(run, None)
        part.notes.append(
            "nothing was evaluated, as the run's evaluator is not known: name its folder by --project"
        )
        return _audit(asked, asked.path.name, UNKNOWN_MODE, {"gain": part}, run)
    project = in_mode(_within(subject.project, own, asked.seconds), asked.mode, own, settings)
    best = with_files(project, {project.main: subject.best}).evolving if subject.best is not None else None
    if len(project.evolving) > 1 and best is not None:
        best = {**project.evolving, **best}

    def seeds(purpose: str, count: int) -> list[int]:
        name = f"{purpose}/{project.name}"
        return [child_seed(settings.seed, LINE, CYCLE, name, place) for place in range(count)]

    def seconds(part: About) -> float:
        return asked.seconds * SHARES[part] / sum(SHARES[item] for item in asked.parts)

    def budget(part: About) -> Budget:
        return Budget(seconds(part))

    def recorded() -> Part:
        return record_of(run, subject.project) if run else Part("gain")

    def finish(part: Part) -> None:
        done[part.about] = part
        note(part)

    left: list[About] = [part for part in asked.parts if part not in done]
    if not left:
        return _audit(asked, project.name, project.mode, done, run)
    attacked = seeds("attack", SEEDS)
    try:
        first = first_evaluation(project, own, attacked[0], settings.jail, subject.place or str(asked.path))
    except InputError as error:
        if run is None:
            raise
        part = done.setdefault("gain", recorded())
        part.notes.append(f"nothing was evaluated, as {error.what} here: {error.got}; next: {error.do}")
        return _audit(asked, project.name, project.mode, done, run)
    short: list[About] = [about for about in left if LEAST[about] * first.cpu_s > seconds(about)]
    for about in short:
        left.remove(about)
        part = recorded() if about == "gain" else Part(about)
        part.notes.append(
            f"this part was left out: it takes {LEAST[about]} evaluations at least, and one takes "
            f"{first.cpu_s:.2g} of its {seconds(about):.2g} processor seconds: --seconds gives more"
        )
        finish(part)
    if "evaluator" in left:
        finish(_evaluator(project, asked, own, settings, best, attacked, budget("evaluator"), first))
    if "measurement" in left:
        given = seeds("measure", 8), budget("measurement"), asked.command, settings.jail
        finish(measurement(project, own, *given))
    if "gain" in left:
        part = recorded()
        fresh = seeds("heldout", own.heldout_repeats)
        gain = Gain(project, own, fresh, budget("gain"), asked.command, settings.jail, first.cpu_s)
        if best is not None:
            stated = stated_scores(run, project) if run and not asked.program else ()
            found = gain.compared(best, *stated)
            part.findings += found.findings
            part.figures |= found.figures
            part.notes += found.notes
            part.scores += found.scores
        evaluations = run.evaluations if run else None
        gain.dumb(part, best, evaluations, load_rules(settings.seeds / "rules", LINE), settings.workers)
        finish(part)
    return _audit(asked, project.name, project.mode, done, run)


def _audit(asked: Asked, name: str, mode: str, done: Mapping[About, Part], run: Run | None) -> Audit:
    parts: tuple[About, ...] = tuple(part for part in PARTS if part in done)
    findings = [item for part in parts for item in done[part].findings]
    figures: dict[About, Mapping[str, Any]] = {part: done[part].figures for part in parts}
    notes: dict[About, Sequence[str]] = {part: done[part].notes for part in parts}
    scores = tuple(item for part in parts for item in done[part].scores)
    history = tuple(item.score for item in run.candidates) if run else ()
    return Audit(str(asked.path), name, mode, parts, tuple(findings), figures, notes, scores, history)


def _within(project: Project, own: ProgramsSettings, seconds: float) -> Project:
    """Return the project with evaluations that take no longer than the audit may."""
    if limits_of(project, own)["cpu_s"] <= seconds:
        return project
    evaluator = project.given.evaluator.model_copy(update={"cpu_s": seconds})
    return replace(project, given=project.given.model_copy(update={"evaluator": evaluator}))


def in_mode(project: Project, mode: Mode | None, own: ProgramsSettings, settings: Settings) -> Project:
    """Return the project with the mode that was asked for, else its own.

    Raises:
        InputError: it cannot be evaluated in that mode.
    """
    if mode is None:
        return with_mode(project, own, settings.jail)
    if (mode == "separate") != (project.mode == "separate"):
        raise InputError(
            f"{project.name} cannot be evaluated in mode {mode}",
            wanted="separate for an evaluator with cases and score; calls or imports for one with evaluate",
            got=f"mode {project.mode}",
        )
    evaluator = project.given.evaluator.model_copy(update={"mode": mode})
    return replace(project, mode=mode, given=project.given.model_copy(update={"evaluator": evaluator}))


def _evaluator(
    project: Project,
    asked: Asked,
    own: ProgramsSettings,
    settings: Settings,
    best: Mapping[str, str] | None,
    seeds: Sequence[int],
    budget: Budget,
    first: Evaluation,
) -> Part:
    """Return what attacks forged; also where the program is imported, if the project does not say how it
    meets its evaluator, as OpenEvolve and ShinkaEvolve import it."""
    part = Part("evaluator")

    def attacked(project: Project, budget: Budget, first: Evaluation | None = None) -> Soundness:
        more: dict[str, Any] = {"workers": settings.workers, "jail": settings.jail, "first": first}
        with Referee(project, own, seeds, best=best, **more) as referee:
            return sound(referee, budget, asked.command, asked.attack)

    found = attacked(project, budget, first)
    part.findings += found.findings
    part.notes += found.notes
    part.figures["attacks"] = f"{found.tried} of {found.made} programs; {len(found.forged)} forged a score"
    if project.mode == "calls" and not project.given.evaluator.mode and not asked.attack and budget.left > 1:
        imported = replace(project, mode="imports")
        other = attacked(imported, Budget(budget.left * IMPORTED + 1))
        beyond = sorted(
            {finding.name for finding in other.findings} - {finding.name for finding in part.findings}
        )
        if beyond:
            part.figures[IMPORTED_TOO] = ", ".join(dict.fromkeys(name.partition(":")[0] for name in beyond))
            part.notes.append(
                "where the program is imported, as in OpenEvolve and ShinkaEvolve, more attacks forge a "
                f"score ({part.figures[IMPORTED_TOO]}): --mode imports shows them"
            )
    return part


def audit_each(asked: Asked, own: ProgramsSettings, settings: Settings) -> Iterator[Entry]:
    """Yield an audit, or why there is none, of each folder in a folder that has an evaluator.

    asked: path is the folder, and seconds are for each.

    Raises:
        InputError: there is no such folder, or none in it has an evaluator.
    """
    folders = list(_folders_with_evaluators(asked.path))
    if not folders:
        raise InputError(
            f"there is nothing to audit in {asked.path}",
            wanted=f"a folder that holds folders with {EVALUATOR}, {SHINKA_EVALUATOR} or {TOML}",
            got="no such folder" if not asked.path.is_dir() else "none",
        )
    for folder in folders:
        begun = time.monotonic()
        try:
            load_project(folder, any_name=True)  # says what is missing, if it is none
            one = replace(asked, path=folder)
            found, error = audit(one, subject_of(one, own, settings.seed_folders), own, settings), None
        except (InputError, HostBusy) as failure:
            found, error = None, failure
        name = folder.relative_to(asked.path).as_posix()
        yield Entry(name, found, error, time.monotonic() - begun)


def _folders_with_evaluators(top: Path) -> Iterator[Path]:
    """Yield folders with an evaluator, by name, but none in such a folder."""
    for place, folders, files in os.walk(top):
        if {EVALUATOR, SHINKA_EVALUATOR, TOML} & {*files}:
            folders.clear()
            yield Path(place)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in LEFT_OUT)
