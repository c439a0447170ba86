"""What every package of assets shares, be it a line or a study: keys, one pool, owners and kinds, and how a
function becomes an asset of it."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack, cast

import dagster as dg
import polars as pl

from evolake.lake import TableSchema
from resources.dagster_internals import PoolGranularity
from resources.tables import table_metadata

Upstream = dg.AssetSpec | dg.AssetsDefinition | dg.SourceAsset | dg.AssetKey | str
Decorator = Callable[[Callable[..., object]], dg.AssetsDefinition]


class Options(TypedDict, total=False):
    """What an asset of a package may say of itself; everything is optional.

    deps: what it is based on without reading it; a string names an asset of the package. ins: where a
    parameter's frame comes from, else a parameter annotated `pl.DataFrame` or `pl.LazyFrame` is the asset of
    that name. schema: what the returned frame must have. kinds: next to the package's. gates: of those that
    read rules, the gates whose rules it asks; without it, all of the line. Seeds have none: what was sealed
    stays until seeds are sealed again, whatever rule was edited.
    """

    name: str
    deps: Sequence[Upstream]
    ins: Mapping[str, dg.AssetIn]
    kinds: Iterable[str]
    code_version: str
    description: str
    schema: TableSchema
    gates: Collection[str]
    metadata: Mapping[str, Any]
    partitions_def: dg.PartitionsDefinition
    automation_condition: dg.AutomationCondition[Any]


FRAMES = (pl.DataFrame, pl.LazyFrame)
SUFFIX_DIGITS = 12
GATES_ASKED = "evolake/gates"
"""Metadata of an asset that asks rules: the gates whose rules it asks, or EVERY_GATE."""
EVERY_GATE = "all"


def limit_pool(instance: dg.DagsterInstance, pool: str) -> None:
    """Give `pool` its one slot where Dagster does not know the pool yet.

    Dagster 1.13 learns of a pool when a run that needs it is first looked at in the queue, and does not apply
    the default limit in that same pass: the first backfill of a new line could start two of its cycles at the
    same time. Left alone where dagster.yaml does not count pools by runs: there a slot belongs to a step, and
    a step that is killed never gives it back.
    """
    storage = instance.event_log_storage
    by_runs = (
        storage.supports_global_concurrency_limits
        and storage.get_pool_config().pool_granularity == PoolGranularity.RUN
    )
    if by_runs and pool not in storage.get_concurrency_keys():
        storage.set_concurrency_slots(pool, 1)


@dataclass(frozen=True)
class Package:
    """A package of assets keyed (name, asset): what it is about, who owns it, the kinds and the code version
    shown on all its assets."""

    name: str
    description: str
    owners: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("polars", "parquet")
    code_version: str = "1"
    missing: Callable[[], str | None] = field(default=lambda: None, compare=False)
    """What this machine lacks to run the package's assets, in a sentence that says what to install; None if
    nothing is missing."""
    idle: Callable[[], str | None] = field(default=lambda: None, compare=False)
    """Why there is nothing for the package to do, in a sentence that says how to change that; None if there
    is."""

    @property
    def pool(self) -> str:
        """The pool of one slot in which the package's runs wait for each other."""
        raise NotImplementedError

    def key(self, asset: str) -> dg.AssetKey:
        """Return the asset key (package, asset)."""
        return dg.AssetKey([self.name, asset])

    def rules_version(self, gates: Collection[str] | None) -> str:
        """Return what the rules of `gates` (None: all) add to a code version; a package without rules adds
        nothing."""
        return ""

    def decorate(self, group: str, **given: Unpack[Options]) -> Decorator:
        """Return a decorator that makes a function an asset of this package in `group`.

        Its inputs are the frames among its parameters. The hash of the rules that it asks is part of its code
        version: an edit makes stale what asks the edited rule, and nothing else.
        """

        def decorate(function: Callable[..., object]) -> dg.AssetsDefinition:
            # Dagster wants classes, and a module's annotations are postponed names.
            function.__annotations__ = typing.get_type_hints(function, include_extras=True)
            options: dict[str, Any] = dict(given)
            name = options.get("name") or function.__name__
            schema, gates = options.pop("schema", None), options.pop("gates", None)
            metadata = table_metadata(schema) | options.get("metadata", {})
            ins = {
                parameter: dg.AssetIn(key=self.key(parameter))
                for parameter, hint in function.__annotations__.items()
                if parameter != "return" and hint in FRAMES
            } | dict(options.get("ins", {}))
            deps = [self.key(dep) if isinstance(dep, str) else dep for dep in options.get("deps", ())]
            code_version = options.get("code_version") or self.code_version
            if self.key("rules") in map(_key_of, deps):
                metadata |= {GATES_ASKED: EVERY_GATE if gates is None else sorted(gates)}
                code_version += self.rules_version(gates)
            define = cast("Callable[..., Decorator]", dg.asset)  # whose overloads know no options by name
            return define(
                **options
                | {
                    "name": name,
                    "key_prefix": self.name,
                    "group_name": group,
                    "pool": self.pool,
                    "owners": list(self.owners),
                    "kinds": {*self.kinds, *options.get("kinds", ())},
                    "io_manager_key": "io_manager",
                    "metadata": metadata,
                    "code_version": code_version,
                    "description": options.get("description") or inspect.getdoc(function),
                    "deps": deps,
                    "ins": ins,
                }
            )(function)

        return decorate


def _key_of(dep: dg.AssetKey | dg.AssetSpec | dg.AssetsDefinition | dg.SourceAsset) -> dg.AssetKey:
    return dep if isinstance(dep, dg.AssetKey) else dep.key
