"""A busy host changes no answer of a family's sources; a family that it could not judge is unknown, and no
verdict."""

from typing import Any

import pytest
from busy_host import busy_host
from families_fixtures import SETTINGS, operators, seed_family
from families_fixtures import WITHOUT_GUESSES as RULES

from evolake.errors import HostBusy
from evolake.families.evolution.proposing import propose_families
from evolake.families.evolution.requests import EvolutionSources
from evolake.families.gates.judging import FamilyGates
from evolake.families.sandbox.running import Caps, solve
from evolake.jail import patience
from evolake.jail.pool import open_pool
from evolake.jail.protocol import Limits, Outcome

COMPUTES = """def solution(inputs):
    total = 0
    for value in range(12_000_000):
        total += value
    return total
"""
SLEEPS = "import time\n\n\ndef solution(inputs):\n    time.sleep(60)\n"
SPINS = "def solution(inputs):\n    while True:\n        pass\n"
CAPS = Caps(cpu_s=0.9, call_s=0.9)


class Watched:
    """A jail that notes the outcomes of its calls."""

    def __init__(self, pool: Any) -> None:
        self.pool, self.outcomes = pool, list[Outcome]()

    def call(self, **arguments: Any) -> Outcome:
        self.outcomes.append(self.pool.call(**arguments))
        return self.outcomes[-1]


def test_an_answer_that_a_busy_host_cut_off_is_computed_again(monkeypatch):
    monkeypatch.setattr(patience, "STRETCH", 1.0)
    monkeypatch.setattr(patience, "GROWTH", 16.0)
    monkeypatch.setattr(patience, "QUIET_S", 0.0)
    monkeypatch.setattr(
        Caps, "limits", lambda caps: Limits(cpu_s=caps.call_s, wall_s=1.5, memory_mb=caps.memory_mb)
    )
    with open_pool(1, ()) as pool:
        idle = solve(COMPUTES, [{}], pool=pool, caps=CAPS)
    with busy_host(8), open_pool(1, ()) as pool:
        watched = Watched(pool)
        busy = solve(COMPUTES, [{}], pool=watched, caps=CAPS)
    assert watched.outcomes[0].starved, "the clock has to cut a call off, or nothing is tried here"
    assert [item.content for item in busy] == [item.content for item in idle] == [("ok", 71999994000000)]


@pytest.mark.parametrize(("source", "status"), [(SLEEPS, "timeout"), (SPINS, "cpu")])
def test_what_sleeps_and_what_never_ends_fails_on_a_busy_host_too(source, status):
    with busy_host(), open_pool(1, ()) as pool:
        [solved] = solve(source, [{}], pool=pool, caps=CAPS)
    assert solved.status == status


def test_a_family_that_a_busy_host_could_not_judge_is_unknown(pool):
    asked: list[str] = []

    def busy_at_first(family: Any, known: Any) -> Any:
        asked.append(family.family_id)
        if len(asked) == 1:
            raise HostBusy("the host was too busy to run a call of a family, so nothing was judged")
        return FamilyGates(pool, operators(), RULES, SETTINGS, "0001", "test")(family, known)

    sizes = SETTINGS.model_copy(update={"families_per_cycle": 2, "refinements": 0, "world_share": 0.0})
    parents = [seed_family(name) for name in ("clinic-queue", "remainder-subsets")]
    made = propose_families(
        operators(),
        EvolutionSources(parents),
        pool=pool,
        judge=busy_at_first,
        settings=sizes,
        cycle="0001",
        root_seed=0,
    )
    [failure] = made.failures
    number, why = failure.number, failure.reason
    assert number == 0 and why.startswith(
        "unknown: the host was too busy to run a call of a family, so nothing was"
    )
    assert why.endswith("; it may be proposed again")
    assert asked[0] not in [version.family_id for proposal in made.proposals for version in proposal.rounds]
    assert len(made.proposals) == 1 and all(row["family_id"] != asked[0] for row in made.authors)
