"""System prompts: ids, identity, what the policy reads, and their JSON."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.errors import InputError
from evolake.prompts.model.prompt import Principle, SystemPrompt, from_json, prompt_of, tidy

WORDS = st.text(min_size=1, max_size=30).filter(lambda text: bool(tidy(text)))


@given(st.lists(WORDS, max_size=6), st.integers(0, 5))
def test_json_gives_the_prompt_back(texts, spare):
    prompt = SystemPrompt(prompt_of(texts).principles, len(texts) + 1 + spare)
    assert from_json(prompt.to_json()) == prompt


def test_the_policy_reads_a_heading_and_the_principles_in_order():
    assert prompt_of(["Be  short.", "Check."]).text().splitlines()[1:] == ["[p1] Be short.", "[p2] Check."]
    assert prompt_of([]).text() == ""


def test_identity_is_ids_and_texts_in_order_and_nothing_else():
    item = SystemPrompt((Principle("p1", "a"), Principle("p2", "b")))
    assert item.prompt_id == SystemPrompt(item.principles, 9).prompt_id
    others = [
        SystemPrompt(item.principles[::-1]),
        SystemPrompt((Principle("p1", "a"), Principle("p3", "b"))),
        SystemPrompt(item.principles[:1]),
        SystemPrompt((Principle("p1", "a"), Principle("p2", "c"))),
        SystemPrompt(),
    ]
    assert len({item.prompt_id, *(other.prompt_id for other in others)}) == 6
    assert SystemPrompt().prompt_id == "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Principle("p0", "a"),
        lambda: Principle("q1", "a"),
        lambda: Principle("p1", "  "),
        lambda: SystemPrompt((Principle("p1", "a"), Principle("p1", "b"))),
        lambda: from_json("[]"),
        lambda: from_json("no"),
        lambda: from_json('{"principles": [{"id": "p1"}], "next_number": 2}'),
    ],
)
def test_what_is_no_prompt_is_refused(make):
    with pytest.raises(InputError):
        make()
