"""Whether held-out problems are among those to train on: overlap of word n-grams, as GPT-3's authors measured
it (Brown et al. 2020, app. C)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evolake.answers.ngrams import ngrams
from evolake.prompts.model.protocol import Problem


@dataclass(frozen=True)
class Overlap:
    """What was compared. contaminated: (held-out problem, share of its n-grams that are in problems to train
    on), at or above the share only."""

    heldout: int
    words: int
    share: float
    contaminated: tuple[tuple[Problem, float], ...]

    @property
    def part(self) -> float:
        """The share of the held-out problems that are contaminated."""
        return len(self.contaminated) / self.heldout if self.heldout else 0.0

    def sentence(self) -> str:
        """For a person."""
        return (
            f"{len(self.contaminated)} of {self.heldout} held-out problems have at least {self.share:.0%} "
            f"of their sequences of {self.words} words"
            " in common with problems to train on"
        )


def overlap(train: Sequence[Problem], heldout: Sequence[Problem], *, words: int, share: float) -> Overlap:
    """Compare the sides. words: n of the n-grams; a shorter text is one n-gram. share: 0 to 1, from which on
    a problem is contaminated."""
    of_heldout = [set(ngrams(problem.text, words)) for problem in heldout]
    wanted = set[tuple[str, ...]]().union(*of_heldout)
    seen = {
        gram for problem in train for gram in ngrams(problem.text, words) if gram in wanted
    }  # those to train on are many more
    result = []
    for problem, grams in zip(heldout, of_heldout, strict=True):
        common = len(grams & seen) / len(grams) if grams else 0.0
        if common >= share and common > 0:
            result.append((problem, common))
    return Overlap(len(heldout), words, share, tuple(result))


def apart(
    given: Sequence[Problem],
    train: Sequence[Problem],
    heldout: Sequence[Problem],
    *,
    words: int,
    share: float,
) -> tuple[list[Problem], Overlap]:
    """Return (those of `given` that may be trained on next to `train`, what was compared). Where they
    contaminate held-out problems, those that hold an n-gram of one of these are left out, so that what is
    held out stays the same whatever is added."""
    common = overlap([*train, *given], heldout, words=words, share=share)
    theirs = {gram for problem, _ in common.contaminated for gram in ngrams(problem.text, words)}
    return [item for item in given if theirs.isdisjoint(ngrams(item.text, words))], common
