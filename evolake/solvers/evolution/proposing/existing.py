"""The variants that exist: a new one must differ from all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evolake.solvers.edits import write_edits
from evolake.solvers.evolution.planning import KnownVariant


@dataclass(frozen=True)
class ExistingVariants:
    """Variants that a new one must differ from. ids: of their sources. edits: base -> texts of
    `edits.json`."""

    ids: set[str] = field(default_factory=set)
    edits: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of_rows(cls, rows: Iterable[Mapping[str, Any]]) -> ExistingVariants:
        """Return those of rows of VARIANTS."""
        result = cls()
        for row in rows:
            result.add(row["variant_id"], row["base"], row["edits"])
        return result

    def add(self, variant_id: str, base: str, edits: str | None) -> None:
        """Add a variant. edits: its `edits.json`; None for one that was written as a diff."""
        self.ids.add(variant_id)
        if edits is not None:
            self.edits.setdefault(base, set()).add(edits)

    def with_parents(self, parents: Iterable[KnownVariant]) -> ExistingVariants:
        """Return a copy that has these, too."""
        result = ExistingVariants(set(self.ids), {base: set(texts) for base, texts in self.edits.items()})
        for item in parents:
            result.add(item.variant_id, item.base, None if item.edits is None else write_edits(item.edits))
        return result

    def has(self, variant_ids: Iterable[str], written: Iterable[tuple[str, str]]) -> bool:
        """Return whether one of these exists. written: base and text of `edits.json`."""
        return not self.ids.isdisjoint(variant_ids) or any(
            text in self.edits.get(base, ()) for base, text in written
        )
