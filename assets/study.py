"""A study as Dagster sees it: a fixed design whose cells are run, then findings over all of them. Nothing
evolves, so there are no cycles.

Cells are static partitions `<arm>-<seed>` (names that fit a folder); a study without a list of cells has
dynamic ones, which are added as they come. The assets are in three groups, each of
one kind of partition, so that "Materialize all" on a group is one clear thing: `<study>_setup` makes what
every cell works on, `<study>` runs cells (a backfill runs them all), `<study>_findings` compares them. Cells
do not depend on each other; they share one pool of one slot because each uses all workers already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import dagster as dg

from assets.guards import unmet
from assets.package import Decorator, Options, Package
from evolake.lake import Lake


@dataclass(frozen=True)
class Study(Package):
    """One study. `cells`: the partition keys of its design; none: they are added as they come."""

    cells: tuple[str, ...] = ()

    @property
    def partitions(self) -> dg.StaticPartitionsDefinition | dg.DynamicPartitionsDefinition:
        """The cells as partitions."""
        if not self.cells:
            return dg.DynamicPartitionsDefinition(name=self.name)
        return dg.StaticPartitionsDefinition(list(self.cells))

    @property
    def pool(self) -> str:
        """The pool of one slot in which the study's runs wait for each other."""
        return f"study_{self.name}"

    @property
    def job_name(self) -> str:
        """The job that runs one cell."""
        return f"{self.name}_study"

    @property
    def setup_group(self) -> str:
        """The group, and the job, of what every cell works on."""
        return f"{self.name}_setup"

    @property
    def findings_group(self) -> str:
        """The group, and the job, of what is found over all cells."""
        return f"{self.name}_findings"

    def requested(self, description: str) -> dg.AssetSpec:
        """Return the external asset of what a command asks for, a partition for each."""
        return dg.AssetSpec(
            self.key("requested"),
            partitions_def=self.partitions,
            group_name=self.name,
            owners=list(self.owners),
            kinds=set(self.kinds),
            description=description,
        )

    def cell_asset(self, **given: Unpack[Options]) -> Decorator:
        """Return a decorator that makes a function an asset of every cell."""
        return self.decorate(self.name, **{**given, "partitions_def": self.partitions})

    def setup_asset(self, **given: Unpack[Options]) -> Decorator:
        """Return a decorator that makes a function an asset that every cell works on."""
        return self.decorate(self.setup_group, **given)

    def finding(self, **given: Unpack[Options]) -> Decorator:
        """Return a decorator that makes a function an asset over all cells. A cell asset in `deps` means all
        its cells."""
        return self.decorate(self.findings_group, **given)

    def require_cells(self, lake: Lake, checks: Sequence[dg.AssetChecksDefinition]) -> None:
        """Fail, not to be retried, unless every cell is there and `checks` have passed on its current part.

        Within one run a failed blocking check stops what is downstream; findings are another run, so they
        ask.
        """
        said = {cell: unmet(lake, checks, cell) for cell in self.cells}
        missing = {cell: result for cell, result in said.items() if result}
        if missing:
            first, result = next(iter(missing.items()))
            raise dg.Failure(
                f"no findings yet: {len(missing)} of {len(self.cells)} cells have not passed their "
                f"checks; first {first}: {', '.join(result)}. Materialize the group {self.name!r} for the "
                f"missing cells ({', '.join(missing)}), with its checks.",
                allow_retries=False,
            )
