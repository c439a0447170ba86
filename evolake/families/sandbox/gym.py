"""reasoning-gym's datasets, inside the jail: an entry is a function of (dataset, difficulty, seed); the dataset's own `score_answer` judges replies.

Some of its verifiers hand a reply to a parser that evaluates it, so scoring is done here, in the candidate's process, and nowhere else. An entry is
made anew for scoring: what JSON cannot carry of it need not travel.
"""

from __future__ import annotations

from typing import Any

LEVELS = 9
"""Steps between difficulty 1 and 10."""
LEFT_OUT = {
    "knight_swap": "no level of its curriculum is a configuration that it accepts",
    "game_of_life_halting": "its verifier accepts any reply",
    **dict.fromkeys(("boxnet", "graph_color", "propositional_logic", "rubiks_cube", "rush_hour"), "it gives no answer that its own verifier accepts"),
}
"""Datasets of version 0.1.25 that cannot be adapted, and why: found by asking each for entries and scoring its own answer and a wrong one."""


def names() -> list[str]:
    """Datasets that have a curriculum, which a difficulty needs, and a verifier that tells its own answer from others."""
    from reasoning_gym.factory import CURRICULA, DATASETS

    return sorted((set(DATASETS) & set(CURRICULA)) - set(LEFT_OUT))


def make(name: str, difficulty: int, seed: int) -> tuple[Any, dict[str, Any]]:
    """(the dataset, its entry). Each attribute of the curriculum goes from its first level at difficulty 1 to its last at 10; where the dataset
    refuses that configuration (some curricula end beyond what is allowed), the hardest easier one that it takes.
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


def score(source: str, payload: dict[str, Any]) -> float:
    """The score of one reply by the dataset's own verifier. payload: {"name", "difficulty", "seed", "reply"}.

    One reply per process: the verifier may evaluate it, and what it changes here ends with this process.
    """
    dataset, entry = make(payload["name"], payload["difficulty"], payload["seed"])
    return float(dataset.score_answer(answer=payload["reply"], entry=entry))


def listing(source: str, payload: dict[str, Any]) -> list[str]:
    """`names` as a driver of the jail."""
    return names()
