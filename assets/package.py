"""What every package of assets shares, be it a line or a study: keys, one pool, owners and kinds, and how a function becomes an asset of it."""

from __future__ import annotations

import contextlib
import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack, cast

import dagster as dg
import polars as pl
from dagster._core.instance.config import PoolGranularity

from evolake.errors import InputError
from evolake.lake import TableSchema
from resources.lake import LakeResource
from resources.reads import declare_reads
from resources.tables import column_schema, declare

Upstream = dg.AssetSpec | dg.AssetsDefinition | dg.SourceAsset | dg.AssetKey | str
Decorator = Callable[[Callable[..., object]], dg.AssetsDefinition]


class Options(TypedDict, total=False):
    """What an asset of a package may say of itself; everything is optional.

    deps: what it stands on without reading it; a string names an asset of the package. ins: where a parameter's frame comes from, else a parameter
    annotated `pl.DataFrame` or `pl.LazyFrame` is the asset of that name. schema: what the returned frame must have. kinds: beside the package's.
    """

    name: str
    deps: Sequence[Upstream]
    ins: Mapping[str, dg.AssetIn]
    kinds: Iterable[str]
    code_version: str
    description: str
    schema: TableSchema
    metadata: Mapping[str, Any]
    partitions_def: dg.PartitionsDefinition
    automation_condition: dg.AutomationCondition[Any]


WATCHED: dict[dg.AssetKey, Callable[[], dg.DataVersion]] = {}
"""Files that people edit, as observable assets: key -> their version now."""
PARTITIONED: dict[dg.AssetKey, bool] = {}
FRAMES = (pl.DataFrame, pl.LazyFrame)


def limit_pool(instance: dg.DagsterInstance, pool: str) -> None:
    """Give `pool` its one slot where Dagster does not know the pool yet.

    Dagster 1.13 learns of a pool when a run that needs it is first looked at in the queue, and does not apply the default limit in that same pass:
    the first backfill of a new line could start two of its cycles at once. Left alone where dagster.yaml does not count pools by runs: there a slot
    belongs to a step, and a step that is killed never gives it back.
    """
    storage = instance.event_log_storage
    by_runs = storage.supports_global_concurrency_limits and storage.get_pool_config().pool_granularity == PoolGranularity.RUN
    if by_runs and pool not in storage.get_concurrency_keys():
        storage.set_concurrency_slots(pool, 1)


@dataclass(frozen=True)
class Package:
    """A package of assets keyed (name, asset): what it is about, who owns it, the kinds and the code version shown on all its assets."""

    name: str
    description: str
    owners: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("polars", "parquet")
    code_version: str = "1"
    missing: Callable[[], str | None] = field(default=lambda: None, compare=False)
    """What this machine lacks to run the package's assets, in a sentence that says what to install; None where nothing is missing."""
    idle: Callable[[], str | None] = field(default=lambda: None, compare=False)
    """Why there is nothing for the package to do, in a sentence that says how to change that; None where there is."""

    @property
    def pool(self) -> str:
        """The pool of one slot in which the package's runs wait for each other."""
        raise NotImplementedError

    def key(self, asset: str) -> dg.AssetKey:
        """The asset key (package, asset)."""
        return dg.AssetKey([self.name, asset])

    def decorate(self, group: str, **given: Unpack[Options]) -> Decorator:
        """Decorator: an asset of this package in `group`.

        What another input implies is no edge of the graph (resources.reads). A table among it is loaded from the lake, and an edit of files among it
        is a new code version.
        """
        def decorate(function: Callable[..., object]) -> dg.AssetsDefinition:
            hints = typing.get_type_hints(function, include_extras=True)  # Dagster wants classes, not postponed names
            options: dict[str, Any] = dict(given)
            name, schema, metadata = options.get("name") or function.__name__, options.pop("schema", None), options.get("metadata", {})
            if schema is not None:
                declare(self.name, name, schema)
                metadata = {"dagster/column_schema": column_schema(schema)} | metadata
            PARTITIONED[self.key(name)] = options.get("partitions_def") is not None
            own = {name: dg.AssetIn(key=self.key(name)) for name, hint in hints.items() if name != "return" and hint in FRAMES}
            ins = {**own, **options.get("ins", {})}
            frames = {name: dg.AssetKey.from_coercible(item.key) for name, item in ins.items() if item.key}
            deps = {_key_of(dep): dep for dep in (self.key(dep) if isinstance(dep, str) else dep for dep in options.get("deps", ()))}
            reads = {tuple(key.path): key for key in (*frames.values(), *deps)}
            implied = {reads[path] for path in declare_reads(tuple(self.key(name).path), reads)}
            past = {name: key for name, key in frames.items() if key in implied}
            code_version = "+".join([options.get("code_version") or self.code_version, *filter(None, map(_version, sorted(implied)))])
            define = cast("Callable[..., Decorator]", dg.asset)  # whose overloads know no options by name
            return define(**options | {
                "name": name, "key_prefix": self.name, "group_name": group, "pool": self.pool, "owners": list(self.owners),
                "kinds": {*self.kinds, *options.get("kinds", ())}, "io_manager_key": "io_manager", "metadata": metadata,
                "code_version": code_version, "description": options.get("description") or inspect.getdoc(function),
                "deps": [dep for key, dep in deps.items() if key not in implied],
                "ins": {name: item for name, item in ins.items() if name not in past},
            })(_without_docstring(_reading(function, hints, past)))

        return decorate


def _reading(function: Callable[..., object], hints: dict[str, Any], past: Mapping[str, dg.AssetKey]) -> Callable[..., object]:
    """`function` for Dagster, with the frames in `past` loaded from the lake, those of the same partition."""
    given = {"context": dg.AssetExecutionContext, **{name: hint for name, hint in hints.items() if name not in past}, "lake": LakeResource}
    asked = inspect.signature(function).parameters

    @functools.wraps(function)
    def read(context: dg.AssetExecutionContext, lake: LakeResource, **frames: Any) -> object:
        for name, key in past.items():
            line, asset = key.path
            load = lake.open().scan if hints[name] is pl.LazyFrame else lake.open().read
            frames[name] = load(line, asset, context.partition_key if PARTITIONED[key] else None)
        shown = {"context": context, "lake": lake}
        return function(**frames, **{name: item for name, item in shown.items() if name in asked})

    if not past:
        function.__annotations__ = hints
        vars(function)["__signature__"] = inspect.signature(function)  # which Dagster asks for some twenty times
        return function
    read.__annotations__ = given
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shown = [inspect.Parameter(name, kind, annotation=hint) for name, hint in given.items() if name != "return"]
    vars(read)["__signature__"] = inspect.Signature(shown, return_annotation=given["return"])
    return read


def _without_docstring(function: Callable[..., object]) -> Callable[..., object]:
    """The same function. Dagster, which has its description by now, would look through the docstring for those of parameters."""
    function.__doc__ = None
    return function


def _key_of(dep: Upstream) -> dg.AssetKey:
    return dep if isinstance(dep, dg.AssetKey) else dg.AssetKey.from_coercible(dep) if isinstance(dep, str) else dep.key


@functools.cache
def _version(key: dg.AssetKey) -> str:
    """Of watched files, read once: an edit of them must be seen where there is no edge. "" where there are none; a run says what is wrong."""
    with contextlib.suppress(InputError):
        return WATCHED[key]().value[:12] if key in WATCHED else ""
    return ""
