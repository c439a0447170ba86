"""What a guesser gets who reads no statement and knows which answers are common at a level of difficulty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence


def constant_share(answers: Sequence[Hashable]) -> float:
    """Return the share of the most common answer; 1 if there is none."""
    return Counter(answers).most_common(1)[0][1] / len(answers) if answers else 1.0


def pair_share(answers: Sequence[Hashable]) -> float:
    """Return how often one of two answers is right that are the most common in other instances; 1 if there
    are fewer than two instances.

    The two are chosen on one half of the instances and tried on the other, both ways: chosen on the instances
    that they are tried on, the two most common of 24 answers look like a good guess where every answer is
    rare.
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


def candidate_shares(hits: Sequence[Sequence[bool]]) -> tuple[float, float]:
    """Return (how often the best of some candidates is right, how often one of the best two is), where
    several answers of an instance are right.

    hits: for each instance, for each candidate, whether it is right there; two are chosen and tried as in
    `pair_share`. 1 if there are too few.
    """
    if len(hits) < 2 or not hits[0]:
        return 1.0, 1.0
    candidates = range(len(hits[0]))
    single = max(sum(row[place] for row in hits) for place in candidates) / len(hits)
    halves, together = (hits[::2], hits[1::2]), 0
    for chosen_on, tried_on in (halves, halves[::-1]):
        best = sorted(candidates, key=lambda place: (-sum(row[place] for row in chosen_on), place))[:2]
        together += sum(any(row[place] for place in best) for row in tried_on)
    return single, together / len(hits)


def guesses_by_level(answers: Iterable[tuple[int, Hashable]]) -> list[tuple[int, int, float, float]]:
    """Return (level, instances, share of the best constant, share of the best two) of each level, the easiest
    first."""
    by_level: dict[int, list[Hashable]] = {}
    for level, answer in answers:
        by_level.setdefault(level, []).append(answer)
    return [
        (level, len(own), constant_share(own), pair_share(own)) for level, own in sorted(by_level.items())
    ]
