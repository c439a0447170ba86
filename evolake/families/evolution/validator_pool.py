"""Bring the pool of validators to its size before the gates: ask the validator builder for what is missing.

What it writes joins the family, so it is part of the content that is judged. A source that does not even answer the sample is not taken. The
operators' builder writes none: under it a family without independent validators stays so, and the consensus gate says it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.families.gates.execution import caps_of, pairs_of
from evolake.families.model.contract import Family
from evolake.families.model.statement import stated
from evolake.families.roles.models import ValidatorRequest
from evolake.families.roles.quality import VALIDATOR_ROLE
from evolake.families.sandbox.running import generate, solve
from evolake.families.settings import FamiliesSettings
from evolake.seeds import child_seed


def complete(family: Family, *, pool: Any, agents: Agents, settings: FamiliesSettings, root_seed: int) -> Family:
    """The family with up to `settings.validators` independent validators. Raises MachineryError when the jail failed."""
    taken: list[str] = []
    for number in range(settings.validators):
        if len(family.validators) >= settings.validators:
            break
        request = ValidatorRequest(generator=family.generator, template=stated(family), primary=family.validator, taken=taken)
        seed = child_seed(root_seed, "families", family.family_id, "validator", number)
        reply = agents.call(VALIDATOR_ROLE, request, seed=seed, artifact_id=family.family_id, attempt=number)
        if isinstance(reply, AgentFailure) or not reply.source.strip():
            continue
        taken.append(reply.algorithm)
        if _answers(family, reply.source, pool=pool, settings=settings):
            name = next(f"built{count}" for count in range(1, 99) if f"built{count}" not in family.validators)
            family = replace(family, validators={**family.validators, name: reply.source.rstrip() + "\n"})
    return family


def _answers(family: Family, source: str, *, pool: Any, settings: FamiliesSettings) -> bool:
    """Whether the source answers instances at all; whether it answers rightly is for the vote."""
    caps = caps_of(settings)
    instances = generate(family, pairs_of(settings.gate_difficulties, 1, "execution"), pool=pool, caps=caps)
    good = [instance.inputs for instance in instances if instance.status == "ok"]
    return bool(good) and all(solved.status == "ok" for solved in solve(source, good, pool=pool, caps=caps))
