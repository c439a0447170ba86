"""The design of the study: its cells, one an arm and seed, as many seeds as the settings say when definitions load."""

from __future__ import annotations

from assets.study import Study
from evolake import settings as settings_module
from evolake.repair.settings import RepairSettings
from evolake.repair.tables import ARMS, LINE, cell_of

study = Study(
    LINE, "Solver-grounded repair against mere attempts: five arms, matched budgets.", owners=("team:evolake",),
    cells=tuple(cell_of(arm, seed) for seed in range(settings_module.load().of(RepairSettings).seeds) for arm in ARMS),
)
