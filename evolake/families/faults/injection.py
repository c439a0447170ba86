"""Plant faults, see which gate catches them: one row per fault and family, and the kill rate of every class.

A class is tried on families in a drawn order until enough of them take it. What a family cannot take is a row
too, so that no class looks well tested where it hardly applies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evolake.families.evolution.proposing import LINE, Judge
from evolake.families.faults.catalogue import FAULTS, UNSEEN, Fault
from evolake.families.model.contract import Family
from evolake.families.model.similarity import Fingerprint
from evolake.families.model.source_code import NotComposable
from evolake.families.settings import FamiliesSettings
from evolake.seeds import generator

ALL_FAULTS = (*FAULTS.values(), *UNSEEN.values())
"""Every class, those that no gate is meant to see at the end."""


@dataclass(frozen=True)
class Planted:
    """One fault in one family. outcome: caught, survived, or "does not apply" (reason says why). gate,
    rule_id: of the verdict that caught it."""

    fault: str
    expected: str
    family_id: str
    name: str
    planted_id: str
    outcome: str
    gate: str
    rule_id: str
    reason: str


@dataclass(frozen=True)
class KillRate:
    """Of one class: families that took the fault, how many were caught, by which gates. rate is NaN if none
    took it."""

    fault: str
    expected: str
    planted: int
    caught: int
    does_not_apply: int
    gates: Mapping[str, int]

    @property
    def rate(self) -> float:
        """Return the share of planted faults that were caught; NaN if none was planted."""
        return self.caught / self.planted if self.planted else float("nan")


def short_caps(settings: FamiliesSettings) -> FamiliesSettings:
    """Return the sizes with short caps on cpu time: an endless loop is as endless within half a second, and
    sound families are far below."""
    return settings.model_copy(
        update={
            "instance_cpu_s": min(settings.instance_cpu_s, 0.5),
            "call_cpu_s": min(settings.call_cpu_s, 2.0),
        }
    )


SHIPPED_EACH = 3
"""Families that each class is planted into whose evidence is shipped with the seeds: what a first run with
more than these waits for."""


def plant_faults(
    families: Sequence[Family],
    fingerprints: Mapping[str, Fingerprint],
    judge: Judge,
    *,
    each: int,
    cycle: str,
    root_seed: int,
    faults: Iterable[Fault] = tuple(FAULTS.values()),
    progress: Callable[[int, str], None] = lambda number, name: None,
) -> list[Planted]:
    """Return rows, by class in the order of `faults`.

    Args:
        families: sound ones, which pass every gate; those with checkers are left out, for the classes change
            validators.
        fingerprints: by family_id; a class that shows only next to the sound family needs it.
        each: families that a class is planted into. judge: the gates. progress: called with number, from 1,
            and name of each class as it begins.

    Raises MachineryError when the jail failed.
    """
    rows: list[Planted] = []
    families = [family for family in families if not family.checkers]
    for number, fault in enumerate(faults, start=1):
        progress(number, fault.name)
        order = generator(root_seed, LINE, cycle, f"fault {fault.name}").permutation(len(families)).tolist()
        taken = 0
        for place in order:
            if taken == each:
                break
            row = plant(fault, families[place], fingerprints, judge)
            taken += row.outcome != "does not apply"
            rows.append(row)
    return rows


def plant(fault: Fault, family: Family, fingerprints: Mapping[str, Fingerprint], judge: Judge) -> Planted:
    """Return one fault in one family, after the gates."""
    try:
        spoilt = fault.plant(family)
    except NotComposable as error:
        return Planted(
            fault.name,
            fault.expected,
            family.family_id,
            family.name,
            "",
            "does not apply",
            "",
            "",
            str(error),
        )
    known = [fingerprints[family.family_id]] if fault.twin else []
    verdict = judge(spoilt, known).blocked_by
    head = (fault.name, fault.expected, family.family_id, family.name, spoilt.family_id)
    return (
        Planted(*head, "survived", "", "", "")
        if verdict is None
        else Planted(*head, "caught", verdict.gate, verdict.rule_id, verdict.reason)
    )


def kill_rates(rows: Sequence[Planted]) -> list[KillRate]:
    """Return one a class, in order of appearance."""
    result = []
    for fault in dict.fromkeys(row.fault for row in rows):
        own = [row for row in rows if row.fault == fault]
        gates: dict[str, int] = {}
        for row in own:
            if row.outcome == "caught":
                gates[row.gate] = gates.get(row.gate, 0) + 1
        skipped = sum(row.outcome == "does not apply" for row in own)
        result.append(
            KillRate(
                fault,
                own[0].expected,
                len(own) - skipped,
                sum(gates.values()),
                skipped,
                dict(sorted(gates.items())),
            )
        )
    return result
