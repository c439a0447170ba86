"""Questions with many correct answers: wrong and other right answers are told apart, faults of checkers are
caught, exports carry them."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from families_fixtures import SETTINGS, judged, seed_family

from evolake.families.dataset.datasets import Provenance
from evolake.families.dataset.exports import write_dataset
from evolake.families.gates.consensus import right_answers
from evolake.families.gates.instances import sample_instances
from evolake.families.model.contract import Family, to_record

COLOURS = seed_family("border-colours")
TARGET = seed_family("reach-target")
MADE_BY = Provenance([], [], ["0001"], ["7"], ["operators"], ["0.2.0"])
SQUARE = {"regions": 4, "colours": 3, "borders": [[1, 2], [2, 3], [3, 4], [1, 4]]}
JOBS = {"jobs": [[0, 2, 6], [0, 3, 6]]}
ROSTER = {"roster": [[1, 0], [0, 0]]}
CARDS = {"cards": [2, 3, 5], "target": 21}
ROW = {"text": "(??]"}
CASES: list[tuple[str, Any, Any, bool]] = [
    ("border-colours", SQUARE, [1, 2, 1, 2], True),
    ("border-colours", SQUARE, [3, 1, 2, 1], True),
    ("border-colours", SQUARE, [1, 2, 2, 3], False),
    ("border-colours", SQUARE, [1, 2, 1], False),
    ("border-colours", SQUARE, [1, 4, 1, 4], False),
    ("border-colours", SQUARE, "1212", False),
    ("border-colours", SQUARE, [True, 2, True, 2], False),
    ("one-workshop", JOBS, [0, 2], True),
    ("one-workshop", JOBS, [4, 1], True),
    ("one-workshop", JOBS, [0, 1], False),
    ("one-workshop", JOBS, [5, 0], False),
    ("one-workshop", JOBS, [0], False),
    ("one-workshop", JOBS, [0, 2, 5], False),
    ("shift-roster", ROSTER, [[1, 2], [2, 1]], True),
    ("shift-roster", ROSTER, [[2, 1], [1, 2]], False),
    ("shift-roster", ROSTER, [[1, 2], [1, 2]], False),
    ("shift-roster", ROSTER, [[1, 2]], False),
    ("reach-target", CARDS, "(2+5)*3", True),
    ("reach-target", CARDS, "3 * (5 + 2)", True),
    ("reach-target", CARDS, "3*7", False),
    ("reach-target", CARDS, "2+3*5", False),
    ("reach-target", CARDS, "(2+5)*3 = 21", False),
    ("reach-target", CARDS, "-3*(-5-2)", False),
    ("reach-target", CARDS, "(2+5)*3/(1-1)", False),
    ("reach-target", CARDS, "", False),
    ("reach-target", CARDS, "(2 + 5) * 3)", False),
    ("faded-brackets", ROW, "([)]", False),
    ("faded-brackets", ROW, "(([]", False),
    ("faded-brackets", ROW, "()[]", True),
    ("faded-brackets", {"text": "????"}, "([])", True),
    ("faded-brackets", {"text": "????"}, "[()]", True),
    ("faded-brackets", {"text": "????"}, "[()", False),
]
LOOSE = (
    "def check(inputs, answer):\n    return isinstance(answer, list) and len(answer) == inputs['regions'] "
    "and bool(%s)\n"
)
LENGTH = """
def check(inputs, answer):
    return kind_of(answer) == "list" and len(answer) == inputs["regions"]


def kind_of(value):
    return "list" if isinstance(value, list) else ""
"""
OWN_CHECK = """

basic = check


def check(inputs, answer):
    return basic(inputs, answer) and lowest(inputs, answer)
"""
BOMB = """
def check(inputs, answer):
    number = answer
    while answer == 13:
        number = number * number
    return True
"""


@pytest.mark.parametrize(("name", "inputs", "answer", "right"), CASES)
def test_every_checker_tells_right_answers_from_wrong_ones(name, inputs, answer, right, pool):
    family = seed_family(name)
    for checker in family.checkers:
        alone = replace(family, checkers={checker: family.checkers[checker]})
        assert right_answers(alone, [(inputs, answer)], pool=pool, settings=SETTINGS) == [right], checker


SMALL = SETTINGS.model_copy(update={"gate_difficulties": [1, 5, 10], "sample_seeds": 5, "execution_seeds": 2})


def blocked(family: Family, pool: Any) -> tuple[str, str] | None:
    verdict = judged(family, pool, settings=SMALL).blocked_by
    return None if verdict is None else (verdict.gate, verdict.rule_id)


def with_checkers(**sources: str) -> Family:
    return replace(COLOURS, checkers={**COLOURS.checkers, **sources})


FAULTS: dict[str, tuple[Family, tuple[str, str]]] = {
    "solver breaks a rule": (
        replace(
            COLOURS,
            validator=COLOURS.validator.replace(
                "return [chosen", "chosen[2] = chosen[1]\n    return [chosen"
            ),
        ),
        ("consensus", "families-primary-agrees"),
    ),
    "one checker": (
        replace(COLOURS, checkers={"borders": COLOURS.checkers["borders"]}),
        ("consensus", "families-voters"),
    ),
    "a copy": (
        replace(
            COLOURS,
            checkers={
                "one": COLOURS.checkers["borders"],
                "two": COLOURS.checkers["borders"].replace("one - 1", "a - 1").replace("for one,", "for a,"),
            },
        ),
        ("consensus", "families-voters"),
    ),
    "a checker that overlooks borders": (with_checkers(borders=LOOSE % "True"), ("blind", "families-probes")),
    "checkers that accept anything": (
        replace(COLOURS, checkers={"one": LOOSE % "answer", "two": LENGTH}),
        ("blind", "families-other-answers"),
    ),
    "a further solver that is wrong": (
        replace(
            COLOURS,
            validators={
                **COLOURS.validators,
                "wrong": "def solution(inputs):\n    return [1] * inputs['regions']\n",
            },
        ),
        ("blind", "families-other-answers"),
    ),
    "a checker that opens files": (
        with_checkers(borders="import os\n" + COLOURS.checkers["borders"]),
        ("execution", "families-pure-checkers"),
    ),
    "a checker that answers with numbers": (
        with_checkers(
            borders=COLOURS.checkers["borders"].replace(
                "return all(", "return sum(1 for _ in '') or 1 + all("
            )
        ),
        ("consensus", "families-majority"),
    ),
    "a checker without end": (
        with_checkers(borders="def check(inputs, answer):\n    while True:\n        pass\n"),
        ("execution", "families-confined"),
    ),
    "a checker that remembers": (
        with_checkers(
            borders=COLOURS.checkers["borders"].replace(
                "def check(inputs, answer):",
                "SEEN = []\n\n\ndef check(inputs, answer):\n"
                "    SEEN.append(1)\n    if len(SEEN) % 3 == 1:\n        return False",
            )
        ),
        ("execution", "families-determinism"),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_blocked_at_its_gate(fault, pool):
    family, where = FAULTS[fault]
    assert blocked(family, pool) == where


def test_a_family_with_one_correct_answer_needs_no_checkers(pool):
    lowest = """

def lowest(inputs, answer):
    for region, colour in enumerate(answer, start=1):
        before = {answer[other - 1] for pair in inputs["borders"] for other in pair if region in pair and other < region}
        if any(other not in before for other in range(1, colour)):
            return False
    return True
"""  # noqa: E501
    greedy = """
def solution(inputs):
    colours = []
    for region in range(1, inputs["regions"] + 1):
        before = {colours[other - 1] for pair in inputs["borders"] for other in pair if region in pair and other < region}
        colours.append(min(set(range(1, inputs["regions"] + 1)) - before))
    return colours
"""  # noqa: E501
    easy = replace(
        COLOURS,
        generator=COLOURS.generator.replace("colours = 3 if difficulty < 6 else 4", "colours = 12"),
        validator=greedy,
        validators={},
        checkers={name: source + OWN_CHECK + lowest for name, source in COLOURS.checkers.items()},
    )
    verdict = judged(easy, pool, settings=SMALL).blocked_by
    assert verdict is not None
    assert (verdict.rule_id, "answer is unique" in verdict.reason) == ("families-other-answers", True)


@pytest.fixture(scope="module")
def exported(pool, tmp_path_factory) -> Path:
    """An export for TRL of one family with checkers and one without."""
    folder = tmp_path_factory.mktemp("export")
    families, rows = (COLOURS, TARGET, seed_family("clinic-queue")), []
    sizes = SETTINGS.model_copy(update={"instances_per_family": 4})
    for family in families:
        drawn = sample_instances(family, pool=pool, settings=sizes, root_seed=7, cycle="0001").rows
        rows += [row | {"operator": "seed", "independent": "none"} for row in drawn]
    write_dataset("trl", rows, [to_record(family) for family in families], folder, MADE_BY)
    return folder


def test_the_reward_of_an_export_takes_any_right_answer_and_no_wrong_one(exported, tmp_path):
    rows = pl.read_parquet(exported / "train.parquet").to_dicts()
    checked = [row for row in rows if row["checker"] == COLOURS.family_id]
    plain = [row for row in rows if not row["checker"]]
    assert (len(checked), len(plain)) == (4, 4)
    replies, wanted, asked = [], [], []
    for row in checked:
        label, inputs = json.loads(row["answer"]), json.loads(row["inputs"])
        other = [1 + inputs["colours"] - colour for colour in label]
        wrong = list(label)
        one, two = inputs["borders"][0]
        wrong[two - 1] = wrong[one - 1]
        for answer, right in (
            (json.dumps(label), 1.0),
            (", ".join(map(str, other)), 1.0),
            (json.dumps(wrong), 0.0),
            ("while True: pass", 0.0),
        ):
            replies.append(f"\\boxed{{{answer}}}")
            wanted.append(right)
            asked.append(row)
    for row in plain:
        replies += [f"\\boxed{{{row['answer']}}}", "\\boxed{-1}", row["answer"]]
        wanted += [1.0, 0.0, 0.0]
        asked += [row] * 3
    (tmp_path / "task.json").write_text(json.dumps([replies, asked]))
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); from reward import reward, compute_score\n"
        "replies, rows = json.load(open('task.json'))\n"
        "columns = {name: [row[name] for row in rows] for name in rows[0]}\n"
        "alone = [compute_score('', reply, row['answer'], row) for reply, row in list(zip(replies, "
        "rows))[:4]]\n"
        "print(json.dumps([reward(replies, **columns), alone]))"
    )
    command = [sys.executable, "-S", "-c", code, str(exported)]
    done = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [wanted, wanted[:4]]
    card = (exported / "README.md").read_text()
    assert "one correct answer" in card
    assert "without a sandbox" in card


def test_a_checker_that_ends_its_process_costs_one_answer_only():
    namespace: dict[str, Any] = {"__name__": "reward"}
    from evolake.families.dataset.exports import reward_source

    exec(compile(reward_source({"f": [BOMB]}), "reward.py", "exec"), namespace)
    namespace["CHECK_SECONDS"] = 1
    scores = namespace["reward"](
        ["\\boxed{1}", "\\boxed{13}", "\\boxed{2}", "no"], ["1"] * 4, checker=["f"] * 4, inputs=["{}"] * 4
    )
    assert scores == [1.0, 0.0, 1.0, 0.0]
    with pytest.raises(KeyError, match="another export"):
        namespace["reward"](["\\boxed{1}"], ["1"], checker=["g"], inputs=["{}"])
