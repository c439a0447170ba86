"""Instances of many families in one batch: several families side by side, one text once, the result the
same in whatever order they end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from evolake.families.gates.instances import RAISED, Sampled, sample_instances
from evolake.families.model.contract import Family
from evolake.families.settings import FamiliesSettings
from evolake.gates import Raised, contained


def sample_families(
    families: Sequence[Family],
    *,
    pool: Any,
    settings: FamiliesSettings,
    root_seed: int,
    cycle: str,
    workers: int,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return rows of INSTANCES and of DROPPED. A text that two families give is kept with the first; a family
    on which our code raises gives none.

    Raises MachineryError when the jail failed.
    """

    def sample(family: Family) -> Sampled:
        result = contained(
            sample_instances, family, pool=pool, settings=settings, root_seed=root_seed, cycle=cycle
        )
        return Sampled([], {RAISED: settings.instances_per_family}) if isinstance(result, Raised) else result

    rows: list[dict[str, Any]] = []
    dropped: list[dict[str, Any]] = []
    texts: set[str] = set()
    with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="evolake-instances") as threads:
        for done, (family, sampled) in enumerate(
            zip(families, threads.map(sample, families), strict=True), start=1
        ):
            kept = [row for row in sampled.rows if row["text_sha"] not in texts]
            texts |= {row["text_sha"] for row in kept}
            rows += kept
            lost = Counter(sampled.dropped) + Counter({"repeated": len(sampled.rows) - len(kept)})
            dropped += [
                {"family_id": family.family_id, "cycle": cycle, "reason": reason, "instances": lost[reason]}
                for reason in sorted(lost)
            ]
            on_progress(done, len(families))
    return rows, dropped
