"""Take a family through its gates, cheapest first, up to the first block (`specs` says which).

One function per gate collects evidence when the gate is reached; later gates find the sample of earlier ones
in the `GateContext`. A candidate's failure is a verdict, and so is whatever its texts make our code raise
(evolake.gates.boundary); a dead jail or a spent budget is an exception.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evolake import gates
from evolake.agents import AgentFailure, Agents
from evolake.families.gates.blind import Review, blind_evidence, blind_review, learn_reader
from evolake.families.gates.checkers import growing
from evolake.families.gates.consensus import (
    Vote,
    checker_probes,
    consensus_evidence,
    judged_family,
    take_votes,
)
from evolake.families.gates.execution import execute, execution_evidence
from evolake.families.gates.leaks import benchmark_evidence
from evolake.families.gates.sentences import sentences_evidence, spread
from evolake.families.gates.specs import GATES
from evolake.families.gates.static import Sample, commonest_share, draw_sample, nearest, static_evidence
from evolake.families.gates.text_review import read_texts
from evolake.families.model.contract import Family, as_json
from evolake.families.model.similarity import Fingerprint, fingerprint
from evolake.families.model.source_code import constants, unparsed
from evolake.families.model.statement import rules
from evolake.families.roles.models import QualityRequest
from evolake.families.roles.reviewers import QUALITY_ROLE
from evolake.families.sandbox.running import MeteredPool, Solved
from evolake.families.settings import FamiliesSettings
from evolake.gates import GateResults, GateSpec, Ruleset, gate_named, raised_in
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
    assert course.sample is not None, "the blind gate comes after the static gate"
    reading = read_texts(
        course.family,
        course.sample.instances,
        course.sample_votes,
        first=len(course.reviews),
        pool=course.pool,
        settings=course.settings,
    )
    course.reviews = [*course.reviews, *reading.reviews]
    evidence |= {"text": reading.evidence}
    if not course.family.checkers:
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


STATIC = gate_named(GATES, "static")


@dataclass(frozen=True)
class FamilyResults(GateResults):
    """A family after its gates. What a gate saw is there as far as it came.

    sample_votes: on the shared sample. blind_votes: on the instances of the blind reviews. fingerprint: None
    where the sample was not reached. costs: gate -> {"calls", "cpu_s", "wall_s"} in the jail.
    """

    family: Family
    sample_votes: tuple[Vote, ...] = ()
    blind_votes: tuple[Vote, ...] = ()
    reviews: tuple[Review, ...] = ()
    fingerprint: Fingerprint | None = None
    costs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    sample: Sample | None = field(default=None, repr=False, compare=False)

    @property
    def family_id(self) -> str:
        """Return the family's id."""
        return self.family.family_id


@dataclass(frozen=True)
class FamilyGates:
    """The gates with everything bound but the family and what it is compared with.

    pool: an open pool of evolake.jail (best opened with `preload=running.PRELOAD`).
    """

    pool: Any
    agents: Agents
    ruleset: Ruleset
    settings: FamiliesSettings
    cycle: str
    run_id: str
    root_seed: int = 0

    def __call__(
        self, family: Family, known: Sequence[Fingerprint] = (), parent_statement: str = ""
    ) -> FamilyResults:
        """Take one family through its gates.

        Args:
            known: fingerprints of every family there is. parent_statement: an instance of a parent, for the
                quality reviewer.

        Raises:
            MachineryError: the jail failed, or the budget is spent. InputError: a rule file cannot be used.
        """
        course = GateContext(
            family,
            MeteredPool(self.pool),
            self.agents,
            self.settings,
            known,
            self.root_seed,
            parent_statement,
        )
        done = gates.run_gates(
            course,
            [_metered(gate) for gate in GATES],
            self.ruleset,
            artifact_id=family.family_id,
            cycle=self.cycle,
            run_id=self.run_id,
            write=lambda evidence: as_json(evidence).encode(),
        )
        return FamilyResults(
            done.artifact_id,
            done.results,
            done.accepted,
            family,
            tuple(course.sample_votes),
            tuple(course.blind_votes),
            tuple(course.reviews),
            course.fingerprint,
            course.pool.costs,
            course.sample,
        )

    def by(self, agents: Agents) -> FamilyGates:
        """Return the same gates, whose reviewers are these."""
        return replace(self, agents=agents)

    def beside(self, done: FamilyResults, known: Sequence[Fingerprint]) -> FamilyResults | None:
        """Return what the gates say of a family next to `known`, from what they said of it next to others,
        without running anything; None where another verdict, or another question to the quality reviewer,
        comes of it.
        """
        static = next((result for result in done.results if result.gate == STATIC.name), None)
        if static is None:
            return done
        if done.fingerprint is None or raised_in(static.evidence):
            return None
        relatives, before = nearest(done.fingerprint, known), static.evidence["nearest"]
        if relatives == before:
            return done
        if any(item["same_text"] for item in relatives) != any(item["same_text"] for item in before):
            return None
        evidence = dict(static.evidence) | {"nearest": relatives}
        said = gates.replay_gate(
            STATIC, evidence, self.ruleset, artifact_id=done.family_id, cycle=self.cycle, run_id=self.run_id
        )
        return (
            replace(done, results=tuple(said if item is static else item for item in done.results))
            if said.verdicts == static.verdicts
            else None
        )


def _metered(gate: GateSpec) -> GateSpec:
    """Return the gate, with what it takes in the jail on its own account."""

    def collect(course: GateContext) -> Mapping[str, Any]:
        course.pool.gate = gate.name
        return gate.collector()(course)

    return replace(gate, collect=collect)
