"""What two readings share: elements that a sentence leaves out are removed from the data, and the answers
must stay the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evolake.families.readings.places import Examiner, ReadingPlace, Wanted
from evolake.families.readings.view import FamilyView, KeyPath, at, changed


def without_elements(
    view: FamilyView,
    named: Mapping[Any, str],
    paths: Sequence[KeyPath],
    is_meant: Callable[[Any, Any], bool],
    *,
    least: int,
) -> Examiner:
    """Examine whether answers change when the elements that a sentence leaves out are removed.

    named: value -> the sentence that leaves it out. paths: of the lists in the inputs. is_meant: whether an
    element is what a value names. least: trials of one value that are wanted before anything is concluded.
    """
    trials = []
    for value in named:
        for path in paths:
            for place in range(len(view.instances)):
                items = at(view.instances[place].inputs, path)
                kept = [item for item in items if not is_meant(item, value)]
                if 1 < len(kept) < len(items):
                    trials.append((value, place, changed(view.instances[place].inputs, path, kept)))
    given = yield Wanted([inputs for *_, inputs in trials])
    for value, sentence in named.items():
        others = [
            solved.status == "ok" and not view.same(solved.answer, view.labels[place])
            for (item, place, _), solved in zip(trials, given.answers, strict=True)
            if item == value
        ]
        if (
            len(others) >= least
            and sum(others) * 2 > len(others)
            and all(type(label) is int for label in view.labels)
        ):
            return [
                ReadingPlace(
                    "what does not count",
                    sentence,
                    f"{value} does not count",
                    f"without {value} the answer is another",
                    "contradicted",
                    sum(others),
                    len(others),
                )
            ]
    return []
