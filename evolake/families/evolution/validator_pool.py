"""Bring the pool of validators to its size before the gates, and record who wrote which program of a family
from what: whether the votes on a label come from authors that did not know each other.

What is written joins the family, so it is part of the content that is judged. A source that does not even
answer the sample is not taken. By default each validator comes from its own call that sees the statement and
a few instances, never the primary (`roles.reviewers`); with `validator_authors` "together" the builder is
shown the primary, as before 0.2.0. Operators write none: under them a family without independent validators
stays so, and the consensus gate says it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evolake.agents import AgentFailure, Agents
from evolake.families.gates.execution import caps_of, pairs_of
from evolake.families.model.contract import Family
from evolake.families.model.similarity import normalised
from evolake.families.model.statement import stated
from evolake.families.roles.models import ValidatorReply, ValidatorRequest
from evolake.families.roles.reviewers import AUTHOR_ROLE, SAW, VALIDATOR_ROLE, AuthorRequest, Shown
from evolake.families.sandbox.running import generate, solve
from evolake.families.settings import FamiliesSettings
from evolake.seeds import child_seed

SHOWN_DIFFICULTIES = (1, 3, 6)
LONGEST_SHOWN = 4_000
"""Characters of the text of a slot, and of inputs, that an author is shown of one instance."""
BUILDER_SAW = ("statement", "generator", "primary")


@dataclass(frozen=True)
class Written:
    """A validator that was asked for and taken. author: the role. saw: what it was shown. algorithm: its
    idea, in its words."""

    name: str
    author: str
    saw: tuple[str, ...]
    algorithm: str


def complete(
    family: Family,
    *,
    pool: Any,
    agents: Agents,
    settings: FamiliesSettings,
    root_seed: int,
    note: Callable[[Written], object] = lambda written: None,
) -> Family:
    """Return the family with up to `settings.validators` independent validators; one whose answers checkers
    judge, as it is. note: called with each that was taken.

    Raises:
        MachineryError: the jail failed.
    """
    if family.checkers:
        return family
    lacking = settings.validators - len(family.validators)
    separate = settings.validator_authors == "separate"
    shown = (
        shown_instances(family, pool=pool, settings=settings)
        if lacking > 0 and separate and agents.backend.name != "operators"
        else []
    )
    if separate and not shown and agents.backend.name != "operators":
        return family
    taken, unusable = list[str](), list[str]()
    for number in range(settings.validators):
        if len(family.validators) >= settings.validators:
            break
        seed = child_seed(root_seed, "families", family.family_id, "validator", number)
        reply = _asked(family, agents, shown, taken, unusable, separate=separate, seed=seed, number=number)
        if isinstance(reply, AgentFailure) or not reply.source.strip():
            continue
        failure = _copied(family, reply.source) or _failure_on_sample(
            family, reply.source, pool=pool, settings=settings
        )
        if failure:
            unusable.append(f"{reply.algorithm}: {failure}")
        else:
            taken.append(reply.algorithm)
            name = next(f"built{count}" for count in range(1, 99) if f"built{count}" not in family.validators)
            family = replace(family, validators={**family.validators, name: reply.source.rstrip() + "\n"})
            note(
                Written(
                    name,
                    (AUTHOR_ROLE if separate else VALIDATOR_ROLE).name,
                    SAW if separate else BUILDER_SAW,
                    reply.algorithm,
                )
            )
    return family


def shown_instances(family: Family, *, pool: Any, settings: FamiliesSettings) -> list[Shown]:
    """Return what authors see of a family: instances that no gate draws, without answers. Empty where the
    generator gives none."""
    pairs = pairs_of(SHOWN_DIFFICULTIES, 1, "shown to authors")
    instances = generate(family, pairs, pool=pool, caps=caps_of(settings))
    return [
        Shown(
            slots=[text[:LONGEST_SHOWN] for text in instance.slot_texts],
            inputs=json.dumps(instance.inputs, ensure_ascii=False)[:LONGEST_SHOWN],
        )
        for instance in instances
        if instance.status == "ok"
    ]


def _asked(
    family: Family,
    agents: Agents,
    shown: Sequence[Shown],
    taken: Sequence[str],
    unusable: Sequence[str],
    *,
    separate: bool,
    seed: int,
    number: int,
) -> ValidatorReply | AgentFailure:
    """One validator more. An author's request says nothing of the family but what a solver of its questions
    may know."""
    if not separate:
        request = ValidatorRequest(
            generator=family.generator, template=stated(family), primary=family.validator, taken=list(taken)
        )
        return agents.call(
            VALIDATOR_ROLE, request, seed=seed, artifact_id=family.family_id, attempt=number
        ).value
    task = AuthorRequest(
        template=stated(family),
        answer_type=family.answer.type,
        instances=list(shown),
        taken=list(taken),
        unusable=list(unusable),
    )
    return agents.call(AUTHOR_ROLE, task, seed=seed, artifact_id=family.family_id, attempt=number).value


def _copied(family: Family, source: str) -> str:
    """Return which program of the family this one repeats, by its normalised syntax tree; "" if none: two of
    a kind are one vote."""
    ours = normalised(source)
    same = next((name for name, other in family.voters().items() if ours and normalised(other) == ours), "")
    return (
        f"it is the program of {'another author' if same == 'primary' else same} again: take another "
        "algorithm"
        if same
        else ""
    )


def _failure_on_sample(family: Family, source: str, *, pool: Any, settings: FamiliesSettings) -> str:
    """Return why the source does not answer instances, "" if it does; whether it answers rightly is for the
    vote."""
    caps = caps_of(settings)
    instances = generate(family, pairs_of(settings.gate_difficulties, 1, "execution"), pool=pool, caps=caps)
    good = [instance for instance in instances if instance.status == "ok"]
    solved = solve(source, [instance.inputs for instance in good], pool=pool, caps=caps)
    failed = [(instance, item) for instance, item in zip(good, solved, strict=True) if item.status != "ok"]
    if not good:
        return "the generator gives no instance"
    return (
        f"at difficulty {failed[0][0].difficulty}: {failed[0][1].status} {failed[0][1].reason}"[:400]
        if failed
        else ""
    )


PRIMARY, OPERATORS = "primary", "operators"


def authorship_rows(
    family: Family, written: Iterable[Written], *, author: str, saw: Sequence[str], cycle: str
) -> list[dict[str, Any]]:
    """Return rows of VALIDATOR_AUTHORS of one family, one per voter.

    Args:
        written: validators that others were asked for. author, saw: who wrote all else, and what it was
            shown.
    """
    others = {item.name: item for item in written}
    rows = []
    for voter, source in family.voters().items():
        other = others.get(voter)
        shown = list(other.saw if other else saw)
        rows.append(
            {
                "family_id": family.family_id,
                "cycle": cycle,
                "voter": voter,
                "author": other.author if other else author,
                "saw": shown,
                "algorithm": other.algorithm if other else None,
                "source_sha": hashlib.sha256(source.encode()).hexdigest(),
                "independent": None
                if author == OPERATORS or voter == PRIMARY
                else other is not None and PRIMARY not in shown,
            }
        )
    return rows
