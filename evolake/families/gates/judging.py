"""A family through its gates, cheapest first, up to the first block: `specs` says which, `collecting` what
each looks at.

A candidate's failure is a verdict, and so is whatever its texts make our code raise (evolake.gates.boundary);
a dead jail or a spent budget is an exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evolake import gates
from evolake.agents import Agents
from evolake.families.gates.blind import Review
from evolake.families.gates.collecting import GateContext
from evolake.families.gates.consensus import Vote
from evolake.families.gates.specs import GATES
from evolake.families.gates.static import Sample, nearest
from evolake.families.model.contract import Family, as_json
from evolake.families.model.similarity import Fingerprint
from evolake.families.sandbox.metering import MeteredPool
from evolake.families.settings import FamiliesSettings
from evolake.gates import GateResults, GateSpec, Ruleset, gate_named, raised_in

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
