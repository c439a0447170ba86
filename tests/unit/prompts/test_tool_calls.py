"""Calls as a policy writes them, and that nothing a tool gives is ever taken for the policy's own word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.prompts.model.protocol import (
    RESULT,
    RESULT_END,
    Sample,
    ToolCall,
    is_unmarked,
    outside_calls,
    read_call,
    unmarked,
)

MARKS = ["<tool>", "</tool>", "<result>", "</result>", "search", " a", "<", "/", "tool>", "\n", "7"]
PIECES = st.lists(st.sampled_from(MARKS), max_size=8).map("".join)


@pytest.mark.parametrize(
    ("turn", "call"),
    [
        ("<tool>search capital of France</tool>", ("search", "capital of France")),
        ("Let me see. <tool>python print(6 * 7)</tool>.", ("python", "print(6 * 7)")),
        ("<tool>python\nx = 6\nprint(x * 7)\n</tool>", ("python", "x = 6\nprint(x * 7)")),
        (
            "<tool> python\n    for i in range(2):\n        print(i)\n</tool>",
            ("python", "for i in range(2):\n    print(i)"),
        ),
        ("<tool>search one <tool>search two</tool>", ("search", "two")),
        ("<tool>search a</tool> and <tool>search b</tool>", ("search", "a")),
        ("<tool>calculator 1 + 1</tool>", ("calculator", "1 + 1")),
        ("search a</tool>", "</tool> without <tool> before it"),
        ("</tool><tool>search a", "</tool> without <tool> before it"),
        ("<tool></tool>", "<tool> is followed by the name of a tool"),
        ("<tool>print(6)</tool>", "<tool> is followed by the name of a tool"),
        ("<tool>search</tool>", "nothing after the name search"),
        ("<tool>python\n\n</tool>", "nothing after the name python"),
    ],
)
def test_a_turn_ends_with_a_call_or_says_what_is_wrong(turn, call):
    assert read_call(turn) == call


@given(
    st.lists(st.tuples(PIECES, st.text(st.sampled_from("<>/toolresult \n"), max_size=20)), max_size=3), PIECES
)
def test_no_part_of_a_result_is_left_in_what_is_judged(turns, rest):
    """Whatever marks the policy writes around its calls. The letter W stands in every result and nowhere
    else."""
    reply = (
        "".join(f"{own}</tool>{RESULT}{unmarked('W' + given + 'W')}{RESULT_END}" for own, given in turns)
        + rest
    )
    assert "W" not in outside_calls(reply)


@given(st.text(st.sampled_from(list("<>/toolresut \n\t\x00\x1b7é")), max_size=60))
def test_a_result_has_no_marks_and_nothing_that_prints_nothing(text):
    result = unmarked(text)
    assert is_unmarked(result)
    assert all(letter.isprintable() or letter in "\n\t" for letter in result)
    assert result.replace(" ", "") == text.replace(" ", "").replace("\x00", "").replace("\x1b", "")


def test_what_is_judged_is_the_whole_reply_only_where_there_was_no_tool():
    reply = "<tool>python print(5)</tool>\n<result>\n5\n</result>\nIt is 6."
    assert Sample(reply, 1, False).said == reply
    assert Sample(reply, 1, False, calls=(ToolCall("python", "print(5)", "ok", "5", 9),)).said.split() == [
        "It",
        "is",
        "6.",
    ]
    assert Sample("<result>7</result>", 1, False, calls=()).said.split() == []
    assert Sample("So <tool>python print(5)", 1, True, calls=()).said.split() == ["So"]
