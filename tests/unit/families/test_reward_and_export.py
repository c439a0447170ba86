"""What trainers get: a reward file that stands alone, rows of three forms, splits by family, a card."""

import ast
import json
import subprocess
import sys

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.answers.matching import matches
from evolake.errors import InputError
from evolake.families.dataset.datasets import Provenance
from evolake.families.dataset.exports import in_test, reward_source, side, write_dataset
from evolake.families.gates.consensus import wrong_answers
from evolake.lake.population import roots_of

MADE_BY = Provenance(
    [("clinic-queue", "ab" * 32)],
    ["cd" * 32],
    ["0001"],
    ["7"],
    ["operators"],
    ["0.1.0"],
    {"families accepted": 2},
)
LABELS = [
    3,
    -2,
    0.5,
    True,
    False,
    "red, then blue",
    [1, 2],
    [],
    {"a": 1},
    [[1, 2], ["x"]],
    "1/3",
    10**30,
    "N",
    "",
]


def instance(number: int, family: str = "f", language: str = "en", answer: object = 5) -> dict:
    return {
        "instance_id": f"i{number}",
        "family_id": family,
        "cycle": "0001",
        "category": "logical",
        "language": language,
        "difficulty": 4,
        "band": "4-6",
        "seed": 2**62 + number,
        "text": f"Question {number}?",
        "inputs": "{}",
        "answer": json.dumps(answer),
        "case_sensitive": True,
        "voters": 3,
        "votes": 3,
        "text_sha": f"t{number}",
        **DESCRIBED_F,
    }


DESCRIBED_F = {
    "title": "Title",
    "engine": "own",
    "operator": "seed",
    "parents": [],
    "answer_type": "any",
    "independent": "none",
}


@pytest.fixture
def rewarding(tmp_path) -> dict:
    """The shipped file's names, as a trainer imports them."""
    path = tmp_path / "reward.py"
    path.write_text(reward_source())
    namespace: dict = {"__name__": "reward"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    return namespace


def test_the_file_runs_where_evolake_is_not_installed(tmp_path):
    (tmp_path / "reward.py").write_text(reward_source())
    calls = "reward(['\\\\boxed{5}', 'no'], ['5', '5']), compute_score('x', '\\\\boxed{[1,2]}', '[1, 2]')"
    code = f"from reward import reward, compute_score; print({calls})"
    command = [sys.executable, "-S", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[1.0, 0.0] 1.0"


CHECKED = {"f": ["def check(inputs, answer):\n    return answer == {'x': 3, 'y': -2}\n"]}


@pytest.mark.parametrize("checkers", [None, CHECKED], ids=["labels", "checkers"])
@pytest.mark.parametrize(
    ("label", "why"),
    [
        ("Paris", "Expecting value"),
        ("'Paris'", "Expecting value"),
        ("", "Expecting value"),
        ('{"a": 1', "delimiter"),
        ("1 2", "Extra data"),
        ("007", "Extra data"),
        ("NaN", "NaN is no number"),
        ("[1, Infinity]", "Infinity is no number"),
        ("[" * 100_000, "recursion"),
        ("9" * 5000, "digits"),
        (None, "NoneType"),
        (42, "int"),
        (["a"], "list"),
    ],
    ids=lambda item: str(item)[:20],
)
def test_a_label_that_is_no_json_is_refused_with_its_row(checkers, label, why):
    namespace = {"__name__": "reward"}
    exec(compile(reward_source(checkers), "reward.py", "exec"), namespace)
    marks = {"checker": ["", "", "f"], "inputs": ["{}"] * 3} if checkers else {}
    replies, labels = ["\\boxed{1}", "no box", "\\boxed{1}"], ["1", '"a"', label]
    with pytest.raises(
        ValueError, match=rf"row 3 of the batch \(instance_id c\) is no JSON.*{why}.*Fix"
    ) as error:
        namespace["reward"](replies, labels, instance_id=["a", "b", "c"], **marks)
    assert len(str(error.value)) < 500
    extra = {"index": 7} | ({"checker": "f", "inputs": "{}"} if checkers else {})
    with pytest.raises(ValueError, match=rf"a row of mine \(index 7\) is no JSON.*{why}"):
        namespace["compute_score"]("mine", "\\boxed{1}", label, extra)


def test_the_file_imports_nothing_but_the_standard_library_and_never_evaluates():
    tree = ast.parse(reward_source())
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= {
        "__future__",
        "collections.abc",
        "datetime",
        "json",
        "math",
        "re",
        "fractions",
        "typing",
        "unicodedata",
    }
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"eval", "exec", "compile", "__import__", "open", "getattr"}


def test_no_name_of_the_file_is_given_twice():
    names = [
        target.id if isinstance(target, ast.Name) else target
        for node in ast.parse(reward_source()).body
        for target in (node.targets if isinstance(node, ast.Assign) else [getattr(node, "name", None)])
        if target is not None
    ]
    assert [name for name in names if names.count(name) > 1] == []


@pytest.mark.parametrize("label", LABELS, ids=repr)
def test_the_reward_is_one_for_the_label_and_zero_for_what_is_nearly_right(rewarding, label):
    answer = json.dumps(label)
    shown = label if isinstance(label, str) else json.dumps(label)
    reply = "I think \\boxed{7777}. No: \\boxed{" + shown + "}"
    wrong = [
        "\\boxed{" + (item if isinstance(item, str) else json.dumps(item)) + "}"
        for item in wrong_answers(label)
    ]
    rewards = rewarding["reward"]([reply, *wrong, shown, "", []], [answer] * (len(wrong) + 4))
    assert rewards == [1.0 if matches(reply, label) else 0.0] + [0.0] * (len(wrong) + 3)
    assert rewards[0] == 1.0


def test_replies_may_be_messages_and_case_may_not_matter(rewarding):
    chat = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "\\boxed{RED}"}]
    assert rewarding["reward"]([chat, chat], ['"red"', '"red"'], case_sensitive=[True, False]) == [0.0, 1.0]
    assert rewarding["compute_score"]("s", "\\boxed{RED}", '"red"', {"case_sensitive": False}) == 1.0


@pytest.mark.parametrize(
    "reply",
    [
        "\\boxed{" + "[" * 100_000,
        "\\boxed{__import__('os').system('false')}",
        "\\boxed{" * 50_000,
        "\\boxed{9" + "9" * 100_000 + "}",
    ],
    ids=["brackets", "code", "boxes", "digits"],
)
def test_hostile_replies_are_worth_nothing_and_harm_nothing(rewarding, reply):
    assert rewarding["compute_score"]("s", reply, "5") == 0.0


def test_verl_rows_have_the_fields_that_verl_reads(tmp_path):
    write_dataset("verl", [instance(1)], [], tmp_path, MADE_BY)
    row = pl.read_parquet(tmp_path / "train.parquet").to_dicts()[0]
    assert set(row) == {"data_source", "prompt", "answer", "ability", "reward_model", "extra_info"}
    assert row["reward_model"] == {"style": "rule", "ground_truth": "5"}
    assert row["extra_info"] == {
        "split": "train",
        "index": 0,
        "instance_id": "i1",
        "family_id": "f",
        "difficulty": 4,
        "seed": 2**62 + 1,
        "case_sensitive": True,
        "units": [],
        "category": "logical",
        **DESCRIBED_F,
    }


def test_rows_and_the_card_say_who_solved_a_family_from_its_text_alone(tmp_path):
    write_dataset(
        "jsonl",
        [instance(1) | {"independent": "person"}, instance(2) | {"family_id": "g"}],
        [],
        tmp_path,
        MADE_BY,
    )
    lines = [json.loads(line) for line in (tmp_path / "instances.jsonl").read_text().splitlines()]
    assert [line["independent"] for line in lines] == ["person", "none"]
    assert "| none | 1 | 1 |\n| person | 1 | 1 |" in (tmp_path / "README.md").read_text()


def test_a_family_is_in_one_split_and_stays_there(tmp_path):
    rows = [instance(number, family=f"f{number % 20}") for number in range(100)]
    counts = write_dataset("trl", rows, [], tmp_path, MADE_BY, test_share=0.3)
    members = {
        split: set(pl.read_parquet(tmp_path / f"{split}.parquet")["family_id"].to_list())
        for split in ("train", "test")
    }
    assert counts["train"] + counts["test"] == 100
    assert members["test"] and not members["train"] & members["test"]
    assert (
        members["test"]
        == {f"f{number}" for number in range(20) if in_test(f"f{number}", 0.3)}
        <= {f"f{number}" for number in range(20) if in_test(f"f{number}", 0.5)}
    )


@given(st.lists(st.lists(st.integers(0, 29), max_size=3), min_size=30, max_size=30), st.floats(0.05, 0.9))
def test_in_any_population_and_at_any_share_no_test_family_has_an_ancestor_of_a_training_family(drawn, share):
    """Ancestors, not roots alone: every family on the way counts."""
    parents = {
        str(number): [str(item) for item in above if item < number] for number, above in enumerate(drawn)
    }
    lineage: dict[str, set[str]] = {}
    for name in parents:
        lineage[name] = {name}.union(*(lineage[parent] for parent in parents[name]))
    roots = roots_of(parents)
    sides = {name: side(name, share, roots) for name in parents}
    test, train = (
        set().union(*(lineage[name] for name, of in sides.items() if of == split))
        for split in ("test", "train")
    )
    assert not test & train
    assert all(of != "neither" for name, of in sides.items() if len(roots[name]) == 1)


@pytest.mark.parametrize("form", ["trl", "verl", "jsonl"])
def test_a_split_that_would_be_empty_is_refused_before_anything_is_written(tmp_path, form):
    with pytest.raises(InputError, match="no family is of the split 'test'"):
        write_dataset(form, [instance(1)], [], tmp_path / "out", MADE_BY, test_share=1e-9)
    assert not (tmp_path / "out").exists()


def test_a_request_says_the_form_where_all_answers_of_the_family_have_one(tmp_path):
    rows = [
        instance(1, "f", answer=3),
        instance(2, "f", answer=4),
        instance(3, "g", answer=3),
        instance(4, "g", answer="none"),
        instance(5, "h", language="zh", answer=[1]),
    ]
    write_dataset("trl", rows, [], tmp_path, MADE_BY)
    asked = [
        row[0]["content"].splitlines()[-1]
        for row in pl.read_parquet(tmp_path / "train.parquet")["prompt"].to_list()
    ]
    assert ["whole number" in line for line in asked] == [True, True, False, False, False]
    assert "方括号" in asked[4] and all("\\boxed{...}" in line for line in asked)


def test_the_card_names_seeds_rules_and_counts(tmp_path):
    write_dataset("jsonl", [instance(1), instance(2, family="g")], [{"name": "a family"}], tmp_path, MADE_BY)
    card = (tmp_path / "README.md").read_text()
    counts = ("| logical | 2 | 2 |", "| 4-6 | 2 | 2 |", "families accepted: 2")
    for said in ("clinic-queue `" + "ab" * 32, "cd" * 32, "root seed: 7", "path: instances.jsonl", *counts):
        assert said in card
    assert json.loads((tmp_path / "families.jsonl").read_text()) == {"name": "a family"}


def test_an_earlier_export_is_replaced_and_anything_else_is_left_alone(tmp_path):
    write_dataset("trl", [instance(1)], [], tmp_path / "out", MADE_BY)
    write_dataset("jsonl", [instance(1)], [], tmp_path / "out", MADE_BY)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "README.md",
        "families.jsonl",
        "instances.jsonl",
    ]
    for name, text in (("thesis.tex", "mine"), ("README.md", "# My project")):
        folder = tmp_path / name.partition(".")[0]
        folder.mkdir()
        (folder / name).write_text(text)
        with pytest.raises(InputError, match="is not empty"):
            write_dataset("trl", [instance(1)], [], folder, MADE_BY)
        assert [path.read_text() for path in folder.iterdir()] == [text]


def test_checkers_are_given_every_form_of_an_answer():
    namespace = {"__name__": "reward"}
    exec(compile(reward_source(CHECKED), "reward.py", "exec"), namespace)
    replies = [
        "x = 3, y = -2",
        "`{y: -2, x: 3}`",
        "x: 3, y: -2",
        "x = 3 and y = -2",
        "x = -2, y = 3",
        "3, -2",
    ]
    boxes, many = [f"\\boxed{{{reply}}}" for reply in replies], len(replies)
    assert namespace["reward"](
        boxes, ['{"x": 0, "y": 0}'] * many, units=[None] * many, checker=["f"] * many, inputs=["{}"] * many
    ) == [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]


def test_trl_rows_are_messages_with_the_label_as_json(tmp_path):
    counts = write_dataset(
        "trl", [instance(1), instance(2, language="zh", answer=[1, "a"])], [], tmp_path / "out", MADE_BY
    )
    assert counts == {"train": 2}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "README.md",
        "reward.py",
        "train.parquet",
    ]
    rows = pl.read_parquet(tmp_path / "out" / "train.parquet").to_dicts()
    assert rows[0] == {
        "prompt": [{"role": "user", "content": "Question 1?\n\nGive your final answer inside \\boxed{...}."}],
        "answer": "5",
        "case_sensitive": True,
        "units": [],
        "category": "logical",
        "difficulty": 4,
        "family_id": "f",
        "instance_id": "i1",
        **DESCRIBED_F,
    }
    assert rows[1]["answer"] == '[1, "a"]'
    assert "请" in rows[1]["prompt"][0]["content"]


def test_no_family_of_the_test_split_shares_an_ancestor_with_one_of_the_training_split(tmp_path):
    """Roots r0 to r9, a child of each, and children of two roots, some of which lie on both sides."""
    parents: dict[str, list[str]] = {f"r{n}": [] for n in range(10)} | {f"c{n}": [f"r{n}"] for n in range(10)}
    parents |= {f"m{n}": [f"c{n}", f"r{(n + 3) % 10}"] for n in range(10)}
    roots = roots_of(parents)
    assert roots["r1"] == {"r1"} == roots["c1"] and roots["m1"] == {"r1", "r4"}
    rows = [instance(number, family=name) for number, name in enumerate(parents)]
    counts = write_dataset("trl", rows, [], tmp_path, MADE_BY, test_share=0.4, units=roots)
    sides = {
        split: set(pl.read_parquet(tmp_path / f"{split}.parquet")["family_id"].to_list())
        for split in ("train", "test")
    }
    above = {split: set().union(*(roots[name] for name in members)) for split, members in sides.items()}
    assert above["train"] and above["test"] and not above["train"] & above["test"]
    assert (
        sum(counts.values()) == 30 and counts["neither"] == 30 - len(sides["train"]) - len(sides["test"]) > 0
    )
    card = (tmp_path / "README.md").read_text()
    assert "by lineage" in card and f"{counts['neither']} further questions" in card
    assert "Both sides share 1 of 1 values of category (logical)" in card
