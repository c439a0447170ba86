"""Settings and profiles: where the lake is, which backend serves the roles, how large a cycle may be.

Every setting has an environment variable (`EVOLAKE_` + name in capitals; nested names joined by `__`). A profile is a TOML file of sizes and
limits in `evolake/profiles/`; `EVOLAKE_PROFILE` names the one to use and single values can be overridden, e.g. `EVOLAKE_DESIGNS__BATCH=20`.
Precedence, highest first: environment, profile, defaults.
"""

from __future__ import annotations

import os
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from evolake.errors import InputError
from evolake.sizes.designs import DesignsSettings
from evolake.sizes.families import FamiliesSettings
from evolake.sizes.prompts import PromptsSettings
from evolake.sizes.repair import RepairSettings
from evolake.sizes.solvers import SolversSettings

PROJECT_ROOT = Path(__file__).resolve().parent.parent
DEFAULT_PROFILE = "laptop"


class BudgetSettings(BaseModel):
    """What the model backend may spend. None means no bound of that kind."""

    model_config = ConfigDict(extra="forbid")
    usd_per_cycle: float | None = None
    usd_per_run: float | None = None
    tokens_per_cycle: int | None = None
    tokens_per_run: int | None = None


class PriceSettings(BaseModel):
    """What a model costs, in US dollars per million tokens. `cached` is the price of input tokens served from a cache; None: as `input`."""

    model_config = ConfigDict(extra="forbid")
    input: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    output: float = Field(ge=0)


class Settings(BaseSettings):
    """Everything evolake reads from the environment and the profile."""

    model_config = SettingsConfigDict(env_prefix="EVOLAKE_", env_nested_delimiter="__", extra="ignore")

    profile: str = DEFAULT_PROFILE
    lake: Path = Field(default_factory=lambda: default_lake_root())
    seeds: Path = Field(default_factory=lambda: default_lake_root() / "seeds", description="what evolution starts from: seed designs, rules")
    seed: int = Field(default=0, ge=0)
    backend: Literal["operators", "model"] = "operators"
    workers: int = Field(default_factory=lambda: max(1, os.cpu_count() or 1), gt=0)
    jail: Literal["bubblewrap", "rlimits"] = "bubblewrap"
    require_all: bool = False
    model_base_url: str | None = None
    model_api_key: SecretStr | None = None
    models: dict[str, str] = Field(default_factory=dict, description="role -> model name; the key `default` serves the rest")
    system_prompts: dict[str, str] = Field(
        default_factory=dict, description="role -> `champion` of the prompts line, or a prompt id; the key `default` serves the rest",
    )
    model_timeout_s: float = Field(default=180, gt=0, description="wall seconds one try of a call may take, its last byte included")
    model_max_retries: int = Field(default=5, ge=0, description="tries after the first on 429, 5xx, timeouts and broken connections")
    model_repairs: int = Field(default=2, ge=0, le=9, description="further attempts that show the model what was wrong with its reply")
    model_max_output_tokens: int = Field(default=8192, gt=0)
    model_temperature: float | None = Field(default=None, ge=0)
    model_reply_bytes: int = Field(default=4_000_000, gt=0, description="a longer reply is cut off and counts as a failed attempt")
    model_threads: int = Field(default=4, gt=0, description="model calls in flight at once")
    prices: dict[str, PriceSettings] = Field(default_factory=dict, description="model name -> price; needed for a budget in usd")
    replay_only: bool = False
    budget: BudgetSettings = BudgetSettings()
    designs: DesignsSettings = DesignsSettings()
    families: FamiliesSettings = FamiliesSettings()
    prompts: PromptsSettings = PromptsSettings()
    repair: RepairSettings = RepairSettings()
    solvers: SolversSettings = SolversSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Environment above what `load` passes in (the profile)."""
        return env_settings, init_settings


def default_lake_root() -> Path:
    """The project's own data_lake/, wherever the command is typed."""
    return PROJECT_ROOT / "data_lake"


def profile_names() -> list[str]:
    """Names of the shipped profiles."""
    folder = resources.files("evolake") / "profiles"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def load(profile: str | None = None, **overrides: Any) -> Settings:
    """Settings of `profile` (default: EVOLAKE_PROFILE, else laptop) with `overrides` (values of the right type) above everything.

    Raises:
        InputError: no such profile, or a value that does not fit its setting.
    """
    name = profile or os.environ.get("EVOLAKE_PROFILE") or DEFAULT_PROFILE
    path = resources.files("evolake") / "profiles" / f"{name}.toml"
    if not path.is_file():
        raise InputError(f"no profile named {name!r}", wanted=f"one of {', '.join(profile_names())}", do="pass --profile with one of these names")
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text()) | {"profile": name}
        settings = Settings(**values)
        return settings.model_copy(update=overrides | {"profile": name})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"setting {where!r} cannot be used", wanted=first["msg"], got=repr(first.get("input"))[:200],
            do=f"mend EVOLAKE_{where.upper().replace('.', '__')} or the profile {name}.toml",
        ) from None

