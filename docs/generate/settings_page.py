"""Reference of settings: every field with its variable, its default, its value in each profile and what it
means."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cells import code, table
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from evolake.settings import Settings, load, profile_names, settings_type

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

HEAD = """# Settings

Every setting is an environment variable. What is set there wins over the profile (`EVOLAKE_PROFILE`, or `--profile`), and the profile over the
default. Lists and mappings are written as JSON. A value that does not fit is an error before any work.

In each section the settings are grouped by who changes them. Most people need the first group of the first section, and a profile.
"""  # noqa: E501
COMPUTED = {
    "lake": "the project's `data_lake`",
    "seeds": "`seeds` in the project's lake",
    "workers": "number of cores",
}
USE, SIZES, LIMITS, METHOD = "Use", "Sizes", "Limits", "Method"
GROUPS = {
    USE: "Set by users of evolake.",
    SIZES: "Set by profiles. Change one to run more or less than the profile does.",
    LIMITS: "Time, memory and processes. Change one for a slower or smaller machine.",
    METHOD: "Change one to compare methods: results of different values cannot be compared with each other.",
}
OF_THE_MACHINE = re.compile(
    r"(^|[._])(workers|compute|jail|threads|retries|device|rows_per_pass)$|(_(s|ms|mb|bytes|memory|gib)|seconds)$"
)


def settings_page() -> str:
    """Return the page, a section for what all lines share and one for each line that has settings, in each a
    table for each group."""
    by_section: dict[str, dict[str, list[list[str]]]] = {"": {}}
    profiles = {name: load(name) for name in profile_names()}
    for path, field in fields(settings_type()):
        line, _, rest = path.partition(".")
        section = line if rest and line not in Settings.model_fields else ""
        cells = row(path, field, profiles)
        by_section.setdefault(section, {}).setdefault(
            group_of(path, section, by_profile=bool(cells[2])), []
        ).append(cells)
    return HEAD + "".join(
        f"\n## {section or 'All lines'}\n"
        + "".join(
            f"\n### {group}{f' of {section}' if section else ''}\n\n{about}\n\n"
            + table(["variable", "default", "profiles", "meaning"], groups[group])
            for group, about in GROUPS.items()
            if group in groups
        )
        for section, groups in by_section.items()
    )


def group_of(path: str, section: str, *, by_profile: bool) -> str:
    """Who changes a setting, as its group says. section: "" for what all lines share. by_profile: whether
    some profile sets it."""
    if OF_THE_MACHINE.search(path):
        return LIMITS
    if by_profile:
        return SIZES
    return METHOD if section else USE


def fields(model: type[BaseModel], before: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """(dotted path, field) of every value of a model, those of the models in it included."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from fields(kind, f"{before}{name}.")
        else:
            yield before + name, field


def row(path: str, field: FieldInfo, profiles: dict[str, Any]) -> list[str]:
    """Return the cells of a setting. Of the profiles only those are named that leave the default."""
    given = field.get_default(call_default_factory=True)
    default = text(None if given is PydanticUndefined else given)
    values = (
        {}
        if path in COMPUTED or path == "profile"
        else {name: text(value_at(loaded, path)) for name, loaded in profiles.items()}
    )
    differing = ", ".join(f"{name} {value}" for name, value in values.items() if value != default)
    return [
        code("EVOLAKE_" + path.upper().replace(".", "__")),
        COMPUTED.get(path, default),
        differing,
        field.description or "",
    ]


def value_at(loaded: Any, path: str) -> Any:
    """Return the value at a dotted path."""
    for name in path.split("."):
        loaded = getattr(loaded, name)
    return loaded


def text(value: Any) -> str:
    """Return a value as one would set it; "" where nothing is set."""
    if value is None or value in ({}, []):
        return ""
    if isinstance(value, float):
        return code(f"{value:.10g}")
    return code(json.dumps(value) if isinstance(value, list | dict | bool) else value)
