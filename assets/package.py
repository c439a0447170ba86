"""What every package of assets shares, be it a line or a study: keys, one pool, owners and kinds, and how a function becomes an asset of it."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack

import dagster as dg
import polars as pl
from dagster._core.instance.config import PoolGranularity

from evolake.lake import TableSchema
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
    automation_condition: dg.AutomationCondition


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

    @property
    def pool(self) -> str:
        """The pool of one slot in which the package's runs wait for each other."""
        raise NotImplementedError

    def key(self, asset: str) -> dg.AssetKey:
        """The asset key (package, asset)."""
        return dg.AssetKey([self.name, asset])

    def decorate(self, group: str, **given: Unpack[Options]) -> Decorator:
        """Decorator: an asset of this package in `group`."""
        def decorate(function: Callable[..., object]) -> dg.AssetsDefinition:
            function.__annotations__ = typing.get_type_hints(function, include_extras=True)  # Dagster wants classes, not postponed names
            options: dict[str, Any] = dict(given)
            name, schema, metadata = options.get("name") or function.__name__, options.pop("schema", None), options.get("metadata", {})
            if schema is not None:
                declare(self.name, name, schema)
                metadata = {"dagster/column_schema": column_schema(schema)} | metadata
            return dg.asset(**options | {
                "name": name, "key_prefix": self.name, "group_name": group, "pool": self.pool, "owners": list(self.owners),
                "kinds": {*self.kinds, *options.get("kinds", ())}, "io_manager_key": "io_manager", "metadata": metadata,
                "code_version": options.get("code_version") or self.code_version,
                "description": options.get("description") or inspect.getdoc(function),
                "deps": [self.key(dep) if isinstance(dep, str) else dep for dep in options.get("deps", ())],
                "ins": {**self._frame_inputs(function), **options.get("ins", {})},
            })(function)

        return decorate

    def _frame_inputs(self, function: Callable[..., object]) -> Mapping[str, dg.AssetIn]:
        frames = [name for name, hint in function.__annotations__.items() if name != "return" and hint in (pl.DataFrame, pl.LazyFrame)]
        return {name: dg.AssetIn(key=self.key(name)) for name in frames}
