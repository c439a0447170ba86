"""What a tool is to a policy: a name, one sentence that shows a call, and texts for texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Answered:
    """status: "ok", or the tool's word for what went wrong. text: for the policy, of any length and with any
    characters."""

    status: str
    text: str


class Tool(Protocol):
    """One tool. name: as a call names it. says: what the policy is shown about it, with an example of a
    call."""

    name: str
    says: str

    def answer(self, given: Sequence[str]) -> list[Answered]:
        """Return what came of each of these calls, in their order. A bad call is an answer that says so; only
        machinery raises."""
        ...

    def close(self) -> None:
        """Let go of what the tool holds."""
        ...
