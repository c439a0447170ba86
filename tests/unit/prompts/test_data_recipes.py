"""Rows in the shapes of public data sets, made up here: each is read as it is meant, or refused with the rows
and the mapping to give."""

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from evolake.errors import InputError
from evolake.prompts.commands import data
from evolake.prompts.model.problem_files import files, json_lines, read_placed, read_side
from evolake.prompts.model.problems import problem_set
from evolake.prompts.model.scoring import judge_reply, verify
from evolake.prompts.settings import PromptsSettings
from evolake.settings import default_lake_root

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Two?"},
    {"role": "assistant", "content": "2"},
    {"role": "user", "content": "And three?"},
]
SHAPES = {
    "gsm8k": (
        {"question": "How many?", "answer": "5*250 = <<5*250=1250>>1250.\n#### 1,250"},
        "GSM8K",
        1250,
        "How many?",
    ),
    "math": (
        {"problem": "Find x.", "level": "Level 3", "type": "A", "solution": "So \\boxed{\\frac{1}{2}}."},
        "MATH",
        "\\frac{1}{2}",
        "Find x.",
    ),
    "mmlu": (
        {"question": "Which?", "subject": "s", "choices": ["p", "q", "r", "t"], "answer": 2},
        "MMLU",
        "C",
        "Which?\n\nA. p\nB. q\nC. r\nD. t",
    ),
    "arc": (
        {
            "id": "1",
            "question": "Which?",
            "choices": {"text": ["p", "q"], "label": ["1", "2"]},
            "answerKey": "2",
        },
        "ARC",
        "2",
        "1. p\n2. q",
    ),
    "aime": (
        {"ID": "2024-I-1", "Problem": "Find n.", "Solution": "s", "Answer": "073"},
        "AIME",
        73,
        "Find n.",
    ),
    "aime-year": (
        {"id": 1, "problem": "Find n.", "solution": "s", "answer": "073", "url": "u", "year": "2024"},
        "AIME",
        73,
        "Find n.",
    ),
    "beyond-aime": ({"problem": "Find n.", "answer": 123456}, "columns", 123456, "Find n."),
    "math-500": (
        {"problem": "Find x.", "solution": "\\boxed{x^2}", "answer": "x^2", "subject": "s", "level": 2},
        "columns",
        "x^2",
        "Find x.",
    ),
    "hotpot": (
        {
            "id": "h",
            "question": "Where?",
            "answer": "Oslo",
            "type": "bridge",
            "level": "hard",
            "supporting_facts": {"title": ["A"], "sent_id": [0]},
            "context": {"title": ["A"], "sentences": [["It is in Oslo.", " Yes."]]},
        },
        "HotpotQA",
        "Oslo",
        "A: It is in Oslo. Yes.\n\nWhere?",
    ),
    "verl-number": (
        {
            "data_source": "openai/gsm8k",
            "prompt": [{"role": "user", "content": "How?"}],
            "reward_model": {"style": "rule", "ground_truth": "72"},
        },
        "verl",
        "72",
        "How?",
    ),
    "verl-latex": (
        {
            "data_source": "lighteval/MATH",
            "prompt": [{"role": "user", "content": "How?"}],
            "reward_model": {"ground_truth": "\\frac{1}{2}"},
        },
        "verl",
        "\\frac{1}{2}",
        "How?",
    ),
    "verl-search": (
        {
            "data_source": "searchR1_nq",
            "prompt": [{"role": "user", "content": "Who?"}],
            "reward_model": {"ground_truth": {"target": ["Ada"]}},
        },
        "verl",
        "Ada",
        "Who?",
    ),
    "trl": ({"prompt": "How much?", "answer": "4"}, "columns", "4", "How much?"),
    "trl-messages": (
        {"prompt": CHAT, "answer": "3"},
        "columns",
        "3",
        "Be brief.\n\nUser: Two?\n\nAssistant: 2\n\nUser: And three?",
    ),
    "messages": (
        {"messages": [CHAT[1], {"role": "assistant", "content": "It is \\boxed{2}"}]},
        "messages",
        "2",
        "Two?",
    ),
    "synlogic": (
        {
            "data_source": "sudoku",
            "prompt": [{"role": "user", "content": "Solve."}],
            "reward_model": {"ground_truth": ""},
            "extra_info": {
                "game_data_str": json.dumps({"question": "Solve.", "answer": "[[1]]", "difficulty": 3})
            },
        },
        "SynLogic",
        "[[1]]",
        "Solve.",
    ),
    "enigmata": (
        {"question": "Solve.", "answer": "AB", "task_name": "cipher", "difficulty": "hard", "language": "en"},
        "Enigmata",
        "AB",
        "Solve.",
    ),
    "chat-solution": ({"prompt": [CHAT[1]], "solution": "$\\frac{1}{2}$"}, "MATH", "$\\frac{1}{2}$", "Two?"),
    "list-of-numbers": ({"question": "Roots?", "answer": [3, -2]}, "columns", [3, -2], "Roots?"),
    "list-as-text": ({"question": "Who?", "answer": '["Ada", "Bo"]'}, "columns", '["Ada", "Bo"]', "Who?"),
    "proof-as-a-word": (
        {"question": "What has gin?", "answer": "proof"},
        "columns",
        "proof",
        "What has gin?",
    ),
    "valid": ({"problem": "How?", "answer": "7", "problem_is_valid": "Yes"}, "columns", "7", "How?"),
    "own-id": ({"question": "Colour?", "answer": "red", "problem_id": "p0"}, "evolake", "red", "Colour?"),
}


def lines(path: Path, rows: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(place: Path, **options: object):
    return read_placed(str(place), "train", gym_problems=3, seed=5, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_shape_of_a_public_data_set_is_read_as_it_is_meant(tmp_path, shape):
    row, name, label, text = SHAPES[shape]
    made = read(lines(tmp_path / "a.jsonl", [row]))
    assert [sentence.split(":")[0] for sentence in made.recipes] == [name]
    assert json.loads(made.problems[0].answer) == label and text in made.problems[0].text


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            {"question": "Which?", "options": ["p", "q"], "answer": "p"},
            r"row 1 of .* has choices in options(?s:.*)question=COLUMN",
        ),
        (
            {"Question": "Why?", "Correct Answer": "x"},
            r"row 1 of .* has no question in a known column(?s:.*)question=COLUMN",
        ),
        ({"question": "Which?", "choices": ["p", "q"], "answer": 7}, r"the answer 7, which is no index"),
        (
            {"data_source": "codecontests", "prompt": [CHAT[1]], "reward_model": {"ground_truth": "[]"}},
            "runs programs",
        ),
        (
            {"data_source": "nq", "prompt": [CHAT[1]], "reward_model": {"ground_truth": {"target": []}}},
            "no accepted answer",
        ),
        ({"question": "Who?", "answer": None}, "(?s)no answer in a known column.*answer is null"),
        ({"question": "Who?", "answer": {"value": "Ada"}}, "(?s)no answer.*answer is an object with value"),
        ({"problem": "How?", "answer": "notfound"}, "1 rows left out: an answer that is not found"),
        ({"question": "Write f.", "answer": ["assert f(1) == 2", "assert f(2) == 3"]}, "tests of a program"),
        ({"question": "Write f.", "answer": [{"input": "1", "output": "2"}]}, "tests of a program"),
        ({"question": "Why?", "answer": float("nan")}, "no answer that anything could equal"),
        ({"messages": [CHAT[1]]}, "do not end with a reply"),
        ({"question": "Why?", "answer": "N/A"}, r"1 of 1 labels cannot be matched(?s:.*)row 1 of"),
        ({"question": "Why?", "answer": "a}b"}, "labels cannot be matched"),
        ({"question": "Why?", "answer": "nan"}, "no answer that anything could equal"),
        ({"question": "Why?", "answer": "NaN", "scorer": "exact"}, "no answer that anything could equal"),
        ({"question": "Why?", "answer": [1, float("nan")]}, "row 1 of .* is no problem"),
        ({"problem": "Prove that it ends.", "answer": "proof"}, "asks for a proof"),
        ({"problem": "How?", "answer": "proof", "question_type": "proof"}, "asks for a proof"),
        (
            {"problem": "How?", "answer": "7", "problem_is_valid": "Incomplete"},
            "problem_is_valid is 'Incompl",
        ),
        ({"problem": "How?", "answer": "7", "solution_is_valid": "No"}, "solution_is_valid is 'No'"),
        ({"question": "Write f.", "answer": "assert f(1) == 2"}, "tests of a program"),
        ({"question": "Write f.", "answer": '{"inputs": ["1"], "outputs": ["2"]}'}, "tests of a program"),
        (
            {"question": "How?", "answer": "7", "metadata": {"source_dataset": "boxnet"}},
            "boxnet, which cannot be judged",
        ),
    ],
)
def test_what_cannot_be_read_for_sure_is_refused(tmp_path, row, said):
    with pytest.raises(InputError, match=said):
        read(lines(tmp_path / "a.jsonl", [row]))


def test_whole_solutions_as_labels_are_refused_with_three_examples(tmp_path):
    rows = [
        {"question": f"What is {n}?", "answer": " ".join(["first", "one", "adds"] * 20) + str(n)}
        for n in range(5)
    ]
    with pytest.raises(
        InputError, match=r"5 of 5 labels(?s:.*)row 1 of(?s:.*)row 2 of(?s:.*)row 3 of"
    ) as error:
        read(lines(tmp_path / "a.jsonl", rows))
    assert "row 4 of" not in str(error.value)


def test_a_label_that_no_reply_ends_with_is_refused_in_that_format_alone(tmp_path):
    place = lines(
        tmp_path / "a.jsonl",
        [{"question": "Which matrix?", "answer": "\\begin{pmatrix} 2 & 1 \\\\ 0 & 3 \\end{pmatrix}"}],
    )
    assert len(read(place).problems) == 1
    with pytest.raises(InputError, match=r"1 of 1 labels(?s:.*)ANSWER_FORMAT=boxed"):
        read(place, answer_format="last")


def test_a_mapping_names_the_columns(tmp_path):
    place = lines(tmp_path / "a.jsonl", [{"q": "Which?", "opts": ["p", "q"], "meta": {"key": "q"}}])
    made = read(place, columns="question=q, answer=meta.key, choices=opts")
    assert json.loads(made.problems[0].answer) == "B" and "B. q" in made.problems[0].text
    for wrong in ("question=q", "question=q, answer=", "question=q, answer=a, label=b", "q"):
        with pytest.raises(InputError, match="mapping of columns"):
            read(place, columns=wrong)
    with pytest.raises(InputError, match="no answer in the column nowhere"):
        read(place, columns="question=q, answer=nowhere")


def test_a_mapped_column_is_a_label_as_json_has_it_and_no_tests_of_a_program(tmp_path):
    key = pa.array([{"a": Decimal("1.5")}], pa.struct({"a": pa.decimal128(5, 1)}))
    made = read(table(tmp_path, ".parquet", key, column="key"), columns="question=question, answer=key")
    assert json.loads(made.problems[0].answer) == {"a": 1.5}
    for tests in ({"inputs": ["1"], "outputs": ["2"]}, ["assert f(1) == 2", "assert f(2) == 3"]):
        path = lines(tmp_path / "a.jsonl", [{"question": "Write f.", "tests": tests}])
        with pytest.raises(InputError, match="tests of a program"):
            read(path, columns="question=question, answer=tests")


def test_a_repeated_name_collapses_no_rows_on_a_side_or_between_the_sides(tmp_path):
    train = lines(
        tmp_path / "a.jsonl",
        [
            {"question": f"Name item {n} of the first box.", "answer": n, "problem_id": "same"}
            for n in range(9)
        ],
    )
    test = lines(
        tmp_path / "b.jsonl",
        [
            {"question": f"Which is {n} in the other list?", "answer": n, "problem_id": f"p{n}"}
            for n in range(9)
        ],
    )
    assert len({item.problem_id for item in read(train).problems}) == 9
    again = lines(
        tmp_path / "c.jsonl",
        [{"question": f"Colour of {n}, please?", "answer": n, "problem_id": f"p{n}"} for n in range(9)],
    )
    own = PromptsSettings(train=str(again), test=str(test), batch_problems=2, heldout_problems=9)
    made = problem_set(own, lake=None, seeds=default_lake_root() / "seeds", seed=3)
    assert len({item.problem_id for item in made.all}) == 18


def test_one_question_with_two_labels_names_both_rows_and_with_one_is_read_once(tmp_path):
    rows = [
        {"question": "How much?", "answer": 6},
        {"question": "Why?", "answer": 1},
        {"question": "How  much?", "answer": "6"},
    ]
    made = read(lines(tmp_path / "a.jsonl", rows))
    assert (len(made.problems), made.repeated) == (2, 1)
    with pytest.raises(InputError, match=r"two labels(?s:.*)row 1 of .*'6', row 3 of .*'7'"):
        read(lines(tmp_path / "a.jsonl", [*rows[:2], {"question": "How much?", "answer": 7}]))


def test_json_lines_are_read_as_json_says(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('\ufeff{"a": "x\u2028y"}\r\n\n{"a": "x\u0085y"}\n', encoding="utf-8")
    assert json_lines(path) == [{"a": "x\u2028y"}, {"a": "x\u0085y"}]
    path.write_text('{"a": 1}\n' * 60 + '{"a": "b\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"row 61 of .*a.jsonl") as error:
        read(path)
    assert "line 1" not in str(error.value)


def test_the_side_of_a_file_is_decided_by_the_words_of_its_path(tmp_path):
    rows = [{"question": "Why?", "answer": 1}]
    for name in (
        "contest_math/train-00000-of-00001",
        "contest_math/test-00000-of-00001",
        "latest/training_set",
        "train/val",
    ):
        lines(tmp_path / f"{name}.jsonl", rows)
    named = {
        side: [str(path.relative_to(tmp_path)).removesuffix(".jsonl") for path in files(tmp_path, side)]  # type: ignore[arg-type]
        for side in ("train", "heldout")
    }
    assert named == {
        "train": ["contest_math/train-00000-of-00001", "latest/training_set"],
        "heldout": ["contest_math/test-00000-of-00001", "train/val"],
    }


@pytest.mark.parametrize("task", ["gcd", "chain_sum", "word_sorting", "prime_factorization", "leg_counting"])
def test_a_task_of_reasoning_gym_on_both_sides_shares_no_item(task):
    pytest.importorskip("reasoning_gym")
    place = f"reasoning-gym:{task}"
    own = PromptsSettings(train=place, test=place, gym_problems=40, batch_problems=10, heldout_problems=20)
    made = problem_set(own, lake=None, seeds=default_lake_root() / "seeds", seed=7)
    assert len(made.heldout) == 20 and not {item.text for item in made.train} & {
        item.text for item in made.heldout
    }
    sides = [
        {item.text for item in read_side(place, side, gym_problems=40, seed=7)}
        for side in ("train", "heldout")
    ]  # type: ignore[arg-type]
    assert len(sides[0] & sides[1]) < 10


def test_data_check_prints_recipe_questions_labels_and_leaks(tmp_path):
    rows = [
        {
            "question": f"Ann has {n} red pens and {n + 3} blue ones. How many pens?",
            "answer": f"So.\n#### {2 * n + 3}",
        }
        for n in range(12)
    ]
    lines(tmp_path / "d" / "train.jsonl", [*rows, rows[0]])
    other = [
        {"question": f"Bob owes {n} coins and pays {n // 2}. What is left?", "answer": f"#### {n - n // 2}"}
        for n in range(9)
    ]
    lines(tmp_path / "d" / "test.jsonl", other)
    done = CliRunner().invoke(
        data, ["check", str(tmp_path / "d")], catch_exceptions=False, standalone_mode=False
    )
    assert done.return_value == 0 and "13 rows by the recipe GSM8K: the number after ####" in done.output
    assert (
        "1 rows dropped" in done.output
        and "-> 3\n" in done.output
        and "0 of 9 held-out problems" in done.output
        and done.output.count("->") == 19
    )
    lines(
        tmp_path / "leak.jsonl",
        [{"question": rows[5]["question"].replace("red", "ｒed"), "answer": "#### 13"}],
    )
    done = CliRunner().invoke(
        data,
        ["check", str(tmp_path / "d"), "--test", str(tmp_path / "leak.jsonl"), "--json"],
        standalone_mode=False,
    )
    found = json.loads(done.output)
    assert (
        done.return_value == 1
        and found["verdict"] == "contaminated"
        and found["leaks"][0]["train"].startswith("Ann has 5")
    )


@pytest.mark.parametrize(
    "asked",
    [
        'Let\'s think step by step and output the final answer after "####".',
        "Please put the answer after ####.",
        'Remember to put your answer on its own line after "Answer:".',
    ],
)
def test_a_row_that_asks_for_the_answer_elsewhere_keeps_its_request_and_is_read_there(tmp_path, asked):
    row = {"prompt": [{"role": "user", "content": f"Tom has 3 #### and buys 4. How many? {asked}"}]}
    made = read(lines(tmp_path / "a.jsonl", [row | {"reward_model": {"ground_truth": "7"}}]))
    [item] = made.problems
    assert item.text == f"Tom has 3 #### and buys 4. How many? {asked}"
    mark = "####" if "####" in asked else "Answer:"
    for reply, right in (
        (f"3+4=7\n{mark} 7", True),
        (f"{mark} 3\nNo.\n**{mark}** $7$", True),
        (f"{mark} 8", False),
        (f"<think>\n{mark} 7\n</think> Done.", False),
        ("So \\boxed{7}.", True),
        ("It is 7.", False),
    ):
        assert judge_reply(reply, item, "boxed").correct is right, reply
    assert judge_reply(f"{mark} 7", item, "boxed").formatted
    assert not judge_reply("\\boxed{7}", item, "boxed").formatted


SEVERAL = {"question": "Who wrote it?", "answer": ["Ada", "Ada L.", "Ada"]}


@pytest.mark.parametrize(
    "row",
    [
        SEVERAL,
        {"messages": [{"role": "user", "content": "Who wrote it?"}], "answer": SEVERAL["answer"]},
        {
            "prompt": [CHAT[1]],
            "data_source": "nq",
            "reward_model": {"ground_truth": {"target": ["Ada", "Ada L."]}},
        },
    ],
)
def test_each_of_several_accepted_answers_is_right(tmp_path, row):
    [item] = read(lines(tmp_path / "a.jsonl", [row])).problems
    assert (item.scorer, json.loads(item.answer)) == ("any", ["Ada", "Ada L."])
    for reply, right in (("Ada", True), ("Ada L.", True), ("Ada, Ada L.", False), ("Bob", False)):
        assert judge_reply(f"\\boxed{{{reply}}}", item, "boxed").correct is right
        assert judge_reply(f"It was {reply}", item, "last").correct is (right or "Ada L" in reply)
    with pytest.raises(InputError, match="several accepted answers, and math_verify takes one"):
        read(lines(tmp_path / "b.jsonl", [row]), scorer="math_verify")


def test_rows_that_a_data_set_marks_are_left_out_and_an_odd_difficulty_blocks_nothing(tmp_path):
    rows = [
        {"problem": "How many?", "answer": "7", "difficulty": "3/8"},
        {"problem": "How few?", "answer": "8", "difficulty": "Hard"},
        {"problem": "Prove it.", "answer": "proof", "question_type": "proof"},
        {"problem": "Which?", "answer": "notfound"},
        {"problem": "When?", "answer": "9", "problem_is_valid": "Incomplete"},
    ]
    made = read(lines(tmp_path / "a.jsonl", rows))
    assert [item.difficulty for item in made.problems] == [1, 3]
    assert sorted(count for what, count in made.recipes.items() if what.startswith("left out")) == [1, 1, 1]
    assert [item.where[:5] for item in made.left_out] == ["row 3", "row 4", "row 5"]


def test_bad_rows_are_skipped_if_asked_and_written_with_their_reasons(tmp_path):
    good = [{"question": f"How much is {n} and {n}?", "answer": 2 * n} for n in range(3)]
    bad = [{"question": "Why?", "answer": None}, {"question": "Who?", "answer": "N/A"}]
    twice = [{"question": "Which?", "answer": n} for n in (1, 2)]
    place = lines(tmp_path / "a.jsonl", [*good, *bad, *twice])
    test = lines(tmp_path / "b.jsonl", [{"question": "What is a third of nine?", "answer": 3}])
    out = tmp_path / "out"
    done = CliRunner().invoke(data, ["check", str(place), "--test", str(test), "--skip-bad", str(out)])
    assert isinstance(done.exception, SystemExit | None), done.exception
    assert "1 rows left out: has no answer in a known column" in done.output and "written: " in done.output
    assert json_lines(out / "train.jsonl") == good
    left = json_lines(out / "left-out.jsonl")
    assert [(item["where"][:5], item["row"]) for item in left] == [
        (f"row {number}", row) for number, row in enumerate([*bad, *twice], 4)
    ]
    assert [item["why"] for item in left[2:]] == ["one question has two labels"] * 2
    assert len(read(out / "train.jsonl").problems) == 3 and len(json_lines(out / "test.jsonl")) == 1
    with pytest.raises(InputError, match="row 4 of"):
        read(place)


def test_an_entry_of_reasoning_gym_is_judged_by_its_own_scorer(tmp_path):
    gym = pytest.importorskip("reasoning_gym")
    entry = gym.create_dataset("countdown", seed=5, size=1)[0]
    [item] = read(lines(tmp_path / "a.jsonl", [json.loads(json.dumps(entry))])).problems
    assert item.scorer == "reasoning-gym"
    expression = entry["metadata"]["expression"]
    replies = [f"\\boxed{{{expression}}}", f"\\boxed{{0 + {expression}}}", "\\boxed{1}"]
    scores = [found.score for found in verify([(item, reply, False) for reply in replies], "boxed")]
    assert scores[0] == 1 and max(scores[1:]) < 1


def test_the_answer_format_holds_for_files(tmp_path):
    place = lines(
        tmp_path / "a.jsonl", [{"question": f"How much is {n} plus {n}?", "answer": 2 * n} for n in range(30)]
    )
    other = lines(
        tmp_path / "b.jsonl", [{"question": f"What is {n} times three?", "answer": 3 * n} for n in range(30)]
    )
    own = PromptsSettings(
        train=str(place), test=str(other), answer_format="last", batch_problems=2, heldout_problems=2
    )
    made = problem_set(own, lake=None, seeds=default_lake_root() / "seeds", seed=3)
    assert all("nothing else" in item.text and "boxed" not in item.text for item in made.all)


UTC = dt.UTC
COLUMNS = {
    "decimal": (pa.array([Decimal("3.50")], pa.decimal128(10, 2)), 3.5),
    "whole decimal": (pa.array([Decimal("4.00")], pa.decimal128(10, 2)), 4),
    "long decimal": (
        pa.array([Decimal("0.1234567890123456789")], pa.decimal128(30, 19)),
        "0.1234567890123456789",
    ),
    "large decimal": (pa.array([Decimal(10**25)], pa.decimal256(40, 0)), 10**25),
    "decimals": (pa.array([[Decimal("1.5"), Decimal("2")]], pa.list_(pa.decimal128(5, 1))), [1.5, 2]),
    "day": (pa.array([dt.date(2024, 3, 5)]), "2024-03-05"),
    "time of day": (pa.array([dt.time(14, 5)], pa.time64("us")), "14:05"),
    "time with seconds": (pa.array([dt.time(14, 5, 9)], pa.time32("s")), "14:05:09"),
    "single": (pa.array([0.1], pa.float32()), 0.1),
    "dictionary": (pa.array(["red"]).dictionary_encode(), "red"),
    "small": (pa.array([7], pa.uint8()), 7),
    "truth": (pa.array([True]), True),
}
REFUSED = {
    "moment": pa.array([dt.datetime(2024, 3, 5, 14, 5)], pa.timestamp("us")),
    "zoned": pa.array([dt.datetime(2024, 3, 5, tzinfo=UTC)], pa.timestamp("ms", "Europe/Berlin")),
    "nanoseconds": pa.array([1], pa.int64()).cast(pa.timestamp("ns")),
    "zone that is none": pa.array([0], pa.timestamp("us", "Nowhere/X")),
    "duration": pa.array([dt.timedelta(hours=1)]),
    "bytes": pa.array([b"red"]),
    "zoned in a list": pa.array([[dt.datetime(2024, 3, 5, tzinfo=UTC)]], pa.list_(pa.timestamp("us", "UTC"))),
}


def table(folder: Path, suffix: str, answer: pa.Array, *, column: str = "answer") -> Path:
    """A file with one question and this column."""
    path, rows = folder / f"a{suffix}", pa.table({"question": ["Which?"] * len(answer), column: answer})
    if suffix == ".parquet":
        pq.write_table(rows, path)
    else:
        with pyarrow.ipc.new_stream(str(path), rows.schema) as stream:
            stream.write_table(rows)
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_typed_column_is_a_label_as_json_has_it(tmp_path, name, suffix):
    answer, label = COLUMNS[name]
    found = json.loads(read(table(tmp_path, suffix, answer)).problems[0].answer)
    assert (found, type(found)) == (label, type(label))


@pytest.mark.parametrize("name", REFUSED)
def test_a_column_that_no_reply_could_give_is_refused_by_its_name(tmp_path, name):
    with pytest.raises(InputError, match=r"(?s)column (?:answer|of the answer) .*cast"):
        read(table(tmp_path, ".parquet", REFUSED[name]))
    with pytest.raises(InputError, match=r"(?s)column (?:key|of the answer) .*cast"):
        read(
            table(tmp_path, ".parquet", REFUSED[name], column="key"), columns="question=question, answer=key"
        )


def test_files_without_problems_are_not_readable(tmp_path):
    (tmp_path / "a.jsonl").write_text("\n")
    with pytest.raises(InputError, match="1 files without a row"):
        read(tmp_path / "a.jsonl")
    pq.write_table(pa.table({}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="2 files without a row"):
        read(tmp_path)
    lines(tmp_path / "a.jsonl", [{"question": "Which?", "answer": 1, "checker": "f"}])
    with pytest.raises(InputError, match="1 rows left out: questions with many correct answers"):
        read(tmp_path)
    lines(tmp_path / "c.jsonl", [{"question": "Which?", "answer": 1}])
    assert len(read(tmp_path).problems) == 1


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("type_", [pa.string(), pa.decimal128(5, 1), pa.null()])
def test_a_table_without_rows_is_not_readable(tmp_path, suffix, type_):
    path = table(tmp_path, suffix, pa.array([], type_))
    with pytest.raises(InputError, match=r"no problem to read in .*(?s:.*)without a row"):
        read(path)
    done = CliRunner().invoke(data, ["check", str(path)])
    assert isinstance(done.exception, InputError) and "readable" not in done.output
