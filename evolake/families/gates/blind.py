"""Gate 2b: can the instance be solved from its text alone? One independent reviewer an instance, who may run
programs in the jail.

Both backends go the same way: a reviewer replies with a program, sees what it printed, and ends with
\\boxed{answer}. The operators' reviewers are pairs of a reader and a strategy: k different pairs go round
over the instances, independent validators first, the primary only if there is nothing else. The pass is of
this content: it is kept under the family's id, so any edit starts without one. Source: SSLogic, section 3.3,
"Code-Augmented Blind Review", equation 2.

A second reader is learnt from examples: the template turned round. It sees instances on its own seeds and
finds, for every top-level key of the inputs, a slot and a way of reading it that gives the key's value in all
of them (or that the value never changes). If a key cannot be explained there is no such reader. So a family
without a reader can still be solved from its text, and one with a reader is read in two ways. Slot texts are
a candidate's, so the learning happens in the jail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.answers.forms import asked_units
from evolake.answers.matching import matches
from evolake.answers.reading import extract_boxed
from evolake.answers.values import answer_value
from evolake.families.gates.consensus import Vote, accepted_wrongly, right_answers, take_votes, wrong_answers
from evolake.families.gates.execution import caps_of, pairs_of
from evolake.families.model.contract import MAX_SOURCE_BYTES, VALIDATOR, VALIDATORS, Family
from evolake.families.model.statement import rules, stated
from evolake.families.roles.models import BlindRequest, Turn
from evolake.families.roles.readers import BLIND_ROLE
from evolake.families.sandbox.running import DRIVER, Instance, called, generate
from evolake.families.settings import FamiliesSettings
from evolake.seeds import child_seed

TRAINING = ((2, 4, 6, 8, 9), 3)
"""Difficulties and seeds a difficulty of the examples."""
LEARNER = "evolake.families.gates.reading:learn"


def learn_reader(family: Family, *, pool: Any, settings: FamiliesSettings) -> str | None:
    """Return the source of a reader, None where some input cannot be explained by the slots. Raises
    MachineryError when the jail failed."""
    caps = caps_of(settings)
    examples = generate(family, pairs_of(*TRAINING, "reader"), pool=pool, caps=caps)
    if any(item.status != "ok" for item in examples):
        return None
    payload = {
        "template": stated(family),
        "examples": [{"inputs": item.inputs, "slots": list(item.slot_texts)} for item in examples],
    }
    outcome = called(pool, LEARNER, "", payload, caps)
    usable = (
        outcome.status == "ok"
        and isinstance(outcome.value, str)
        and len(outcome.value.encode(errors="replace")) <= MAX_SOURCE_BYTES
    )
    return outcome.value if usable else None


LONGEST_OUTPUT = 6000
CUT = "..."
LONGEST_ANSWER = 2000
MODEL = "model"
"""Name of a reviewer that is a model."""
TEXT = "text"
"""Name of the text solver among the reviewers (`gates.text_review`)."""


@dataclass(frozen=True)
class Review:
    """One blind review. answer: what was in the box; "" for none. reviewer: the pair, "model" or "text".
    status: answered, gave up (N/A), no answer, failed (the role gave no usable reply).
    """

    number: int
    difficulty: int
    seed: int
    reviewer: str
    status: str
    answer: str
    label: Any
    matched: bool
    turns: tuple[Turn, ...]
    note: str


@dataclass(frozen=True)
class Strategy:
    """A way to solve from text: the reader's source, a solver's source and its file name."""

    name: str
    reader: str
    solver: str
    solver_file: str


def strategies(family: Family, learned: str | None = None) -> list[Strategy]:
    """Return the operators' pairs, readers taking turns. learned: a reader that was learnt from examples.
    Empty without any reader."""
    readers = [
        (name, source)
        for name, source in (("reader", family.reader), ("learned", learned))
        if source is not None
    ]
    named = [(name, source, f"{VALIDATORS}/{name}.py") for name, source in family.validators.items()] or [
        ("primary", family.validator, VALIDATOR)
    ]
    pairs = [
        (readers[(number + turn) % len(readers)], solver)
        for turn in range(len(readers))
        for number, solver in enumerate(named)
    ]
    return [
        Strategy(f"{reader}+{name}", text, source, file) for (reader, text), (name, source, file) in pairs
    ]


@dataclass
class _Reviewer:
    """A review under way."""

    number: int
    instance: Instance
    vote: Vote
    name: str
    hidden: dict[str, Any]
    turns: list[Turn] = field(default_factory=list)
    status: str = ""
    final: str = ""
    note: str = ""

    def request(self, turns_left: int) -> BlindRequest:
        return BlindRequest(
            statement=self.instance.text, transcript=self.turns, turns_left=turns_left, **self.hidden
        )

    def took(self, code: str, output: str) -> None:
        """Note a program that was run. A model's that prints the box as its last line has answered: no
        further call only repeats it."""
        self.turns = [*self.turns, Turn(code=code, output=output)]
        last = output.rstrip().rpartition("\n")[2]
        if self.name == MODEL and last.startswith("\\boxed{") and extract_boxed(last) is not None:
            self.status, self.final = "answered", last

    def review(self, case_sensitive: bool) -> Review:
        answer = extract_boxed(self.final) or ""
        status = self.status or "no answer"
        if status == "answered":
            if not answer:
                status = "no answer"
            elif answer.strip().casefold() == "n/a":
                status = "gave up"
        units = asked_units(self.instance.text)
        matched = self.vote.decided and matches(
            self.final, self.vote.label, case_sensitive=case_sensitive, units=units
        )
        return Review(
            self.number,
            self.instance.difficulty,
            self.instance.seed,
            self.name,
            status,
            answer[:LONGEST_ANSWER],
            self.vote.label,
            matched,
            tuple(self.turns),
            self.note[:500],
        )


def blind_review(
    family: Family, *, pool: Any, agents: Agents, settings: FamiliesSettings, root_seed: int
) -> tuple[list[Review], list[Vote]]:
    """Return one review an entry of `settings.blind_difficulties`, and the votes on those instances. All
    reviewers take a turn before any takes the next, so a model is asked by several threads. Raises
    MachineryError when the jail failed.
    """
    seeds = [
        child_seed(root_seed, "families", family.family_id, "blind", number)
        for number in range(len(settings.blind_difficulties))
    ]
    pairs = list(zip(settings.blind_difficulties, seeds, strict=True))
    instances = generate(family, pairs, pool=pool, caps=caps_of(settings))
    votes = take_votes(family, instances, pool=pool, settings=settings)
    reviewers = _reviewers(family, instances, votes, pool=pool, agents=agents, settings=settings)
    for turn in range(settings.reviewer_turns):
        active = [reviewer for reviewer in reviewers if not reviewer.status]
        if not active:
            break
        replies = agents.call_many(
            BLIND_ROLE,
            [reviewer.request(settings.reviewer_turns - turn - 1) for reviewer in active],
            seeds=[reviewer.instance.seed for reviewer in active],
            artifact_ids=[family.family_id] * len(active),
            attempts=[reviewer.number for reviewer in active],
        )
        for reviewer, replied in zip(active, replies, strict=True):
            reply = replied.value
            if isinstance(reply, AgentFailure):
                reviewer.status, reviewer.note = "failed", f"{reply.status}: {reply.reason}"
            elif reply.final is not None:
                reviewer.status, reviewer.final, reviewer.note = "answered", reply.final, reply.reasoning
            else:
                reviewer.note = reply.reasoning
                reviewer.took(
                    reply.code or "",
                    run_program(reply.code or "", reviewer.instance.text, pool=pool, settings=settings),
                )
    reviews = [reviewer.review(family.answer.case_sensitive) for reviewer in reviewers]
    if family.checkers:
        tasks = [
            (
                reviewer.instance.inputs,
                answer_value(
                    extract_boxed(reviewer.final) or "", review.label, asked_units(reviewer.instance.text)
                )
                if review.status == "answered"
                else None,
            )
            for reviewer, review in zip(reviewers, reviews, strict=True)
        ]
        right = right_answers(family, tasks, pool=pool, settings=settings)
        reviews = [
            replace(review, matched=review.label is not None and review.status == "answered" and matched)
            for review, matched in zip(reviews, right, strict=True)
        ]
    return reviews, votes


def _reviewers(
    family: Family,
    instances: Sequence[Instance],
    votes: Sequence[Vote],
    *,
    pool: Any,
    agents: Agents,
    settings: FamiliesSettings,
) -> list[_Reviewer]:
    """One an instance: models who are shown nothing more, or the operators' pairs in turn."""
    numbered = list(enumerate(zip(instances, votes, strict=True)))
    if agents.backend.name != "operators":
        return [_Reviewer(number, instance, vote, MODEL, {}) for number, (instance, vote) in numbered]
    available = strategies(family, learn_reader(family, pool=pool, settings=settings))
    if not available:
        return [_Reviewer(number, instance, vote, "none", {}) for number, (instance, vote) in numbered]
    result = []
    for number, (instance, vote) in numbered:
        pair = available[number % len(available)]
        hidden = {"reader": pair.reader, "strategy": pair.solver, "points": _points(family, pair.solver_file)}
        result.append(_Reviewer(number, instance, vote, pair.name, hidden))
    return result


def run_program(source: str, text: str, *, pool: Any, settings: FamiliesSettings) -> str:
    """Return what a reviewer's program printed in the jail, or how it failed."""
    payload = {"text": text, "longest": LONGEST_OUTPUT}
    outcome = called(pool, f"{DRIVER}:program", source, payload, caps_of(settings))
    if outcome.status != "ok":
        return f"{outcome.status}: {outcome.reason}"[:LONGEST_OUTPUT]
    if not isinstance(
        outcome.value, str
    ):  # the program shares its process with the driver, and may say anything
        return "protocol: the reply is not that of the driver"
    return (
        outcome.value
        if len(outcome.value) <= LONGEST_OUTPUT + len(CUT)
        else outcome.value[:LONGEST_OUTPUT] + CUT
    )


def _points(family: Family, solver_file: str) -> list[dict[str, Any]]:
    """Return the rules with their alternatives in order of the template; which one is in force is not among
    it."""
    order = {name: place for place, name in enumerate(rules(family.template))}
    points = sorted(family.points, key=lambda point: order.get(point.name, len(order)))
    return [
        {
            "constant": point.constant,
            "alternatives": sorted([item.text, item.expression(solver_file)] for item in point.alternatives),
        }
        for point in points
    ]


def blind_evidence(family: Family, reviews: Sequence[Review], votes: Sequence[Vote]) -> dict[str, Any]:
    """Return what the rules of gate 2b judge, as plain JSON."""
    labels = [vote.label for vote in votes if vote.decided]
    return {
        "reviews": [
            {
                "difficulty": review.difficulty,
                "seed": review.seed,
                "reviewer": review.reviewer,
                "status": review.status,
                "answer": review.answer,
                "label": review.label,
                "matched": review.matched,
                "note": review.note,
            }
            for review in reviews
        ],
        "probes": sum(len(wrong_answers(label)) for label in labels),
        "accepted_wrongly": [
            [label, result]
            for label in labels
            for result in accepted_wrongly(label, case_sensitive=family.answer.case_sensitive)
        ],
    }
