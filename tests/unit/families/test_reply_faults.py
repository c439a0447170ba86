"""What makes a reply of the families line unusable is found in its text alone, and costs one repair turn."""

from typing import Any

import pytest
from families_fixtures import seed_family
from families_scripted_model import as_reply

from evolake.families.roles.models import (
    EvolveReply,
    EvolveRequest,
    ValidatorReply,
    family_fault,
    program_fault,
    slots_fault,
    validator_fault,
)
from evolake.families.roles.reviewers import AuthorRequest

CLINIC = seed_family("clinic-queue")
REQUEST = EvolveRequest(operator="switch", idea="", parents=[])


def reply(**changes: Any) -> EvolveReply:
    return EvolveReply.model_validate(as_reply(CLINIC, **changes))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, ""),
        ({"generator": "def input(difficulty:\n"}, "`generator` is no Python: "),
        (
            {"validator": "def solve(inputs):\n    return 1\n"},
            "`validator` has no function `solution` at the top of the module",
        ),
        ({"reader": "def read():\n    return {}\n"}, "`reader`: `read` must take one argument"),
        ({"reader": None}, ""),
        ({"validators": [{"name": "brute", "source": "x = ("}]}, "`validators.brute` is no Python: "),
        ({"template": "What is it?"}, "`template` has no [Input Slot 1]"),
        ({"template": "[Input Slot 1] and [Input Slot 3]?"}, "`template` has no [Input Slot 2]"),
        ({"validator": ""}, "`validator` is empty"),
        ({"generator": "", "template": "", "validator": "", "note": "no idea"}, ""),
        ({"generator": "", "template": "", "validator": ""}, "all texts are empty"),
    ],
)
def test_a_family_that_cannot_be_read_is_a_fault_with_its_place(changes, fault):
    said = family_fault(REQUEST, reply(**changes))
    assert said.startswith(fault) and bool(said) == bool(fault), said


def test_all_faults_are_said_in_one_turn():
    said = family_fault(REQUEST, reply(generator="def input(:", validator="x = 1\n", template="What?"))
    assert all(
        part in said for part in ("`generator` is no Python", "`validator` has no function", "[Input Slot 1]")
    )


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("from math import prod as solution\n", ""),
        ("solution = len\n", ""),
        ("def solution(*inputs):\n    return 1\n", ""),
        ("def solution(inputs, best=None):\n    return 1\n", ""),
        ("def solution(a, b):\n    return 1\n", "`s`: `solution` must take one argument"),
        ("class solution:\n    pass\n", "`s` has no function `solution` at the top of the module"),
    ],
)
def test_a_function_may_be_bound_in_any_way_that_the_text_shows(source, fault):
    assert program_fault("s", source, "solution") == fault


def test_a_validator_may_be_withheld_and_a_broken_one_is_a_fault():
    request = AuthorRequest(template="", answer_type="integer", instances=[])
    assert validator_fault(request, ValidatorReply(source="", algorithm="")) == ""
    assert validator_fault(request, ValidatorReply(source="def solution(x)\n", algorithm="")).startswith(
        "`source` is no Python: "
    )
    assert slots_fault("[Input Slot 1] [Input Slot 2]") == ""
