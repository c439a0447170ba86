"""Poisoned families through the real gates: each is a verdict or a failure with a reason, and the tape never
stops the line at it twice."""

from dataclasses import replace
from typing import Any

import pytest
from families_fixtures import RULES, SETTINGS, judged, seed_family
from families_poison import corpus, plain
from loopback_model import KEY, Asked, LoopbackModel, serve
from pydantic import SecretStr

from evolake.agents import Agents, open_agents
from evolake.families.evolution.proposing import propose_families
from evolake.families.evolution.records import proposal_rows
from evolake.families.evolution.refining import Proposal, Proposals, SubmissionGuard, refine
from evolake.families.evolution.requests import EvolutionSources
from evolake.families.evolution.stages import Further, replay_gate
from evolake.families.gates import instances, static
from evolake.families.gates import judging as collecting
from evolake.families.gates.instances import sample_families
from evolake.families.gates.judging import FamilyGates
from evolake.families.gates.specs import GATE_NAMES
from evolake.families.model.contract import Family, as_json
from evolake.families.sandbox.running import solve
from evolake.families.tables import CANDIDATES
from evolake.lake import Lake
from evolake.settings import BudgetSettings, Settings

CLINIC = seed_family("clinic-queue")
SIZES = SETTINGS.model_copy(
    update={
        "gate_difficulties": [1, 5, 10],
        "sample_seeds": 4,
        "execution_seeds": 1,
        "counted_seeds": 1,
        "families_per_cycle": 6,
        "refinements": 1,
        "validators": 2,
        "instances_per_family": 4,
    }
)
CORPUS = corpus(CLINIC)
SEEN = (
    "answer: fraction past every float",
    "answer: mantissa and exponent",
    "answer: keys that are numbers",
    "answer: fractions",
    "answer: half a pair",
    "constant: sum of 900 terms",
    "constant: hexadecimal",
    "constant: lambdas",
    "slot: digits in the statement",
    "slot: half a pair",
    "forged: steps without end",
    "forged: unknown status",
    "forged: endless reason",
)
"""Those on which the host once raised, and some beside them; all of them run in tests/attacks."""


@pytest.mark.parametrize("name", SEEN)
def test_a_poisoned_family_is_a_verdict(name, pool):
    examined = judged(CORPUS[name], pool, settings=SIZES)
    assert examined.verdicts and {verdict.gate for verdict in examined.verdicts} <= set(GATE_NAMES)
    assert examined.accepted == (examined.blocked_by is None)
    as_json({gate: dict(result) for gate, result in examined.evidence.items()}).encode()


def test_what_a_gate_raises_is_a_block_that_is_stored_judged_again_and_refined(pool, tmp_path, monkeypatch):
    """Whatever it may be that we have not thought of: the next stage, the rows and the second judgement take
    it."""

    def poisoned(*_: Any) -> Any:
        raise RecursionError("too deep")

    monkeypatch.setattr(collecting, "static_evidence", poisoned)
    done = refine(
        CLINIC,
        lambda family: judged(family, pool, settings=SIZES),
        lambda *_: None,
        rounds=1,
        guard=SubmissionGuard(3),
    )
    [examined] = done.rounds
    blocked = examined.blocked_by
    assert (
        blocked is not None
        and (blocked.gate, blocked.outcome) == ("static", "block")
        and "RecursionError" in blocked.reason
    )
    lake = Lake(tmp_path)
    [row] = proposal_rows([Proposal(0, "switch", done)], lake.blobs, cycle="0001", origin="operators")
    CANDIDATES.frame([row])
    stored = Further(list, [row], RULES, lake.blobs, lambda *_: pytest.fail("evidence is stored"))
    staged = replay_gate(row, "static", RULES, stored, blobs=lake.blobs, cycle="0001", run_id="r")
    assert not staged.passed and staged.verdicts[-1].reason == blocked.reason


def test_a_family_on_which_sampling_raises_gives_no_instances_and_stops_no_other(pool, monkeypatch):
    real = instances.take_votes

    def poisoned(family: Family, *arguments: Any, **options: Any) -> Any:
        if family.name == "poisoned":
            raise OverflowError("10^400/3")
        return real(family, *arguments, **options)

    monkeypatch.setattr(instances, "take_votes", poisoned)
    families = [replace(plain(CLINIC), name="poisoned"), CLINIC]
    rows, dropped = sample_families(families, pool=pool, settings=SIZES, root_seed=0, cycle="0001", workers=2)
    assert {row["family_id"] for row in rows} == {CLINIC.family_id}
    assert [
        (row["reason"], row["instances"]) for row in dropped if row["family_id"] == families[0].family_id
    ] == [("could not be judged", 4)]


LIAR = """import sys

def solution(inputs):
    frame = sys._getframe(1)
    while frame is not None:
        counter = frame.f_locals.get("counter")
        if counter is not None:
            counter.steps = 10 ** 5
        frame = frame.f_back
    sys.settrace(None)
    return 1
"""


def test_a_validator_may_say_any_number_of_steps_and_no_gate_listens(pool):
    said = solve(LIAR, [1, 2], pool=pool, count=True)
    assert all(10**5 <= (item.steps or 0) < 10**5 + 100 for item in said)  # a lie of this kind cannot be seen
    assert [item.cpu_s for item in said] == [said[0].cpu_s] * 2 and said[0].cpu_s < 5
    sample = static.draw_sample(plain(CLINIC), pool=pool, settings=SIZES)
    lied = replace(sample, work={1: 1.0, 5: 10.0**5, 10: 10.0**9})
    honest, lying = (static.static_evidence(CLINIC, item, ()) for item in (sample, lied))
    assert honest["work"] != lying["work"] and {**honest, "work": 0} == {**lying, "work": 0}


def as_reply(family: Family, **changes: Any) -> dict[str, Any]:
    sources = [{"name": name, "source": source} for name, source in family.validators.items()]
    return {
        "title": family.title,
        "category": "other",
        "language": "en",
        "answer_type": family.answer.type,
        "operator": "written",
        "used_parents": [1],
        "generator": family.generator,
        "template": family.template,
        "validator": family.validator,
        "validators": sources,
        "reader": family.reader,
    } | changes


REPLIES = [
    as_reply(CORPUS["constant: sum of 900 terms"]),
    as_reply(CORPUS["answer: fraction past every float"]),
    as_reply(CORPUS["slot: digits in the statement"]),
    as_reply(plain(CLINIC), title="zero \0 byte", used_parents=[10**300, -5]),
    as_reply(plain(CLINIC), operator="../../x", template="\n" * 150_000 + plain(CLINIC).template),
    as_reply(plain(CLINIC), generator="\\ud800"),
]


def cycle(pool: Any, agents: Agents) -> Proposals:
    def judge(family: Family, known: Any) -> Any:
        return FamilyGates(pool, agents, RULES, SIZES, "0001", "test")(family, known)

    return propose_families(
        agents, EvolutionSources([CLINIC]), pool=pool, judge=judge, settings=SIZES, cycle="0001", root_seed=0
    )


def test_the_tape_replays_poisoned_replies_to_the_same_end(pool, tmp_path):
    """A red run would be red for ever: run again, it gets the same replies from the tape, pays nothing, and
    ends as before."""
    replies = list(REPLIES)

    def answer(asked: Asked) -> Any:
        start = asked.messages[0]["content"]
        if start.startswith("You write families"):
            return replies.pop(0) if replies else {"note": "nothing"}
        if start.startswith("You review"):
            return {
                "readability": "pass",
                "novelty": "pass",
                "difficulty_alignment": "pass",
                "action": "proceed",
                "feedback": "",
            }
        return (
            {"reasoning": "", "final": "\\boxed{1" + "0" * 400 + "/3}"}
            if start.startswith("You solve")
            else {"source": "", "algorithm": "x"}
        )

    ends: list[Any] = []
    asked: list[int] = []
    with LoopbackModel(serve(answer)) as server:
        settings = Settings(
            backend="model",
            model_base_url=server.base_url,
            model_api_key=SecretStr(KEY),
            models={"default": "m"},
            budget=BudgetSettings(tokens_per_run=10**8),
            model_threads=2,
            model_repairs=0,
        )
        for _ in range(2):
            # one run, begun again: another run would ask anew what could not be used
            with open_agents(settings, tmp_path, "0001", "run", line="families") as agents:
                result = cycle(pool, agents)
                rounds = {
                    proposal.number: [(seen.family_id, seen.blocked_by) for seen in proposal.rounds]
                    for proposal in result.proposals
                }
                ends.append((rounds, result.failures))
                lake = Lake(tmp_path / "lake")
                CANDIDATES.frame(proposal_rows(result.proposals, lake.blobs, cycle="0001", origin="model"))
            asked.append(len(server.requests))
    assert ends[0] == ends[1]
    assert asked[0] == asked[1]
    assert set(ends[0][0]) | {failure.number for failure in ends[0][1]} == set(range(6))
