"""One line's cycles run by Dagster in this process, in a lake and an instance of a test's own."""

from dataclasses import dataclass
from typing import Any

import dagster as dg

from assets.line import register_keys
from evolake.lake import Lake


@dataclass(frozen=True)
class OneLine:
    line: str
    lake: Lake
    instance: dg.DagsterInstance
    defs: dg.Definitions

    def run(self, cycle: str, *assets: str) -> None:
        """Assets of a cycle in one run with their checks; all without any."""
        register_keys(self.instance, self.line, [cycle])
        done = self.defs.resolve_job_def(f"{self.line}_cycle").execute_in_process(
            instance=self.instance,
            partition_key=cycle,
            asset_selection=[dg.AssetKey([self.line, asset]) for asset in assets] or None,
        )
        assert done.success
        assert [check.check_name for check in done.get_asset_check_evaluations() if not check.passed] == []

    def rows(self, asset: str, cycle: str) -> list[dict[str, Any]]:
        return self.lake.read(self.line, asset, cycle).to_dicts()
