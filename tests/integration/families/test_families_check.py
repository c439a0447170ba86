"""`evolake families check` as typed: any folder or JSONL file, one object, the promised exit codes."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from families_fixtures import SEEDS, seed_family
from families_in_other_dress import DRESSED

from evolake.errors import InputError
from evolake.families.commands.authoring import FILES
from evolake.families.commands.group import families
from evolake.families.evolution.shipped_seeds import FILE, evidence_key, read_entries
from evolake.families.model.contract import to_record
from evolake.families.settings import FamiliesSettings

CLINIC = SEEDS / "families" / "clinic-queue"
SEEDS_COMPARED = (
    50
    if evidence_key(seed_family("clinic-queue"), FamiliesSettings(), 0) in read_entries(SEEDS / FILE)
    else 0
)
LEFT_OUT = (
    {}
    if SEEDS_COMPARED
    else {
        path.parent.name: (
            f"no evidence is shipped for Python {sys.version_info[0]}.{sys.version_info[1]} and these "
            "sizes, and no finished cycle of "
            "this lake has accepted it"
        )
        for path in sorted((SEEDS / "families").glob("*/generator.py"))
    }
)
DOUBLE = {
    "task_id": "double",
    "generator_code": (
        "import random\n\n\ndef input(difficulty):\n    n = random.randint(1, 9)\n    return {'n': n}, "
        "[str(n)]\n"
    ),
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
    result = json.loads(out)
    remarks, text = result.pop("remarks"), result.pop("text")
    assert (text["asked"], text["read"], text["differ"]) == (40, 0, 0)
    assert "no program reads the sentence 'A treatment is never interrupted.'" in remarks and all(
        "no program reads" in item for item in remarks
    )
    assert result == {
        "verdict": "accepted with remarks",
        "gate": None,
        "reasons": [],
        "name": "clinic-queue",
        "family_id": seed_family("clinic-queue").family_id,
        "votes": {
            "instances": 40,
            "strict_majority": 40,
            "for_label": {"primary": 40, "sorting": 40, "ticking": 40},
            "blind_reviews": 5,
            "blind_matches": 5,
            "blind_by": "its own reader and programs",
        },
        "compared_with": {"seeds": SEEDS_COMPARED, "lake": 0, "left_out": LEFT_OUT},
        "independent": {
            "level": "none",
            "other_authors": 0,
            "text_right": 0,
            "text_answers": 0,
            "model_right": 0,
            "model_answers": 0,
            "person_right": 0,
            "person_answers": 0,
        },
        "reviewed": False,
    }


def test_a_folder_of_three_files_is_judged_and_told_what_it_lacks(tmp_path):
    family = DRESSED["none-is-out"]
    for name, text in (
        ("generator.py", family.generator),
        ("template.md", family.template),
        ("validator.py", family.validator),
    ):
        (tmp_path / name).write_text(text)
    code, out, _ = typed(tmp_path, "--json")
    result = json.loads(out)
    assert (code, result["verdict"], result["gate"]) == (1, "blocked", "consensus")
    assert "0 independent validators" in result["reasons"][0]


def test_a_jsonl_file_gives_a_verdict_a_record(tmp_path):
    path = tmp_path / "families.jsonl"
    path.write_text(json.dumps(DOUBLE) + "\n" + json.dumps(to_record(seed_family("clinic-queue"))) + "\n")
    code, out, _ = typed(path, "--json")
    result = json.loads(out)
    assert (code, result["verdict"], result["gate"]) == (1, "blocked", "static")
    assert [(item["name"], item["verdict"]) for item in result["families"]] == [
        ("double", "blocked"),
        ("clinic-queue", "accepted with remarks"),
    ]
    assert result["reasons"] == [f"double: {result['families'][0]['reasons'][0]}"]


@pytest.mark.skipif(not SEEDS_COMPARED, reason="no evidence was shipped for this version of Python")
def test_a_family_is_compared_with_the_seeds(tmp_path):
    shutil.copytree(CLINIC, tmp_path / "twin")
    source = tmp_path / "twin" / "generator.py"
    source.write_text(source.read_text().replace("count", "amount"))
    code, out, _ = typed(tmp_path / "twin")
    assert code == 1
    assert "blocked at the gate 'static': the code is that of clinic-queue" in out
    assert f"compared with {SEEDS_COMPARED} seeds and 0 more families of the lake" in out


def example(folder: Path, name: str, old: str, new: str) -> Path:
    """The family that `evolake families new` writes, with one thing changed in one file."""
    for file, text in FILES.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))
    return folder


def test_a_validator_that_the_others_outvote_is_named_with_what_it_answers_and_so_are_the_reviews_that_it_spoils(  # noqa: E501
    tmp_path,
):
    folder = example(tmp_path / "one", "validators/asking.py", "    return sum(", "    return 1000 + sum(")
    code, out, _ = typed(folder, "--json")
    result = json.loads(out)
    assert (code, result["gate"], result["votes"]["for_label"]) == (
        1,
        "blind",
        {"primary": 40, "asking": 0, "metres": 40},
    )
    first, *reviews = result["remarks"]
    assert first.startswith(
        "the validator asking is outvoted on 40 of 40 instances; at difficulty 1: it answers 10"
    )
    assert len(reviews) == result["votes"]["blind_reviews"] - result["votes"]["blind_matches"] > 0
    assert all("+asking) answered 10" in review and "; the label is " in review for review in reviews)
    assert typed(folder)[1].count("the validator asking is outvoted on 40 of 40 instances") == 1


def test_a_family_without_a_reader_that_needs_one_is_told_so(tmp_path):
    family = DRESSED["cheapest-road"]
    path = tmp_path / "mute.jsonl"
    generator = family.generator.replace('{"roads"', '{"tolls": sum(road[2] for road in roads), "roads"')
    mute = replace(family, operator="seed", reader=None, generator=generator)
    path.write_text(json.dumps(to_record(mute)) + "\n")
    code, out, _ = typed(path)
    assert (code, "there is no reader.py, and none could be learnt from the slot texts: add one" in out) == (
        1,
        True,
    ), out


def test_what_holds_no_family_is_an_input_error(tmp_path):
    for path in (tmp_path / "nothing", tmp_path):
        _, _, error = typed(path, "--json")
        assert isinstance(error, InputError)
        assert error.exit_code == 2
