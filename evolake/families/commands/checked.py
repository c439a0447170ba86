"""What `evolake families check` looks at after the gates: the catalogue of readings, and who solved the
family from its text alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evolake.agents import Agents
from evolake.families.commands.narrative import remarks
from evolake.families.evolution.authorship import PRIMARY, authorship_rows
from evolake.families.evolution.records import independence_seen
from evolake.families.evolution.validator_pool import Written
from evolake.families.gates.blind import blind_review
from evolake.families.gates.judging import FamilyResults
from evolake.families.independence import MODEL, Independence, answer_row, answers_in, keep_answers
from evolake.families.readings.examining import examine
from evolake.families.readings.places import ReadingPlace
from evolake.families.roles.blind import BLIND_ROLE
from evolake.families.settings import FamiliesSettings
from evolake.gates import Raised, contained
from evolake.lake import Lake
from evolake.seeds import child_seed
from evolake.settings import Settings

SUMMED = (
    ("fixed", "fixed by the text and done so"),
    ("never decides", "distinguished by no instance"),
    ("ambiguous", "fixed by no sentence"),
    ("contradicted", "done otherwise than said"),
)
FOLDER = "folder"
"""Author of what was there before the check."""


@dataclass(frozen=True)
class Checked:
    """A family after its gates, its readings, and who solved it from its text alone. failed: why it could not
    be read, "" if it could."""

    result: FamilyResults
    readings: tuple[ReadingPlace, ...]
    independence: Independence
    failed: str = ""

    @property
    def remarks(self) -> list[str]:
        """Return everything that is named in addition to the verdict."""
        return [
            *([f"its readings could not be examined: {self.failed}"] if self.failed else []),
            *remarks(self.result, self.readings),
        ]

    @property
    def summary(self) -> str:
        """Return how many readings were examined, and what came of them; "" if there were none."""
        counts = Counter(place.verdict for place in self.readings)
        parts = [f"{counts[verdict]} {words}" for verdict, words in SUMMED if counts[verdict]]
        return f"readings: {len(self.readings)} examined ({', '.join(parts)})" if parts else ""

    @property
    def verdict(self) -> str:
        """Blocked, accepted, or accepted with remarks."""
        if not self.result.accepted:
            return "blocked"
        return "accepted with remarks" if self.remarks else "accepted"


def examined_further(
    result: FamilyResults,
    written: Sequence[Written],
    *,
    pool: Any,
    readers: Agents | None,
    settings: Settings,
    root_seed: int,
) -> Checked:
    """Return what comes after the gates. An accepted family is read by the catalogue, and by `readers`, whose
    answers are kept in the lake.

    written: validators that other authors wrote just now. Raises MachineryError when the jail failed, or the
    budget is spent.
    """
    lake, sizes = Lake(settings.require_lake()), settings.of(FamiliesSettings)
    readings: tuple[ReadingPlace, ...] = ()
    failed = ""
    if result.accepted and result.sample is not None:
        found = contained(examine, result.family, result.sample, pool=pool, settings=sizes)
        if isinstance(found, Raised):
            failed = f"{found.error} at {found.place}: {found.message}"
        else:
            readings = tuple(found)
    if result.accepted and readers is not None:
        seed = child_seed(root_seed, "families", result.family_id, "readers", 0)
        reviews, _ = blind_review(result.family, pool=pool, agents=readers, settings=sizes, root_seed=seed)
        name = settings.models.get(BLIND_ROLE.name) or settings.models.get("default") or readers.backend.name
        usable = [review for review in reviews if review.status != "failed"]
        keep_answers(lake, [answer_row(result.family_id, MODEL, name, review) for review in usable])
    authors = authorship_rows(result.family, written, author=FOLDER, saw=(PRIMARY,), cycle="")
    return Checked(
        result, readings, independence_seen(result, authors, answers_in(lake, [result.family_id])), failed
    )
