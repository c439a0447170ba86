"""Families read from folders and JSON lines, written back, identified by content, changed at their mutation
points, joined by factories."""

import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from evolake.errors import InputError
from evolake.families.gates.judging import rule_evidence
from evolake.families.model import source_code as parts
from evolake.families.model.contract import from_record, to_record
from evolake.families.model.family_files import read_families, read_family
from evolake.families.model.source_code import NotComposable
from evolake.families.model.statement import (
    fill,
    fresh_marker,
    join_question,
    prefix_rules,
    rules,
    shift_slots,
    slots,
    split_question,
    stated,
)
from evolake.families.sandbox.foreign import read_jsonl, read_line

SEEDS = Path(__file__).resolve().parents[3] / "data_lake" / "seeds" / "families"
CLINIC = SEEDS / "clinic-queue"
PLAIN = {
    "task_id": "double",
    "generator_code": "def input(difficulty):\n    return {'n': difficulty}, [str(difficulty)]\n",
    "validator_code": "def solution(inputs):\n    return 2 * inputs['n']\n",
    "question_templates": ["Double [Input Slot 1]."],
    "sample_question": "Double 3.",
}


def call(source: str, entry: str, *arguments):
    namespace: dict = {}
    exec(source, namespace)
    return namespace[entry](*arguments)


def test_every_seed_is_read_back_from_its_record_to_the_same_family():
    for family in read_families(SEEDS):
        assert from_record(json.loads(json.dumps(to_record(family)))) == family
        assert pickle.loads(pickle.dumps(family)) == family


def test_the_id_is_of_the_content_and_of_nothing_else():
    family = read_family(CLINIC)
    assert (
        replace(
            family, name="other", title="Other", category="causal", parents=("p",), operator="pipe"
        ).family_id
        == family.family_id
    )
    assert replace(family, template=family.template + "More.\n").family_id != family.family_id
    assert replace(family, validators={**family.validators, "third": "x = 1\n"}).family_id != family.family_id


def test_line_ends_and_final_blank_lines_make_no_other_family(tmp_path):
    shutil.copytree(CLINIC, tmp_path / "copy")
    for path in (tmp_path / "copy").rglob("*.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n\r\n")
    assert read_family(tmp_path / "copy").family_id == read_family(CLINIC).family_id


def test_a_folder_needs_three_files_only(tmp_path):
    for name in ("generator.py", "template.md", "validator.py"):
        shutil.copy(CLINIC / name, tmp_path / name)
    family = read_family(tmp_path)
    assert (family.validators, family.reader, family.points, family.category) == ({}, None, (), "other")
    (tmp_path / "validator.py").unlink()
    with pytest.raises(InputError, match=r"no file validator\.py"):
        read_family(tmp_path)


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("family.toml", 'category = "cooking"', "category"),
        ("family.toml", 'colour = "red"', "unknown key 'colour'"),
        ("family.toml", "category = ", "no TOML"),
        ("family.toml", '[answer]\ntype = "poem"', "answer"),
        ("mutations.toml", '[[points]]\nname = "tie"\nchosen = "no"\nalternatives = []', "chosen"),
        ("mutations.toml", '[[points]]\nname = "tie"', "lacks"),
        ("mutations.toml", '[[ports]]\nname = "k"\nkey = "k"\nslot = "1"\nlow = 0\nhigh = 3', "port 'k'"),
        ("mutations.toml", '[[filterables]]\nname = "cards"\nkey = "cards"', "filterable 'cards'"),
    ],
)
def test_a_declaration_that_the_contract_does_not_know_is_an_input_error(tmp_path, file, text, words):
    shutil.copytree(CLINIC, tmp_path / "family")
    (tmp_path / "family" / file).write_text(text)
    with pytest.raises(InputError, match=words):
        read_family(tmp_path / "family")


def test_two_folders_of_one_content_are_refused(tmp_path):
    for name in ("one", "two"):
        shutil.copytree(CLINIC, tmp_path / name)
    (tmp_path / "two" / "family.toml").write_text('id = "two"\n[answer]\ntype = "integer"\n')
    with pytest.raises(InputError, match="one content"):
        read_families(tmp_path)


def test_records_of_the_papers_pipeline_load_unchanged(tmp_path):
    script = PLAIN["generator_code"] + "\n" + PLAIN["validator_code"]
    whole = {"task_id": "whole", "full_script": script, "question_templates": "翻倍：[输入槽位1]。"}
    path = tmp_path / "families.jsonl"
    path.write_text("\n".join(json.dumps(record, ensure_ascii=False) for record in (PLAIN, whole)) + "\n")
    double, scripted = read_jsonl(path)
    assert (double.name, double.generator, double.template) == (
        "double",
        PLAIN["generator_code"],
        "Double [Input Slot 1].\n",
    )
    assert (scripted.language, scripted.generator, scripted.validator, slots(scripted.template)) == (
        "zh",
        script,
        script,
        [1],
    )
    clinic = read_family(CLINIC)
    assert read_line(json.dumps(to_record(clinic)), "line 1") == clinic


@pytest.mark.parametrize(
    ("line", "words"), [("{", "no JSON"), ("[]", "a JSON object"), ('{"task_id": "x"}', "fields are missing")]
)
def test_a_record_that_is_none_is_named_by_its_line(line, words):
    with pytest.raises(InputError, match=words):
        read_line(line, "line 1")


def test_slots_rules_and_question():
    template = "Take [Input Slot 2] of [input slot 1]. [Rule tie]\n<!-- question -->\nWhich? [Input Slot 2]\n"
    assert (slots(template), rules(template)) == ([1, 2], ["tie"])
    assert (
        fill(template, ["A", "[Input Slot 1]"])
        == "Take [Input Slot 1] of A. [Rule tie]\n\nWhich? [Input Slot 1]"
    )
    assert split_question(template) == (
        "Take [Input Slot 2] of [input slot 1]. [Rule tie]",
        "Which? [Input Slot 2]",
    )
    assert split_question(join_question("a", "b")) == ("a", "b")
    assert slots(shift_slots(template, 3)) == [4, 5]
    assert rules(prefix_rules(template, "a_")) == ["a_tie"]
    assert fresh_marker(["x", "== Part 1 ==\n"]) == "Section"


def test_switching_a_rule_changes_text_and_every_source_together():
    family = read_family(CLINIC)
    switched = parts.switch(family, "rest", "two")
    assert "rests for exactly 2 minutes" in stated(switched)
    assert "rests for exactly 2 minutes" not in stated(family)
    assert [parts.constants(source).get("REST") for source in switched.voters().values()] == ["2", "2", "2"]
    assert parts.switch(switched, "rest", "none") == family
    with pytest.raises(KeyError):
        parts.switch(family, "rest", "three")


def test_only_assignments_of_the_name_are_replaced():
    source = (
        'TIE = "low"  # keep\nOTHER = "TIE"\n\n\ndef f():\n    é, TIE = 1, 2\n    return "TIE = 1", '
        '{"TIE": TIE}\n'
    )
    changed = parts.set_constant(source, "TIE", 'lambda a: a == "é"')
    assert changed == source.replace('TIE = "low"  #', 'TIE = lambda a: a == "é"  #')
    assert parts.set_constant(source, "NONE", "1") is None
    with pytest.raises(NotComposable):
        parts.set_constant(source, "TIE", "1 +")


def test_two_modules_with_the_same_names_live_in_one_source():
    first = (
        'LIMIT = 3\ntext = """a\n  b"""\n\n\ndef helper(x):\n    return x + LIMIT\n\n\ndef '
        "solution(inputs):\n    return helper(inputs), text\n"
    )
    second = (
        "from __future__ import annotations\nimport math\nLIMIT = 10\n\n\ndef helper(x):\n    return "
        "math.gcd(x, LIMIT)\n\n\nsolution = helper\n"
    )
    glue = (
        "solve_a, solve_b = part_a(), part_b()\n\n\ndef solution(inputs):\n    return solve_a(inputs), "
        "solve_b(inputs)\n"
    )
    joined = parts.compose(
        [parts.factory("part_a", first, "solution"), parts.factory("part_b", second, "solution")], glue
    )
    assert call(joined, "solution", 4) == ((7, "a\n  b"), 2)
    again = parts.compose(
        [parts.factory("part_c", joined, "solution")],
        "solve_c = part_c()\n\n\ndef solution(x):\n    return solve_c(x)[1]\n",
    )
    assert call(again, "solution", 5) == 5


@pytest.mark.parametrize(
    "line", ["from math import *", "def f():\n    global x\n    x = 1", "y = globals()", "def ("]
)
def test_what_only_a_module_can_do_is_not_composable(line):
    with pytest.raises(NotComposable):
        parts.factory("part_a", f"{line}\n\n\ndef solution(inputs):\n    return 1\n", "solution")


@pytest.mark.parametrize("validators", [["q"], {"other": 1}, "q"])
def test_validators_that_are_no_table_of_sources_are_a_wrong_input(validators):
    from evolake.families.model.family_files import UncheckedFamily, make_family

    with pytest.raises(InputError, match="validators"):
        make_family(
            "a file",
            UncheckedFamily(
                name="n",
                title="t",
                category="logical",
                language="en",
                generator="g",
                template="t",
                validator="v",
                validators=validators,
                reader=None,
                answer={},
                parents=[],
                operator="seed",
                mutations={},
            ),
        )


def test_switching_a_rule_changes_the_checkers_of_a_family_as_it_does_its_validators():
    checker = "REST: int = 0\n\n\ndef check(inputs, answer):\n    return REST < 3\n"
    family = replace(read_family(CLINIC), checkers={"plain": checker, "other": checker.replace(": int", "")})
    switched = parts.switch(family, "rest", "two")
    assert [parts.constants(source)["REST"] for source in switched.checkers.values()] == ["2", "2"]
    assert switched.checkers["plain"] == checker.replace("= 0", "= 2")
    assert rule_evidence(switched) == {"unstated": [], "unused": [], "mismatched": []}
    assert parts.switch(switched, "rest", "none") == family
    mismatched = rule_evidence(replace(switched, checkers=family.checkers))["mismatched"]
    assert mismatched[0].startswith("REST is 0 in checkers/other.py")
