"""What every package of assets shares, be it a line or a study: keys, one pool, owners and kinds, and how a
function becomes an asset of it."""

from __future__ import annotations

import contextlib
import functools
import inspect
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack, cast

import dagster as dg
import polars as pl

from evolake.errors import InputError
from evolake.lake import TableSchema
from resources.dagster_internals import PoolGranularity
from resources.lake import LakeResource
from resources.reads import declare_reads
from resources.tables import column_schema, declare

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


WATCHED: dict[dg.AssetKey, Callable[[Collection[str] | None], str]] = {}
"""Rules, as observable assets: key -> (gates; None for all) -> hash of the rules of these gates, as the files
are now."""
ASKED: dict[dg.AssetKey, frozenset[str] | None] = {}
"""What reads rules -> the gates whose rules it asks; None for all."""
PARTITIONED: dict[dg.AssetKey, bool] = {}
FRAMES = (pl.DataFrame, pl.LazyFrame)
SUFFIX_DIGITS = 12


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

    def decorate(self, group: str, **given: Unpack[Options]) -> Decorator:
        """Return a decorator that makes a function an asset of this package in `group`.

        What another input implies is no edge of the graph (resources.reads); a table among it is loaded from
        the lake. The hash of the rules that the asset asks is part of its code version, be they an edge or
        not: an edit makes stale what asks the edited rule, and nothing else.
        """

        def decorate(function: Callable[..., object]) -> dg.AssetsDefinition:
            hints = typing.get_type_hints(
                function, include_extras=True
            )  # Dagster wants classes, not postponed names
            options: dict[str, Any] = dict(given)
            name, schema, metadata = (
                options.get("name") or function.__name__,
                options.pop("schema", None),
                options.get("metadata", {}),
            )
            if schema is not None:
                declare(self.name, name, schema)
                metadata = {"dagster/column_schema": column_schema(schema)} | metadata
            PARTITIONED[self.key(name)] = options.get("partitions_def") is not None
            own = {
                name: dg.AssetIn(key=self.key(name))
                for name, hint in hints.items()
                if name != "return" and hint in FRAMES
            }
            ins = {**own, **options.get("ins", {})}
            frames = {name: dg.AssetKey.from_coercible(item.key) for name, item in ins.items() if item.key}
            deps = {
                _key_of(dep): dep
                for dep in (self.key(dep) if isinstance(dep, str) else dep for dep in options.get("deps", ()))
            }
            reads = {tuple(key.path): key for key in (*frames.values(), *deps)}
            implied = {reads[path] for path in declare_reads(tuple(self.key(name).path), reads)}
            past = {name: key for name, key in frames.items() if key in implied}
            gates = frozenset(options.pop("gates")) if "gates" in options else None
            code_version = options.get("code_version") or self.code_version
            for rules in sorted(key for key in reads.values() if key in WATCHED):
                ASKED[self.key(name)] = gates
                code_version += rules_suffix(rules, gates)
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
                    "deps": [dep for key, dep in deps.items() if key not in implied],
                    "ins": {name: item for name, item in ins.items() if name not in past},
                }
            )(_for_dagster(function, hints, past))

        return decorate


def _for_dagster(
    function: Callable[..., object], hints: Mapping[str, Any], past: Mapping[str, dg.AssetKey]
) -> Callable[..., object]:
    """Return `function` as Dagster takes it: the frames in `past` are loaded from the lake, those of the same
    partition.

    It has no docstring, which Dagster would search for descriptions of parameters, and its signature, for
    which Dagster asks some twenty times.
    """
    asked, kind = inspect.signature(function).parameters, inspect.Parameter.POSITIONAL_OR_KEYWORD
    shown = {
        name: parameter.replace(annotation=hints.get(name, parameter.annotation))
        for name, parameter in asked.items()
        if name not in past
    }
    if past:
        context = inspect.Parameter("context", kind, annotation=dg.AssetExecutionContext)
        shown = {
            "context": context,
            **shown,
            "lake": inspect.Parameter("lake", kind, annotation=LakeResource),
        }

    @functools.wraps(function, assigned=("__module__", "__name__", "__qualname__"), updated=())
    def run(*context: dg.AssetExecutionContext, **inputs: Any) -> object:
        for name, key in past.items():
            line, asset = key.path
            lake = inputs["lake"].open()
            load = lake.scan if hints[name] is pl.LazyFrame else lake.read
            inputs[name] = load(line, asset, context[0].partition_key if PARTITIONED[key] else None)
        return function(
            *context[: "context" in asked], **{name: item for name, item in inputs.items() if name in asked}
        )

    run.__annotations__ = {
        name: hint for name, hint in hints.items() if name in shown or name == "return"
    } | ({"context": dg.AssetExecutionContext, "lake": LakeResource} if past else {})
    vars(run)["__signature__"] = inspect.Signature(
        list(shown.values()), return_annotation=hints.get("return", inspect.Signature.empty)
    )
    return run


def _key_of(dep: Upstream) -> dg.AssetKey:
    if isinstance(dep, dg.AssetKey):
        return dep
    if isinstance(dep, str):
        return dg.AssetKey.from_coercible(dep)
    return dep.key


@functools.cache
def rules_suffix(key: dg.AssetKey, gates: frozenset[str] | None) -> str:
    """Return "+" and 12 digits of the hash of the rules of `gates`, read once; "" if `gates` is empty or a
    file is bad, which a run reports."""
    if gates is not None and not gates:
        return ""
    with contextlib.suppress(InputError):
        return f"+{WATCHED[key](gates)[:SUFFIX_DIGITS]}"
    return ""
