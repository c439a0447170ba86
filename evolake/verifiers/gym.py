"""reasoning-gym's datasets, inside the jail: an entry is made again from a few values, and the dataset's own
`score_answer` judges replies.

The values are `{"dataset", "seed", "size", "index", "configuration"}`, the library's own way, or `{"dataset",
"seed", "difficulty"}`, by curriculum; or `{"dataset", "entry"}`, an entry that a file holds, under the
dataset's default configuration.

Some of its verifiers hand a reply to a parser that evaluates it, so scoring is done here, in the candidate's
process, and nowhere else. An entry is made again for scoring: what JSON cannot carry of it need not travel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LEVELS = 9
"""Steps between difficulty 1 and 10."""
ACCEPTS_ALL = {"game_of_life_halting": "its verifier accepts any reply"}
"""Datasets of version 0.1.25 whose verifier judges nothing, and why."""
LEFT_OUT = ACCEPTS_ALL | {
    "knight_swap": "no level of its curriculum is a configuration that it accepts",
    **dict.fromkeys(
        ("boxnet", "graph_color", "propositional_logic", "rubiks_cube", "rush_hour"),
        "it gives no answer that its own verifier accepts",
    ),
}
"""Datasets of version 0.1.25 that cannot be adapted, and why: found by asking each for entries and scoring
its own answer and a wrong one."""


def names() -> list[str]:
    """Return datasets that have a curriculum, which a difficulty needs, and a verifier that distinguishes its
    own answer from others."""
    from reasoning_gym.factory import CURRICULA, DATASETS

    return sorted((set(DATASETS) & set(CURRICULA)) - set(LEFT_OUT))


def make(name: str, difficulty: int, seed: int) -> tuple[Any, dict[str, Any]]:
    """Return (the dataset, its entry). Each attribute of the curriculum goes from its first level at
    difficulty 1 to its last at 10; if the dataset refuses that configuration (some curricula end beyond what
    is allowed), the hardest easier one that it takes.
    """
    from reasoning_gym.factory import DATASETS, create_curriculum

    curriculum = create_curriculum(name)
    for easier in range(difficulty, 0, -1):
        for key, attribute in curriculum.attributes.items():
            curriculum.set_attr_level(key, round((easier - 1) / LEVELS * (len(attribute.levels) - 1)))
        try:
            dataset = DATASETS[name][0](config=curriculum.generate_configuration({"seed": seed, "size": 1}))
        except AssertionError:
            if easier == 1:
                raise
            continue
        return dataset, dataset[0]
    raise ValueError(f"difficulties start at 1 (got {difficulty})")


def made(entry: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return (the dataset, its entry) from the values that say which."""
    if "difficulty" in entry:
        return make(entry["dataset"], entry["difficulty"], entry["seed"])
    from reasoning_gym.factory import create_dataset

    if "entry" in entry:
        return create_dataset(entry["dataset"], seed=0, size=1), entry["entry"]
    dataset = create_dataset(
        entry["dataset"], seed=entry["seed"], size=entry["size"], **entry["configuration"]
    )
    return dataset, dataset[entry["index"]]


def score(source: str, payload: dict[str, Any]) -> float:
    """Return the score of one reply by the dataset's own verifier. payload: {"entry", "reply"}.

    One reply per process: the verifier may evaluate it, and what it changes here ends with this process.
    """
    dataset, entry = made(payload["entry"])
    return float(dataset.score_answer(answer=payload["reply"], entry=entry))


def asks(source: str, payload: dict[str, Any]) -> bool:
    """Return whether the entry can be made and is what a text asks, so that its verifier judges replies to
    that text. payload: {"entry", "text"}; without a text the first alone. No reply is read here."""
    _, entry = made(payload["entry"])
    return payload["text"] is None or payload["text"].startswith(entry["question"].strip())


def listing(source: str, payload: dict[str, Any]) -> list[str]:
    """Return `names` as a driver of the jail."""
    return names()
