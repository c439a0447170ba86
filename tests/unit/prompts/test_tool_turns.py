"""Replies of several turns, token by token: whose tokens are whose, what a result is cut to, and when a reply
ends."""

import itertools
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_policy import PROMPT, problems, tiny_policy

from evolake.errors import InputError
from evolake.prompts.model.protocol import RESULT, RESULT_END, is_unmarked
from evolake.prompts.policies.turns import CUT, Reply, Stops, read_result, replies
from evolake.prompts.tools import Answered, Called, Toolbox


@cache
def tokenizer() -> Any:
    """Made when it is first asked for: workers that run other files do not import what makes it."""
    return tiny_policy().tokenizer


class Echo:
    """A tool that gives back what it is given."""

    name, says = "echo", "<tool>echo text</tool> shows the text."

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.closed = False

    def answer(self, given: Sequence[str]) -> list[Answered]:
        self.asked.append(list(given))
        return [Answered("ok", text) for text in given]

    def close(self) -> None:
        self.closed = True


def ids(text: str) -> list[int]:
    return list(tokenizer()(text, add_special_tokens=False)["input_ids"])


def text(tokens: Sequence[int]) -> str:
    return tokenizer().decode(tokens, skip_special_tokens=False)


def scripted(*turns: Sequence[str]) -> Callable[[list[list[int]], Stops], list[list[int]]]:
    """Draws these texts, turn by turn, cut to what a row may still say; what the rows had read is kept in
    `read`."""
    left = [list(turn) for turn in turns]

    def draw(read: list[list[int]], stops: Stops) -> list[list[int]]:
        draw.read.append([text(row) for row in read])  # type: ignore[attr-defined]
        said = left.pop(0)
        return [
            (ids(item.removesuffix("$")) + [tokenizer().eos_token_id] * item.endswith("$"))[:room]
            for item, room in zip(said, stops.rooms, strict=True)
        ]

    draw.read = []  # type: ignore[attr-defined]
    return draw


def run(
    draw: Callable, count: int = 1, *, most_calls: int = 2, most_tokens: int = 200, tool: Echo | None = None
) -> list[Reply]:
    toolbox = Toolbox([tool or Echo()], most_calls=most_calls, most_tokens=64)
    return replies(
        [ids("Q:")] * count,
        draw,
        toolbox,
        tokenizer(),
        most_tokens=most_tokens,
        ends=[tokenizer().eos_token_id],
    )


def own(reply: Reply) -> str:
    return text([token for token, mine in zip(reply.ids, reply.mask, strict=True) if mine])


def test_the_mask_tells_the_policys_tokens_from_the_results():
    draw = scripted(["so <tool>echo one</tool>"], ["and <tool>echo two</tool>"], ["done$"])
    [reply] = run(draw)
    first, second = f"{RESULT}one{RESULT_END}", f"{RESULT}two{RESULT_END}"
    assert (
        text(reply.ids) == f"so <tool>echo one</tool>{first}and <tool>echo two</tool>{second}done<|im_end|>"
    )
    assert own(reply) == "so <tool>echo one</tool>and <tool>echo two</tool>done<|im_end|>"
    assert reply.own == sum(reply.mask) and reply.ended
    assert [(call.tool, call.given, call.status, call.result, call.tokens) for call in reply.calls] == [
        ("echo", "one", "ok", "one", len(ids(first))),
        ("echo", "two", "ok", "two", len(ids(second))),
    ]
    assert [row[0] for row in draw.read] == [  # type: ignore[attr-defined]
        "Q:",
        f"Q:so <tool>echo one</tool>{first}",
        f"Q:so <tool>echo one</tool>{first}and <tool>echo two</tool>{second}",
    ]


def test_a_call_beyond_the_limit_is_text_and_gets_no_result():
    tool = Echo()
    [reply] = run(scripted(["<tool>echo a</tool>"], ["<tool>echo b</tool> and on$"]), most_calls=1, tool=tool)
    assert tool.asked == [["a"]] and len(reply.calls) == 1 and reply.ended
    assert own(reply) == "<tool>echo a</tool><tool>echo b</tool> and on<|im_end|>"


@pytest.mark.parametrize(
    ("turn", "status", "result"),
    [
        ("</tool>", "malformed", "no call: </tool> without <tool> before it"),
        ("<tool>sing a song</tool>", "unknown", "no tool sing, only echo"),
    ],
)
def test_what_is_no_call_of_a_tool_is_told_to_the_policy(turn, status, result):
    [reply] = run(scripted([turn], ["ok$"]))
    [call] = reply.calls
    assert call.status == status
    assert (
        call.result == result.replace("</tool>", "< /tool>").replace("<tool>", "< tool>")
        or status == "unknown"
    )
    assert call.result in text(reply.ids)


STRANGE = st.lists(
    st.sampled_from([*"ab<>/|é€\x00\n", "<|im_end|>", "<|im_start|>", "</result>", "<tool>"]), max_size=60
).map("".join)


@given(STRANGE, st.integers(48, 90))
def test_a_result_is_bounded_and_holds_no_mark_of_ours_or_the_models(given_text, most):
    tokens, call = read_result(Called("echo", "x", Answered("ok", given_text)), tokenizer(), most)
    before, after = ids(RESULT), ids(RESULT_END)
    assert len(tokens) == call.tokens <= most
    assert tokens[: len(before)] == before and tokens[len(tokens) - len(after) :] == after
    body = tokens[len(before) : len(tokens) - len(after)]
    assert not set(body) & set(tokenizer().all_special_ids)
    assert is_unmarked(call.result) and text(body) == call.result
    whole = read_result(Called("echo", "x", Answered("ok", given_text)), tokenizer(), 10_000)[1]
    assert call == whole if whole.tokens <= most else call.result.endswith(CUT)


def test_a_policy_with_tools_reads_of_them_after_the_problem_and_its_prompt_stays_what_it_was():
    tool = Echo()
    policy = tiny_policy(tools=Toolbox([tool], most_calls=2, most_tokens=64))
    read = text(policy.prompt_ids(PROMPT, problems(1)[0]))
    plain = text(tiny_policy().prompt_ids(PROMPT, problems(1)[0]))
    assert policy.tools is not None and policy.tools.description() in read and tool.says in read
    assert read.replace(f"\n\n{policy.tools.description()}", "") == plain
    with policy:
        pass
    assert tool.closed


def test_a_reply_that_could_outgrow_the_model_is_refused():
    policy = tiny_policy(tools=Toolbox([Echo()], most_calls=60, most_tokens=64))
    with pytest.raises(InputError, match="longer than the model can read"):
        policy.sample([(PROMPT, problems(1)[0])], 1, 1)


def test_samples_of_random_weights_are_the_same_with_a_tool_that_they_never_call():
    """But for what they read of it: the same prompt drawn with and without ends in the same tokens."""
    toolbox = Toolbox([Echo()], most_calls=2, most_tokens=64)
    toolbox.description = lambda: ""  # type: ignore[method-assign]
    pairs = [(PROMPT, problem) for problem in problems(2)]
    tiny = tiny_policy(tools=toolbox)
    tiny.prompt_ids = lambda prompt, problem: tiny_policy().prompt_ids(prompt, problem)  # type: ignore[method-assign]
    with_tool, without = tiny.sample(pairs, 3, 5), tiny_policy().sample(pairs, 3, 5)
    assert [item.reply_ids for some in with_tool for item in some] == [
        item.reply_ids for some in without for item in some
    ]
    for mine, plain in zip(itertools.chain(*with_tool), itertools.chain(*without), strict=True):
        assert (mine.reply, mine.tokens, mine.truncated, mine.prompt_ids) == (
            plain.reply,
            plain.tokens,
            plain.truncated,
            plain.prompt_ids,
        )
        assert (set(mine.reply_mask), mine.calls, plain.reply_mask, plain.calls) == ({1}, (), (), None)
