"""In which order a list is answered: by what the labels are."""

from __future__ import annotations

import re

from evolake.families.readings.view import Examiner, FamilyView, Wanted, compared


def answer_order(view: FamilyView) -> Examiner:
    """Examine in which order a list is answered: by what the labels are."""
    yield Wanted()
    lists = [
        label
        for label in view.labels
        if isinstance(label, list) and len(label) > 2 and len({type(item) for item in label}) == 1
    ]
    if len(lists) < 4:
        return []
    rising = sum(label == sorted(label) for label in lists)
    falling = sum(label == sorted(label, reverse=True) for label in lists)
    up = (
        r"\b(?:ascending|increasing|rising|alphabetical) order|\bfrom (?:the )?(?:smallest|lowest|least) "
        r"to\b|\b(?:smallest|lowest) first\b|\bsorted (?:up|upwards)"
    )
    down = (
        r"\b(?:descending|decreasing|falling|reverse alphabetical) order|\bfrom (?:the )?(?:largest|highest|"
        r"greatest|biggest) to\b|"
        r"\b(?:largest|highest|greatest) first\b"
    )
    for sentence in view.sentences[-3:]:
        ups, downs = (
            bool(re.search(up, sentence, re.IGNORECASE)),
            bool(re.search(down, sentence, re.IGNORECASE)),
        )
        if re.search(r"reverse alphabetical", sentence, re.IGNORECASE):
            ups = False
        if ups != downs:
            says = "rising" if ups else "falling"
            if rising == len(lists):
                does = "rising"
            else:
                does = "falling" if falling == len(lists) else ""
            if does and rising != falling:
                return [compared("the order of the answer", sentence, says, does, len(lists), len(lists))]
    return []
