"""The cycles that Dagster's UI offers: those that a line has run and its next one, and further ones that were
registered to plan ahead.

- `register_known` adds what the lake has; the sensor `cycles` calls it when the definitions have been loaded
  and every half minute, `evolake run` before it begins. So a fresh project has a cycle to pick, and a Dagster
  home that was lost gets its cycles back.
- The job `register_cycles` adds keys ahead, so that a range can be picked before the cycles exist.
- The sensor removes keys that cannot be a cycle (`12`, `cycle-1`), which a person mistyped; `forget` removes
  any that has not run.

(Annotations are not postponed in this file: Dagster reads a config's class from the op's signature and wants
the class, not its name.)
"""

from collections.abc import Iterable, Sequence

import dagster as dg

from assets.line import FIRST_CYCLE, MAX_CYCLE, Line, cycle_key, is_cycle_key, register_keys
from assets.package import limit_pool
from assets.shown import note
from assets.study import Study
from evolake.errors import InputError
from evolake.lake import Lake
from pipelines.executor import living_executor
from resources.lake import LakeResource

INTERVAL_S = 30


class RegisterCycles(dg.Config):
    """how_many: number of cycles there shall be in all, keys 0001 up to it. Keys that exist stay. line: one
    line; "" for all."""

    how_many: int = 10
    line: str = ""


def register(instance: dg.DagsterInstance, lines: Iterable[str], how_many: int) -> dict[str, list[str]]:
    """Add the keys 0001..`how_many` that are missing to each line; gives those it added, by line. Raises
    dg.Failure for a bad number."""
    if not 1 <= how_many <= MAX_CYCLE:
        raise dg.Failure(f"how_many must be 1 to {MAX_CYCLE} (got {how_many})", allow_retries=False)
    keys = [cycle_key(number) for number in range(1, how_many + 1)]
    return {line: register_keys(instance, line, keys) for line in lines}


def register_known(instance: dg.DagsterInstance, lake: Lake, line: str) -> list[str]:
    """Add the cycles that the lake has sealed a population for, else cycle 0001; gives the keys that were
    missing."""
    return register_keys(instance, line, lake.seals.cycles(line) or [FIRST_CYCLE])


def drop_mistyped(instance: dg.DagsterInstance, line: Line) -> list[str]:
    """Remove the partition keys that cannot be a cycle; gives them."""
    name = str(line.cycles.name)
    bad = [key for key in instance.get_dynamic_partitions(name) if not is_cycle_key(key)]
    for key in bad:
        instance.delete_dynamic_partition(name, key)
    return bad


def forget(instance: dg.DagsterInstance, lake: Lake, lines: Sequence[Line], key: str) -> list[str]:
    """Remove the cycle `key`, which has not run, from the partitions of `lines`; gives the lines that had it.

    Raises:
        InputError: a line of them has run the cycle, or it is its next one; or no line has such a partition.
            Nothing was changed.
    """
    having = [line for line in lines if key in instance.get_dynamic_partitions(str(line.cycles.name))]
    if not having:
        names = ", ".join(line.name for line in lines)
        raise InputError(
            f"no line has a cycle {key!r}",
            wanted=f"a partition that the UI shows of {names}",
            do="check the key",
        )
    if kept := [line.name for line in having if key in (lake.seals.cycles(line.name) or [FIRST_CYCLE])]:
        raise InputError(
            f"cycle {key} of {', '.join(kept)} cannot be forgotten",
            wanted="a cycle that has not run and is not the next one",
            got="one in the lake",
            do="name the line that it was mistyped in: evolake cycles forget KEY --line LINE",
        )
    for line in having:
        instance.delete_dynamic_partition(str(line.cycles.name), key)
    return [line.name for line in having]


def registering(lines: Sequence[Line]) -> dg.JobDefinition:
    """Return the job `register_cycles` over `lines`."""
    names = [line.name for line in lines]

    @dg.op(description="Adds partition keys 0001 up to how_many, of one line or of all.")
    def add_cycle_keys(context: dg.OpExecutionContext, config: RegisterCycles) -> None:
        if config.line and config.line not in names:
            raise dg.Failure(f"no line {config.line!r}; there are {', '.join(names)}", allow_retries=False)
        for line, added in register(
            context.instance, [config.line] if config.line else names, config.how_many
        ).items():
            note(
                context,
                f"{line}: registered {len(added)} "
                f"cycles{': ' + ', '.join(added) if added else '; all were there already'}",
            )

    @dg.job(
        name="register_cycles",
        executor_def=living_executor,
        description=(
            "Registers cycles, so that a range can be picked in the UI. Config: how many in all, of which "
            "line."
        ),
    )
    def job() -> None:
        add_cycle_keys()

    return job


def cycles_sensor(lines: Sequence[Line], studies: Sequence[Study] = ()) -> dg.SensorDefinition:
    """Return the sensor `cycles` over `lines`, which is on from the start. It limits the pools of `studies`,
    too, whose cells are there from the start."""

    @dg.sensor(
        name="cycles",
        default_status=dg.DefaultSensorStatus.RUNNING,
        minimum_interval_seconds=INTERVAL_S,
        description=(
            "Keeps the partitions in step with the lake: adds the cycles that a line has and its next, "
            "removes keys that cannot be a cycle."
        ),
    )
    def look(context: dg.SensorEvaluationContext, lake: LakeResource) -> dg.SkipReason:
        store, changes = lake.open(), []
        for study in studies:
            limit_pool(context.instance, study.pool)
        for line in lines:
            added, dropped = (
                register_known(context.instance, store, line.name),
                drop_mistyped(context.instance, line),
            )
            changes += [f"{line.name}: registered {', '.join(added)}"] if added else []
            changes += (
                [f"{line.name}: removed {', '.join(map(repr, dropped))}, which cannot be a cycle"]
                if dropped
                else []
            )
        return dg.SkipReason("; ".join(changes) or "every line has its cycles")

    return look
