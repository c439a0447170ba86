"""What the gates of a family collect, in order: one function per gate. Evidence is collected when its gate is
reached, and later gates find the sample of earlier ones in the `GateContext`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.families.gates.benchmarks import benchmark_evidence
from evolake.families.gates.blind import Review, blind_evidence, blind_review
from evolake.families.gates.checked_answers import checker_probes, judged_family
from evolake.families.gates.checkers import growing
from evolake.families.gates.consensus import Vote, consensus_evidence, take_votes
from evolake.families.gates.execution import execute, execution_evidence
from evolake.families.gates.learned_reader import learn_reader
from evolake.families.gates.sentences import sentences_evidence, spread
from evolake.families.gates.static import Sample, commonest_share, draw_sample, static_evidence
from evolake.families.model.ast_transforms import constants
from evolake.families.model.contract import Family
from evolake.families.model.similarity import Fingerprint, fingerprint
from evolake.families.model.statement import rules
from evolake.families.model.syntax import unparsed
from evolake.families.roles.models import QualityRequest
from evolake.families.roles.quality import QUALITY_ROLE
from evolake.families.sandbox.metering import MeteredPool
from evolake.families.sandbox.running import Solved
from evolake.families.settings import FamiliesSettings
from evolake.seeds import child_seed

REVIEWED_DIFFICULTY = 5
BENCHMARKED = 3
"""Instances of the sample that are compared with benchmarks, next to the template."""


@dataclass
class GateContext:
    """One family on its way through the gates: what they collect from, and what they leave for those after
    them.

    static: evidence of the static gate, whose measures the quality reviewer is shown.
    """

    family: Family
    pool: MeteredPool
    agents: Agents
    settings: FamiliesSettings
    known: Sequence[Fingerprint]
    root_seed: int
    parent_statement: str
    sample: Sample | None = None
    fingerprint: Fingerprint | None = None
    static: Mapping[str, Any] = field(default_factory=dict)
    sample_votes: list[Vote] = field(default_factory=list)
    blind_votes: list[Vote] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)


def execution(course: GateContext) -> Mapping[str, Any]:
    """Return what running every source twice came to."""
    return execution_evidence(
        course.family, execute(course.family, pool=course.pool, settings=course.settings)
    )


def static(course: GateContext) -> Mapping[str, Any]:
    """Return a sample of instances, looked at next to the sources and the families that there are."""
    course.sample = draw_sample(course.family, pool=course.pool, settings=course.settings)
    course.fingerprint = fingerprint(course.family, [solved.answer for solved in course.sample.answers])
    texts = [
        item.text
        for item in spread(
            [instance for instance in course.sample.instances if instance.status == "ok"], BENCHMARKED
        )
    ]
    compared = benchmark_evidence(course.family, texts, course.settings.benchmarks)
    course.static = (
        static_evidence(course.family, course.sample, course.known)
        | rule_evidence(course.family)
        | {"benchmarks": compared}
    )
    return course.static


def quality(course: GateContext) -> Mapping[str, Any]:
    """Return the quality reviewer's word on the instance of middle difficulty."""
    assert course.sample is not None, "the quality gate comes after the static gate"
    pairs = list(zip(course.sample.instances, course.sample.answers, strict=True))
    instance, solved = min(pairs, key=lambda pair: abs(pair[0].difficulty - REVIEWED_DIFFICULTY))
    growths = [_growth([value for _, value in series]) for series in growing(course.static).values()]
    metrics = {
        "growth": max(growths),
        "commonest_share": commonest_share(course.static["answers"], REVIEWED_DIFFICULTY),
        "boolean": course.static["boolean"],
        "same_text": any(other["same_text"] for other in course.static["nearest"]),
    }
    request = QualityRequest(
        title=course.family.title,
        category=course.family.category,
        statement=instance.text,
        answer=json.dumps(solved.answer, ensure_ascii=False),
        difficulty=instance.difficulty,
        parent_statement=course.parent_statement,
        metrics=metrics,
    )
    seed = child_seed(course.root_seed, "families", course.family.family_id, "quality")
    reply = course.agents.call(QUALITY_ROLE, request, seed=seed, artifact_id=course.family.family_id).value
    if isinstance(reply, AgentFailure):
        return {"failure": f"{reply.status}: {reply.reason}", "action": "revise", "feedback": ""}
    return {"failure": ""} | reply.model_dump()


def consensus(course: GateContext) -> Mapping[str, Any]:
    """Return the votes of all validators on the sample."""
    assert course.sample is not None, "the consensus gate comes after the static gate"
    course.sample_votes = take_votes(
        course.family,
        course.sample.instances,
        pool=course.pool,
        settings=course.settings,
        primary=course.sample.answers,
    )
    return consensus_evidence(course.family, course.sample_votes)


def blind(course: GateContext) -> Mapping[str, Any]:
    """Return what reviewers make of the text alone."""
    course.reviews, course.blind_votes = blind_review(
        course.family,
        pool=course.pool,
        agents=course.agents,
        settings=course.settings,
        root_seed=course.root_seed,
    )
    evidence = blind_evidence(course.family, course.reviews, course.blind_votes)
    if not course.family.checkers or course.sample is None:
        return evidence
    return evidence | checker_probes(
        course.family,
        course.sample.instances,
        course.sample.answers,
        pool=course.pool,
        settings=course.settings,
    )


def sentences(course: GateContext) -> Mapping[str, Any]:
    """Return what changing text and code, one thing at a time, came to."""
    assert course.sample is not None, "the sentences gate comes after the static gate"
    family = course.family
    reader = (
        family.reader
        if family.reader is not None
        else learn_reader(family, pool=course.pool, settings=course.settings)
    )
    answers: Sequence[Solved] = course.sample.answers
    if family.checkers:
        family, answers = judged_family(
            family, course.sample.instances, answers, pool=course.pool, settings=course.settings
        )
    return sentences_evidence(
        family, reader, course.sample.instances, answers, pool=course.pool, settings=course.settings
    )


def rule_evidence(family: Family) -> dict[str, Any]:
    """Return whether text and code of the mutation points go together."""
    result = {name: constants(source) for name, source in family.sources().items()}
    mismatched, unused = [], []
    for point in family.points:
        holders = {
            name: values[point.constant] for name, values in result.items() if point.constant in values
        }
        if not holders:
            unused.append(point.constant)
        for name, value in holders.items():
            if value != unparsed(point.alternative().expression(name)):
                mismatched.append(
                    f"{point.constant} is {value} in {name}, the text says {point.alternative().text!r}"
                )
    unstated = [point.name for point in family.points if point.name not in rules(family.template)]
    return {"unstated": unstated, "unused": unused, "mismatched": mismatched}


def _growth(values: Sequence[float]) -> float:
    return values[-1] / max(values[0], 1e-9) if values else 0.0
