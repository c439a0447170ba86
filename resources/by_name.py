"""The resources that assets may ask for, by name."""

from __future__ import annotations

from resources.agents import AgentsResource
from resources.compute import ComputeResource
from resources.jail import JailResource
from resources.lake import LakeIOManager, LakeResource


def resources_by_name() -> dict[str, object]:
    """Return a new set of all resources. Everything opens on first use."""
    lake = LakeResource()
    return {
        "lake": lake,
        "io_manager": LakeIOManager(lake=lake),
        "agents": AgentsResource(),
        "jail": JailResource(),
        "compute": ComputeResource(),
    }
