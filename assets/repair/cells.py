"""The design of the study: its cells, one per arm and seed, the arms and as many seeds as the settings say
when definitions load."""

from __future__ import annotations

from assets.study import Study
from evolake import settings as settings_module
from evolake.repair.settings import RepairSettings
from evolake.repair.tables import LINE, cell_of

_sizes = settings_module.load().of(RepairSettings)
study = Study(
    LINE,
    "Solver-grounded repair against mere attempts: five arms, others opt-in, matched budgets.",
    owners=("team:evolake",),
    cells=tuple(cell_of(arm, seed) for seed in range(_sizes.seeds) for arm in _sizes.arms),
)
