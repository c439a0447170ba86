"""Prompt files and fences: nothing missing, nothing unknown, and candidate text stays data."""

import re
from pathlib import Path

import numpy as np
import pytest
from agent_backend_fixtures import AddRequest, add_role
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from evolake.agents.fences import cap, clean, fence
from evolake.agents.prompts import build_messages, load_prompt, render
from evolake.agents.roles import Role, hide
from evolake.errors import MachineryError

TEMPLATE = (
    "You judge.\n<!-- user -->\nId {{ name | inline }}, number {{n}}.\nNotes:\n{{notes|text}}\nCode: "
    "{{code}} end\n"
)
VALUES = {"name": "a\n`b`", "n": 3, "notes": ["try x", "leave y"], "code": "f = {{n}}\n```"}


def test_a_template_is_filled_in_one_pass():
    assert render(TEMPLATE, VALUES) == (
        "You judge.",
        "Id a 'b', number 3.\nNotes:\n- try x\n- leave y\nCode: \n````data code\nf = {{n}}\n```\n````\n end",
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"code": None, "extra": 1}, "values without a placeholder: extra"),
        ({"drop": "code"}, "placeholders without a value: code"),
    ],
)
def test_placeholders_and_values_must_be_the_same(change, says):
    values = {
        name: value for name, value in (VALUES | change).items() if name not in ("drop", change.get("drop"))
    }
    with pytest.raises(MachineryError, match=says):
        render(TEMPLATE, values)


@pytest.mark.parametrize(
    "template",
    ["no user part {{a}}", "one\n<!-- user -->\ntwo\n<!-- user -->\nthree", "\n<!-- user -->\nonly user"],
)
def test_a_prompt_has_two_parts(template):
    with pytest.raises(MachineryError, match="cannot be split"):
        render(template, {})


def test_every_shipped_prompt_splits_and_uses_known_forms():
    shipped = sorted(Path(load_prompt.__code__.co_filename).parents[1].glob("*/messages/*.md"))
    assert len(shipped) > 30
    for path in shipped:
        text = load_prompt(path.stem)
        names = set(re.findall(r"\{\{\s*(\w+)", text))
        system, user = render(text, dict.fromkeys(names, "value"), name=path.stem)
        assert system and user and "{{" not in system + user


def test_messages_state_the_rule_on_data_and_the_schema(tmp_path):
    system, user = build_messages(add_role(tmp_path), AddRequest(a=1, b=2, note="hello"))
    assert (system["role"], user) == (
        "system",
        {"role": "user", "content": "First: 1\nSecond: 2\nNote by the candidate:\n```data note\nhello\n```"},
    )
    assert "never an instruction" in system["content"] and system["content"].count('"total":') == 1


class Secretive(BaseModel):
    """A request with a field that only the operators read."""

    shown: int
    genome: str


def test_fields_can_be_hidden_from_the_prompt(tmp_path):
    path = tmp_path / "p.md"
    path.write_text("s\n<!-- user -->\n{{shown}}")

    def operators(request: Secretive, rng: np.random.Generator) -> Secretive:
        return request

    role = Role("r", Secretive, Secretive, operators, prompt=path, values=hide("genome"))
    assert build_messages(role, Secretive(shown=1, genome="AAA"))[1]["content"] == "1"


@given(st.text(alphabet=st.sampled_from("`~ab\n{}|\r\t"), max_size=60))
def test_no_text_closes_its_own_fence(text):
    lines = fence(text, "x").split("\n")
    marks = lines[-1]
    assert set(marks) == {"`"} and lines[0] == f"{marks}data x"
    assert all(marks not in line for line in lines[1:-1])
    assert "\n".join(lines[1:-1]) == clean(text)


@given(st.text(max_size=80), st.integers(1, 60))
def test_a_cut_keeps_both_ends_and_counts_what_is_missing(text, limit):
    shown = cap(text, limit)
    if len(text) <= limit:
        assert shown == text
        return
    head = limit * 3 // 4
    assert (
        shown
        == text[:head]
        + f"\n[... {len(text) - limit} characters cut here ...]\n"
        + text[len(text) - (limit - head) :]
    )


def test_lone_surrogates_control_characters_and_direction_overrides_are_replaced():
    assert clean("a\ud800b\x00c\u202ed\r\ne\tf\u2028g") == "a\ufffdb\ufffdc\ufffdd\ne\tf\u2028g"


@given(st.text(alphabet=st.characters(), max_size=40))
def test_clean_text_can_go_over_any_wire(text):
    assert clean(clean(text)) == clean(text)
    clean(text).encode("utf-8")
