"""Settings and profiles: where the lake is, which backend serves the roles, how large a cycle may be.

Every setting has an environment variable (`EVOLAKE_` + name in capitals; nested names joined by `__`). A
profile is a TOML file of sizes and limits in `evolake/profiles/`, and one for each line that departs from its
defaults; `EVOLAKE_PROFILE` names the one to use and single values can be overridden, e.g.
`EVOLAKE_DESIGNS__BATCH=20`. If no profile is named, a lake continues with the one that its newest population
was sealed under. Precedence, highest first: environment, profile, defaults. Outside of a project
(`evolake.project`) the lake has no default: `require_lake` raises.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, create_model, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from evolake import project
from evolake.errors import InputError
from evolake.lines import folder_of, lines
from evolake.reading.json_text import beyond_json
from evolake.terminal import warn

DEFAULT_PROFILE = "laptop"
PROFILE_FILE = "profile"
"""Below the lake's root: the profile that its newest population was sealed under."""
LONGEST_VALUE = 1 << 20
"""Characters of one variable."""
PREFIX = "EVOLAKE_"
READ_APART = frozenset(
    {
        "EVOLAKE_CALLED",
        "EVOLAKE_CODE_HOST",
        "EVOLAKE_CODE_PORT",
        "EVOLAKE_DEVICE",
        "EVOLAKE_FORMULA_CACHE",
        "EVOLAKE_KERNEL_CACHE",
        "EVOLAKE_KERNEL_CHECKS",
        "EVOLAKE_NIGHTLY_CRON",
        "EVOLAKE_NIGHTLY_LINES",
        "EVOLAKE_NIGHTLY_TIMEZONE",
        "EVOLAKE_PG_DATABASE",
        "EVOLAKE_PG_HOST",
        "EVOLAKE_PG_PASSWORD",
        "EVOLAKE_PG_PORT",
        "EVOLAKE_PG_USER",
        "EVOLAKE_PROJECT",
        "EVOLAKE_PROOF_TOOLS",
        "EVOLAKE_RULES_LOADED",
        "EVOLAKE_TASK",
        "EVOLAKE_TRACEBACK",
        "EVOLAKE_WARNED",
    }
)
"""Variables that are no settings: what has to be known before, or without, the settings, what processes hand
to those that they start, and what a coder's command is shown its task by."""
WARNED = "EVOLAKE_WARNED"
"""Set for the processes that a command starts: it has said what is misspelled."""
SIMILAR = 0.7
COMPUTE = re.compile(r"local|dask|dask:(tcp|tls)://[^\s:/]+:[0-9]{1,5}")
Section = TypeVar("Section", bound=BaseModel)


class LineSettings(BaseModel):
    """Base of the sections of lines. A name that is not a setting is an error."""

    model_config = ConfigDict(extra="forbid")


class SessionSettings(BaseModel):
    """What one session of a role may take; the budget of cycle and run holds next to it. None means no bound of that kind."""  # noqa: E501

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    turns: int = Field(default=40, gt=0, description="replies of the model in one session")
    calls: int = Field(default=12, gt=0, description="tool calls of one turn that are run")
    strikes: int = Field(default=3, gt=0, description="turns in a row of no use that end a session")
    repeats: int = Field(
        default=4,
        gt=0,
        description="times that one turn may be taken on the same files; the last of them ends a session",
    )
    tokens: int | None = Field(
        default=1_000_000, gt=0, description="tokens, read and written, one session may use"
    )
    usd: float | None = Field(
        default=None, gt=0, description="US dollars one session may cost; needs the price of its model"
    )
    wall_s: float | None = Field(
        default=3600, gt=0, description="seconds that replies and commands of one session may take together"
    )


class SamplingSettings(BaseModel):
    """How replies are drawn. What is None is not sent: the endpoint's own holds."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    temperature: float | None = Field(default=None, ge=0, description="sampling temperature")
    top_p: float | None = Field(
        default=None, gt=0, le=1, description="share of probability that tokens are drawn from"
    )
    seed: int | None = Field(default=None, description="seed of the endpoint's draws, where it has one")
    reasoning_effort: str | None = Field(
        default=None, min_length=1, description="how much the model thinks first, in the endpoint's words"
    )
    max_output_tokens: int | None = Field(default=None, gt=0, description="tokens a reply may have")
    extra_body: dict[str, Any] | None = Field(
        default=None, description="further fields of the request, as JSON"
    )


class AgentsSettings(BaseModel):
    """What a line does when agents give it nothing, and what a session may take."""

    model_config = ConfigDict(extra="forbid")
    session: SessionSettings = SessionSettings()
    command: str = Field(
        default="",
        description=(
            "command line of a coding agent that writes what a session would; it runs OUTSIDE of the jail, "
            "as you, with your network"
        ),
    )
    command_timeout_s: float = Field(
        default=1800, gt=0, allow_inf_nan=False, description="seconds that one run of the command may take"
    )
    failed_cycles_allowed: int = Field(
        default=1,
        ge=0,
        description="cycles in a row in which every proposal failed; the next such cycle is an error",
    )
    waves: int = Field(
        default=2,
        ge=1,
        description=(
            "waves in which a model is asked for one generation; each wave is sent the proposals of the "
            "waves before it"
        ),
    )


class BudgetSettings(BaseModel):
    """What the model backend may spend. None means no bound of that kind; what is no finite number of 0 or more is refused."""  # noqa: E501

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    usd_per_cycle: float | None = Field(default=None, ge=0, description="US dollars a cycle may cost")
    usd_per_run: float | None = Field(default=None, ge=0, description="US dollars a run may cost")
    tokens_per_cycle: int | None = Field(
        default=None, ge=0, description="tokens, read and written, a cycle may use"
    )
    tokens_per_run: int | None = Field(
        default=None, ge=0, description="tokens, read and written, a run may use"
    )


class LogsSettings(BaseModel):
    """Logs outside of the lake that every finished cycle is written to. Empty: none."""

    model_config = ConfigDict(extra="forbid")
    mlflow: str = Field(
        default="",
        description="tracking URI of MLflow, such as `sqlite:////srv/mlflow.db` or `http://HOST:5000`",
    )
    wandb: str = Field(default="", description="folder for offline runs of Weights & Biases")
    otel: str = Field(
        default="",
        description="endpoint for OpenTelemetry's spans, `http://HOST:4318/v1/traces`, or a folder for files",
    )


class SqlSettings(BaseModel):
    """What one statement of `evolake sql` may take."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    memory_gib: float = Field(default=4, gt=0, description="GiB that a statement and its rows may take")
    seconds: float = Field(default=600, gt=0, description="wall seconds that a statement may take")


class PriceSettings(BaseModel):
    """What a model costs, in US dollars per million tokens. `cached` is the price of input tokens served from a cache; None: as `input`."""  # noqa: E501

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    input: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    output: float = Field(ge=0)


class Settings(BaseSettings):
    """What evolake itself reads from the environment and the profile. `load` gives these with the section of every line."""  # noqa: E501

    model_config = SettingsConfigDict(
        env_prefix="EVOLAKE_", env_nested_delimiter="__", extra="ignore", allow_inf_nan=False
    )

    profile: str = Field(
        default=DEFAULT_PROFILE, description="sizes and limits: `demo`, `laptop`, `cluster`, `gpu`"
    )
    lake: Path | None = Field(default_factory=lambda: _lake_of_project(), description="folder of the lake")
    seeds: Path = Field(
        default_factory=lambda: default_seeds(), description="what evolution starts from: seed designs, rules"
    )
    seed: int = Field(
        default=0, ge=0, description="root of all random numbers; another seed is another evolution"
    )
    backend: Literal["operators", "model"] = Field(
        default="operators",
        description=(
            "who answers the roles: `operators`, a classical search with no model in it, or `model`, an "
            "endpoint"
        ),
    )
    workers: int = Field(
        default_factory=lambda: max(1, os.cpu_count() or 1),
        gt=0,
        description="processes and jails that run at the same time",
    )
    compute: str = Field(
        default="local",
        description=(
            "where heavy work is done: `local`, processes of this machine; `dask`, a Dask cluster of "
            "such; `dask:tcp://HOST:PORT`"
        ),
    )
    jail: Literal["bubblewrap", "rlimits"] = Field(
        default="bubblewrap",
        description=(
            "`bubblewrap`, or `rlimits`, the weaker mode: limits and a filter of system calls without walls"
        ),
    )
    require_all: bool = Field(
        default=False, description="whether what is missing here is an error where it would be skipped"
    )
    model_base_url: str | None = Field(
        default=None, description="address of an OpenAI-compatible endpoint, its version path included"
    )
    model_api_key: SecretStr | None = Field(
        default=None, description="key of that endpoint; never printed, never stored"
    )
    models: dict[str, str] = Field(
        default_factory=dict, description="role -> model name; the key `default` serves the rest"
    )
    system_prompts: dict[str, str] = Field(
        default_factory=dict,
        description="role -> `champion` of the prompts line, or a prompt id; the key `default` serves the rest",  # noqa: E501
    )
    model_timeout_s: float = Field(
        default=180, gt=0, description="wall seconds one try of a call may take, its last byte included"
    )
    model_max_retries: int = Field(
        default=5, ge=0, description="tries after the first on 429, 5xx, timeouts and broken connections"
    )
    model_repairs: int = Field(
        default=2,
        ge=0,
        le=9,
        description="further attempts that show the model what was wrong with its reply",
    )
    model_max_output_tokens: int = Field(default=8192, gt=0, description="tokens a reply may have")
    model_temperature: float | None = Field(
        default=None, ge=0, description="sampling temperature; unset: the endpoint's own"
    )
    sampling: dict[str, SamplingSettings] = Field(
        default_factory=dict,
        description="role -> how its replies are drawn; the key `default` holds for the rest, field by field",
    )
    model_cache_hints: bool = Field(
        default=False,
        description=(
            "whether messages bear `cache_control` marks for a prompt cache, which servers of Anthropic's "
            "models read and others may refuse"
        ),
    )
    model_strict: bool = Field(
        default=False,
        description="whether a completion that names another model than was asked for is an error",
    )
    model_threads: int = Field(default=4, gt=0, description="model calls in flight at the same time")
    prices: dict[str, PriceSettings] = Field(
        default_factory=dict, description="model name -> price; needed for a budget in usd"
    )
    replay_only: bool = Field(
        default=False,
        description="whether only replies in the call cache may be used: a call that is not there is an error",  # noqa: E501
    )
    alert_command: str | None = Field(
        default=None, description="command that receives a failed run: JSON on its standard input"
    )
    alert_webhook: SecretStr | None = Field(
        default=None, description="address that the same JSON is posted to; never printed"
    )
    budget: BudgetSettings = BudgetSettings()
    logs: LogsSettings = LogsSettings()
    sql: SqlSettings = SqlSettings()
    agents: AgentsSettings = AgentsSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return environment above what `load` passes in (the profile)."""
        return env_settings, init_settings

    @field_validator("compute")
    @classmethod
    def _names_a_place(cls, value: str) -> str:
        if not COMPUTE.fullmatch(value):
            raise ValueError("local, dask, or the address of a Dask scheduler as dask:tcp://HOST:PORT")
        return value

    def require_lake(self) -> Path:
        """Return the folder of the lake.

        Raises:
            InputError: no lake is named, and this is no project that has one; says how to get one.
        """
        return default_lake_root() if self.lake is None else self.lake

    @property
    def added_seeds(self) -> Path:
        """Folder that added seeds are written to: `seeds` of the lake in use, or the folder that
        EVOLAKE_SEEDS names.

        An installed package is never written to, even if EVOLAKE_SEEDS names its folder.

        Raises:
            InputError: no lake is in use.
        """
        named = "seeds" in self.model_fields_set and not self.seeds.resolve().is_relative_to(project.PRIVATE)
        return self.seeds if named else self.require_lake() / "seeds"

    @property
    def seed_folders(self) -> tuple[Path, ...]:
        """Folders that lines read seeds from: `seeds`, then the folder of added seeds if it is another one.
        The last one is written to."""
        try:
            added = self.added_seeds
        except InputError:
            return (self.seeds,)
        return (self.seeds,) if added.resolve() == self.seeds.resolve() else (self.seeds, added)

    def of(self, kind: type[Section]) -> Section:
        """Return the section of a line, by the class of its settings.

        Raises:
            LookupError: these settings have no such section.
        """
        return getattr(self, self._place(kind))

    def with_section(self, section: BaseModel) -> Self:
        """Return these settings with another section in the place of that of its class. Raises as `of`
        does."""
        return self.model_copy(update={self._place(type(section)): section})

    def _place(self, kind: type[BaseModel]) -> str:
        """Return the name of the section of a class."""
        for name in type(self).model_fields:
            if type(getattr(self, name)) is kind:
                return name
        raise LookupError(f"no section {kind.__name__} in these settings")


@cache
def settings_type() -> type[Settings]:
    """Return `Settings` with a section for each line that is installed: `EVOLAKE_<LINE>__<FIELD>` in the
    environment, `<line>=` when it is made."""
    kinds = {spec.name: spec.settings.load() for spec in lines().values() if spec.settings}
    sections: dict[str, Any] = {name: (kind, kind()) for name, kind in kinds.items()}
    return create_model("LoadedSettings", __base__=Settings, **sections)


def __getattr__(name: str) -> Any:
    """`LoadedSettings`, by which settings that go to another process are found there."""
    if name == "LoadedSettings":
        return settings_type()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def default_lake_root() -> Path:
    """Return the project's own data_lake/. Raises InputError outside of a project."""
    return project.root() / "data_lake"


def named_lake() -> Path:
    """Return the folder of the lake without a look at other settings: what the lake says of them may be
    damaged. Variables that nothing reads are warned of, as by `load`. Raises InputError as
    `Settings.require_lake`."""
    project.expand_homes()
    _warn()
    named = os.environ.get("EVOLAKE_LAKE")
    return Path(named) if named else default_lake_root()


def _lake_of_project() -> Path | None:
    return default_lake_root() if project.find() else None


def default_seeds() -> Path:
    """Return the project's own seeds; outside of a project, those that evolake brings along."""
    return (project.find() or project.BROUGHT) / "data_lake" / "seeds"


def profile_names() -> list[str]:
    """Return names of the shipped profiles."""
    folder = resources.files("evolake") / "profiles"
    return sorted(
        entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")
    )


def profile_sections(profile: str) -> dict[str, dict[str, Any]]:
    """Return line -> the values that a profile sets in its section, of the lines that have a file for it."""
    files = {
        spec.name: folder_of(spec.profiles) / f"{profile}.toml" for spec in lines().values() if spec.profiles
    }
    return {name: tomllib.loads(path.read_text()) for name, path in files.items() if path.is_file()}


def profile_of(lake: Path) -> str | None:
    """Return the profile that the lake's newest population was sealed under; None for a lake that holds
    none."""
    try:
        return (lake / PROFILE_FILE).read_text(encoding="utf-8").strip() or None
    except (OSError, ValueError):
        return None


def chosen_profile(lake: Path | None = None) -> tuple[str, str]:
    """Return (the profile that holds if none is passed, who chose it). lake: whose is asked; by default
    that of the environment or the project."""
    if name := os.environ.get("EVOLAKE_PROFILE"):
        return name, "as asked"
    place = lake or os.environ.get("EVOLAKE_LAKE") or _lake_of_project()
    name = profile_of(Path(place)) if place else None
    if name:
        return name, "the lake's own"
    return DEFAULT_PROFILE, "the default"


def load(profile: str | None = None, **overrides: Any) -> Settings:
    """Return settings of `profile` (default: EVOLAKE_PROFILE, else the lake's, else laptop) with `overrides`
    (values of the right type) above everything.

    Raises:
        InputError: no such profile, or a value that does not fit its setting.
    """
    _require_paths()
    name = profile or chosen_profile(overrides.get("lake"))[0]
    path = resources.files("evolake") / "profiles" / f"{name}.toml"
    if name not in profile_names():
        raise InputError(
            f"no profile named {name!r}",
            wanted=f"one of {', '.join(profile_names())}",
            do="pass --profile with one of these names",
        )
    _require_bounded(os.environ)
    _warn()
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text()) | profile_sections(name) | {"profile": name}
        settings = settings_type()(**values)
        return settings.model_copy(update=overrides | {"profile": name})
    except SettingsError as error:
        named = re.search(r'field "(\w+)"', str(error))
        variable = f"EVOLAKE_{named[1].upper()}" if named else "EVOLAKE_..."
        variable = (
            " or ".join(name for name in sorted(os.environ) if name.upper().split("__")[0] == variable)
            or variable
        )
        raise InputError(
            f"{variable} cannot be read",
            wanted='JSON, such as EVOLAKE_MODELS=\'{"default": "some-model"}\'',
            got=str(error.__cause__ or error),
            do=f"fix the variable {variable}, or unset it",
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        variable = PREFIX + where.upper().replace(".", "__")
        if first["type"] == "extra_forbidden":
            raise InputError(
                f"there is no setting {variable}",
                got=repr(first.get("input"))[:200],
                do=(f"did you mean {near}? " if (near := _nearest(variable)) else "")
                + f"Rename or unset the variable, or correct the profile {name}.toml",
            ) from None
        raise InputError(
            f"setting {where!r} cannot be used",
            wanted=first["msg"],
            got=repr(first.get("input"))[:200],
            do=f"fix {variable} or the profile {name}.toml",
        ) from None


def _require_bounded(environment: Mapping[str, str]) -> None:
    """Check that every variable of ours is short and flat enough to be parsed. Raises InputError that names
    the variable."""
    for name, value in environment.items():
        if name.upper().startswith("EVOLAKE_") and (
            why := beyond_json(value, characters=LONGEST_VALUE, digits=LONGEST_VALUE)
        ):
            raise InputError(
                f"{name} cannot be read",
                wanted="a value within the limits",
                got=why,
                do=f"fix the variable {name}, or unset it",
            )


def _require_paths() -> None:
    """Check the variables that are paths. Raises InputError: one has no home, or is not UTF-8, which tables
    and databases cannot hold."""
    project.expand_homes()
    for name in project.PATHS:
        if os.environ.get(name, "").startswith("~"):
            raise InputError(f"{name} names the home of no user", got=os.environ[name], do=f"correct {name}")
        _require_text(name, os.environ.get(name, ""))
    if (folder := project.find()) is not None:
        _require_text("the project's folder", str(folder))


def _require_text(what: str, path: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{what} is a path that is not UTF-8",
            wanted="a path of UTF-8 characters, as Dagster's database and Parquet store it",
            got=ascii(path),
            do="rename the folder, or use another one",
        ) from None


def _warn() -> None:
    """Say once which variables look like misspelled settings, unless the command that
    started it has said so."""
    if WARNED in os.environ:
        return
    for name, near in unread_variables(os.environ):
        if near:
            warn(_unread_text(name, near))


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Return a sentence for each variable of ours that nothing reads, with the name that is nearest to it.
    One inside a section is an error of the settings already."""
    return [_unread_text(name, near) for name, near in unread_variables(environment)]


def _unread_text(name: str, near: str) -> str:
    return f"{name} is read by nothing" + (f"; did you mean {near}?" if near else "")


def unread_variables(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each variable of ours that nothing reads, with the name that is nearest to it ("" if none is)."""
    fields = settings_type().model_fields
    for name in sorted(environment):
        top, _, inner = name.upper().partition("__")
        if not top.startswith(PREFIX) or (top in READ_APART and not inner):
            continue
        field = fields.get(top.removeprefix(PREFIX).lower())
        if field is None or (inner and not _has_parts(field.annotation)):
            yield name, _nearest(name.upper())


def _has_parts(kind: Any) -> bool:
    """Return whether a setting of this type is a section or a mapping."""
    return "dict" in str(kind) or (isinstance(kind, type) and issubclass(kind, BaseModel))


def _nearest(name: str) -> str:
    """Return the variable that is most like a name; "" if none is much like it."""
    top, _, inner = name.removeprefix(PREFIX).partition("__")
    sections: dict[str, list[str]] = {}
    for field, info in settings_type().model_fields.items():
        kind: Any = info.annotation
        known = list(kind.model_fields) if isinstance(kind, type) and issubclass(kind, BaseModel) else []
        sections[field.upper()] = [item.upper() for item in known]
    if inner:
        section = _most_like(top, sections)
        part = _most_like(inner.partition("__")[0], sections.get(section, []))
        near = f"{section}__{part}" if part else section
    else:
        nested = [f"{section}__{part}" for section, parts in sections.items() for part in parts]
        apart = [known.removeprefix(PREFIX) for known in READ_APART]
        near = next((known for known in nested if known.endswith(f"__{top}")), "") or _most_like(
            top, [*sections, *apart, *nested]
        )
    return PREFIX + near if near else ""


def _most_like(word: str, known: Iterable[str]) -> str:
    return next(iter(get_close_matches(word, list(known), 1, SIMILAR)), "")
