"""Ratings against held-out scores: a figure that can be read, and a correlation that is told only where there
is one."""

import io

import numpy as np
import pytest

from evolake.plots.arms import RatedPrompt, rating_against_score


def picture(png: bytes) -> np.ndarray:
    from matplotlib.image import imread

    return imread(io.BytesIO(png), format="png")


def rated(count: int) -> list[RatedPrompt]:
    return [
        RatedPrompt(f"{number:064x}", 20.0 + number, 3.0, number / 10, number / 12, number / 8, number == 2)
        for number in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 5, 40])
def test_any_number_of_prompts_gives_a_picture_and_the_same_one_again(count):
    png = rating_against_score(rated(min(count, 8)) * max(1, count // 8), "Rating against held-out score")
    assert picture(png).shape[1] == 1080
    assert png == rating_against_score(
        rated(min(count, 8)) * max(1, count // 8), "Rating against held-out score"
    )


def test_a_champion_looks_different():
    prompts = rated(4)
    plain = [
        RatedPrompt(prompt.prompt_id, prompt.mu, prompt.sigma, prompt.score, prompt.low, prompt.high)
        for prompt in prompts
    ]
    assert not np.array_equal(
        picture(rating_against_score(prompts, "t")), picture(rating_against_score(plain, "t"))
    )
