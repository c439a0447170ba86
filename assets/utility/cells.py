"""The design of the study: its cells, one per arm and seed, as many seeds as the settings say when
definitions load."""

from __future__ import annotations

from assets.study import Study
from evolake import settings as settings_module
from evolake.utility.settings import UtilitySettings
from evolake.utility.tables import ARMS, LINE, cell_of

study = Study(
    LINE,
    "What training on seeds, on evolved families and on both is worth to a model, at equal steps, "
    "instances and tokens.",
    owners=("team:evolake",),
    cells=tuple(
        cell_of(arm, seed) for seed in range(settings_module.load().of(UtilitySettings).seeds) for arm in ARMS
    ),
)
