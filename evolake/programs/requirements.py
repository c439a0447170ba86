"""What the line needs: a project."""

from __future__ import annotations

from evolake import settings as settings_module
from evolake.errors import InputError
from evolake.programs.settings import ProgramsSettings

NO_PROJECT = (
    "There is no project. Name folders in EVOLAKE_PROGRAMS__PROJECTS (examples/programs has three), or "
    "make one: evolake programs new NAME"
)


def nothing_to_do() -> str | None:
    """Return why the line has nothing to do; None if there is a project, in a folder or in the lake.

    Raises:
        InputError: a search that the settings name cannot be used.
    """
    from evolake.lake import Lake
    from evolake.programs.model.project import project_folders
    from evolake.programs.search.searches import search_named

    settings = settings_module.load()
    for name in settings.of(ProgramsSettings).search_names:
        search_named(name)
    if project_folders(settings.of(ProgramsSettings), *settings.seed_folders):
        return None
    try:
        root = settings.require_lake()
    except InputError:
        return NO_PROJECT
    return None if Lake(root).seals.read("programs", "0001") else NO_PROJECT
