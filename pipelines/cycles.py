"""`register_cycles`: adds partition keys, so that a range can be picked in the UI before the cycles exist.

Sealing registers the next key by itself; this is for planning ahead. (Annotations are not postponed in this file: Dagster reads a config's class
from the op's signature and wants the class, not its name.)
"""

import dagster as dg

from assets.line import MAX_CYCLE, cycle_key, register_keys
from assets.shown import note
from pipelines.executor import living_executor


class RegisterCycles(dg.Config):
    """How many cycles there shall be in all: keys 0001 up to `how_many`. Keys that exist stay."""

    how_many: int = 10


def register(instance: dg.DagsterInstance, how_many: int) -> list[str]:
    """Add the keys 0001..`how_many` that are missing; gives those it added."""
    if not 1 <= how_many <= MAX_CYCLE:
        raise dg.Failure(f"how_many must be 1 to {MAX_CYCLE} (got {how_many})", allow_retries=False)
    return register_keys(instance, map(cycle_key, range(1, how_many + 1)))


@dg.op(description="Adds partition keys 0001 up to how_many.")
def add_cycle_keys(context: dg.OpExecutionContext, config: RegisterCycles) -> None:
    """The one op of the job."""
    added = register(context.instance, config.how_many)
    note(context, f"registered {len(added)} cycles{': ' + ', '.join(added) if added else '; all were there already'}")


@dg.job(executor_def=living_executor, description="Registers cycles, so that a range can be picked in the UI. Config: how many in all.")
def register_cycles() -> None:
    """See the module docstring."""
    add_cycle_keys()
