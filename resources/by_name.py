"""The resources that assets may ask for, by name."""

from __future__ import annotations

from resources.agents import AgentsResource
from resources.compute import ComputeResource
from resources.jail import JailResource
from resources.lake import LakeIOManager, LakeResource
from resources.run_settings import KEY, RunSettings


def resources_by_name() -> dict[str, object]:
    """Return a new set of all resources. Everything opens on first use."""
    lake, settings = LakeResource(), RunSettings.configure_at_launch()
    return {
        "lake": lake,
        KEY: settings,
        "io_manager": LakeIOManager(lake=lake, settings=settings),
        "agents": AgentsResource(),
        "jail": JailResource(),
        "compute": ComputeResource(),
    }
