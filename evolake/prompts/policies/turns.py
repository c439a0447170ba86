"""Replies of several turns: the policy writes until it calls a tool, reads the result, and continues.

A reply is the tokens of all its turns with the results between them. A mask distinguishes the policy's own
tokens from those that it only read: these carry no loss, and are counted neither as the reply's tokens nor in
its entropy (Search-R1, Jin et al. 2025). All rows that are still going are sampled together, and every turn
reads the row's whole text again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evolake.prompts.model.protocol import CALL_END, RESULT, RESULT_END, ToolCall, is_unmarked, unmarked
from evolake.prompts.tools import Called, Toolbox

CUT = " [cut]"
UNREADABLE = "(a result that cannot be shown)"
LETTERS_PER_TOKEN = 16
"""A text is cut to so many characters a token before it is made tokens."""

Draw = Callable[[list[list[int]], "Stops"], list[list[int]]]
"""(what each row has read, when each ends) -> the tokens that follow."""


@dataclass
class Stops:
    """When the turns that are sampled together end, next to their end marks.

    `rooms`: most tokens of each. at_calls: whether each ends where a call does. lengths: tokens of each at
    which one of the two was so; 0 before.
    """

    rooms: list[int]
    at_calls: list[bool]
    lengths: list[int] = field(default_factory=list)

    def criteria(self, tokenizer: Any, width: int) -> Any:
        """Return it as transformers' generation wants it. width: tokens that the rows had before."""
        import torch
        from transformers import StoppingCriteria, StoppingCriteriaList

        stops, tail = self, len(CALL_END)
        self.lengths = [0] * len(self.rooms)

        class Ended(StoppingCriteria):
            def __call__(self, input_ids: Any, scores: Any, **options: Any) -> Any:
                new = input_ids.shape[1] - width
                said = tokenizer.batch_decode(
                    input_ids[:, max(width, input_ids.shape[1] - tail) :], skip_special_tokens=False
                )
                for row, (room, at_call, text) in enumerate(
                    zip(stops.rooms, stops.at_calls, said, strict=True)
                ):
                    if not stops.lengths[row] and (new >= room or (at_call and CALL_END in text)):
                        stops.lengths[row] = new
                return torch.tensor([length > 0 for length in stops.lengths], device=input_ids.device)

        return StoppingCriteriaList([Ended()])

    def kept(self, row: int, tokens: list[int]) -> list[int]:
        """Return the tokens of a row before those that only fill it up."""
        return tokens[: self.lengths[row] or None]


@dataclass
class Reply:
    """A reply on its way. ids, mask: its tokens, and 1 for each that is its own. own: how many are. ended:
    with an end mark."""

    prompt: list[int]
    ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    own: int = 0
    ended: bool = False

    def say(self, tokens: list[int], ends: Sequence[int]) -> None:
        """Its own next tokens."""
        self.ids += tokens
        self.mask += [1] * len(tokens)
        self.own += len(tokens)
        self.ended = tokens[-1] in ends

    def hear(self, tokens: list[int], call: ToolCall) -> None:
        """Record the result of its last call."""
        self.ids += tokens
        self.mask += [0] * len(tokens)
        self.calls.append(call)


def replies(
    rows: Sequence[list[int]],
    draw: Draw,
    toolbox: Toolbox,
    tokenizer: Any,
    *,
    most_tokens: int,
    ends: Sequence[int],
) -> list[Reply]:
    """Return one reply a row, in their order. Calls beyond the toolbox's limit are text like any other.

    Args:
        rows: tokens of the prompts. draw: samples one turn a row. most_tokens: of a reply's own. ends: the
            tokens that end a reply.
    """
    result = [Reply(list(prompt)) for prompt in rows]
    going = list(result)
    while going:
        stops = Stops(
            [most_tokens - item.own for item in going],
            [len(item.calls) < toolbox.most_calls for item in going],
        )
        turns = draw([item.prompt + item.ids for item in going], stops)
        for element, tokens in zip(going, turns, strict=True):
            element.say(tokens, ends)
        asking = [
            (item, tokenizer.decode(tokens, skip_special_tokens=False))
            for item, tokens, at_call in zip(going, turns, stops.at_calls, strict=True)
            if at_call and not item.ended and item.own < most_tokens
        ]
        for (element, _), called in zip(asking, toolbox.answer([turn for _, turn in asking]), strict=True):
            element.hear(*read_result(called, tokenizer, toolbox.most_tokens))
        going = [item for item, _ in asking]
    return result


def read_result(called: Called, tokenizer: Any, most_tokens: int) -> tuple[list[int], ToolCall]:
    """Return the tokens that the policy reads of a call's result, at most `most_tokens`, and the call as rows
    have it.

    The text is a stranger's: it holds neither marks nor the tokenizer's special tokens by then, so that no
    result ends itself or a message.
    """

    def encode(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    specials = set(tokenizer.all_special_ids) | {
        number for number, token in tokenizer.added_tokens_decoder.items() if token.special
    }
    before, after, cut = encode(RESULT), encode(RESULT_END), encode(CUT)
    room = most_tokens - len(before) - len(after)
    text = _without_specials(unmarked(called.answered.text), tokenizer, specials)
    short = text[: LETTERS_PER_TOKEN * room]
    body = [token for token in encode(short) if token not in specials]
    if len(body) > room or len(short) < len(text):
        body = body[: room - len(cut)] + cut
    if not is_unmarked(tokenizer.decode(body, skip_special_tokens=False)):
        body = encode(UNREADABLE)[:room]
    tokens = before + body + after
    result = tokenizer.decode(body, skip_special_tokens=False)
    return tokens, ToolCall(called.tool, called.given, called.answered.status, result, len(tokens))


def _without_specials(text: str, tokenizer: Any, specials: set[int]) -> str:
    for number in sorted(specials):
        name = tokenizer.convert_ids_to_tokens(number)
        text = text.replace(name, f"{name[:1]} {name[1:]}")
    return text
