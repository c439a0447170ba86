"""How every run that has its own process is executed: step after step in that process, which holds the run's
lock until it ends.

So whoever finds the lock of an unfinished run free knows that it is dead (`pipelines.burial`), whatever
became of the code server that started it.
"""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg
from dagster import DagsterEvent

from evolake.errors import PartitionBusy
from resources.dagster_internals import (
    ExecutionPlan,
    PlanOrchestrationContext,
    RetryMode,
    StepDependencyConfig,
)
from resources.lake import LakeResource
from resources.locks import live_as


class LivingExecutor(dg.Executor):
    """`inner`, with the run's lock held from before the first step until the process ends."""

    def __init__(self, inner: dg.Executor):
        self._inner = inner

    @property
    def retries(self) -> RetryMode:
        """As the inner executor's."""
        return self._inner.retries

    @property
    def step_dependency_config(self) -> StepDependencyConfig:
        """As the inner executor's."""
        return self._inner.step_dependency_config

    def execute(
        self, plan_context: PlanOrchestrationContext, execution_plan: ExecutionPlan
    ) -> Iterator[DagsterEvent]:
        """Run the steps.

        Raises:
            PartitionBusy: the run was declared dead before it came to its first step, so that another may be
                running in its place.
        """
        run_id = plan_context.run_id
        live_as(LakeResource().open(), run_id)
        run = plan_context.instance.get_run_by_id(run_id)
        if run is None or run.is_finished:
            raise PartitionBusy(
                f"run {run_id} was declared dead before its first step",
                wanted="to take no longer to start",
                got=f"status {run.status.value if run else 'deleted'}",
                do="start its cycle again",
            )
        yield from self._inner.execute(plan_context, execution_plan)


def _living(context: dg.InitExecutorContext) -> dg.Executor:
    """Dagster's in-process executor, in a `LivingExecutor`."""
    create = dg.in_process_executor.executor_creation_fn
    assert create is not None
    return LivingExecutor(create(context))


_config = dg.in_process_executor.config_schema
living_executor = dg.ExecutorDefinition("in_process", _config, executor_creation_fn=_living)  # pyright: ignore[reportArgumentType]
"""Of every job, by the policy; `execute_in_process` takes one of its own instead, and its caller holds the
line."""
