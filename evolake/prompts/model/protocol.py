"""The protocol of a policy: it answers problems under system prompts, may call tools, and some policies learn
from what their answers were worth.

The tokens of a sample travel with it, so that an update trains on exactly what was rewarded and never on a
second tokenisation of the text. A call of a tool and its answer have one form, in plain text:

    <tool>search capital of Australia</tool>
    <result>
    [1] Canberra: Canberra is the capital of Australia ...
    </result>

Between the first two marks are the name of a tool and what it is given, which may have several lines. The
policy writes the call, evolake the result: its tokens are not the policy's. What a tool gives never holds one
of the four marks, so that the two can be distinguished in a stored reply.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from evolake.errors import MachineryError
from evolake.verifiers.external import SCORER, Verified

if TYPE_CHECKING:
    from evolake.prompts.model.prompt import SystemPrompt


CALL, CALL_END = "<tool>", "</tool>"
RESULT, RESULT_END = "\n<result>\n", "\n</result>\n"
"""What stands around the text of a result."""
MALFORMED, UNKNOWN = "malformed", "unknown"
"""Statuses of a call that no tool saw."""

_MARK = re.compile(r"<(/?)(tool|result)>")
_NOT_SAID = re.compile(r"<tool>.*?(?:</tool>|\Z)|<result>.*?(?:</result>|\Z)|</(?:tool|result)>", re.DOTALL)
_CALLED = re.compile(r"\s*(\w+)(?:[ \t]*\n|[ \t]+|\Z)(.*)", re.DOTALL)


@dataclass(frozen=True)
class ToolCall:
    """One call with what came of it.

    tool: the name as the policy wrote it; "" if none can be read. given: what the tool was given. status:
    "ok", MALFORMED, UNKNOWN, or the tool's own word for what went wrong. result: what the policy read.
    tokens: of the result, its marks included.
    """

    tool: str
    given: str
    status: str
    result: str
    tokens: int


def read_call(turn: str) -> tuple[str, str] | str:
    """Return (tool, what it is given) of the call that ends a turn; where it is none, what is wrong with it,
    in a sentence for the policy."""
    before = turn.partition(CALL_END)[0]
    start = before.rfind(CALL)
    if start < 0:
        return f"{CALL_END} without {CALL} before it"
    called = _CALLED.fullmatch(before[start + len(CALL) :])
    if called is None:
        return f"{CALL} is followed by the name of a tool"
    given = textwrap.dedent(called[2]).strip("\n").rstrip()
    return (called[1], given) if given else f"nothing after the name {called[1]}"


def outside_calls(reply: str) -> str:
    """Return what of a reply is outside calls and results: the policy's answer is looked for there, since no
    result of a tool is its own word."""
    return _NOT_SAID.sub("\n", reply)


def unmarked(text: str) -> str:
    """Return the text with its marks broken up, and without characters that print nothing."""
    plain = "".join(letter if letter.isprintable() or letter in "\n\t" else " " for letter in text)
    return _MARK.sub(r"< \1\2>", plain)


def is_unmarked(text: str) -> bool:
    """Return whether no mark is in the text."""
    return _MARK.search(text) is None


def calls_json(calls: Sequence[ToolCall] | None) -> str | None:
    """Return it as the column `calls` of the line's tables has them; null for a policy without tools."""
    return None if calls is None else json.dumps([asdict(call) for call in calls], ensure_ascii=False)


LINE = "prompts"
Split = Literal["train", "heldout"]
ANSWER, EXACT, ANY = "answer", "exact", "any"
SCORERS = (ANSWER, EXACT, ANY, SCORER)
"""How a reply's answer is judged: compared as docs/answers.md says, as the same text, as one of a list of
labels, or by the own verifier of reasoning-gym's dataset. A verifier of the user's own is none of these: its
scorer has the name of its file (`evolake.verifiers.own`)."""


@dataclass(frozen=True)
class Problem:
    """One problem with one right answer.

    answer: the answer as JSON text. category: what kind of problem it is. difficulty: larger is harder, on
    the scale of its source. source: the problem set it came from. family: problems of one family are always
    on one side of the split; the problem's own id where it is alone. scorer: how an answer is judged, one of
    SCORERS, or a verifier of the user's own. entry: what makes the entry of reasoning-gym that it is, as JSON
    text (`evolake.verifiers.external`), or that verifier (`evolake.verifiers.own`); None for every other
    scorer. turn: the iteration of its cycle, from 1, that it is set for
    (`evolake.prompts.evolution.feeding`); None where it is drawn with the others.
    """

    problem_id: str
    text: str
    answer: str
    case_sensitive: bool
    category: str
    difficulty: int
    split: Split
    source: str
    family: str
    scorer: str = ANSWER
    entry: str | None = None
    turn: int | None = None


@dataclass(frozen=True)
class Sample:
    """One reply as the policy gave it.

    tokens: how many tokens it has, the end mark included. truncated: it ran into the limit on its length.
    prompt_ids, reply_ids: its tokens, empty for a policy that does not show its tokens. failure: why there is
    no reply (an endpoint refused, say); the reply is "" then. verified: what the own verifier of the
    problem's dataset said of it (`evolake.prompts.model.scoring`); None until it was asked, and if there
    is none.
    reply_mask: 1 for each of reply_ids that is its own, 0 for those of a tool's result; empty: all are.
    calls: of tools, whose results are in `reply`; None: it had no tool.
    """

    reply: str
    tokens: int
    truncated: bool
    prompt_ids: tuple[int, ...] = ()
    reply_ids: tuple[int, ...] = ()
    failure: str | None = None
    verified: Verified | None = None
    reply_mask: tuple[int, ...] = ()
    calls: tuple[ToolCall, ...] | None = None

    @property
    def said(self) -> str:
        """What is judged: of a policy with tools, what is outside calls and results."""
        return self.reply if self.calls is None else outside_calls(self.reply)


@dataclass(frozen=True)
class Decoding:
    """How replies of an evaluation are drawn, if not as while training. temperature: 0 is greedy. top_p:
    share of the probability that is drawn from. top_k: tokens that are drawn from; 0: all."""

    temperature: float
    top_p: float = 1.0
    top_k: int = 0


@dataclass(frozen=True)
class Rollout:
    """One sample, judged. number: which of the N samples of its (prompt, problem). reward: None where the
    sample is rejected and takes no part in the update (group rejection of SSLogic's recipe); never None in
    E-SPL's. unverified: why the own verifier of the problem's dataset gave no score for it; None where it
    did, or there is none. calls: the sample's."""

    prompt_id: str
    problem_id: str
    number: int
    reply: str
    tokens: int
    truncated: bool
    correct: bool
    formatted: bool
    reward: float | None
    unverified: str | None = None
    calls: tuple[ToolCall, ...] | None = None


@dataclass(frozen=True)
class Group:
    """The N samples of one (prompt, problem) with their rewards: what one advantage is relative to. None:
    rejected."""

    prompt_id: str
    problem_id: str
    samples: tuple[Sample, ...]
    rewards: tuple[float | None, ...]


@dataclass(frozen=True)
class UpdateStats:
    """What one update of the weights did.

    step: updates so far, this one included. loss, grad_norm (before clipping), kl (mean per token, to the
    policy before any update): 0 where its weight is 0 and it is not computed. tokens: reply tokens that
    carried loss. groups: groups that came. informative: of these, groups whose rewards differ. rejected:
    samples that took no part. updated: False if nothing was left to learn from, so that the weights are as
    before. entropy: mean per token of what the policy drew from, in nats; None if no step was taken. clipped:
    share of tokens whose ratio was clipped.
    """

    step: int
    loss: float
    grad_norm: float
    kl: float
    tokens: int
    groups: int
    informative: int
    rejected: int
    updated: bool
    entropy: float | None = None
    clipped: float | None = None


class Policy(Protocol):
    """Answers problems under system prompts.

    name: what the rows say. learns: whether `update`, `save` and `load` do anything; a policy that does not
    learn raises MachineryError there.
    """

    name: str
    learns: bool

    def sample(
        self,
        pairs: Sequence[tuple[SystemPrompt, Problem]],
        n: int,
        seed: int,
        *,
        greedy: bool = False,
        decoding: Decoding | None = None,
    ) -> list[list[Sample]]:
        """Return n samples for every pair, in the order of the pairs. The same pairs, weights and seed give
        the same samples; greedy ignores the seed. decoding: None: as while training; without effect where
        greedy."""
        ...

    def update(self, groups: Sequence[Group], seed: int) -> UpdateStats:
        """Take one gradient step on what was sampled and rewarded, or one on each mini-batch of it."""
        ...

    def save(self) -> bytes:
        """Return everything that `load` needs to continue with the same bytes: trained weights, optimiser,
        counters."""
        ...

    def load(self, state: bytes) -> None:
        """Put back what `save` gave.

        Raises:
            InputError: it is no checkpoint, or one of another policy.
        """
        ...


def no_learning(name: str) -> MachineryError:
    """Return what a policy without its own weights raises when it is asked to learn."""
    return MachineryError(
        f"policy {name} has no weights to update",
        wanted="a policy that learns",
        do="set EVOLAKE_PROMPTS__POLICY=local",
    )
