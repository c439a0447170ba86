"""What a guesser gets who reads no statement and knows which answers are common at a level of difficulty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence


def constant_share(answers: Sequence[Hashable]) -> float:
    """Return the share of the most common answer; 1 if there is none."""
    return Counter(answers).most_common(1)[0][1] / len(answers) if answers else 1.0


def pair_share(answers: Sequence[Hashable]) -> float:
    """Return how often one of two answers is right that are the most common in other instances; 1 if there are fewer than two instances.

    The two are chosen on one half of the instances and tried on the other, both ways: chosen on the instances that they are tried on, the two most
    common of 24 answers look like a good guess where every answer is rare.
    """
    if len(answers) < 2:
        return 1.0
    halves = answers[::2], answers[1::2]
    hits = 0
    for chosen_on, tried_on in (halves, halves[::-1]):
        ordered = sorted(Counter(chosen_on).items(), key=lambda item: (-item[1], str(item[0])))
        best = {answer for answer, _ in ordered[:2]}
        hits += sum(answer in best for answer in tried_on)
    return hits / len(answers)


def guesses_by_level(answers: Iterable[tuple[int, Hashable]]) -> list[tuple[int, int, float, float]]:
    """Return (level, instances, share of the best constant, share of the best two) of each level, the easiest first."""
    by_level: dict[int, list[Hashable]] = {}
    for level, answer in answers:
        by_level.setdefault(level, []).append(answer)
    return [(level, len(own), constant_share(own), pair_share(own)) for level, own in sorted(by_level.items())]
