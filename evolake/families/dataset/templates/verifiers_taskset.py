"""The taskset of an export for verifiers: data and rewards as its v1 form wants them."""

# ruff: noqa
# --- program ---
"""Questions of verifiable task families, as a taskset of verifiers (v1). `reward.py` judges replies."""

import json
from collections.abc import Iterator
from pathlib import Path

import verifiers.v1 as vf

from .reward import compute_score

__all__ = ["FamiliesTaskset"]


class FamiliesData(vf.TaskData):
    """One question. answer: the label as JSON text. extra: what the reward needs to know of the question."""

    answer: str
    extra: dict


class FamiliesTask(vf.Task[FamiliesData]):
    """One question with its reward."""

    @property
    def key(self) -> str:
        """The instance, whatever its place in the file."""
        return str(self.data.id)

    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        """1 if the last box of the last reply is the label, else 0."""
        return self.judged(trace.last_reply)

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Whether a reply that gives the label is rewarded, and an empty one is not."""
        return self.judged(f"\\boxed{{{self.data.answer}}}") == 1 and self.judged("") == 0

    def judged(self, reply: str) -> float:
        """The reward of a reply."""
        return compute_score("evolake/families", reply, self.data.answer, self.data.extra)


class FamiliesConfig(vf.TasksetConfig):
    """split: which file to read. difficulty: from 1 to 10, the first and the last level to take."""

    split: str = "train"
    difficulty: tuple[int, int] = (1, 10)


class FamiliesTaskset(vf.Taskset[FamiliesTask, FamiliesConfig]):
    """The questions of a split, in the order of its file."""

    def load(self) -> Iterator[FamiliesTask]:
        """Yield the questions."""
        low, high = self.config.difficulty
        with (Path(__file__).parent / f"{self.config.split}.jsonl").open(encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if low <= row["difficulty"] <= high:
                    data = FamiliesData(
                        id=row["instance_id"], name=row["title"], prompt=row["prompt"], answer=row["answer"], extra=row
                    )
                    yield FamiliesTask(data, self.config.task)
