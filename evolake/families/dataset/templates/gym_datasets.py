"""The datasets of an export for reasoning-gym."""

# ruff: noqa
# --- program ---
"""Questions of verifiable task families, registered with reasoning-gym: `evolake` has all of them, and each
family is a dataset, too (`NAMES`). `reward.py` judges answers.

Questions are those of the export, in an order that the seed decides; none is generated when asked for."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from reasoning_gym.factory import register_dataset
from reasoning_gym.dataset import ProceduralDataset

from .reward import compute_score


def _rows():
    """Split -> its questions."""
    files = sorted(Path(__file__).parent.glob("*.jsonl"))
    return {file.stem: [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in files}


ROWS = _rows()


@dataclass
class FamiliesConfig:
    """size: how many questions, at most those that there are; None: all. difficulty: first and last level, 1 to 10."""

    seed: int = 0
    size: int | None = None
    split: str = "train"
    difficulty: tuple[int, int] = (1, 10)
    families: tuple[str, ...] = field(default=())

    def rows(self):
        """The questions to draw from."""
        low, high = self.difficulty
        return [
            row
            for row in ROWS[self.split]
            if low <= row["difficulty"] <= high and (not self.families or row["family_id"] in self.families)
        ]

    def validate(self):
        """Raise a ValueError if there are not as many questions."""
        if self.split not in ROWS:
            raise ValueError(f"there is no split {self.split!r}; there are {', '.join(ROWS)}")
        if not 1 <= (self.size or 1) <= len(self.rows()):
            raise ValueError(f"wanted a size of 1 to {len(self.rows())} (got {self.size})")


class FamiliesDataset(ProceduralDataset):
    """Questions of some families."""

    def __init__(self, config):
        super().__init__(config=config, seed=config.seed, size=config.size or len(config.rows()))
        self.rows = config.rows()
        Random(config.seed).shuffle(self.rows)

    def __getitem__(self, idx):
        if not 0 <= idx < self.size:
            raise IndexError(idx)
        row = self.rows[idx]
        return {"question": row["prompt"], "answer": row["answer"], "metadata": {"source_dataset": "evolake", "source_index": idx, **row}}

    def score_answer(self, answer, entry):
        """1.0 or 0.0. answer: with or without its box."""
        reply = answer if isinstance(answer, str) else ""
        boxed = reply if "\\boxed" in reply else f"\\boxed{{{reply}}}"
        return compute_score("evolake/families", boxed, entry["answer"], entry["metadata"])


def _named():
    """Name of a dataset -> its families."""
    names = {"evolake": ()}
    for row in (row for rows in ROWS.values() for row in rows):
        name = "evolake_" + re.sub(r"\W+", "_", row["title"].lower()).strip("_")
        names.setdefault(name, ())
        if row["family_id"] not in names[name]:
            names[name] += (row["family_id"],)
    return names


NAMES = _named()
for _name, _families in NAMES.items():
    _config = type("FamiliesConfig", (FamiliesConfig,), {"families": _families, "__annotations__": {"families": tuple}})
    register_dataset(_name, FamiliesDataset, dataclass(_config))
