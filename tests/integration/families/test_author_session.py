"""The evolution agent as a session: a real server, a real jail, real gates; what it observes of votes, and
what it never sees."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from families_fixtures import SETTINGS, operators, seed_family
from families_fixtures import WITHOUT_GUESSES as RULES
from loopback_model import KEY, Action, Asked, LoopbackModel, call, say
from pydantic import SecretStr

from evolake.agents import open_agents
from evolake.agents.session_tools import Arguments
from evolake.families.evolution.author_session import SessionAuthor, without_labels
from evolake.families.evolution.proposing import propose_families
from evolake.families.evolution.refining import Proposals
from evolake.families.evolution.requests import EvolutionSources
from evolake.families.gates.judging import FamilyGates
from evolake.families.model.contract import from_record, to_record
from evolake.families.model.statement import stated
from evolake.settings import AgentsSettings, BudgetSettings, SessionSettings, Settings

CLINIC, CARDS = seed_family("clinic-queue"), seed_family("remainder-subsets")
SIZES = SETTINGS.model_copy(update={"families_per_cycle": 1, "refinements": 1, "evolution_agent": "session"})
WRONG = CARDS.validator.replace("return sum(", "return 1 + sum(")
PROCEED = {
    "readability": "pass",
    "novelty": "pass",
    "difficulty_alignment": "pass",
    "action": "proceed",
    "feedback": "",
}
FINISH = (
    "finish",
    {"title": "Cards on a table", "category": "symbolic", "answer_type": "integer", "used_parents": [1]},
)


def write(name: str, text: str) -> tuple[str, dict[str, str]]:
    return "write_file", {"path": name, "text": text}


EXPERT = [
    call(("list_files", {}), ("samples", {}), thought="What is there?"),
    call(
        write("generator.py", CARDS.generator),
        write("template.md", stated(CARDS)),
        write("validator.py", WRONG),
        write("reader.py", CARDS.reader or ""),
    ),
    call(("samples", {"difficulty": 3, "count": 1}), ("answers", {"difficulty": 5, "count": 2})),
    call(("votes", {"difficulty": 5, "count": 2})),
    call(("edit_file", {"path": "validator.py", "search": "return 1 + sum(", "replace": "return sum("})),
    call(("votes", {"difficulty": 5, "count": 2})),
    call(FINISH),
]


class ScriptedModel:
    """Plays the session by a script, and every other role by what it is asked. asked: what each role was sent
    last."""

    def __init__(self, turns: list[Action]):
        self.turns, self.asked, self.count = turns, {}, 0

    def __call__(self, asked: Asked) -> Action:
        start, text = asked.messages[0]["content"], asked.messages[1]["content"]
        if "tools" in asked.body:
            self.asked["session"], self.count = asked, self.count + 1
            return self.turns[sum(message["role"] == "assistant" for message in asked.messages)]
        if start.startswith("You write solvers"):
            self.asked["author"] = asked
            second = "the first idea" in text
            return say(
                {
                    "source": list(CARDS.validators.values())[second],
                    "algorithm": "another" if second else "the first idea",
                }
            )
        if start.startswith("You review"):
            return say(PROCEED)
        _, shown, printed = text.rpartition("  output: ")
        program = (
            f"{CARDS.reader}\n{CARDS.validators['listing']}\nprint('\\\\boxed{{%s}}' % "
            "solution(read(TEXT)))\n"
        )
        return say(
            {"reasoning": "seen", "final": printed.partition("```")[0]}
            if shown
            else {"reasoning": "run it", "code": program}
        )


@dataclass(frozen=True)
class Held:
    """A proposal by a session, its turns and rows."""

    proposals: Proposals
    turns: list[dict[str, Any]]
    rows: list[dict[str, Any]]

    @property
    def results(self) -> list[list[str]]:
        """What the calls of each turn gave back."""
        return [[done["result"] for done in json.loads(turn["text"])["calls"]] for turn in self.turns]


def hold(pool: Any, folder: Path, scripted: ScriptedModel, port: int = 0, **session: Any) -> tuple[Held, int]:
    with LoopbackModel(scripted, port) as server:
        settings = Settings(
            backend="model",
            model_base_url=server.base_url,
            model_api_key=SecretStr(KEY),
            models={"default": "m"},
            budget=BudgetSettings(tokens_per_run=10**7),
            model_repairs=0,
            agents=AgentsSettings(session=SessionSettings(**session)),
        )
        with open_agents(settings, folder, "0001", "run", line="families") as agents:
            result = propose_families(
                agents,
                EvolutionSources([CLINIC]),
                pool=pool,
                settings=SIZES,
                cycle="0001",
                root_seed=0,
                judge=lambda family, known: FamilyGates(pool, agents, RULES, SIZES, "0001", "test")(
                    family, known
                ),
            )
            return Held(result, agents.turns(), agents.rows()), server.port


@pytest.fixture(scope="module")
def held(pool, tmp_path_factory) -> tuple[Held, ScriptedModel, Path, int]:
    folder, scripted = tmp_path_factory.mktemp("session"), ScriptedModel(EXPERT)
    done, port = hold(pool, folder, scripted)
    return done, scripted, folder, port


def test_authors_of_validators_see_the_statement_and_never_a_program(held):
    text = "\n".join(message["content"] for message in held[1].asked["author"].messages)
    assert stated(CARDS)[:200] in text and "def input" not in text and "def solution(inputs)" in text
    for source in (CARDS.validator, WRONG, CARDS.generator, CLINIC.validator):
        assert not [line for line in source.splitlines() if len(line.strip()) > 30 and line.strip() in text]


def test_a_session_sees_no_label_no_answer_of_another_and_no_other_program(held):
    scripted = held[1]
    said = json.dumps(scripted.asked["session"].messages, ensure_ascii=False)
    others = [
        line.strip()
        for source in CARDS.validators.values()
        for line in source.splitlines()
        if len(line.strip()) > 30
    ]
    own = (
        f"{CARDS.validator}{CARDS.generator}{CARDS.reader}{CLINIC.generator}{CLINIC.validator}{CLINIC.reader}"
    )
    assert [line for line in others if line not in own] != []
    assert not [line for line in others if line not in own and json.dumps(line)[1:-1] in said]
    assert "label" not in said
    trace = json.dumps({"difficulty": 1, "seed": 2, "label": 7, "answers": {"primary": 8, "built1": 7}})
    assert without_labels(
        [trace, '{"number": 1, "answer": "7", "label": "7", "matched": false}', "cut {"]
    ) == ['{"difficulty": 1, "seed": 2, "answers": {"primary": 8}}', '{"number": 1, "matched": false}']


@pytest.mark.parametrize(
    ("turns", "why"),
    [
        ([call(("finish", FINISH[1] | {"note": "nothing comes to mind"}))], "nothing comes to mind"),
        (
            [
                call(write("parents/1/generator.py", "")),
                call(write("validators/mine.py", "")),
                call(write("../x", "")),
            ],
            "outside",
        ),
        ([call(("samples", {"difficulty": 11}))] * 3, "bad_call"),
    ],
)
def test_a_session_of_no_use_is_an_attempt_that_made_nothing_with_its_reason(pool, tmp_path, turns, why):
    done, _ = hold(pool, tmp_path, ScriptedModel(turns))
    assert done.proposals.proposals == ()
    assert [why in failure.reason for failure in done.proposals.failures] == [True]


def test_a_session_checks_its_files_by_the_gates_that_ask_no_model(pool):
    agents = operators()
    gates = FamilyGates(pool, agents, RULES, SIZES, "0001", "test")
    author = SessionAuthor(agents, pool, SIZES, 0, gates, ())
    plain = replace(from_record(to_record(CARDS) | {"points": [], "validators": {}}), template=stated(CARDS))
    assert (
        author.check(plain, Arguments()) == "The gates execution, static, sentences say nothing against it."
    )
    flat = replace(
        plain,
        generator=plain.generator.replace(
            "def input(difficulty):", "def input(difficulty):\n    difficulty = 3"
        ),
    )
    said = author.check(replace(flat, template=f"{plain.template}The table is 77 cm high.\n"), Arguments())
    assert "static: " in said and "sentences: the text says 77" in said
    assert agents.rows() == []


def test_a_session_looks_at_samples_sees_the_votes_mends_its_validator_and_passes_every_gate(held):
    done, *_ = held
    [proposal] = done.proposals.proposals
    assert [item.accepted for item in proposal.rounds] == [True], proposal.rounds[-1].blocked_by
    family = proposal.family
    assert family is not None
    assert (family.validator, sorted(family.validators), family.parents) == (
        CARDS.validator,
        ["built1", "built2"],
        (CLINIC.family_id,),
    )
    results = done.results
    assert "parents/1/generator.py" in results[0][0]
    assert results[0][1] == "There is no generator.py and no template.md yet."
    assert results[2][0].startswith("Instance 1:\n") and "Its inputs: {" in results[2][0]
    assert (
        results[2][1].startswith("2 instances\nInstance 1: the validator answers ")
        and "the reader finds its inputs" in results[2][1]
    )
    two = (
        "2 validators were written from your statement.\nInstance 1: {} of 2 others agree with your "
        "validator\nInstance 2: {} of 2 others agree with your validator"
    )
    assert (results[3], results[5]) == ([two.format(0, 0)], [two.format(2, 2)])
    assert [turn["outcome"] for turn in done.turns] == [None] * 6 + ["finished"]
    assert {turn["artifact_id"] for turn in done.turns} == {proposal.rounds[0].family_id}
    assert {(row["voter"], row["author"], row["independent"]) for row in done.proposals.authors} == {
        ("primary", "families_evolution_session", None),
        ("built1", "families_validator_author", True),
        ("built2", "families_validator_author", True),
    }


def test_a_session_is_replayed_for_nothing_to_the_same_family(held, pool):
    done, _, folder, port = held
    scripted = ScriptedModel([])
    again, _ = hold(pool, folder, scripted, port)
    assert (scripted.count, {row["usd"] for row in again.rows if row["status"].startswith("replayed")}) == (
        0,
        {0.0},
    )
    assert again.proposals.proposals[0].rounds[0].family_id == done.proposals.proposals[0].rounds[0].family_id
    assert [turn["tree_sha"] for turn in again.turns] == [turn["tree_sha"] for turn in done.turns]
