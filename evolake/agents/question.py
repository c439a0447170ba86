"""One thing that a model is asked: what decides the reply, and the key under which the reply is in the call
cache."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from evolake.agents.call_cache import cache_key
from evolake.agents.prompts import Message
from evolake.agents.roles import Job
from evolake.agents.sampling import Sampling


@dataclass(frozen=True)
class Question:
    """One attempt of one call.

    Attributes:
        job: the call. model: the name of the model that is asked.
        messages: the conversation so far. schema: of the reply.
        sampling: how the reply is drawn.
        number: of the attempt: ten times the call's, plus the number of the repair.
        tag: what distinguishes the conversations that begin with this question; "" until one is chosen
            (`evolake.agents.conversations`).
    """

    job: Job[Any, Any]
    model: str
    messages: list[Message]
    schema: dict[str, Any]
    sampling: Sampling
    number: int
    tag: str = ""

    @property
    def role(self) -> str:
        """The name of the role that is asked."""
        return self.job.role.name

    @cached_property
    def sha(self) -> str:
        """The sha256 of everything that decides what is asked."""
        return cache_key(
            self.role, self.model, self.messages, self.schema, self.sampling.as_dict(), self.number
        )

    @property
    def key(self) -> str:
        """The key of its entry in the call cache."""
        return self.sha + self.tag

    def tagged(self, tag: str) -> Question:
        """Return the question as part of a conversation."""
        return replace(self, tag=tag)

    def followed_by(self, messages: list[Message], number: int) -> Question:
        """Return the next question of the conversation, after more messages."""
        return replace(self, messages=[*self.messages, *messages], number=number)
