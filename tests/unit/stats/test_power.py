"""The difference that a size is said to find is found in four of five simulated studies, and seldom a smaller
one."""

import numpy as np
import pytest

from evolake.stats.proportions import detectable_difference, power_sentence


def found(questions: int, replies: int, share: float, difference: float, studies: int = 2000) -> float:
    """Share of simulated studies whose paired difference is more than 1.96 standard errors above 0."""
    random = np.random.default_rng(3)
    before, after = (
        random.binomial(replies, p, size=(studies, questions)) / replies for p in (share, share + difference)
    )
    paired = after - before
    error = paired.std(axis=1, ddof=1) / questions**0.5
    return float((paired.mean(axis=1) > 1.96 * error).mean())


@pytest.mark.parametrize(("questions", "replies", "share"), [(100, 1, 0.35), (100, 6, 0.35), (300, 2, 0.5)])
def test_what_is_promised_is_found(questions, replies, share):
    promised = detectable_difference(questions, replies, share)
    assert 0.75 < found(questions, replies, share, promised) < 0.85
    assert found(questions, replies, share, promised / 2) < 0.35


def test_more_questions_and_replies_see_less():
    assert (
        detectable_difference(400, 1, 0.3)
        == pytest.approx(detectable_difference(100, 1, 0.3) / 2)
        == detectable_difference(100, 4, 0.3)
    )


def test_few_questions_are_said():
    assert "at least 100 questions are advised" in power_sentence(
        24, 2, 0.5
    ) and "advised" not in power_sentence(100, 1, 0.5)
    assert power_sentence(24, 2, 0.5).startswith(
        "this size sees 28.6 points: 24 held-out questions with 2 replies each"
    )
