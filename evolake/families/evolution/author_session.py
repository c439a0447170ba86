"""The evolution agent as a session of a model: its workspace, and the commands that run what it wrote, all in
the jail.

What it sees of votes is who agrees with its own primary. The other programs, what they answer and which
answer wins stay unseen: a session that saw them could fit its primary to the vote.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.agents import AgentFailure, Agents, Reply
from evolake.agents.session_roles import RunCommand, SessionSpec, hold_session
from evolake.agents.session_tools import Arguments, Workspace, well_formed
from evolake.errors import InputError
from evolake.families.evolution.draft_feedback import MEASURING, measure_draft
from evolake.families.evolution.validator_pool import complete
from evolake.families.gates.consensus import take_votes
from evolake.families.gates.execution import caps_of, pairs_of
from evolake.families.gates.judging import FamilyGates
from evolake.families.model.contract import GENERATOR, READER, TEMPLATE, VALIDATOR, Family
from evolake.families.model.family_files import UncheckedFamily, make_family
from evolake.families.model.similarity import Fingerprint
from evolake.families.model.statement import stated
from evolake.families.roles.evolution_agent import (
    EVOLUTION_SESSION,
    Answers,
    BlockedDraft,
    FamilyCard,
    FamilySessionRequest,
    ParentCard,
    Samples,
    Votes,
)
from evolake.families.roles.models import EvolveReply, EvolveRequest
from evolake.families.sandbox.running import Instance, generate, read, solve
from evolake.families.settings import FamiliesSettings

FILES = (GENERATOR, TEMPLATE, VALIDATOR, READER)
SAW = ("parents", "samples", "votes")
LONGEST_FILE = 200_000
"""Characters of a file that a reply may hold."""
LONGEST_TEXT = 3_000
LONGEST_INPUTS = 1_500
LONGEST_ANSWER = 300
"""Characters that a command shows of one statement, of its inputs, of one answer."""


@dataclass
class SessionAuthor:
    """Holds a session for each family that is asked for. gates: that `check` runs; known: fingerprints of
    families that it must differ from."""

    agents: Agents
    pool: Any
    settings: FamiliesSettings
    root_seed: int
    gates: FamilyGates | None = None
    known: Sequence[Fingerprint] = ()

    def write(
        self, request: EvolveRequest, *, seed: int, attempt: int, artifact_id: str | None = None
    ) -> Reply[EvolveReply | AgentFailure]:
        """Return the session's files as a reply like any other; an AgentFailure with a typed status if it was
        not finished."""
        workspace = Workspace(starting_files(request), lambda path: path in FILES)
        spec = SessionSpec(
            EVOLUTION_SESSION,
            request_of(request),
            workspace,
            family_reply,
            self.commands(),
            must_change=False,  # the card's note says why there is no family
        )
        return hold_session(
            self.agents, spec, self.pool.call, seed=seed, artifact_id=artifact_id, attempt=attempt
        )

    def commands(self) -> Mapping[str, RunCommand]:
        """Return the commands of a session. What a family does wrong is said; only our own machinery
        raises."""

        def on_family(run: Callable[[Family, Any], str]) -> RunCommand:
            def command(folder: Path, arguments: Any) -> str:
                family = family_in(folder)
                return family if isinstance(family, str) else run(family, arguments)

            return command

        runs = {"check": self.check, "samples": self.samples, "answers": self.answers, "votes": self.votes}
        return {name: on_family(run) for name, run in runs.items()}

    def check(self, family: Family, arguments: Arguments) -> str:
        """Return all faults that the gates without a model find."""
        if not family.validator.strip():
            return f"There is no {VALIDATOR} yet."
        if self.gates is None:
            return "The gates cannot be run here."
        found = measure_draft(family, self.gates, self.known).faults
        return "\n".join(found) or f"The gates {', '.join(MEASURING)} say nothing against it."

    def samples(self, family: Family, arguments: Samples) -> str:
        """Return statements and inputs."""
        return "\n\n".join(
            f"Instance {number}:\n{item.text[:LONGEST_TEXT]}\n\nIts inputs: "
            f"{plain(item.inputs, LONGEST_INPUTS)}"
            if item.status == "ok"
            else f"Instance {number}: the generator gave none: {item.status} {item.reason}"
            for number, item in enumerate(self._drawn(family, arguments.difficulty, arguments.count), start=1)
        )

    def answers(self, family: Family, arguments: Answers) -> str:
        """Return what the primary answers, and whether the reader finds the inputs again."""
        drawn = self._drawn(family, arguments.difficulty, arguments.count)
        good = [item for item in drawn if item.status == "ok"]
        caps = caps_of(self.settings)
        solved = solve(family.validator, [item.inputs for item in good], pool=self.pool, caps=caps)
        readings = (
            read(family.reader, [item.text for item in good], pool=self.pool, caps=caps)
            if family.reader
            else []
        )
        parts = [
            f"{len(good)} of {len(drawn)} instances; the first that failed: "
            f"{next(item.reason for item in drawn if item.status != 'ok')}"
            if len(good) < len(drawn)
            else f"{len(good)} instances"
        ]
        for number, element in enumerate(solved, start=1):
            said = (
                plain(element.answer, LONGEST_ANSWER)
                if element.status == "ok"
                else f"{element.status} {element.reason}"
            )
            if not readings:
                result = ""
            elif readings[number - 1].inputs == good[number - 1].inputs:
                result = "; the reader finds its inputs"
            else:
                result = f"; the reader does not find its inputs {readings[number - 1].reason}".rstrip()
            parts.append(f"Instance {number}: the validator answers {said}{result}")
        return "\n".join(parts)

    def votes(self, family: Family, arguments: Votes) -> str:
        """Return who of the voters agrees with the primary."""
        if not family.validator.strip():
            return f"There is no {VALIDATOR} yet."
        drawn = [
            item for item in self._drawn(family, arguments.difficulty, arguments.count) if item.status == "ok"
        ]
        if not drawn:
            return "The generator gave no instance."
        separate = self.settings.model_copy(update={"validator_authors": "separate"})
        whole = complete(
            family, pool=self.pool, agents=self.agents, settings=separate, root_seed=self.root_seed
        )
        if not whole.validators:
            return "Nobody could write a validator from the statement: it may not say enough."
        parts = []
        for number, vote in enumerate(
            take_votes(whole, drawn, pool=self.pool, settings=self.settings), start=1
        ):
            parts.append(
                f"Instance {number}: {tally(vote.answers, vote.statuses, family.answer.case_sensitive)}"
            )
        return f"{len(whole.validators)} validators were written from your statement.\n" + "\n".join(parts)

    def _drawn(self, family: Family, difficulty: int, count: int) -> list[Instance]:
        """Instances that no gate draws."""
        return generate(
            family, pairs_of([difficulty], count, "session"), pool=self.pool, caps=caps_of(self.settings)
        )


def tally(answers: Mapping[str, Any], statuses: Mapping[str, str], case_sensitive: bool) -> str:
    """Return votes without what anybody answered: how many others agree with the primary, answer otherwise,
    or give nothing."""
    from evolake.answers.matching import equivalent

    others = [name for name in statuses if name != "primary"]
    if "primary" not in answers:
        return (
            f"your validator gave no answer ({statuses['primary']}); "
            f"{sum(name in answers for name in others)} of {len(others)} others gave one"
        )
    agree = sum(
        name in answers and equivalent(answers["primary"], answers[name], case_sensitive=case_sensitive)
        for name in others
    )
    silent = [statuses[name] for name in others if name not in answers]
    text = f"{agree} of {len(others)} others agree with your validator"
    return text + (f", {len(silent)} gave no answer ({', '.join(sorted(silent))})" if silent else "")


def starting_files(request: EvolveRequest) -> dict[str, str]:
    """Return what the workspace holds at the start: the parents, and the draft where one is to be
    repaired."""
    files: dict[str, str] = {}
    for number, parent in enumerate(request.parents, start=1):
        shown = {
            GENERATOR: parent.generator,
            TEMPLATE: parent.statement,
            VALIDATOR: parent.validator,
            READER: parent.reader,
        }
        files |= {f"parents/{number}/{name}": text for name, text in shown.items() if text}
    if draft := request.draft:
        shown = {
            GENERATOR: draft.generator,
            TEMPLATE: draft.template,
            VALIDATOR: draft.validator,
            READER: draft.reader,
        }
        files |= {name: text for name, text in shown.items() if text}
    return files


def request_of(request: EvolveRequest) -> FamilySessionRequest:
    """Return what the session is shown."""
    draft, note = request.draft, request.generation
    return FamilySessionRequest(
        operator=request.operator,
        idea=request.idea,
        experience=request.experience,
        guidance=request.guidance,
        generation=note.model_copy(update={"siblings": []}).text() if note else "",
        siblings=note.siblings or None if note else None,
        limits=request.limits,
        corpus=request.corpus or None,
        tried=request.tried or None,
        parents=[
            ParentCard(
                folder=f"parents/{number}",
                title=parent.title,
                category=parent.category,
                language=parent.language,
            )
            for number, parent in enumerate(request.parents, start=1)
        ]
        or None,
        draft=draft
        and BlockedDraft(
            kind=draft.kind,
            gate=draft.gate,
            reason=draft.reason,
            faults=draft.faults,
            traces=without_labels(draft.traces),
        ),
    )


def family_reply(card: FamilyCard, workspace: Workspace) -> EvolveReply:
    """Return the session's files as a reply like any other."""
    texts = {name: well_formed(workspace.files.get(name, "")) for name in FILES}
    if any(len(text) > LONGEST_FILE for text in texts.values()):
        return EvolveReply(note=f"a file is longer than {LONGEST_FILE} characters")
    return EvolveReply(
        idea=card.idea,
        title=card.title,
        category=card.category,
        language=card.language,
        answer_type=card.answer_type,
        operator=card.operator,
        used_parents=card.used_parents,
        generator=texts[GENERATOR],
        template=texts[TEMPLATE],
        validator=texts[VALIDATOR],
        reader=texts[READER] or None,
        note=card.note,
    )


def without_labels(traces: Sequence[str]) -> list[str]:
    """Return traces of a block without labels, and without answers of others than the draft's own primary;
    one that cannot be read is left out."""
    kept = []
    for text in traces:
        try:
            trace = json.loads(text)
        except ValueError:
            continue
        if isinstance(trace, dict):
            trace = {name: value for name, value in trace.items() if name not in ("label", "answer")}
            if isinstance(trace.get("answers"), dict):
                trace["answers"] = {
                    name: value for name, value in trace["answers"].items() if name == "primary"
                }
        kept.append(json.dumps(trace, ensure_ascii=False))
    return kept


def family_in(folder: Path) -> Family | str:
    """Return the family that the files of a workspace make so far, without independent validators; else what
    is missing or wrong."""
    texts = {
        name: (folder / name).read_text("utf-8", "replace") for name in FILES if (folder / name).is_file()
    }
    if missing := [name for name in (GENERATOR, TEMPLATE) if not texts.get(name, "").strip()]:
        return f"There is no {' and no '.join(missing)} yet."
    try:
        family = make_family(
            "the workspace",
            UncheckedFamily(
                name="written",
                title="written",
                category="other",
                language="en",
                generator=texts[GENERATOR],
                template=texts[TEMPLATE],
                validator=texts.get(VALIDATOR, ""),
                validators={},
                reader=texts.get(READER),
                answer={"type": "any"},
                parents=[],
                operator="written",
                mutations={},
            ),
        )
        stated(family)
    except InputError as error:
        return str(error)
    return family


def plain(value: Any, longest: int) -> str:
    """Return a value of a candidate as JSON, cut with a mark."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return (
        text
        if len(text) <= longest
        else f"{text[:longest]} [... {len(text) - longest} characters cut here ...]"
    )
