"""Problems from files: every form is read to the same problems, the sides are apart, and what overlaps is
said or refused."""

import json
import random
from collections import Counter
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
from evolake.families.tables import FAMILIES, INSTANCES
from evolake.lake import Lake, TableSchema
from evolake.prompts.model.leaks import overlap
from evolake.prompts.model.problem_files import MANY_ANSWERS, gym_problems, read_placed, read_side
from evolake.prompts.model.problems import (
    family_problems,
    finished_families,
    problem_set,
    read_problems,
    split,
)
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


def both_sides(train: Path | str, test: Path | str, **settings: object):
    own = PromptsSettings.model_validate({"train": str(train), "test": str(test), **SMALL, **settings})
    return problem_set(own, lake=None, seeds=SEEDS, seed=3)


def test_json_lines_parquet_and_arrow_give_the_same_problems(tmp_path):
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
def test_what_families_export_writes_is_read_as_it_is(tmp_path, form):
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


def test_a_folder_gives_each_side_the_files_that_are_named_for_it(tmp_path):
    (tmp_path / "data").mkdir()
    lines(tmp_path / "data" / "train-0.jsonl", questions(3))
    lines(tmp_path / "data" / "test-0.jsonl", questions(2, 50))
    assert (len(read(tmp_path)), len(read(tmp_path, "heldout"))) == (3, 2)
    (tmp_path / "data" / "test-0.jsonl").unlink()
    with pytest.raises(InputError, match="named for this side"):
        read(tmp_path, "heldout")


def test_easy_problems_train_and_hard_ones_are_held_out(tmp_path):
    both = lines(tmp_path / "both.jsonl", questions(10, 0, 1) + questions(10, 100, 5))
    made = both_sides(both, both, train_difficulties=[1], test_difficulties=[5])
    assert {item.difficulty for item in made.train} == {1} and {item.difficulty for item in made.heldout} == {
        5
    }
    assert {item.split for item in made.train} == {"train"} and {item.split for item in made.heldout} == {
        "heldout"
    }
    assert made.contamination.startswith("0 of 10")


def test_a_held_out_problem_that_is_trained_on_is_refused_or_left_out(tmp_path):
    train, test = lines(tmp_path / "a.jsonl", questions(10)), lines(tmp_path / "b.jsonl", questions(10, 8))
    with pytest.raises(InputError, match=r"(?s)the sides of the problems overlap.*2 of 10 held-out problems"):
        both_sides(train, test)
    made = both_sides(train, test, contamination_limit=0.2, heldout_problems=8)
    assert (
        not {item.text for item in made.train} & {item.text for item in made.heldout}
        and len(made.heldout) == 8
    )
    assert "left out" in made.contamination
    with pytest.raises(InputError, match="not enough problems"):
        both_sides(train, test, contamination_limit=0.2, heldout_problems=9)


def test_a_scorer_is_read_and_one_that_is_not_there_is_refused(tmp_path):
    test = lines(tmp_path / "test.jsonl", [row | {"scorer": "exact"} for row in questions(2, 50)])
    made = both_sides(lines(tmp_path / "train.jsonl", questions(4)), test)
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
def test_a_row_for_a_verifier_says_which_entry_it_is(tmp_path, entry):
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


def test_without_the_extra_a_row_for_its_verifier_is_refused_with_what_installs_it(tmp_path, monkeypatch):
    monkeypatch.setattr("evolake.verifiers.external.find_spec", lambda name: None)
    row = {"question": "Why?", "answer": "2", "scorer": "reasoning-gym", "entry": ENTRY}
    for place in (lines(tmp_path / "a.jsonl", [row]), "reasoning-gym:chain_sum"):
        with pytest.raises(
            InputError, match=r"(?s)reasoning-gym is not installed.*pip install 'evolake\[reasoning-gym\]'"
        ):
            read(place)


def test_a_task_whose_verifier_accepts_anything_is_refused():
    pytest.importorskip("reasoning_gym")
    with pytest.raises(InputError, match="its verifier accepts any reply"):
        read("reasoning-gym:game_of_life_halting")


def test_one_side_alone_is_an_error(tmp_path):
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
    ],
)
def test_what_is_no_problem_is_named(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said):
        read(tmp_path / name)


def test_tasks_of_reasoning_gym_take_their_configuration():
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
def test_a_copied_passage_is_found_and_an_unrelated_text_is_not(words, cut, n):
    text = " ".join(f"{word}{number}" for number, word in enumerate(words))
    copied = problem(" ".join(text.split()[cut:]).upper() + "!")
    other = problem(" ".join(f"z{number}" for number in range(30)))
    result = overlap([problem(text)], [copied, other], words=n, share=1.0)
    assert [item.text for item, _ in result.contaminated] == [copied.text] and result.part == 0.5
    half = problem(copied.text + " " + " ".join(f"y{number}" for number in range(200)))
    assert not overlap([problem(text)], [half], words=n, share=0.5).contaminated


def test_the_request_for_a_box_is_no_part_of_a_text_and_chinese_characters_are_words():
    assert list(ngrams(f"Two and two?\n\n{request('en', None)}", 13)) == [("two", "and", "two")]
    assert list(ngrams("一共几个？", 3)) == [("一", "共", "几"), ("共", "几", "个")]
    assert list(ngrams("", 3)) == []


def test_half_of_a_surrogate_pair_is_no_question(tmp_path):
    row = {"question": "a\ud800b how many in all?", "answer": 3}
    with pytest.raises(InputError, match=r"row 1 of .* is no problem"):
        read(lines(tmp_path / "rows.jsonl", [row]))


# Problem sets: the first source with enough is used and says so; the split holds by family and by text.


def make(number: int, *, family: str | None = None, text: str | None = None, difficulty: int = 1) -> Problem:
    name = f"problem-{number}"
    return Problem(
        name, text or f"text {number}", str(number), True, "kind", difficulty, "train", "test", family or name
    )


def shipped(folder: Path, problems: list[Problem]) -> Path:
    """A folder of seeds with these problems."""
    (folder / "prompts").mkdir(parents=True)
    fields = ("problem_id", "text", "answer", "case_sensitive", "category", "difficulty", "family")
    lines = [
        json.dumps({name: getattr(problem, name) for name in fields} | {"note": "passed over"})
        for problem in problems
    ]
    (folder / "prompts" / "problems.jsonl").write_text("\n".join(lines) + "\n\n")
    return folder


def test_families_and_texts_are_on_one_side_and_nothing_is_lost_but_repeated_texts():
    draw = random.Random(4)
    problems = [
        make(n, family=f"family-{draw.randrange(60)}", text=f"Text  {draw.randrange(300)}")
        for n in range(400)
    ]
    train, heldout = split(problems, 0.3)
    assert {item.split for item in train} == {"train"} and {item.split for item in heldout} == {"heldout"}
    assert not {item.family for item in train} & {item.family for item in heldout}
    texts = [item.text for item in [*train, *heldout]]
    assert Counter(texts).most_common(1)[0][1] == 1
    assert set(texts) == {problem.text for problem in problems}


def test_no_held_out_family_shares_a_root_with_one_to_train_on_and_those_of_both_sides_are_left_out():
    roots = {f"child-{n}": {f"root-{n}", f"root-{n * 7 % 20}"} for n in range(20)} | {
        f"root-{n}": {f"root-{n}"} for n in range(20)
    }
    train, heldout = split([make(n, family=family) for n, family in enumerate(roots)], 0.4, roots)
    sides = [set().union(*(roots[item.family] for item in some)) for some in (train, heldout)]
    assert sides[0] and sides[1] and not sides[0] & sides[1]
    assert len(train) + len(heldout) < len(roots)


def test_a_text_that_is_held_out_is_not_trained_on_whatever_its_spaces_and_case():
    problems = [make(n, family=f"family-{n}") for n in range(40)]
    train, heldout = split(problems, 0.5)
    copy = make(99, family=train[0].family, text=f"  {heldout[0].text.upper()}\n")
    again, held = split([*problems, copy], 0.5)
    assert (again, held) == (train, heldout)


def test_the_first_source_with_enough_problems_is_used_and_says_why_the_others_are_not(tmp_path):
    seeds = shipped(tmp_path / "seeds", [make(n, difficulty=1 + n % 2) for n in range(100)])
    settings = PromptsSettings(
        problem_sources=["families", "shipped"],
        families_share=1,
        batch_problems=10,
        heldout_problems=8,
        difficulties=[2],
    )
    result = problem_set(settings, lake=Lake(tmp_path / "lake"), seeds=seeds, seed=3)
    assert (result.source, result.passed_over) == (
        "shipped",
        ("families: the lake holds no finished cycle of the families line",),
    )
    assert {item.difficulty for item in result.all} == {2}
    assert len(result.heldout) == 8 and len(result.train) > 30
    assert result.all == result.train + result.heldout
    assert problem_set(settings, lake=None, seeds=seeds, seed=3).all == result.all
    other = problem_set(settings, lake=Lake(tmp_path / "lake"), seeds=seeds, seed=4)
    assert other.train == result.train and set(other.heldout) != set(result.heldout)


def test_where_families_are_a_part_of_the_problems_what_is_held_out_is_of_another_source(tmp_path):
    seeds = shipped(tmp_path / "seeds", [make(n) for n in range(60)])
    alone = problem_set(
        PromptsSettings(problem_sources=["shipped"], heldout_problems=5), lake=None, seeds=seeds, seed=3
    )
    beside = problem_set(
        PromptsSettings(problem_sources=["families", "shipped"], heldout_problems=5),
        lake=None,
        seeds=seeds,
        seed=3,
    )
    assert beside == alone and beside.passed_over == ()
    with pytest.raises(InputError, match="families: there is no lake"):
        problem_set(PromptsSettings(problem_sources=["families"]), lake=None, seeds=seeds, seed=3)


def test_held_out_problems_that_share_their_words_with_another_lineage_are_left_out(tmp_path):
    text = (
        "Five houses stand in a row, and in each of them lives somebody who keeps another animal than all "
        "the others do"
    )
    own = [" ".join(str(50 * n + word) for word in range(20)) for n in range(200)]
    problems = [
        make(n, family=f"family-{n}", text=f"{text if n % 4 == 0 else words} {n}?")
        for n, words in enumerate(own)
    ]
    seeds, sizes = (
        shipped(tmp_path / "seeds", problems),
        {"problem_sources": ["shipped"], "heldout_problems": 10},
    )
    alike = {problem.problem_id for problem in problems if problem.text.startswith(text)}
    result = problem_set(PromptsSettings(**sizes), lake=None, seeds=seeds, seed=3)
    assert alike & {item.problem_id for item in result.train} and not alike & {
        item.problem_id for item in result.heldout
    }
    assert result.contamination.endswith("in common with problems to train on, and are left out")
    with pytest.raises(InputError, match=r"held out, \d+ contaminated ones left out"):
        problem_set(PromptsSettings(**sizes | {"heldout_problems": 20}), lake=None, seeds=seeds, seed=3)


@pytest.mark.parametrize("line", ["no json", "[1]", '{"problem_id": "a"}', '{"answer": 3}'])
def test_a_line_that_is_no_problem_is_named(tmp_path, line):
    path = shipped(tmp_path / "seeds", [make(1)]) / "prompts" / "problems.jsonl"
    path.write_text(path.read_text() + line)
    with pytest.raises(InputError, match="line 3 of"):
        read_problems(path)


def test_problems_of_reasoning_gym_depend_on_the_seed_alone():
    pytest.importorskip("reasoning_gym")
    first = gym_problems(["chain_sum", "letter_counting"], 5, 3)
    assert (
        first
        == gym_problems(["chain_sum", "letter_counting"], 5, 3)
        != gym_problems(["chain_sum", "letter_counting"], 5, 4)
    )
    assert [item.category for item in first] == ["chain_sum"] * 5 + ["letter_counting"] * 5
    assert len({item.problem_id for item in first}) == 10
    terms = first[0].text.partition(":")[2].partition("=")[0]
    assert json.loads(first[0].answer) == str(eval(terms, {}))
    with pytest.raises(InputError, match="no task"):
        gym_problems(["no such task"], 1, 3)


def test_families_whose_answers_only_checkers_can_judge_give_no_problems(tmp_path):
    lake = Lake(tmp_path)
    shas = {
        name: lake.blobs.put(json.dumps(record).encode())
        for name, record in (("many", {"checkers": {"a": "x"}}), ("one", {}))
    }
    rows = [
        dict.fromkeys(INSTANCES.described)
        | {
            "instance_id": family,
            "family_id": family,
            "category": "logic",
            "language": "en",
            "difficulty": 3,
            "text": f"Text of {family}",
            "answer": "1",
            "case_sensitive": True,
        }
        for family in shas
    ]
    lake.publish("families", "instances", INSTANCES.frame(rows), cycle="0001", run_id="run", schema=INSTANCES)
    states = FAMILIES.frame(
        {"family_id": family, "state": "accepted", "record_sha": sha} for family, sha in shas.items()
    )
    for cycle in ("0001", "0002"):
        lake.publish("families", "incoming_families", states, cycle=cycle, run_id="run", schema=FAMILIES)
        lake.seals.seal(
            "families", cycle, f"version {cycle}", "version 0001" if cycle == "0002" else None, "run"
        )
    assert [problem.family for problem in family_problems(lake)] == ["one"]


def test_problems_of_families_are_those_of_accepted_families_in_finished_cycles(tmp_path):
    lake = Lake(tmp_path)
    wanted = (
        "instance_id",
        "family_id",
        "category",
        "language",
        "difficulty",
        "text",
        "answer",
        "case_sensitive",
    )
    instances = TableSchema(
        "instances", 1, {name: INSTANCES.described[name] for name in wanted}, keys=("instance_id",)
    )
    families = TableSchema(
        "families",
        1,
        {name: FAMILIES.described[name] for name in ("family_id", "state")},
        keys=("family_id",),
    )
    for cycle in ("0001", "0002"):
        rows = [
            {
                "instance_id": f"{cycle}-{family}",
                "family_id": family,
                "category": "logic",
                "language": language,
                "difficulty": 3,
                "text": f"{cycle} {family}",
                "answer": "[1, 2]",
                "case_sensitive": False,
            }
            for family, language in (("good", "en"), ("chinese", "zh"), ("bad", "en"))
        ]
        lake.publish(
            "families", "instances", instances.frame(rows), cycle=cycle, run_id="run", schema=instances
        )
    states = families.frame(
        {"family_id": family, "state": state}
        for family, state in (("good", "accepted"), ("chinese", "accepted"), ("bad", "blocked"))
    )
    before = None
    for cycle in ("0001", "0002"):
        lake.publish("families", "incoming_families", states, cycle=cycle, run_id="run", schema=families)
        lake.seals.seal("families", cycle, f"version {cycle}", before, "run")
        before = f"version {cycle}"

    assert finished_families(lake) == ["0001"]
    problems = family_problems(lake)
    rows = [(problem.problem_id, problem.family, problem.source) for problem in problems]
    assert rows == [("0001-good", "good", "families"), ("0001-chinese", "chinese", "families")]
    assert (
        problems[0].text
        == "0001 good\n\nGive your final answer, a list in square brackets, inside \\boxed{...}."
    )
    assert (
        family_problems(lake, answer_format="last")[0].text
        == "0001 good\n\nReply with a list in square brackets and nothing else."
    )
    assert problems[1].text.endswith("\\boxed{...} 中。")
    with pytest.raises(InputError, match="no finished cycle"):
        family_problems(lake, [])


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
