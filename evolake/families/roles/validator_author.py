"""The author of independent validators: it sees the statement and a few instances, never the primary, the
generator or who wrote them.

Votes of programs count as independent only where their authors are: a reply that holds the primary and its
validators makes one mistake in all of them. There is no classical answer: operators take independent
validators from the parents.
"""

from __future__ import annotations

import numpy as np
from pydantic import Field

from evolake.agents.roles import Role
from evolake.families.roles.models import Model, ValidatorReply
from evolake.families.roles.reply_faults import validator_fault


class Shown(Model):
    """One instance as its author sees it: the texts of its slots in order, and the inputs behind it as JSON. There is no answer to it."""

    slots: list[str]
    inputs: str


class AuthorRequest(Model):
    """Write a validator from the statement alone. `taken`: algorithms of the other authors, in one line each, in their own words.

    unusable: programs of earlier replies that could not be used, with what happened on instances.
    """

    template: str
    answer_type: str
    instances: list[Shown]
    taken: list[str] = Field(default_factory=list)
    unusable: list[str] = Field(default_factory=list)


SAW = ("statement", "instances")
"""What an author is shown, as rows say it."""


def write_none(request: AuthorRequest, random: np.random.Generator) -> ValidatorReply:
    """None: an independent algorithm cannot be had by rewriting another."""
    return ValidatorReply(source="", algorithm="operators write no validators")


AUTHOR_ROLE = Role(
    "families_validator_author", AuthorRequest, ValidatorReply, write_none, fault=validator_fault
)
"""Write a validator from the statement, without sight of any other program."""
