"""The evolution agent's turn with real gates: operators and a model over HTTP propose, gates feed back,
lessons are kept."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from families_fixtures import SETTINGS, operators, seed_family
from families_fixtures import WITHOUT_GUESSES as RULES
from loopback_model import KEY, Asked, LoopbackModel, serve
from pydantic import SecretStr

from evolake.agents import Agents, open_agents
from evolake.families.evolution import proposing
from evolake.families.evolution.proposing import Judge, family_of, propose_families
from evolake.families.evolution.records import gates_seen
from evolake.families.evolution.refining import Proposals
from evolake.families.evolution.requests import EvolutionSources, learn
from evolake.families.gates.judging import FamilyGates
from evolake.families.gates.specs import GATE_NAMES
from evolake.families.model.contract import Family, as_json, from_record, to_record
from evolake.families.model.source_code import switch
from evolake.families.operators.common import named
from evolake.families.operators.of_families import invert, retold
from evolake.families.operators.registry import COMPOSING
from evolake.families.roles.evolution_agent import evolve
from evolake.families.roles.models import Draft, EvolveReply, EvolveRequest
from evolake.families.worlds.puzzle_world import PUZZLES, puzzle_of
from evolake.settings import BudgetSettings, Settings

CLINIC, CARDS, LIARS = (seed_family(name) for name in ("clinic-queue", "remainder-subsets", "truth-tellers"))
PARENTS = [CLINIC, CARDS, LIARS]
SIGNS = next(puzzle for puzzle in PUZZLES if puzzle.name == "signs")
OF_ALL_KINDS = [*PARENTS, named(puzzle_of(SIGNS, SIGNS.themes[0], SIGNS.rules, SIGNS.questions[0]))]
"""Parents with one whose answers are listed, so that each operator finds one."""
DOUBLING = 19
"""A root seed under which the third child of the clinic alone is one of the two before."""
SIZES = SETTINGS.model_copy(
    update={"families_per_cycle": len(COMPOSING), "refinements": 2, "world_share": 0.0}
)


def judge_with(agents: Agents, pool: Any) -> Judge:
    return lambda family, known: FamilyGates(pool, agents, RULES, SIZES, "0001", "test")(family, known)


def proposed(pool: Any, root_seed: int = 0, agents: Agents | None = None, **options: Any):
    agents, sizes = agents or operators(), SIZES.model_copy(update=options.pop("sizes", {}))
    given = {name: options.pop(name) for name in ("experience", "guidance") if name in options}
    return propose_families(
        agents,
        EvolutionSources(options.pop("population", PARENTS), **given),
        pool=pool,
        judge=judge_with(agents, pool),
        settings=sizes,
        cycle="0001",
        root_seed=root_seed,
        **options,
    )


@pytest.fixture(scope="module")
def first(pool) -> Proposals:
    return proposed(pool, population=OF_ALL_KINDS)


def test_operators_take_turns_and_what_is_delivered_passed_every_gate(first):
    result = first
    assert [proposal.operator for proposal in result.proposals] == list(COMPOSING)
    assert result.failures == ()
    assert len(result.accepted) >= 3
    for examined in result.accepted:
        assert {verdict.gate for verdict in examined.verdicts if verdict.outcome == "pass"} == set(GATE_NAMES)
        assert set(examined.family.parents) <= {parent.family_id for parent in OF_ALL_KINDS}
    versions = [item.family_id for proposal in result.proposals for item in proposal.rounds]
    assert len(set(versions)) == len(versions)
    blocked = sum(not item.accepted for proposal in result.proposals for item in proposal.rounds)
    assert len(result.observations) == blocked


@dataclass
class Threads:
    """The pool, for `workers` candidates at one time."""

    pool: Any
    workers: int

    def call(self, **arguments: Any) -> Any:
        return self.pool.call(**arguments)


def test_side_by_side_gives_what_one_after_another_gives(pool, monkeypatch):
    """Of one parent alone, so that children double each other: families, verdicts, evidence and the order of
    calls."""

    def content(proposals: Proposals, agents: Agents) -> Any:
        made = [
            (
                item.number,
                item.refinement.ended,
                [(to_record(made.family), made.verdicts, as_json(gates_seen(made))) for made in item.rounds],
            )
            for item in proposals.proposals
        ]
        return (
            made,
            proposals.failures,
            [(row["role"], row["artifact_id"], row["response_sha"]) for row in agents.rows()],
        )

    judged: list[int] = []
    apart = proposing._Attempts.apart
    monkeypatch.setattr(
        proposing._Attempts,
        "apart",
        lambda attempts, number: (judged.append(number), apart(attempts, number))[1],
    )
    serial, ends = operators(), []
    reference = content(proposed(pool, DOUBLING, serial, population=[CLINIC], count=3), serial)
    for workers in (1, 5):
        agents, jails = operators(), Threads(pool, workers)
        result = propose_families(
            agents,
            EvolutionSources([CLINIC]),
            pool=jails,
            judge=FamilyGates(jails, agents, RULES, SIZES, "0001", "test"),
            settings=SIZES,
            cycle="0001",
            root_seed=DOUBLING,
            count=3,
        )
        assert content(result, agents) == reference
        ends.append([row["prompt_sha"] for row in agents.rows()])
    assert ends[0] == ends[1]
    assert sorted(judged) == [0, 0, 1, 1, 2, 2, 2, 2], "the third attempt draws a child that is there already"


def test_a_family_that_nothing_can_be_made_of_is_a_failure_that_says_why(pool):
    bare = from_record(to_record(LIARS) | {"points": [], "validators": {}})
    result = proposed(pool, population=[bare], count=1)
    assert result.proposals == ()
    [failure] = result.failures
    assert (failure.number, failure.operator) == (0, "switch")
    assert "switch: a parent without a rule to switch" in failure.reason


def draft_request(draft: Family, gate: str, **more: Any) -> EvolveRequest:
    shown = Draft(
        generator=draft.generator,
        template=draft.template,
        validator=draft.validator,
        kind="implementation bug",
        gate=gate,
        reason="r",
    )
    return EvolveRequest(
        operator="invert",
        idea="",
        parents=[],
        records=[to_record(CLINIC)],
        draft=shown,
        draft_record=to_record(draft),
        **more,
    )


def test_a_blocked_draft_comes_back_under_another_rule_its_own_operators_first():
    draft = invert([CLINIC], np.random.default_rng(0))
    request = draft_request(draft, "static")
    mended = family_of(evolve(request, np.random.default_rng(0)), request, whole=True)
    assert isinstance(mended, Family)
    before, after = ({point.name: point.chosen for point in family.points} for family in (draft, mended))
    assert [name for name in before if before[name] != after[name]] == ["ask"]
    assert mended.title == retold(draft, mended) != draft.title
    assert mended == replace_name(switch(draft, "ask", after["ask"]), mended.name, mended.title)
    assert mended.parents == draft.parents


def replace_name(family: Family, name: str, title: str) -> Family:
    return from_record(to_record(family) | {"name": name, "title": title})


def test_a_fault_that_no_rule_mends_ends_after_all_rounds_and_leaves_a_lesson(pool):
    wrong = from_record(
        to_record(CARDS) | {"validator": CARDS.validator.replace("return sum(", "return 1 + sum(")}
    )
    result = proposed(pool, population=[wrong], count=1)
    [proposal] = result.proposals
    assert (proposal.family, proposal.refinement.ended, len(proposal.rounds)) == (None, "refused", 3)
    assert result.accepted == []
    assert [observation.rule_id for observation in result.observations] == ["families-primary-agrees"] * 3
    lesson = RULES.lessons["families-primary-agrees"]
    failures = [replace(observation, lesson=lesson) for observation in result.observations]
    kept = learn(operators(), ["An old lesson."], failures, settings=SIZES, cycle="0001", root_seed=0)
    assert kept == ["An old lesson.", lesson]
    assert learn(operators(), kept, [], settings=SIZES, cycle="0001", root_seed=0) == kept


def written(family: Family, **changes: Any) -> dict[str, Any]:
    """The family as a model would give it: texts, no declarations, rules written out."""
    template = family.template
    for point in family.points:
        template = template.replace(f"[Rule {point.name}]", point.alternative().text)
    reply = EvolveReply.model_validate(
        {
            "title": "Cards on a table",
            "category": "symbolic",
            "answer_type": "integer",
            "operator": "filter",
            "used_parents": [1],
            "template": template,
            "generator": family.generator,
            "validator": family.validator,
            "reader": family.reader,
            "validators": [{"name": name, "source": source} for name, source in family.validators.items()],
        }
    )
    return reply.model_dump(mode="json") | changes


def agents_for(server: LoopbackModel, folder: Path) -> Agents:
    settings = Settings(
        backend="model",
        model_base_url=server.base_url,
        model_api_key=SecretStr(KEY),
        models={"default": "m"},
        budget=BudgetSettings(tokens_per_run=10**7),
        model_threads=2,
        model_repairs=0,
    )
    return open_agents(settings, folder, "0001", "run", line="families")


def script(evolved: list[dict[str, Any]]) -> Callable[[Asked], Any]:
    """A model that gives these families in turn, finds them good, and solves with a reader and a validator of
    its own."""
    proceed = {
        "readability": "pass",
        "novelty": "pass",
        "difficulty_alignment": "pass",
        "action": "proceed",
        "feedback": "",
    }
    program = (
        f"{CARDS.reader}\n{CARDS.validators['listing']}\nprint('\\\\boxed{{%s}}' % solution(read(TEXT)))\n"
    )

    def answer(asked: Asked) -> Any:
        start = asked.messages[0]["content"]
        if start.startswith("You write families"):
            return evolved.pop(0)
        if start.startswith("You review"):
            return proceed
        if start.startswith("You write solvers"):
            return author(asked.messages[1]["content"])
        _, shown, printed = asked.messages[1]["content"].rpartition("  output: ")
        return (
            {"reasoning": "seen", "final": printed.partition("```")[0]}
            if shown
            else {"reasoning": "run it", "code": program}
        )

    return answer


def author(text: str) -> dict[str, str]:
    """The independent validators of the cards, one after the other, from a task that shows no program."""
    assert "def " not in text, text
    second = "the first idea" in text
    return {
        "source": list(CARDS.validators.values())[second],
        "algorithm": "another" if second else "the first idea",
    }


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"generator": "", "template": "", "validator": "", "note": "no idea"}, "no idea"),
        ({"validators": [{"name": "primary", "source": CARDS.validator}]}, "validator 'primary'"),
    ],
)
def test_a_reply_that_is_no_family_is_a_failure(pool, tmp_path, changes, why):
    with (
        LoopbackModel(serve(script([written(CARDS, **changes)]))) as server,
        agents_for(server, tmp_path) as agents,
    ):
        result = proposed(pool, agents=agents, count=1, sizes={"validator_authors": "together"})
    assert result.proposals == ()
    assert [why in failure.reason for failure in result.failures] == [True]


def test_validators_of_the_same_reply_are_taken_where_the_setting_says_so_and_no_row_calls_them_independent(
    pool, tmp_path
):
    with LoopbackModel(serve(script([written(CARDS)]))) as server, agents_for(server, tmp_path) as agents:
        result = proposed(
            pool, agents=agents, count=1, sizes={"validator_authors": "together", "refinements": 0}
        )
        roles = {row["role"] for row in agents.rows()}
    assert "families_validator_author" not in roles
    assert set(result.proposals[0].rounds[0].family.validators) == set(CARDS.validators)
    assert {(row["voter"], row["author"], row["independent"]) for row in result.authors} == {
        ("primary", "families_evolution_agent", None),
        *((name, "families_evolution_agent", False) for name in CARDS.validators),
    }


FLAT = CARDS.generator.replace("def input(difficulty):", "def input(difficulty):\n    difficulty = 3")
WORDY = written(CARDS)["template"] + "\nThe table is 77 cm high.\n"


def measured_run(
    pool: Any, folder: Path, evolved: list[dict[str, Any]], **sizes: Any
) -> tuple[Proposals, list[Asked], list[dict[str, Any]]]:
    """One attempt by a model whose drafts are measured, with what was asked and the rows of calls."""
    with LoopbackModel(serve(script(evolved))) as server, agents_for(server, folder) as agents:
        gates = FamilyGates(pool, agents, RULES, SIZES, "0001", "test")
        result = propose_families(
            agents,
            EvolutionSources(PARENTS[1:2]),
            pool=pool,
            judge=gates,
            settings=SIZES.model_copy(update=sizes),
            cycle="0001",
            root_seed=0,
            count=1,
        )
        return result, list(server.requests), agents.rows()


def test_a_draft_is_measured_and_all_its_faults_are_said_before_anybody_else_is_asked(pool, tmp_path):
    drafts = [written(CARDS, generator=FLAT, template=WORDY), written(CARDS)]
    result, asked, rows = measured_run(pool, tmp_path, drafts)
    assert [asked[number].messages[0]["content"][:18] for number in range(3)] == [
        "You write families"
    ] * 2 + ["You write solvers "]
    sent = asked[1].messages[1]["content"]
    assert (
        "measured before the gates" in sent and "static: " in sent and "sentences: " in sent and "77" in sent
    )
    [row] = result.measured
    assert (row["number"], row["round"], row["outcome"]) == (0, 0, "corrected")
    assert {fault.split(":")[0] for fault in row["faults"]} == {"static", "sentences"}
    assert row["calls"] > 2 and row["cpu_s"] > 0
    assert [item.accepted for item in result.proposals[0].rounds] == [True]
    [review] = [
        item.messages[1]["content"] for item in asked if item.messages[0]["content"].startswith("You review")
    ]
    assert "none" not in review.partition("# A question of its parent family")[2]
    assert sum(item["role"] == "families_evolution_agent" for item in rows) == 2


def test_the_same_seed_proposes_the_same_families_with_the_same_verdicts(pool, first):
    def content(proposals):
        return [
            [(to_record(item.family), item.verdicts) for item in proposal.rounds]
            for proposal in proposals.proposals
        ]

    assert content(proposed(pool, count=2, population=OF_ALL_KINDS)) == content(first)[:2]
    assert content(proposed(pool, 1, count=1, population=OF_ALL_KINDS)) != content(first)[:1]
