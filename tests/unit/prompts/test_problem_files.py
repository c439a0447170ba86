"""Problems from files: every form is read to the same problems, the sides are apart, and what overlaps is
said or refused."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.answers.asking import request
from evolake.answers.ngrams import ngrams
from evolake.errors import InputError
from evolake.families.dataset.datasets import Provenance
from evolake.families.dataset.exports import write_dataset
from evolake.prompts.model.leaks import overlap
from evolake.prompts.model.problem_files import MANY_ANSWERS, read_placed, read_side
from evolake.prompts.model.problems import problem_set
from evolake.prompts.model.protocol import Problem
from evolake.prompts.settings import PromptsSettings
from evolake.settings import default_lake_root

SEEDS = default_lake_root() / "seeds"
SMALL = {"batch_problems": 2, "heldout_problems": 2}


def read(place: Path | str, side: str = "train") -> list[Problem]:
    return read_side(str(place), side, gym_problems=3, seed=5)  # type: ignore[arg-type]


def lines(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def questions(count: int, start: int = 0, difficulty: int = 1) -> list[dict]:
    return [
        {"question": f"How much is {n} plus {n}?", "answer": 2 * n, "difficulty": difficulty}
        for n in range(start, start + count)
    ]


def read_problems(train: Path | str, test: Path | str, **settings: object):
    own = PromptsSettings.model_validate({"train": str(train), "test": str(test), **SMALL, **settings})
    return problem_set(own, lake=None, seeds=SEEDS, seed=3)


def test_json_lines_parquet_and_arrow_give_the_same_problems(tmp_path: Path) -> None:
    rows = questions(5)
    (tmp_path / "saved").mkdir()
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(tmp_path / "saved" / "data-00000.arrow", table.schema) as stream:
        stream.write_table(table)
    pl.DataFrame(rows).write_parquet(tmp_path / "a.parquet")
    read_once = [
        [(item.problem_id, item.text, item.answer, item.difficulty, item.split) for item in read(place)]
        for place in (lines(tmp_path / "a.jsonl", rows), tmp_path / "a.parquet", tmp_path / "saved")
    ]
    assert read_once[0] == read_once[1] == read_once[2]
    assert len(read_once[0]) == 5 and read_once[0][1][1:] == (
        f"How much is 1 plus 1?\n\n{request('en', None)}",
        "2",
        1,
        "train",
    )


@pytest.mark.parametrize("form", ["trl", "verl", "jsonl"])
def test_what_families_export_writes_is_read_as_it_is(tmp_path: Path, form: str) -> None:
    rows = [
        {
            "instance_id": f"i{n}",
            "family_id": f"f{n % 2}",
            "cycle": "0001",
            "category": "logical",
            "language": "en",
            "difficulty": 4,
            "band": "4-6",
            "seed": n,
            "text": f"Question {n}?",
            "inputs": "{}",
            "answer": json.dumps([n, "a"]),
            "case_sensitive": True,
            "voters": 3,
            "votes": 3,
            "text_sha": f"t{n}",
            "operator": "seed",
            "independent": "none",
        }
        for n in range(4)
    ]
    write_dataset(
        form, rows, [], tmp_path / "out", Provenance([], [], ["0001"], ["7"], ["operators"], ["0.2.0"])
    )  # type: ignore[arg-type]
    made = read(tmp_path / "out" / ("instances.jsonl" if form == "jsonl" else "train.parquet"))
    rows = [(item.answer, item.difficulty, item.family, item.case_sensitive) for item in made]
    assert rows == [(f'[{n}, "a"]', 4, f"f{n % 2}", True) for n in range(4)]
    assert all("\\boxed" in item.text and item.text.startswith("Question") for item in made)


def test_a_folder_gives_each_side_the_files_that_are_named_for_it(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    lines(tmp_path / "data" / "train-0.jsonl", questions(3))
    lines(tmp_path / "data" / "test-0.jsonl", questions(2, 50))
    assert (len(read(tmp_path)), len(read(tmp_path, "heldout"))) == (3, 2)
    (tmp_path / "data" / "test-0.jsonl").unlink()
    with pytest.raises(InputError, match="named for this side"):
        read(tmp_path, "heldout")


def test_easy_problems_train_and_hard_ones_are_held_out(tmp_path: Path) -> None:
    both = lines(tmp_path / "both.jsonl", questions(10, 0, 1) + questions(10, 100, 5))
    made = read_problems(both, both, train_difficulties=[1], test_difficulties=[5])
    assert {item.difficulty for item in made.train} == {1} and {item.difficulty for item in made.heldout} == {
        5
    }
    assert {item.split for item in made.train} == {"train"} and {item.split for item in made.heldout} == {
        "heldout"
    }
    assert made.contamination.startswith("0 of 10")


def test_a_held_out_problem_that_is_trained_on_is_refused_or_left_out(tmp_path: Path) -> None:
    train, test = lines(tmp_path / "a.jsonl", questions(10)), lines(tmp_path / "b.jsonl", questions(10, 8))
    with pytest.raises(InputError, match=r"(?s)the sides of the problems overlap.*2 of 10 held-out problems"):
        read_problems(train, test)
    made = read_problems(train, test, contamination_limit=0.2, heldout_problems=8)
    assert (
        not {item.text for item in made.train} & {item.text for item in made.heldout}
        and len(made.heldout) == 8
    )
    assert "left out" in made.contamination
    with pytest.raises(InputError, match="not enough problems"):
        read_problems(train, test, contamination_limit=0.2, heldout_problems=9)


def test_a_scorer_is_read_and_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    test = lines(tmp_path / "test.jsonl", [row | {"scorer": "exact"} for row in questions(2, 50)])
    made = read_problems(lines(tmp_path / "train.jsonl", questions(4)), test)
    assert ({item.scorer for item in made.train}, {item.scorer for item in made.heldout}) == (
        {"answer"},
        {"exact"},
    )
    with pytest.raises(InputError, match=r"row 1 of .* names a scorer that is not there"):
        read(lines(tmp_path / "wrong.jsonl", [row | {"scorer": "exactly"} for row in questions(1)]))


ENTRY = {"dataset": "chain_sum", "seed": 1, "size": 3, "index": 2}


@pytest.mark.parametrize(
    "entry",
    [
        None,
        "x",
        "[1]",
        {},
        ENTRY | {"index": "2"},
        ENTRY | {"index": True},
        ENTRY | {"seed": -1},
        ENTRY | {"more": 1},
        ENTRY | {"configuration": []},
        {"dataset": "chain_sum", "difficulty": 1},
    ],
)
def test_a_row_for_a_verifier_says_which_entry_it_is(tmp_path: Path, entry: object) -> None:
    pytest.importorskip("reasoning_gym")
    row = {"question": "How much is 1 plus 1?", "answer": "2", "scorer": "reasoning-gym"}
    for right in (
        ENTRY,
        json.dumps(ENTRY | {"configuration": {"min_terms": 2}}),
        {"dataset": "chain_sum", "seed": 1, "difficulty": 3},
    ):
        assert [item.scorer for item in read(lines(tmp_path / "right.jsonl", [row | {"entry": right}]))] == [
            "reasoning-gym"
        ]
    with pytest.raises(InputError, match=r"row 1 of .* does not say which entry of reasoning-gym it is"):
        read(lines(tmp_path / "wrong.jsonl", [row | {"entry": entry}]))


def test_without_the_extra_a_row_for_its_verifier_is_refused_with_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evolake.verifiers.external.find_spec", lambda name: None)
    row = {"question": "Why?", "answer": "2", "scorer": "reasoning-gym", "entry": ENTRY}
    for place in (lines(tmp_path / "a.jsonl", [row]), "reasoning-gym:chain_sum"):
        with pytest.raises(
            InputError, match=r"(?s)reasoning-gym is not installed.*pip install 'evolake\[reasoning-gym\]'"
        ):
            read(place)


def test_a_task_whose_verifier_accepts_anything_is_refused() -> None:
    pytest.importorskip("reasoning_gym")
    with pytest.raises(InputError, match="its verifier accepts any reply"):
        read("reasoning-gym:game_of_life_halting")


def test_one_side_alone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="EVOLAKE_PROMPTS__TRAIN is set and EVOLAKE_PROMPTS__TEST is not"):
        problem_set(
            PromptsSettings(train=str(lines(tmp_path / "a.jsonl", questions(9)))),
            lake=None,
            seeds=SEEDS,
            seed=0,
        )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", '{"question": "Why?"}', "row 1 of .* has no answer"),
        ("a.jsonl", '{"answer": 3}', "has no question"),
        ("a.jsonl", "[1]", "no problem"),
        ("a.jsonl", "{", "cannot be read"),
        ("a.parquet", "x", "cannot be read"),
        ("a.arrow", "x", "cannot be read"),
        ("a.csv", "x", "ends in .jsonl"),
        ("a.jsonl", '{"question": "Why?", "answer": 1, "difficulty": "hard"}', "is no problem"),
    ],
)
def test_what_is_no_problem_is_named(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said):
        read(tmp_path / name)


def test_tasks_of_reasoning_gym_take_their_configuration() -> None:
    pytest.importorskip("reasoning_gym")
    easy = read('reasoning-gym:{"chain_sum": {"min_terms": 2, "max_terms": 2}}')
    hard = read('reasoning-gym:{"chain_sum": {"min_terms": 5, "max_terms": 5}}', "heldout")
    assert [item.text.count(" + ") + item.text.count(" - ") for item in [*easy, *hard]] == [1, 1, 1, 4, 4, 4]
    assert {item.split for item in easy} == {"train"} and {item.split for item in hard} == {"heldout"}
    for wrong in ('{"chain_sum": {"terms": 2}}', "{", "[]", "", "no_such_task"):
        with pytest.raises(InputError):
            read(f"reasoning-gym:{wrong}")


def problem(text: str) -> Problem:
    return Problem(text, text, "1", False, "c", 1, "train", "test", text)


@given(st.lists(st.sampled_from("abcdefgh"), min_size=30, max_size=40), st.integers(0, 10), st.integers(2, 6))
def test_a_copied_passage_is_found_and_an_unrelated_text_is_not(words: list[str], cut: int, n: int) -> None:
    text = " ".join(f"{word}{number}" for number, word in enumerate(words))
    copied = problem(" ".join(text.split()[cut:]).upper() + "!")
    other = problem(" ".join(f"z{number}" for number in range(30)))
    result = overlap([problem(text)], [copied, other], words=n, share=1.0)
    assert [item.text for item, _ in result.contaminated] == [copied.text] and result.part == 0.5
    half = problem(copied.text + " " + " ".join(f"y{number}" for number in range(200)))
    assert not overlap([problem(text)], [half], words=n, share=0.5).contaminated


def test_the_request_for_a_box_is_no_part_of_a_text_and_chinese_characters_are_words() -> None:
    assert list(ngrams(f"Two and two?\n\n{request('en', None)}", 13)) == [("two", "and", "two")]
    assert list(ngrams("一共几个？", 3)) == [("一", "共", "几"), ("共", "几", "个")]
    assert list(ngrams("", 3)) == []


def test_questions_with_many_correct_answers_are_left_out_and_counted(tmp_path):
    lines = [
        {"text": "Colour it.", "answer": [1, 2], "checker": "f" * 64},
        {"text": "What is 1 + 1?", "answer": 2},
        {"prompt": "Sort it.", "answer": "[1]", "extra_info": {"checker": "f" * 64}},
        {"text": "What is 1 + 2?", "answer": 3, "checker": ""},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    read = read_placed(str(path), "train", gym_problems=0, seed=0)
    assert [json.loads(item.answer) for item in read.problems] == [2, 3]
    assert read.recipes[MANY_ANSWERS] == 2


def test_half_of_a_surrogate_pair_is_no_question(tmp_path: Path) -> None:
    row = {"question": "a\ud800b how many in all?", "answer": 3}
    with pytest.raises(InputError, match=r"row 1 of .* is no problem"):
        read(lines(tmp_path / "rows.jsonl", [row]))
