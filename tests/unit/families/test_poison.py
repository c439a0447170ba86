"""What reads a candidate's texts on the host gives a value for every text: no exception, and no time that
grows faster than the text."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from families_fixtures import RULES, seed_family
from families_poison import ANSWERS, CONSTANTS, HELP, plain, with_constant

from evolake.answers.matching import equivalent, matches
from evolake.errors import InputError
from evolake.families.commands.gallery import page_name
from evolake.families.dataset.difficulty import complexity_row
from evolake.families.evolution.proposing import family_of
from evolake.families.evolution.refining import traces_of
from evolake.families.gates.checkers import difficulty
from evolake.families.gates.consensus import accepted_wrongly, consensus_evidence, vote
from evolake.families.gates.judging import rule_evidence
from evolake.families.gates.leaks import leaking_place
from evolake.families.gates.static import characters, magnitude
from evolake.families.model.contract import as_json, from_record, to_record
from evolake.families.model.family_files import UncheckedFamily, make_family
from evolake.families.model.similarity import answer_key, fingerprint
from evolake.families.model.source_code import (
    NotComposable,
    Unreadable,
    factory,
    parse,
    parse_expression,
    rename_constants,
    set_constant,
    unparsed,
)
from evolake.families.model.statement import fresh_marker
from evolake.families.operators.registry import OPERATORS
from evolake.families.roles.evolution_agent import evolve
from evolake.families.roles.models import EvolveReply, EvolveRequest
from evolake.families.sandbox.driver import NotPlain
from evolake.families.sandbox.driver import plain as plain_value
from evolake.families.sandbox.foreign import read_line
from evolake.families.sandbox.running import MAX_VALUES, Solved, sound
from evolake.families.tables import INVENTED

CLINIC, CARDS = seed_family("clinic-queue"), seed_family("remainder-subsets")


def values() -> dict[str, Any]:
    """The answers of the corpus as the driver lets them through."""
    space: dict[str, Any] = {"Fraction": Fraction, "Decimal": Decimal}
    exec(HELP, space)
    result: dict[str, Any] = {}
    for name, expression in ANSWERS.items():
        try:
            result[name] = plain_value(eval(expression, space), keys=True)
        except NotPlain:
            continue
    return result


VALUES = values()


@pytest.mark.parametrize("name", VALUES)
def test_an_answer_of_any_kind_is_compared_counted_and_probed(name):
    value = VALUES[name]
    if not sound(value):
        return
    key = answer_key(value)
    assert key.encode("utf-8", "replace") and answer_key([value, {"a": value}]).startswith("[")
    voters = {name: Solved("ok", "", value, "x", None, 0.0) for name in ("primary", "one", "two")}
    counted = vote(voters, case_sensitive=True)
    if name != "half a pair":
        as_json(consensus_evidence(CLINIC, [counted])).encode()
    accepted_wrongly(value)
    for other in VALUES.values():
        assert equivalent(value, other) == equivalent(other, value)
    reply = "\\boxed{" + (value if isinstance(value, str) else json.dumps(value)) + "}"
    assert matches(reply, value) in (True, False)


def test_numbers_past_every_float_are_told_apart():
    first, second, three = (f"1{'0' * 400}/{n}" for n in (3, 7, 3))
    assert answer_key(first) != answer_key(second) and answer_key(first) == answer_key(three)
    assert answer_key("7" * 4200 + "e999") != answer_key("7" * 4200 + "e998")
    assert equivalent({"7" * 4200 + "e999": 1}, {"7" * 4200 + "e999": 1})
    assert not equivalent({"10": 1}, {"a/1": 1})


@pytest.mark.parametrize(
    "text",
    [
        "7" * 5000,
        "[" + "7" * 395 + "]",
        "-" * 9000,
        "1/" * 9000,
        "[(" * 9000,
        "a " * 9000,
        "[NaN]",
        "[1e999]",
        "{" * 400 + "}" * 400,
        "[" * 400 + "1",
    ],
)
def test_a_statement_of_any_kind_is_searched_for_leaks(text):
    assert leaking_place([f"{text} {n}" for n in range(9)], [7 * n for n in range(9)])[0] == ""


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_source_with_any_constant_is_taken_apart_or_refused(name):
    family = with_constant(CLINIC, CONSTANTS[name])
    rule_evidence(family)
    fingerprint(family, [1, 2])
    consensus_evidence(family, [])
    assert complexity_row(family, "0001")["family_id"] == family.family_id
    for step in (
        lambda: factory("part", family.generator, "input"),
        lambda: rename_constants(family.validator, {"TIE": "A_TIE"}),
        lambda: set_constant(family.validator, "TIE", CONSTANTS[name]),
    ):
        try:
            step()
        except NotComposable as refusal:
            assert str(refusal)


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_poisoned_parent_stops_no_operator(name):
    """An accepted family may be a parent for ever: with it in the population every operator still answers."""
    poisoned = with_constant(plain(CLINIC), CONSTANTS[name])
    for operator in OPERATORS:
        request = EvolveRequest(
            operator=operator,
            idea="",
            parents=[],
            records=[to_record(parent) for parent in (poisoned, CARDS)],
        )
        reply = evolve(request, np.random.default_rng(0))
        assert reply.record or reply.note


def test_deep_and_long_sources_are_refused_before_anything_recurses():
    for text in (
        "1" + "+1" * 900,
        "-" * 500 + "1",
        "0x" + "f" * 5000,
        "x" * 300_000,
        "(1," * 190 + "1 1",
        "print " + "x " * 50_000,
        "1\0",
    ):
        with pytest.raises(Unreadable):
            parse(f"A = {text}")
    for text in ("1) + (2", "1; 2", "x = 1", "1 + " * 300 + "1"):
        with pytest.raises(Unreadable):
            parse_expression(text)
    assert unparsed("1 + " * 300 + "1").startswith("1 + 1") and unparsed("( 1+2 )") == "1 + 2"


def test_a_template_of_many_lines_is_searched_for_a_marker_in_one_pass():
    assert fresh_marker(["\n" * 190_000, ".\n" * 90_000, " " * 190_000]) == "Part"
    assert fresh_marker(["x\n  Part 1\n", "[Section 2]\n"]) == "Stage"


def test_evidence_that_could_not_be_collected_has_no_traces():
    for rule in RULES.rules:
        assert traces_of(rule.id, {"raised": "judging it raised X"}) == ()


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "\udfff tail"])
def test_text_that_nothing_can_write_is_no_family(text):
    reply = EvolveReply.model_construct(
        title="t",
        category="other",
        language="en",
        answer_type="any",
        operator="written",
        used_parents=[10**400, -1],
        generator=CLINIC.generator,
        template=CLINIC.template + text,
        validator=CLINIC.validator,
        validators=[],
        reader=None,
        note="",
        record=None,
    )
    request = EvolveRequest(operator="switch", idea="", parents=[])
    assert "cannot be written" in str(family_of(reply, request, whole=False))
    with pytest.raises(InputError, match="cannot be written"):
        read_line(json.dumps(to_record(CLINIC) | {"template": text}), "line 1")


@pytest.mark.parametrize(
    "record",
    [
        '{"generator": 1}',
        '{"task_id": ' + "7" * 5000 + "}",
        "[" * 9000,
        '{"generator": "x", "validators": 7}',
        '"x"',
    ],
)
def test_a_line_of_any_kind_is_an_input_error(record):
    with pytest.raises(InputError):
        read_line(record, "line 1")


def test_no_reply_names_a_file_outside_the_gallery():
    request = EvolveRequest(operator="switch", idea="", parents=[])
    for operator in ("../../x", "/etc/passwd", "a\0b", "..", "", "x" * 41, "Ünï"):
        reply = EvolveReply.model_construct(
            title="t",
            category="other",
            language="en",
            answer_type="any",
            operator=operator,
            used_parents=[],
            generator=CLINIC.generator,
            template=CLINIC.template,
            validator=CLINIC.validator,
            validators=[],
            reader=None,
            note="",
            record=None,
        )
        family = family_of(reply, request, whole=False)
        assert not isinstance(family, str) and family.operator == INVENTED
    for name in ("../../x", "/", "..", "a/b", "a\0b", "\ud800"):
        shown = page_name(replace(CLINIC, name=name))
        assert Path(shown).name == shown and shown.isascii() and shown.isprintable()


def test_a_family_of_too_many_or_too_long_parts_is_refused():
    parts: dict[str, Any] = to_record(plain(CLINIC))
    taken = (
        "name",
        "title",
        "category",
        "language",
        "generator",
        "template",
        "validator",
        "reader",
        "answer",
        "parents",
    )
    given = {key: parts[key] for key in taken}
    with pytest.raises(InputError, match="17 independent validators"):
        make_family(
            "here",
            UncheckedFamily(
                **given, operator="x", validators={f"v{n}": "x" for n in range(17)}, mutations={}
            ),
        )
    with pytest.raises(InputError, match="title"):
        make_family(
            "here",
            UncheckedFamily(**(given | {"title": "t" * 201}), operator="x", validators={}, mutations={}),
        )
    assert from_record(parts) == plain(CLINIC)


def test_values_from_a_candidate_are_bounded_in_number_and_length():
    assert sound([0] * (MAX_VALUES - 1)) and not sound([0] * MAX_VALUES)
    assert not sound({"x" * 300_000: 1}) and not sound(["x" * 300_000]) and not sound(10**5000)


FLAT, RISING = [[1, 9.0], [5, 9.0], [10, 9.0]], [[1, 9.0], [5, 19.0], [10, 90.0]]


@pytest.mark.parametrize(
    ("work", "size", "magnitude", "passes"),
    [
        (RISING, FLAT, FLAT, False),
        (FLAT, RISING, FLAT, True),
        (FLAT, FLAT, RISING, True),
        (FLAT, FLAT, FLAT, False),
    ],
)
def test_what_a_candidate_says_of_its_work_decides_nothing(work, size, magnitude, passes):
    evidence = {"blind_to_difficulty": False, "work": work, "size": size, "magnitude": magnitude}
    assert (difficulty(evidence, ratio=1.25) is None) == passes


def test_the_magnitude_of_inputs_counts_rounds_that_characters_do_not_show():
    few, many = {"balls": [1, 2], "rounds": 10}, {"balls": [1, 2], "rounds": 99}
    assert characters(few) == characters(many) and magnitude(many) - magnitude(few) == 89
    assert magnitude(10**300) == magnitude(-(10**200)) < 1e13
