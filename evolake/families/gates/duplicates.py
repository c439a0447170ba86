"""Which families of a population are near-duplicates of each other, by the measure of the near-duplicate
rule.

The gate compares each new family with the known ones; this compares all pairs in one pass, for the
report and for audits of a lake. Answers are compared as a matrix, and sketches of code only where the rule
could still object, so a thousand families take seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evolake.families.gates.checkers import near_duplicate
from evolake.families.model.similarity import Fingerprint, jaccard


def duplicate_pairs(
    fingerprints: Sequence[Fingerprint], parameters: Mapping[str, Any]
) -> list[tuple[str, str, str]]:
    """Return (family, the earlier one that it doubles, why), in order of the families.

    Args:
        parameters: those of the rule that checks `families.near_duplicate`.
    """
    agreement = answer_agreement(fingerprints)
    pairs = []
    for place, ours in enumerate(fingerprints):
        for earlier in range(place):
            other, answers = fingerprints[earlier], float(agreement[place, earlier])
            same = ours.code_sha == other.code_sha
            if not same and answers < min(parameters["answers"], parameters["both"]):
                continue
            seen = {
                "family_id": other.family_id,
                "name": other.name,
                "code": jaccard(ours.sketch, other.sketch),
                "answers": answers,
                "same_code": same,
                "answer_values": len(set(ours.answers)),
            }
            if finding := near_duplicate({"nearest": [seen]}, **parameters):
                pairs.append((ours.family_id, other.family_id, finding.reason))
    return pairs


def answer_agreement(fingerprints: Sequence[Fingerprint]) -> np.ndarray:
    """Return (n, n): the share of answers on the shared seeds that two families have in common, over the
    seeds that both have."""
    longest = max((len(fingerprint.answers) for fingerprint in fingerprints), default=0)
    numbers: dict[str, int] = {}
    coded = np.full((len(fingerprints), longest), -1)
    for place, item in enumerate(fingerprints):
        coded[place, : len(item.answers)] = [numbers.setdefault(key, len(numbers)) for key in item.answers]
    same, both = (
        np.zeros((len(fingerprints), len(fingerprints))),
        np.zeros((len(fingerprints), len(fingerprints))),
    )
    for column in coded.T:
        given = column >= 0
        shared = given[:, None] & given[None, :]
        same += shared & (column[:, None] == column[None, :])
        both += shared
    return same / np.maximum(both, 1)
