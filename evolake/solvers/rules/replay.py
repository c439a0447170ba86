"""Replay a rule on stored evidence: which variants there have been would it have blocked?

The evidence of the compliance gate is stored for every variant, also for those that later gates blocked or
that turned out slower. A rule is a pure function of it, so that a proposal is tried on all of history without
a build or a run. Source: SATLUTION (arXiv 2509.07367), "Dynamic self-evolved rules in the loop"; the paper
appends rules unseen, here a proposal must first earn its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evolake.errors import InputError
from evolake.gates import Rule
from evolake.gates.boundary import Raised, contained
from evolake.gates.checkers import apply

Standing = Literal["accepted", "blocked", "regressed"]


@dataclass(frozen=True)
class StoredVariant:
    """A variant as the lake remembers it.

    `standing`: accepted; blocked by `gate` for `cause`; or regressed: it passed all gates and was worse than
    its parent (gate "benchmark"). evidence: what the compliance gate collected; None if the variant died
    before it could be read.
    """

    variant_id: str
    cycle: str
    standing: Standing
    gate: str = ""
    cause: str = ""
    evidence: Mapping[str, Any] | None = None

    @property
    def failed(self) -> bool:
        """Return whether the variant was blocked or regressed."""
        return self.standing != "accepted"

    @property
    def signature(self) -> tuple[str, str]:
        """What failures of one sort share: the gate and the rule (or the kind of regression) that it fell
        by."""
        return self.gate, self.cause


@dataclass(frozen=True)
class Replay:
    """What a rule would have done. Ids in the order of the variants given. `problem`: the rule cannot be
    applied at all."""

    blocked_failed: tuple[str, ...] = ()
    blocked_accepted: tuple[str, ...] = ()
    problem: str = ""


def replay(check: str, parameters: Mapping[str, Any], variants: Sequence[StoredVariant]) -> Replay:
    """Apply one checker to the stored evidence of all variants. A checker that cannot use its parameters is a
    problem, no error."""
    failed, accepted = [], []
    for variant in variants:
        if variant.evidence is None:
            continue
        try:
            finding = contained(apply, check, variant.evidence, parameters)
        except InputError as error:
            return Replay(problem=str(error))
        if isinstance(finding, Raised):
            return Replay(problem=f"{check} cannot use these parameters: {finding.error}: {finding.message}")
        if finding:
            (failed if variant.failed else accepted).append(variant.variant_id)
    return Replay(tuple(failed), tuple(accepted))


def blocked_by(rules: Sequence[Rule], variants: Sequence[StoredVariant]) -> dict[str, list[str]]:
    """Return variant id -> ids of the rules that would block it, for those variants that at least one rule
    blocks."""
    result: dict[str, list[str]] = {}
    for variant in variants:
        if variant.evidence is not None:
            hits = [
                rule.id for rule in rules if contained(apply, rule.check, variant.evidence, rule.parameters)
            ]
            if hits:
                result[variant.variant_id] = hits
    return result
