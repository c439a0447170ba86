"""A gate on a whole partition: a blocking asset check whose verdict is a Great Expectations suite's.

On top of the gates' verdict rows these checks guard what a cycle hands on: keys are unique, every accepted
row passed every gate, no survivor lacks its proof. A failing check stops what is downstream in the same run,
and shows five offending rows and the SQL that finds all of them. Great Expectations alone decides; the SQL
only explains. A suite that cannot be evaluated (a missing column, say) is a fault of ours and makes the run
red as an error, never as a failed check. Great Expectations and pandas cost seconds to import, so they are
imported when a check runs.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (Great Expectations leaves its generic types open.)
from __future__ import annotations

import functools
import importlib
import inspect
import os
import typing
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import ModuleType
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

from assets.guards import check_table, content_of
from assets.line import SEED_ROUND
from assets.shown import markdown
from evolake.errors import MachineryError
from evolake.lake import CHECKS, Lake
from evolake.lazy import put_off
from resources.lake import LakeResource

if TYPE_CHECKING:
    from great_expectations.core.batch_definition import BatchDefinition
    from great_expectations.expectations.expectation import Expectation

Expectations = Callable[[ModuleType], Sequence["Expectation"]]
"""Given `great_expectations.expectations`, the expectations that the frame must meet: `lambda gxe:
[gxe.ExpectColumnValuesToBeUnique(...)]`."""

Prepare = Callable[[pl.DataFrame, Lake, str | None], pl.DataFrame]
"""(the asset's frame, the lake, the cycle) -> the frame that the suite judges."""

OFFENDERS_SHOWN = 5


@dataclass(frozen=True)
class Judgement:
    """What a suite said: did all hold, how many were asked, and one line for each that did not."""

    passed: bool
    asked: int
    broken: tuple[str, ...]


@dataclass(frozen=True)
class Suite:
    """A suite and the frame that it judges.

    asset: (line, asset) whose frame it is. prepare: makes the frame that is judged out of it; None: it is
    judged as it is. predicates: what the expectations were read from (`assets.expectations`); empty if they
    were written out.
    """

    asset: tuple[str, ...]
    name: str
    description: str
    expectations: Expectations
    prepare: Prepare | None
    predicates: tuple[str, ...] = ()

    def frame(self, frame: pl.DataFrame, lake: Lake, cycle: str | None) -> pl.DataFrame:
        """Return what is judged. frame: the asset's."""
        return self.prepare(frame, lake, cycle) if self.prepare else frame


class SuiteName(str):
    """The name of a suite, which Dagster can store and show, and the suite."""

    suite: Suite

    @classmethod
    def of(cls, suite: Suite) -> SuiteName:
        """Return the name of a suite with the suite."""
        name = cls(suite.name)
        name.suite = suite
        return name


SUITE = "evolake/suite"
"""Metadata of a check that a suite judges, as a `SuiteName`; a plain check has none."""


def suites_of(checks: Iterable[dg.AssetChecksDefinition]) -> list[Suite]:
    """Return the suites of those of `checks` that have one."""
    named = (spec.metadata.get(SUITE) for check in checks for spec in check.check_specs)
    return [name.suite for name in named if isinstance(name, SuiteName)]


def judge(frame: pl.DataFrame, name: str, expectations: Expectations) -> Judgement:
    """Evaluate a suite over `frame`.

    Raises:
        MachineryError: an expectation could not be evaluated (it names a column that is not there, for
            instance).
    """
    load_expectations()
    import great_expectations as gx
    import great_expectations.expectations as gxe

    batch = _whole_frame().get_batch({"dataframe": frame.to_pandas()})
    result = batch.validate(
        gx.ExpectationSuite(name=name, expectations=list(expectations(gxe))), result_format="BASIC"
    )
    if not result.results:
        raise MachineryError(
            f"the suite {name!r} judged nothing", wanted="at least one expectation", do="fix the check"
        )
    for item in result.results:
        if reason := _raised(item.exception_info):
            raise MachineryError(
                f"the suite {name!r} could not be evaluated",
                got=reason,
                do="fix the check or the asset's columns",
            )
    return Judgement(
        bool(result.success),
        len(result.results),
        tuple(_line(element) for element in result.results if not element.success),
    )


@functools.cache
def load_expectations() -> None:
    """Import Great Expectations, which takes about a second of processor time. What it imports
    for one expectation on distributions, and to draw that one, is put off: it takes as long again."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    for module in ("scipy.stats", "altair"):
        put_off(module)
    importlib.import_module("great_expectations.expectations")


@functools.cache
def _whole_frame() -> BatchDefinition[Any]:
    """Return what makes a batch of any frame. It names no frame, so that one serves every check of a process:
    to make it takes as long as a small check.
    """
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return (
        context.data_sources.add_pandas("lake")
        .add_dataframe_asset("frame")
        .add_batch_definition_whole_dataframe("whole")
    )


def suite_check(
    asset: dg.AssetsDefinition,
    name: str,
    description: str,
    partitions_def: dg.PartitionsDefinition | None,
    expectations: Expectations,
    offenders_sql: str,
    *,
    prepare: Prepare | None = None,
    blocking: bool = True,
    predicates: tuple[str, ...] = (),
) -> dg.AssetChecksDefinition:
    """Return a check of `asset`, judged by a suite.

    Args:
        partitions_def: the asset's own (`line.cycles`), or None for an unpartitioned asset.
        expectations: see `Expectations`.
        offenders_sql: a query over the lake's views that finds every offending row; `$cycle` is the cycle
            that is checked.
        prepare: makes the frame that the suite judges out of the asset's frame (a join with a side table, a
            count); None: the asset's frame itself.
        predicates: what the expectations were read from, for those who read about the check.

    Metadata: rows, expectations and, where it failed, `broken`, `offending_rows` (a markdown table of five),
        `offending_count` and `sql`, ready to
    paste.
    """
    suite = Suite(tuple(asset.key.path), name, description, expectations, prepare, predicates)

    def check(
        context: dg.AssetCheckExecutionContext, lake: LakeResource, frame: pl.DataFrame
    ) -> dg.AssetCheckResult:
        cycle = context.partition_key if context.has_partition_key else None
        judged = judge(suite.frame(frame, lake.open(), cycle), name, expectations)
        metadata: dict[str, Any] = {"rows": frame.height, "expectations": judged.asked}
        if not judged.passed:
            metadata |= explanation(lake.open(), offenders_sql.strip(), cycle, judged)
        return dg.AssetCheckResult(
            passed=judged.passed, metadata=metadata, description="; ".join(judged.broken) or None
        )

    return define(check, asset, name, description, partitions_def, blocking=blocking, suite=suite)


def define(
    check: Callable[..., dg.AssetCheckResult],
    asset: dg.AssetsDefinition,
    name: str,
    description: str,
    partitions_def: dg.PartitionsDefinition | None,
    *,
    blocking: bool,
    suite: Suite | None = None,
) -> dg.AssetChecksDefinition:
    """Return `check` as an asset check of `asset`, in the pool of the asset. What it says is published as a
    row of CHECKS before Dagster hears of it. suite: what judges; None: the check itself."""
    line, judged = asset.key.path

    @functools.wraps(check)
    def published(context: dg.AssetCheckExecutionContext, lake: LakeResource, **given: object) -> Any:
        cycle, store = context.partition_key if context.has_partition_key else None, lake.open()
        judged_sha = content_of(store, line, judged, cycle)
        result = check(context, lake, **given)
        row = {
            "asset": judged,
            "check_name": name,
            "cycle": cycle or SEED_ROUND,
            "passed": result.passed,
            "blocking": blocking,
            "judged_sha": judged_sha,
            "reason": result.description,
            "run_id": context.run.run_id,
            "checked_at": datetime.now(UTC),
        }
        table = check_table(judged, name)
        store.publish(line, table, CHECKS.frame([row]), cycle=cycle, run_id=context.run.run_id, schema=CHECKS)
        return result

    check.__annotations__ = typing.get_type_hints(check)  # Dagster wants classes, not postponed names
    published.__annotations__ = check.__annotations__
    vars(published)["__signature__"] = inspect.signature(check)  # and asks for it some twenty times
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dg.PreviewWarning)  # partitioned checks are a preview in Dagster 1.13
        return dg.asset_check(
            asset=asset,
            name=name,
            description=description,
            blocking=blocking,
            partitions_def=partitions_def,
            pool=asset.op.pool,
            compute_kind="great_expectations" if suite else None,
            metadata={SUITE: SuiteName.of(suite)} if suite else None,
        )(published)


def explanation(lake: Lake, sql: str, cycle: str | None, judged: Judgement) -> dict[str, Any]:
    """Return metadata of a failed check: what broke, five offending rows, and the SQL that finds all."""
    from evolake.lake import Catalogue

    parameters = {"cycle": cycle} if "$cycle" in sql else {}
    with Catalogue(lake) as catalogue:
        offenders = catalogue.frame(sql, parameters)
    return {
        "broken": markdown("\n".join(f"- {line}" for line in judged.broken)),
        "offending_rows": markdown(markdown_table(offenders.head(OFFENDERS_SHOWN))),
        "offending_count": offenders.height,
        "sql": markdown(f"```sql\n{with_cycle(sql, cycle)}\n```"),
    }


def with_cycle(sql: str, cycle: str | None) -> str:
    """Return the query with its cycle filled in, ready for `evolake sql`."""
    return sql.replace("$cycle", f"'{cycle}'") if cycle else sql


def markdown_table(frame: pl.DataFrame) -> str:
    """Return a frame as a markdown table; long cells are cut at 60 characters."""
    if frame.is_empty():
        return "the SQL finds no row: the suite looks at something that this query does not"
    head = "| " + " | ".join(frame.columns) + " |\n|" + " --- |" * frame.width
    return "\n".join(
        [head, *("| " + " | ".join(_cell(value) for value in row) + " |" for row in frame.iter_rows())]
    )


def _cell(value: object) -> str:
    text = str(value).replace("|", "\\|").replace("\n", " ")
    return text if len(text) <= 60 else text[:57] + "..."


def _line(result: Any) -> str:
    """One failed expectation in words: what it looked at and what for, how many rows broke it."""
    config, results = result.expectation_config, result.result
    given = {
        key: value for key, value in config.kwargs.items() if key not in ("batch_id", "condition_parser")
    }
    looked_at = ", ".join(f"{key}={value}" for key, value in given.items())
    count = results.get("unexpected_count")
    counted = (
        f": {count} of {results['element_count']} rows"
        if count is not None
        else f": observed {results.get('observed_value')}"
    )
    predicate = (config.meta or {}).get("predicate")
    return f"{f'{predicate}: ' if predicate else ''}{config.type}({looked_at}){counted}"


def _raised(info: dict[str, Any] | None) -> str | None:
    """Return the message of an expectation that raised; Great Expectations keeps it flat or keyed by
    metric."""
    if not info:
        return None
    for item in [info] if "raised_exception" in info else info.values():
        if item.get("raised_exception"):
            return str(item.get("exception_message"))
    return None
