"""A family through its gates, cheapest first, up to the first block.

    0  execution   it runs, within limits, twice the same
    1  static      checker K on a sample; near-duplicates
    1  quality     the quality reviewer
    2  consensus   strict majority of the primary and at least two independent validators
    2  blind       reviewers who see the text only; negative probes

(The paper's g1 is gates 1, its g2 is gates 2.) Evidence is collected when its gate is reached. A candidate's failure is a verdict, and so is whatever
its texts make our code raise (evolake.gates.boundary); a dead jail or a spent budget is an exception.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.families.gates.blind import Review, blind_evidence, blind_review
from evolake.families.gates.checkers import growing
from evolake.families.gates.consensus import Vote, consensus_evidence, take_votes
from evolake.families.gates.execution import execute, execution_evidence
from evolake.families.gates.static import Sample, draw_sample, static_evidence
from evolake.families.model.ast_transforms import constants
from evolake.families.model.contract import Family, as_json
from evolake.families.model.similarity import Fingerprint, fingerprint
from evolake.families.model.statement import rules
from evolake.families.model.syntax import unparsed
from evolake.families.roles.models import QualityRequest
from evolake.families.roles.quality import QUALITY_ROLE
from evolake.families.sandbox.metering import MeteredPool
from evolake.families.settings import FamiliesSettings
from evolake.gates import Gate, Raised, Ruleset, Verdict, contained, judge, passed
from evolake.seeds import child_seed

GATE_NUMBERS = {"execution": 0, "static": 1, "quality": 1, "consensus": 2, "blind": 2}
GATE_NAMES = tuple(GATE_NUMBERS)
REVIEWED_DIFFICULTY = 5


@dataclass(frozen=True)
class Examined:
    """A family after its gates. What a gate saw is there as far as it came; `accepted` needs a pass from every gate.

    sample_votes: on the shared sample. blind_votes: on the instances of the blind reviews. fingerprint: None where the sample was not reached.
    costs: gate -> {"calls", "cpu_s", "wall_s"} in the jail. evidence: gate -> what its rules judged.
    """

    family: Family
    verdicts: tuple[Verdict, ...]
    accepted: bool
    sample_votes: tuple[Vote, ...]
    blind_votes: tuple[Vote, ...]
    reviews: tuple[Review, ...]
    fingerprint: Fingerprint | None
    costs: dict[str, dict[str, float]]
    evidence: dict[str, Mapping[str, Any]]

    @property
    def family_id(self) -> str:
        return self.family.family_id

    @property
    def blocked_by(self) -> Verdict | None:
        """The verdict that blocked it."""
        return next((verdict for verdict in self.verdicts if verdict.outcome != "pass"), None)


@dataclass
class _Course:
    """What the gates of one family collect on the way."""

    family: Family
    pool: MeteredPool
    agents: Agents
    settings: FamiliesSettings
    known: Sequence[Fingerprint]
    root_seed: int
    parent_statement: str
    sample: Sample | None = None
    fingerprint: Fingerprint | None = None
    sample_votes: list[Vote] = field(default_factory=list)
    blind_votes: list[Vote] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    evidence: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def gates(self) -> tuple[Gate, ...]:
        return tuple(Gate(number, name, self._collector(name)) for name, number in GATE_NUMBERS.items())

    def _collector(self, name: str):
        def collect(candidate: Any) -> Mapping[str, Any]:
            self.pool.gate = name
            found = contained(storable, getattr(self, name))
            self.evidence[name] = found.evidence() if isinstance(found, Raised) else found
            return self.evidence[name]

        return collect

    def execution(self) -> Mapping[str, Any]:
        return execution_evidence(self.family, execute(self.family, pool=self.pool, settings=self.settings))

    def static(self) -> Mapping[str, Any]:
        self.sample = draw_sample(self.family, pool=self.pool, settings=self.settings)
        self.fingerprint = fingerprint(self.family, [solved.answer for solved in self.sample.answers])
        return static_evidence(self.family, self.sample, self.known) | rule_evidence(self.family)

    def quality(self) -> Mapping[str, Any]:
        assert self.sample is not None, "the quality gate comes after the static gate"
        static = self.evidence["static"]
        pairs = list(zip(self.sample.instances, self.sample.answers, strict=True))
        instance, solved = min(pairs, key=lambda pair: abs(pair[0].difficulty - REVIEWED_DIFFICULTY))
        growths = [_growth([value for _, value in series]) for series in growing(static).values()]
        metrics = {
            "growth": max(growths), "commonest_share": static["commonest_share"], "boolean": static["boolean"],
            "same_text": any(other["same_text"] for other in static["nearest"]),
        }
        request = QualityRequest(
            title=self.family.title, category=self.family.category, statement=instance.text, answer=json.dumps(solved.answer, ensure_ascii=False),
            difficulty=instance.difficulty, parent_statement=self.parent_statement, metrics=metrics,
        )
        seed = child_seed(self.root_seed, "families", self.family.family_id, "quality")
        reply = self.agents.call(QUALITY_ROLE, request, seed=seed, artifact_id=self.family.family_id)
        if isinstance(reply, AgentFailure):
            return {"failure": f"{reply.status}: {reply.reason}", "action": "revise", "feedback": ""}
        return {"failure": ""} | reply.model_dump()

    def consensus(self) -> Mapping[str, Any]:
        assert self.sample is not None, "the consensus gate comes after the static gate"
        self.sample_votes = take_votes(
            self.family, self.sample.instances, pool=self.pool, settings=self.settings, primary=self.sample.answers
        )
        return consensus_evidence(self.family, self.sample_votes)

    def blind(self) -> Mapping[str, Any]:
        self.reviews, self.blind_votes = blind_review(
            self.family, pool=self.pool, agents=self.agents, settings=self.settings, root_seed=self.root_seed
        )
        return blind_evidence(self.family, self.reviews, self.blind_votes)


def examine(
    family: Family, *, pool: Any, agents: Agents, ruleset: Ruleset, settings: FamiliesSettings, cycle: str, run_id: str,
    known: Sequence[Fingerprint] = (), root_seed: int = 0, parent_statement: str = "",
) -> Examined:
    """Take one family through its gates.

    Args:
        pool: an open pool of evolake.jail (best opened with `preload=running.PRELOAD`). known: fingerprints of every family there is.
        parent_statement: an instance of a parent, for the quality reviewer.

    Raises:
        MachineryError: the jail failed, or the budget is spent. InputError: a rule file cannot be used.
    """
    course = _Course(family, MeteredPool(pool), agents, settings, known, root_seed, parent_statement)
    gates = course.gates()
    verdicts = judge(family, gates, ruleset, artifact_id=family.family_id, cycle=cycle, run_id=run_id)
    return Examined(
        family, tuple(verdicts), passed(verdicts, gates), tuple(course.sample_votes), tuple(course.blind_votes), tuple(course.reviews),
        course.fingerprint, course.pool.costs, course.evidence,
    )


def storable(collect: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Evidence that a blob can hold: what cannot be written would stop the line after the gates, so it comes up here."""
    evidence = collect()
    as_json(evidence).encode()
    return evidence


def rule_evidence(family: Family) -> dict[str, Any]:
    """Whether text and code of the mutation points go together."""
    found = {name: constants(source) for name, source in family.sources().items()}
    mismatched, unused = [], []
    for point in family.points:
        holders = {name: values[point.constant] for name, values in found.items() if point.constant in values}
        if not holders:
            unused.append(point.constant)
        for name, value in holders.items():
            if value != unparsed(point.alternative().expression(name)):
                mismatched.append(f"{point.constant} is {value} in {name}, the text says {point.alternative().text!r}")
    unstated = [point.name for point in family.points if point.name not in rules(family.template)]
    return {"unstated": unstated, "unused": unused, "mismatched": mismatched}


def _growth(values: Sequence[float]) -> float:
    return values[-1] / max(values[0], 1e-9) if values else 0.0
