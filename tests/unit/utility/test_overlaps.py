"""What a study says of benchmarks whose problems stand among those that it trains on."""

from typing import Any

from evolake.prompts.settings import PromptsSettings
from evolake.utility.drawing import overlaps
from evolake.utility.tables import LINEAGES, TRAIN

STORY = "Ida has three red coins and five blue coins and gives two of the red coins to her brother"
OWN = PromptsSettings(contamination_words=5)


def row(suite: str, text: str) -> dict[str, Any]:
    """A row of PROBLEMS."""
    return {
        "problem_id": text,
        "suite": suite,
        "arms": ["seeds"] if suite == TRAIN else [],
        "family_id": None,
        "category": "c",
        "difficulty": 1,
        "text": text,
        "answer": "1",
        "case_sensitive": True,
        "scorer": "answer",
    }


def test_a_benchmark_is_compared_with_what_is_trained_on_by_sequences_of_words():
    rows = [
        row(TRAIN, f"{STORY}. How many red coins are left?"),
        row(TRAIN, "What is 3 + 4?"),
        row(LINEAGES, f"{STORY}. How many are blue?"),
        row("copied", f"{STORY.upper()}! How many coins has she now?"),
        row("copied", "What is the capital of the country in which she lives?"),
        row("own", "How many legs have two cats and a bird together?"),
    ]
    assert overlaps(rows, OWN) == [
        "of copied: 1 of 2 held-out problems have at least 50% of their sequences of 5 words in common "
        "with problems to train on",
        "of own: 0 of 1 held-out problems have at least 50% of their sequences of 5 words in common with "
        "problems to train on",
    ]
    assert overlaps(rows, OWN.model_copy(update={"contamination_share": 0.95}))[0].startswith(
        "of copied: 0 of 2"
    )


def test_a_study_without_a_benchmark_has_nothing_to_say():
    assert overlaps([row(TRAIN, STORY), row(LINEAGES, STORY)], OWN) == []
