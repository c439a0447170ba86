"""Rules of which some come with an amount, as those of queues and boards do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class HasAmounts(Protocol):
    """What a kind of rule is known by. amounts: of which one stands for K in its meanings; a rule without any has one that is not spoken of."""

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    @property
    def amounts(self) -> tuple[int, ...]: ...


Kind = TypeVar("Kind", bound=HasAmounts)


@dataclass(frozen=True)
class WithAmount(Generic[Kind]):
    """A rule with its amount."""

    rule: Kind
    amount: int

    @property
    def key(self) -> str:
        """Its name in the sources."""
        return f"{self.rule.name}_{self.amount}" if len(self.rule.amounts) > 1 else self.rule.name

    def code(self, meaning: str) -> str:
        """Its meaning of that name, of this amount."""
        text: str = getattr(self.rule, meaning)
        return text.replace("K", str(self.amount)) if len(self.rule.amounts) > 1 else text


def labels_of(keys: Iterable[str], known: Iterable[WithAmount[Kind]]) -> list[str]:
    """What titles call the rules of these keys. Raises KeyError for a key of no rule that is known."""
    by_key = {item.key: item.rule.label for item in known}
    return [by_key[key] for key in keys]
