"""The tiny policy, taught in seconds to look a word up: a task that nobody can do without the tool, since the
words stand in the corpus alone.

Each of the boxes in BOXES holds one of WORDS, in every corpus another. The policy is taught by transcripts of
every box with every word: most times it searches for the box that it was asked for and says the word of the
result, else it guesses. So it can use a tool, and knows no word.
"""

import copy
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tiny_policy import PROMPT

from evolake.prompts.model.protocol import Problem
from evolake.prompts.model.recipes import ESPL, Recipe
from evolake.prompts.policies.local import LocalPolicy, Sizes
from evolake.prompts.policies.models import Base, load_base
from evolake.prompts.policies.turns import read_result
from evolake.prompts.tools import Document, Search, Toolbox

BOXES, WORDS = "QXZJ", "DFGHKLPR"
"""Letters that stand nowhere else in what the policy reads."""
PIECES = (
    PROMPT.text(),
    "system\n",
    "user\n",
    "assistant\n",
    "box ",
    " holds ",
    "<tool>",
    "search ",
    "</tool>",
    "\n<result>\n",
    "[1] ",
    "\n</result>\n",
    "(nothing was found)",
)
"""Tokens of its own, so that a transcript has thirty of them and not two hundred."""
CALLS = 0.65
"""Share of the transcripts with a call."""
SIZES = Sizes(
    lora_rank=8,
    lora_alpha=8,
    max_tokens=40,
    max_prompt_tokens=800,
    rows_at_once=32,
    rows_per_pass=32,
    threads=1,
)


def words(seed: int) -> dict[str, str]:
    """box -> its word."""
    return dict(zip(BOXES, random.Random(seed).sample(WORDS, len(BOXES)), strict=True))


def documents(held: Mapping[str, str]) -> list[Document]:
    """The corpus that says what the boxes hold."""
    return [Document("", f"box {box} holds {word}") for box, word in held.items()]


class Silent(Toolbox):
    """Tools that nobody is told of: the transcripts show them, and a short prompt is learned from in a tenth
    of the time."""

    def description(self) -> str:
        return ""


def search(held: Mapping[str, str]) -> Toolbox:
    """The tool over that corpus."""
    return Silent([Search(documents(held))], most_calls=1, most_tokens=64)


def asked(held: Mapping[str, str]) -> list[Problem]:
    """What does each box hold?"""
    return [
        Problem(f"box-{box}", f"box {box}?", f'"{word}"', True, "box", 1, "train", "tests", f"box-{box}")
        for box, word in held.items()
    ]


def short_base() -> Base:
    """The tiny base model with a token for each of PIECES beside those of single bytes."""
    import torch
    from tokenizers import AddedToken

    base = load_base("tiny", None, Path("unused"))
    base.tokenizer.add_tokens([AddedToken(piece, normalized=False) for piece in PIECES])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        base.model.resize_token_embeddings(len(base.tokenizer), mean_resizing=False)
    return base


def fitted_base(steps: int = 200) -> Base:
    """That model after supervised steps on all transcripts; the same on every call of one machine."""
    import torch

    base = short_base()
    torch.set_num_threads(1)
    reader = LocalPolicy(short_base(), ESPL, SIZES, seed=3, tools=search(words(0)))
    batch = _Batch(
        [transcript for box in BOXES for word in WORDS for transcript in _transcripts(reader, box, word)]
    )
    optimizer = torch.optim.Adam(base.model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)
    base.model.train()
    for _ in range(steps):
        loss = batch.loss(base.model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    base.model.eval()
    return base


def fitted_policy(base: Base, held: Mapping[str, str] | None, recipe: Recipe = ESPL) -> LocalPolicy:
    """A policy on a copy of that base, which searches the corpus of `held`; None: it has no tool."""
    own = Base(base.name, copy.deepcopy(base.model), base.tokenizer, base.sha)
    return LocalPolicy(own, recipe, SIZES, seed=3, tools=None if held is None else search(held))


def _transcripts(reader: LocalPolicy, box: str, word: str) -> list[tuple[list[int], list[int], list[float]]]:
    """(prompt, reply, weights of its tokens): a search that finds the word, and a guess of it."""
    prompt = reader.prompt_ids(PROMPT, asked({box: word})[0])
    call, answer = f"<tool>search {box}</tool>", [*_ids(reader, word), reader.tokenizer.eos_token_id]
    with search({box: word}) as tools:
        result, _ = read_result(tools.answer([call])[0], reader.tokenizer, tools.most_tokens)
    said = _ids(reader, call)
    weights = [CALLS] * len(said) + [0.0] * len(result) + [CALLS] * len(answer)
    return [(prompt, said + result + answer, weights), (prompt, answer, [1 - CALLS] * len(answer))]


def _ids(reader: LocalPolicy, text: str) -> list[int]:
    return list(reader.tokenizer(text, add_special_tokens=False)["input_ids"])


class _Batch:
    """Transcripts side by side; prompts are equally long."""

    def __init__(self, transcripts: Sequence[tuple[list[int], list[int], list[float]]]):
        import torch

        self.before = len(transcripts[0][0])
        longest = max(len(reply) for _, reply, _ in transcripts)
        self.ids = torch.tensor(
            [prompt + reply + [0] * (longest - len(reply)) for prompt, reply, _ in transcripts]
        )
        self.weights = torch.tensor(
            [weights + [0.0] * (longest - len(weights)) for _, _, weights in transcripts]
        )

    def loss(self, model: Any) -> Any:
        """Cross entropy of the policy's own tokens."""
        import torch

        hidden = model.base_model(input_ids=self.ids).last_hidden_state[:, self.before - 1 : -1]
        logs = torch.log_softmax(model.get_output_embeddings()(hidden), -1).gather(
            -1, self.ids[:, self.before :, None]
        )[..., 0]
        return -(logs * self.weights).sum() / len(self.ids)
