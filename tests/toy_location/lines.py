"""A line that is tiny and honest: each cycle hands on what entered it with its own mark, so contents tell
which cycle stood on which.

What a test wants to go wrong it plants as a file in the folder EVOLAKE_TOY_PLANTS: `fail-<line>-<cycle>`,
`salt-<line>-<cycle>` (a change of content), `twice-<line>-<cycle>` (a repeated member, which the check
forbids), `none-<line>-<cycle>` (nothing survives), `hang-<line>-<cycle>`, `idle-<line>-0000` (why there is
nothing to do).
"""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

import dagster as dg
import polars as pl

from assets.checks import suite_check
from assets.cycle import Line, open_cycle, read_population, seal_cycle, seal_seeds
from pipelines.lines import BuiltLine
from resources.lake import LakeResource


def plant(kind: str, line: str, cycle: str) -> str | None:
    """What was planted, None where nothing was."""
    path = Path(os.environ["EVOLAKE_TOY_PLANTS"]) / f"{kind}-{line}-{cycle}"
    return path.read_text() if path.exists() else None


def toy_line(name: str, *, checked: bool = False) -> BuiltLine:
    """seeds -> incoming* -> candidates -> survivors, with a blocking check on candidates where `checked`."""
    idle = partial(plant, "idle", name, "0000")
    line = Line(name, f"The toy line {name}.", owners=("team:toys",), idle=idle)

    @line.seed_asset(description="One member.")
    def seeds(context: dg.AssetExecutionContext, lake: LakeResource) -> dg.MaterializeResult:
        members = pl.DataFrame({"member": [f"seed{plant('salt', name, '0000') or ''}"]})
        return dg.MaterializeResult(metadata=seal_seeds(context, lake, line, {"members": members}).metadata())

    @line.asset(deps=[line.incoming])
    def candidates(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
        """What entered the cycle, each member with the cycle's mark."""
        if plant("unopened", name, context.partition_key) is not None:
            return pl.DataFrame({"cycle": [context.partition_key], "member": ["foundling"]})
        opened = open_cycle(context, lake, line)
        members = read_population(lake, line, opened.cycle)["members"]
        mark = f">{opened.cycle}{plant('salt', name, opened.cycle) or ''}"
        context.add_output_metadata(opened.metadata())
        marked = members.select(cycle=pl.lit(opened.cycle), member=pl.col("member") + mark)
        return pl.concat([marked, marked]) if plant("twice", name, opened.cycle) is not None else marked

    checks = []
    if checked:
        checks.append(
            suite_check(
                candidates,
                "members_are_unique",
                "No member twice.",
                line.cycles,
                lambda gxe: [
                    gxe.ExpectColumnValuesToBeUnique(column="member"),
                    gxe.ExpectColumnValuesToNotBeNull(column="member"),
                ],
                f"SELECT cycle, member, count(*) AS times FROM {name}.candidates WHERE cycle = $cycle "
                "GROUP BY ALL HAVING times > 1 ORDER BY member",
            )
        )

    @line.asset()
    def survivors(
        context: dg.AssetExecutionContext, lake: LakeResource, candidates: pl.DataFrame
    ) -> dg.MaterializeResult:
        """All of them, or none where a test wants none."""
        cycle = context.partition_key
        while plant("hang", name, cycle) is not None:
            time.sleep(0.05)
        if plant("fail", name, cycle) is not None:
            raise dg.Failure(f"planted failure in cycle {cycle}", allow_retries=False)
        living = candidates.select("member").head(
            0 if plant("none", name, cycle) is not None else candidates.height
        )
        return dg.MaterializeResult(
            metadata=seal_cycle(context, lake, line, cycle, {"members": living}, guarded_by=checks).metadata()
        )

    return BuiltLine(line, [seeds, candidates, survivors], checks)
