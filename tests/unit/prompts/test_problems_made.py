"""The shipped problems: the file is what the generator gives, and every answer is found again from the text alone, by counting."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from evolake.prompts.model.problems import read_problems, split
from evolake.prompts.model.problems_made import EACH, KINDS, made_problems
from evolake.prompts.rating.scoring import judge_reply
from evolake.settings import default_lake_root

FILE = default_lake_root() / "seeds" / "prompts" / "problems.jsonl"


def solved(text: str) -> str:
    """The answer, without arithmetic on whole numbers: by counting steps, and by going through the words."""
    question, asking = text.split("\n")
    numbers = [int(found) for found in re.findall(r"\d+", question)]
    listed = re.split(r",\s*", question.rpartition(":")[2].strip(" ?"))
    if "even or odd" in question:
        return "even" if str(numbers[0])[-1] in "02468" else "odd"
    if "first word" in question:
        return listed[0]
    if "last word" in question:
        return listed[-1]
    if "How many words" in question:
        return str(Counter("," in part or bool(part) for part in listed)[True])
    assert asking == "Answer with one number."
    if "larger" in question or "largest" in question:
        return str(sorted(numbers)[-1])
    if "comes after" in question:
        return str(next(n for n in range(1000) if n > numbers[0]))
    if "comes next" in question:
        step = len(range(numbers[0], numbers[1]))
        return str([*range(numbers[-1], 1000, step)][1])
    if " - " in question:
        return str(len(range(numbers[1], numbers[0])))
    assert " + " in question or "gets" in question
    return str(len("x" * numbers[0] + "y" * numbers[1]))


def test_the_file_is_what_the_generator_gives() -> None:
    assert [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()] == made_problems()


def test_every_answer_is_found_again_from_the_text_alone() -> None:
    problems = read_problems(FILE)
    assert len(problems) == EACH * len(KINDS)
    wrong = [problem.text for problem in problems if not judge_reply(solved(problem.text), problem, "last").correct]
    assert wrong == []


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_no_question_stands_twice_and_every_kind_is_on_both_sides(share: float) -> None:
    train, heldout = split(read_problems(FILE), share)
    assert len({problem.problem_id for problem in [*train, *heldout]}) == EACH * len(KINDS)
    assert {problem.category for problem in train} == set(KINDS)
    assert {problem.category for problem in heldout} == set(KINDS) or share == 0.1
    assert abs(len(heldout) / (EACH * len(KINDS)) - share) < 0.06


def test_a_sum_and_the_same_sum_the_other_way_round_are_one_family() -> None:
    families = Counter(problem.family for problem in read_problems(FILE))
    assert set(families.values()) == {1}
    sums = [problem for problem in read_problems(FILE) if problem.category == "sum"]
    operands = [tuple(sorted(re.findall(r"\d+", problem.text))) for problem in sums]
    assert len(set(operands)) == len(operands)
