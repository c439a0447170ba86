"""`evolake families check` as typed: any folder or JSONL file, one object, the promised exit codes."""

from __future__ import annotations

import json
import shutil

import pytest
from click.testing import CliRunner
from families_fixtures import SEEDS, seed_family

from evolake.errors import InputError
from evolake.families.commands.group import families
from evolake.families.model.contract import to_record

CLINIC = SEEDS / "families" / "clinic-queue"
DOUBLE = {
    "task_id": "double", "generator_code": "import random\n\n\ndef input(difficulty):\n    n = random.randint(1, 9)\n    return {'n': n}, [str(n)]\n",
    "validator_code": "def solution(inputs):\n    return 2 * inputs['n']\n",
    "question_templates": "What is twice the number [Input Slot 1]? An integer.",
}


@pytest.fixture(autouse=True)
def own_lake(tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))


def typed(*words: object):
    """(exit code, standard output, error) of a command."""
    result = CliRunner().invoke(families, ["check", *map(str, words)], standalone_mode=False)
    return result.return_value, result.stdout, result.exception


def test_an_accepted_folder_is_one_object_and_exit_0():
    code, out, _ = typed(CLINIC, "--json")
    assert code == 0
    assert json.loads(out) == {
        "verdict": "accepted", "gate": None, "reasons": [], "name": "clinic-queue", "family_id": seed_family("clinic-queue").family_id,
        "votes": {
            "instances": 40, "strict_majority": 40, "for_label": {"primary": 40, "sorting": 40, "ticking": 40},
            "blind_reviews": 5, "blind_matches": 5,
        },
    }


def test_a_folder_of_three_files_is_judged_and_told_what_it_lacks(tmp_path):
    for name in ("generator.py", "template.md", "validator.py"):
        shutil.copy(CLINIC / name, tmp_path / name)
    template = (tmp_path / "template.md").read_text()
    for rule, text in (("order", "takes the shortest"), ("tie", "the lowest number first"), ("rest", "No breaks.")):
        template = template.replace(f"[Rule {rule}]", text)
    (tmp_path / "template.md").write_text(template)
    code, out, _ = typed(tmp_path, "--json")
    found = json.loads(out)
    assert (code, found["verdict"], found["gate"]) == (1, "blocked", "consensus")
    assert "0 independent validators" in found["reasons"][0]


def test_a_jsonl_file_gives_a_verdict_a_record(tmp_path):
    path = tmp_path / "families.jsonl"
    path.write_text(json.dumps(DOUBLE) + "\n" + json.dumps(to_record(seed_family("clinic-queue"))) + "\n")
    code, out, _ = typed(path, "--json")
    found = json.loads(out)
    assert (code, found["verdict"], found["gate"]) == (1, "blocked", "static")
    assert [(item["name"], item["verdict"]) for item in found["families"]] == [("double", "blocked"), ("clinic-queue", "accepted")]
    assert found["reasons"] == [f"double: {found['families'][0]['reasons'][0]}"]


def test_families_of_one_file_are_compared_with_each_other(tmp_path):
    record = to_record(seed_family("clinic-queue"))
    twin = record | {"name": "twin", "generator": record["generator"].replace("count", "amount")}
    path = tmp_path / "families.jsonl"
    path.write_text(json.dumps(record) + "\n" + json.dumps(twin) + "\n")
    code, out, _ = typed(path)
    assert code == 1
    assert "clinic-queue: accepted, 3 voters agree, 5 of 5 blind reviews match" in out
    assert "twin: blocked at the gate 'static': the code is that of clinic-queue" in out


def test_what_holds_no_family_is_an_input_error(tmp_path):
    for path in (tmp_path / "nothing", tmp_path):
        _, _, error = typed(path, "--json")
        assert isinstance(error, InputError)
        assert error.exit_code == 2
