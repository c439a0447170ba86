"""Make the product: instances with labels. Text, hidden inputs, answer, difficulty, seed. Several families
are made side by side, one text once, with the same result in whatever order they end.

The label is what a strict majority of the voters answers, and the primary must be of it. An instance goes
when it cannot be drawn, when there is no such majority, when its text is there already, or when it is
trivial: every voter solves it within a few source lines. (The paper drops what runs in under 0.1 s, after
CodeI/O, Li et al. 2025; source lines say the same on any machine and any day.) The lines are the voters' own
word, so this filter binds honest families only; no verdict depends on it. What is dropped is drawn again, up
to five times as in the paper (appendix J), and is counted.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from evolake.families.gates.consensus import Vote, take_votes
from evolake.families.gates.execution import caps_of
from evolake.families.model.contract import Family, as_json
from evolake.families.model.sampling import band_counts, band_of, spread
from evolake.families.sandbox.running import Instance, generate, solve
from evolake.families.settings import FamiliesSettings
from evolake.gates import Raised, contained
from evolake.seeds import child_seed

RAISED = "could not be judged"
"""Reason for all instances of a family that makes our code raise."""
DROPS = ("not drawn", "no majority", "primary outvoted", "repeated", "trivial")


@dataclass(frozen=True)
class Sampled:
    """Rows of INSTANCES, and how many draws were dropped for which reason (a word of DROPS)."""

    rows: list[dict[str, Any]]
    dropped: dict[str, int]


def sample_instances(
    family: Family,
    *,
    pool: Any,
    settings: FamiliesSettings,
    root_seed: int,
    cycle: str,
    taken: set[str] | None = None,
) -> Sampled:
    """Return `settings.instances_per_family` instances, fewer where the family has no more.

    taken: text hashes that are there already; the new ones are added. Raises MachineryError when the jail
    failed.
    """
    taken = set() if taken is None else taken
    missing = band_counts(settings.instances_per_family, settings.band_weights)
    rows: list[dict[str, Any]] = []
    dropped: Counter[str] = Counter()
    drawn = 0
    for turn in range(settings.instance_rounds):
        difficulties = spread(missing, turn)
        if not difficulties:
            break
        seeds = [
            child_seed(root_seed, "families", family.family_id, "instances", drawn + number)
            for number in range(len(difficulties))
        ]
        drawn += len(difficulties)
        instances = generate(
            family, list(zip(difficulties, seeds, strict=True)), pool=pool, caps=caps_of(settings)
        )
        good = [instance for instance in instances if instance.status == "ok"]
        dropped["not drawn"] += len(instances) - len(good)
        votes = take_votes(family, good, pool=pool, settings=settings)
        trivial = trivial_ones(family, good, pool=pool, settings=settings)
        for instance, vote, is_trivial in zip(good, votes, trivial, strict=True):
            text_sha = hashlib.sha256(" ".join(instance.text.split()).encode("utf-8", "replace")).hexdigest()
            reason = _objection(vote, text_sha in taken, is_trivial)
            if reason:
                dropped[reason] += 1
                continue
            taken.add(text_sha)
            rows.append(instance_row(family, instance, vote, text_sha, cycle))
            missing[band_of(instance.difficulty)] -= 1
    rows.sort(key=lambda row: (row["difficulty"], row["instance_id"]))
    return Sampled(rows, {reason: dropped[reason] for reason in DROPS if dropped[reason]})


def trivial_ones(
    family: Family, instances: Sequence[Instance], *, pool: Any, settings: FamiliesSettings
) -> list[bool]:
    """Return whether every voter solves an instance within `settings.trivial_steps` source lines. Runs are
    cut off there, so counting costs little."""
    trivial = [settings.trivial_steps > 0] * len(instances)
    caps = replace(caps_of(settings), steps=settings.trivial_steps)
    for source in family.solvers().values():
        left = [number for number, still in enumerate(trivial) if still]
        done = solve(source, [instances[number].inputs for number in left], pool=pool, caps=caps, count=True)
        for number, solved in zip(left, done, strict=True):
            trivial[number] = solved.status == "ok"
    return trivial


def instance_row(family: Family, instance: Instance, vote: Vote, text_sha: str, cycle: str) -> dict[str, Any]:
    """Return a row of INSTANCES."""
    identity = f"{family.family_id}\x1f{instance.difficulty}\x1f{instance.seed}"
    return {
        "instance_id": hashlib.sha256(identity.encode()).hexdigest(),
        "family_id": family.family_id,
        "cycle": cycle,
        "category": family.category,
        "language": family.language,
        "difficulty": instance.difficulty,
        "band": band_of(instance.difficulty),
        "seed": instance.seed,
        "text": instance.text,
        "inputs": as_json(instance.inputs),
        "answer": as_json(vote.label),
        "case_sensitive": family.answer.case_sensitive,
        "voters": len(vote.statuses),
        "votes": len(vote.for_label),
        "text_sha": text_sha,
    }


def _objection(vote: Vote, repeated: bool, trivial: bool) -> str:
    if not vote.decided:
        return "no majority"
    if not vote.primary_agrees:
        return "primary outvoted"
    if repeated:
        return "repeated"
    if trivial:
        return "trivial"
    return ""


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
