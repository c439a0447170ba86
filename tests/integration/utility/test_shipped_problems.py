"""The shipped problems: the file is what the primers give, and every answer is found again from the statement
alone, by every validator."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evolake.answers.asking import request
from evolake.answers.matching import equivalent
from evolake.families.model.family_files import read_families
from evolake.families.sandbox.running import PRELOAD, read, solve
from evolake.jail import open_pool
from evolake.prompts.model.problems import read_problems, split
from evolake.settings import default_lake_root
from evolake.utility.pass_rates import DIFFICULTIES, EACH, shipped_problems

FILE = default_lake_root() / "seeds" / "prompts" / "problems.jsonl"
FOLDER = Path(__file__).parents[3] / "examples" / "families" / "primers"


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def test_the_file_is_what_the_primers_give(rows):
    assert rows == shipped_problems(FOLDER)
    assert FILE.stat().st_size < 400_000


def test_every_answer_is_found_again_from_the_statement_by_every_validator(rows):
    families = {family.name: family for family in read_families(FOLDER)}
    with open_pool(workers=1, preload=PRELOAD) as pool:
        for name in DIFFICULTIES:
            family, own = families[name], [row for row in rows if row["family"] == name]
            inputs = [
                item.inputs for item in read(family.reader or "", [row["text"] for row in own], pool=pool)
            ]
            assert len(family.voters()) > 2
            for source in family.voters().values():
                answers = [item.answer for item in solve(source, inputs, pool=pool)]
                wrong = [
                    (row["text"], answer)
                    for row, answer in zip(own, answers, strict=True)
                    if not equivalent(answer, json.loads(row["answer"]), case_sensitive=row["case_sensitive"])
                ]
                assert wrong == []


def test_no_statement_stands_twice_and_every_primer_has_enough_at_each_difficulty(rows):
    assert (
        len({" ".join(row["text"].split()).casefold() for row in rows})
        == len({row["problem_id"] for row in rows})
        == len(rows)
    )
    counts = Counter((row["family"], row["difficulty"]) for row in rows)
    assert set(counts) == {(name, difficulty) for name, some in DIFFICULTIES.items() for difficulty in some}
    assert min(counts.values()) >= 20 and max(counts.values()) == EACH


@pytest.mark.parametrize("answer_format", ["boxed", "last"])
def test_primers_are_whole_on_one_side_and_the_held_out_fifth_is_there(answer_format):
    problems = read_problems(FILE, answer_format)
    train, heldout = split(problems, 0.2)
    assert len(train) + len(heldout) == len(problems) and not {item.family for item in train} & {
        item.family for item in heldout
    }
    assert 0.1 < len(heldout) / len(problems) < 0.35 and len({item.family for item in heldout}) > 1
    assert len(heldout) >= 100, "as many as an evaluation takes by default"
    assert all(("\\boxed" in problem.text) == (answer_format == "boxed") for problem in problems)
    asked = {problem.text.rpartition("\n\n")[2] for problem in problems if problem.family == "written-sum"}
    assert asked == {request("en", int, answer_format)}
