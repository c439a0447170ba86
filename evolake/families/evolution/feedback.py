"""Say to the author of a blocked family what decided: all faults of the gate, votes with their inputs, blind
reviews by difficulty."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evolake.families.evolution.measuring import findings
from evolake.families.evolution.observations import TRACES, Observation
from evolake.families.gates.execution import caps_of
from evolake.families.gates.judging import FamilyResults
from evolake.families.model.contract import Family
from evolake.families.model.statement import stated
from evolake.families.roles.models import Draft
from evolake.families.sandbox.running import generate
from evolake.families.settings import FamiliesSettings
from evolake.gates import Ruleset, raised_in

LONGEST_INPUTS = 1_500
"""Characters of the inputs of one instance."""


def draft_of(
    examined: FamilyResults,
    observation: Observation,
    *,
    ruleset: Ruleset | None,
    pool: Any,
    settings: FamiliesSettings,
    validators: bool,
) -> Draft:
    """Return the blocked version with what is said against it. ruleset: of the gates; None if they are not
    known. validators: shown too."""
    family = examined.family
    evidence = examined.evidence.get(observation.gate, {})
    faults = findings(ruleset, observation.gate, evidence) if ruleset and not raised_in(evidence) else []
    return Draft(
        generator=family.generator,
        template=stated(family),
        validator=family.validator,
        reader=family.reader,
        validators=dict(family.validators) if validators else {},
        kind=observation.kind,
        gate=observation.gate,
        reason=observation.reason,
        traces=traces_with_inputs(family, observation, evidence, pool=pool, settings=settings),
        faults=[fault for fault in faults if fault != observation.reason],
    )


def traces_with_inputs(
    family: Family,
    observation: Observation,
    evidence: Mapping[str, Any],
    *,
    pool: Any,
    settings: FamiliesSettings,
) -> list[str]:
    """Return the traces of an observation as JSON lines, votes and reviews with the inputs that they are
    about, and the reviews by difficulty."""
    traces = list(observation.traces)
    if observation.gate not in ("consensus", "blind") or raised_in(evidence):
        return traces
    items = _objections(observation.gate, evidence)[:TRACES]
    instances = generate(
        family, [(item["difficulty"], item["seed"]) for item in items], pool=pool, caps=caps_of(settings)
    )
    shown = [
        item | {"inputs": json.dumps(instance.inputs, ensure_ascii=False)[:LONGEST_INPUTS]}
        if instance.status == "ok"
        else item
        for item, instance in zip(items, instances, strict=True)
    ]
    lines = [json.dumps(item, ensure_ascii=False, default=str) for item in shown] or traces
    if observation.gate == "consensus":
        lines.append(
            json.dumps(
                {"instances": evidence["instances"], "voted_otherwise_or_not": evidence.get("dissent", {})}
            )
        )
    else:
        lines.append(json.dumps({"blind_reviews_by_difficulty": reviews_by_difficulty(evidence["reviews"])}))
    return lines


def reviews_by_difficulty(reviews: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return how many of the blind reviews of each difficulty found the label.

    >>> reviews_by_difficulty([{"difficulty": 5, "matched": True}, {"difficulty": 7, "matched": False}, {"difficulty": 5, "matched": False}])
    {'5': '1 of 2', '7': '0 of 1'}
    """  # noqa: E501
    found: dict[int, list[bool]] = {}
    for review in reviews:
        found.setdefault(review["difficulty"], []).append(bool(review["matched"]))
    return {
        str(difficulty): f"{sum(matched)} of {len(matched)}" for difficulty, matched in sorted(found.items())
    }


def _objections(gate: str, evidence: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the votes, or the reviews, that speak against a family."""
    if gate == "blind":
        return [dict(review) for review in evidence.get("reviews", ()) if not review["matched"]]
    return [dict(vote) for vote in [*evidence.get("undecided", ()), *evidence.get("primary_wrong", ())]]
