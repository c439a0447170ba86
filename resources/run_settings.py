"""What a run may be given in the Launchpad, by a schedule or by a sensor: the resource `settings`.

Its defaults are the settings of the code server (`evolake.settings.load`). A value that differs is laid over
them in one place, `lay_over`: as variables of the run's process, so that whatever it starts reads the same.
Every resource that reads settings while it is set up calls it first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from typing import Any, Literal

import dagster as dg
from pydantic import BaseModel, Field

from evolake import settings as settings_module
from evolake.errors import InputError
from evolake.settings import PREFIX, Settings

KEY = "settings"


def _loaded() -> Settings:
    """Return the settings, or the defaults where they cannot be read: whoever needs them says so, and this
    module is imported by those who do not."""
    try:
        return settings_module.load()
    except InputError:
        return settings_module.settings_type().model_construct()


_now = _loaded()
"""As the definitions are loaded: what the Launchpad shows first."""
TAGGED = ("profile", "backend", "seed")
"""Settings that every run is tagged with; further ones if the run was given them."""


def _shown(name: str, of: BaseModel = _now) -> Any:
    """Return a field of the Launchpad: a setting as it is now, with its description."""
    return Field(default=getattr(of, name), description=type(of).model_fields[name].description)


class Budget(dg.Config):
    """What the model backend may spend; null: no bound of that kind."""

    usd_per_cycle: float | None = _shown("usd_per_cycle", _now.budget)
    usd_per_run: float | None = _shown("usd_per_run", _now.budget)
    tokens_per_cycle: int | None = _shown("tokens_per_cycle", _now.budget)
    tokens_per_run: int | None = _shown("tokens_per_run", _now.budget)


class RunSettings(dg.ConfigurableResource):
    """The settings of one run. A field that is left out is as the code server has it."""

    profile: str = _shown("profile")
    backend: Literal["operators", "model"] = _shown("backend")
    models: dict[str, str] = _shown("models")
    budget: Budget = Budget()
    workers: int = _shown("workers")
    seed: int = _shown("seed")

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """See `lay_over`."""
        lay_over(context)

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Give the process its variables back: it may make another run."""
        if context.run and context.run.run_id in _laid:
            _restore(_laid.pop(context.run.run_id)[0])


def values(settings: Settings) -> dict[str, Any]:
    """Return what `RunSettings` has of some settings, as JSON."""
    return settings.model_dump(mode="json", include=set(RunSettings.model_fields))


def run_config() -> dict[str, Any]:
    """Return the run configuration that says in full what a run would have without one."""
    return {"resources": {KEY: {"config": values(settings_module.load())}}}


_laid: dict[str, tuple[dict[str, str], InputError | None]] = {}
"""Run -> the variables of settings that its process had before, and what cannot be used of its own."""


def lay_over(context: dg.InitResourceContext) -> InputError | None:
    """Lay what the run was given over the settings of this process, once, and tag the run with it. Return
    why it cannot be used: `LakeResource` raises that in the first asset, where the UI shows it."""
    run = context.run
    if run is None:
        return None
    if run.run_id not in _laid:
        before = _variables()
        resources: Any = run.run_config.get("resources", {})
        given = resources.get(KEY, {}).get("config", {})
        try:
            new = _lay(given)
            now = values(settings_module.load())
        except InputError as error:
            _restore(before)
            _laid[run.run_id] = before, error
        else:
            _laid[run.run_id] = before, None
            tags = {
                f"evolake/{name}": value if isinstance(value, str) else json.dumps(value)
                for name, value in now.items()
                if name in TAGGED or name in new
            }
            if context.instance and not tags.items() <= run.tags.items():
                context.instance.add_run_tags(run.run_id, tags)
    return _laid[run.run_id][1]


def refusal(error: InputError) -> dg.Failure:
    """Return the failure of a run whose configuration cannot be used, in a sentence."""
    wanted = f", wanted: {error.wanted}" if error.wanted else ""
    return dg.Failure(
        f"the run configuration cannot be used: {error.what}{wanted}; correct it in resources: {KEY}: config",
        allow_retries=False,
    )


def _lay(given: Mapping[str, Any]) -> Collection[str]:
    """Set the variables of what differs from the settings as they are; gives its names."""
    before = values(settings_module.load())
    if "budget" in given:
        given = {**given, "budget": before["budget"] | given["budget"]}
    new = {name: value for name, value in given.items() if value != before[name]}
    for name, value in new.items():
        variable = f"{PREFIX}{name.upper()}"
        for other in [other for other in _variables() if other.upper().split("__")[0] == variable]:
            del os.environ[other]
        os.environ[variable] = value if isinstance(value, str) else json.dumps(value)
    return new.keys()


def _variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.upper().startswith(PREFIX)}


def _restore(variables: Mapping[str, str]) -> None:
    for name in _variables().keys() - variables.keys():
        del os.environ[name]
    os.environ.update(variables)
