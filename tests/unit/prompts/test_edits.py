"""Edits: each kind, strictness, limits, and laws that hold for any diff."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.prompts.model.prompt import Hunk, Limits, Principle, SystemPrompt, apply, copies, prompt_of

PROMPT = prompt_of(["Read the question twice.", "Show each step.", "End with the answer."])
TEXTS = st.sampled_from(
    ["Check.", "Show each step.", "Be short.", "", "   ", "Name the unit.", "Count again.", "x" * 700]
)
IDS = st.sampled_from(["p1", "p2", "p3", "p4", "p5", "p9"])
HUNKS = st.builds(
    Hunk,
    kind=st.sampled_from(["add", "modify", "merge", "drop"]),
    targets=st.lists(IDS, max_size=3).map(tuple),
    text=TEXTS,
    old=st.sampled_from(["", "", "Show  each step.", "another"]),
)
PROMPTS = st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True, max_size=4).map(prompt_of)


def texts(prompt: SystemPrompt) -> list[tuple[str, str]]:
    return [(principle.id, principle.text) for principle in prompt.principles]


def refused(hunk: Hunk, prompt: SystemPrompt = PROMPT, **limits) -> str:
    """The reason of the one hunk; the prompt has to stay as it was."""
    result = apply(prompt, [hunk], Limits(**limits))
    assert result.prompt == prompt and not result.changed and not result.outcomes[0].applied
    return result.outcomes[0].reason


def test_every_kind_of_edit():
    result = apply(
        PROMPT,
        [
            Hunk("add", text="Check  the\nunit."),
            Hunk("modify", ("p1",), "Read it once.", old="Read the question  twice."),
            Hunk("merge", ("p3", "p2"), "Show steps, then the answer."),
        ],
    )
    assert texts(result.prompt) == [
        ("p1", "Read it once."),
        ("p5", "Show steps, then the answer."),
        ("p4", "Check the unit."),
    ]
    assert [(item.applied, item.reason, item.principle_id) for item in result.outcomes] == [
        (True, "", "p4"),
        (True, "", "p1"),
        (True, "", "p5"),
    ]
    assert texts(apply(result.prompt, [Hunk("drop", ("p5",))]).prompt) == [
        ("p1", "Read it once."),
        ("p4", "Check the unit."),
    ]


def test_a_hunk_on_a_principle_that_the_diff_changed_before_is_left_out():
    result = apply(
        PROMPT,
        [
            Hunk("modify", ("p1",), "Read."),
            Hunk("drop", ("p1",)),
            Hunk("merge", ("p1", "p2"), "Both."),
            Hunk("drop", ("p2",)),
        ],
    )
    assert [outcome.applied for outcome in result.outcomes] == [True, False, False, True]
    assert result.outcomes[1].reason == "p1 was changed by an earlier hunk"


@pytest.mark.parametrize(
    ("hunk", "reason"),
    [
        (Hunk("modify", ("p7",), "x"), "there is no principle p7"),
        (Hunk("modify", (), "x"), "modify names one principle (got none)"),
        (Hunk("modify", ("p1", "p2"), "x"), "modify names one principle (got p1, p2)"),
        (Hunk("add", ("p1",), "x"), "add names no principle (got p1)"),
        (Hunk("merge", ("p1",), "x"), "merge names two or more principles (got p1)"),
        (Hunk("merge", ("p1", "p1"), "x"), "merge names two or more principles (got p1, p1)"),
        (Hunk("add", text=" \n "), "the new text is empty"),
        (Hunk("drop", ("p1",), old="other"), "p1 does not read as quoted"),
        (Hunk("add", text="show each  step"), "p2 says the same already"),
        (Hunk("modify", ("p2",), "Show each step."), "p2 says the same already"),
        (Hunk("merge", ("p1", "p2"), "x", old="y"), "only a hunk of one principle quotes the old text"),
        (Hunk("add", text="x" * 601), "the new text has 601 characters; 600 are allowed"),
    ],
)
def test_what_does_not_fit_is_left_out_whole(hunk, reason):
    assert refused(hunk) == reason


def test_a_full_prompt_takes_no_more_but_may_be_changed():
    assert refused(Hunk("add", text="More."), principles=3) == "the prompt is full: 3 principles"
    assert apply(
        PROMPT, [Hunk("merge", ("p1", "p2"), "Both."), Hunk("add", text="More.")], Limits(principles=3)
    ).changed


def test_a_principle_may_not_copy_a_problem():
    problems = (
        "Tom has 3 red apples and buys 14 more pears at noon. How many fruits?",
        "Ann has 5 red plums and buys 2 more figs. How many fruits?",
    )
    assert (
        refused(Hunk("add", text="If Tom has 3 red apples and buys 14 more, add."), problems=problems)
        == "the new text copies a problem"
    )
    assert apply(
        PROMPT, [Hunk("add", text="Add what was bought to what was there.")], Limits(problems=problems)
    ).changed


def test_wording_that_problems_share_is_no_copy():
    shared = "Give your final answer as one whole number on the last line."
    problems = tuple(f"What is {number} plus {number + 1}? {shared}" for number in range(3))
    assert (
        not copies(shared, problems)
        and copies("What is 1 plus 2? " + shared, problems)
        and copies(shared, problems[:1])
    )
    assert copies("Like 2 + 2 = 4.", ["2 + 2"]) and not copies("There are 2.", ["2"])


@given(PROMPTS, st.lists(HUNKS, max_size=8))
def test_the_applied_hunks_alone_give_the_same_prompt(prompt, hunks):
    result = apply(prompt, hunks)
    again = apply(prompt, [outcome.hunk for outcome in result.outcomes if outcome.applied])
    assert again.prompt == result.prompt and all(outcome.applied for outcome in again.outcomes)


@given(PROMPTS, st.lists(HUNKS, max_size=8))
def test_sizes_ids_and_outcomes_of_any_diff(prompt, hunks):
    result = apply(prompt, hunks)
    done = [outcome.hunk for outcome in result.outcomes if outcome.applied]
    change = {
        "add": lambda hunk: 1,
        "modify": lambda hunk: 0,
        "drop": lambda hunk: -1,
        "merge": lambda hunk: 1 - len(hunk.targets),
    }
    assert len(result.prompt.principles) == len(prompt.principles) + sum(
        change[hunk.kind](hunk) for hunk in done
    )
    assert [outcome.hunk for outcome in result.outcomes] == hunks and all(
        outcome.applied == (not outcome.reason) for outcome in result.outcomes
    )
    assert all(item in prompt.ids or int(item[1:]) >= prompt.next_number for item in result.prompt.ids)
    assert result.prompt.next_number == prompt.next_number + sum(
        hunk.kind in ("add", "merge") for hunk in done
    )
    assert result.changed == bool(done)


@given(PROMPTS, st.lists(HUNKS, max_size=8))
def test_principles_that_no_hunk_names_stay_in_order(prompt, hunks):
    named = {target for hunk in hunks for target in hunk.targets}
    kept: list[Principle] = [principle for principle in prompt.principles if principle.id not in named]
    assert [principle for principle in apply(prompt, hunks).prompt.principles if principle in kept] == kept
