"""The agents as a Dagster resource: opened for one cycle and one run, so that budget and guidance belong to
them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from evolake import settings as settings_module
from resources.lake import LakeResource

if TYPE_CHECKING:
    from evolake.agents import Agents


class AgentsResource(dg.ConfigurableResource):
    """Serves the roles by the backend that the settings name (EVOLAKE_BACKEND). Nothing is contacted until
    `open`."""

    def open(self, lake: LakeResource, cycle: str, run_id: str, *, line: str) -> Agents:
        """Open the agents of one cycle of a line, which pays for what they ask.

        Raises:
            InputError: the backend is `model` and its endpoint, key or model name is missing. Before any
                work.
        """
        from evolake.agents import open_agents

        return open_agents(settings_module.load(), lake.open().root, cycle, run_id, line=line)
