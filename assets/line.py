"""A line of evolution as Dagster sees it: names, partitions, groups and pools, said once.

Every asset of a line is keyed (line, asset). Cycle assets are partitioned by the line's cycles, sit in the
group of the line's name and share one pool of one slot, so that cycles run one after the other and two lines
side by side. Unpartitioned assets (seeds, rules) sit in their own group: "Materialize all" on the line's
group is then one cycle's assets and nothing else, and a backfill is never split into waves.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import dagster as dg

from assets.package import SUFFIX_DIGITS, Decorator, Options, Package, limit_pool
from evolake import settings as settings_module
from evolake.errors import InputError
from evolake.lake import TableSchema
from evolake.lazy import Lazy

if TYPE_CHECKING:
    from evolake.agents.roles import Role
    from evolake.rule_files import Rule

FIRST_CYCLE = "0001"
SEED_ROUND = "0000"
"""What seeds name as their cycle."""
MAX_CYCLE = 9999
LINE_TAG = "evolake/line"
"""Tag of a run: the line or study that it is of."""
IN_PROCESS_TAG = "evolake/in_process"
"""Tag of a run that no code server was asked to start: the id of the process that makes it."""
MEASURES_TIME = "evolake/measures_time"
"""Metadata of an asset whose rows hold times that are compared: `evolake run` keeps other lines from the
machine while it is made."""
SAID_OF_CYCLE = "evolake/said_of_cycle"
"""Metadata of a materialization: words that `evolake run` adds to what it says of the finished cycle."""
STORY = "story"
"""The asset with the page of each cycle, and the metadata of all others that links to it."""
DATA_DOCS = "http://localhost:3010"
"""Where `make dev` serves the Data Docs (pipelines.data_docs): below it /LINE/CYCLE/."""
WHEN_SOMETHING_NEW_ENTERS = dg.AutomationCondition.eager()
"""What continuous mode (pipelines.sensors) looks at; the same for every cycle asset."""


def cycle_key(number: int) -> str:
    """Return the partition key of cycle `number` (1..9999)."""
    if not 1 <= number <= MAX_CYCLE:
        raise ValueError(f"cycle numbers run from 1 to {MAX_CYCLE} (got {number})")
    return f"{number:04d}"


def is_cycle_key(key: str) -> bool:
    """Return whether a partition key is that of a cycle: four digits, from 0001."""
    return len(key) == len(FIRST_CYCLE) and key.isascii() and key.isdigit() and key >= FIRST_CYCLE


@functools.cache
def cycles_of(line: str) -> dg.DynamicPartitionsDefinition:
    """Return the cycles of a line: `0001`, `0002`, ... A backfill submits keys in string order, hence the
    zeros in front.

    Each line has its own set: a line that has finished has no partition missing because another one
    continues.
    """
    return dg.DynamicPartitionsDefinition(name=f"{line}_cycle")


def pool_of(line: str) -> str:
    """Return the name of the pool of a line."""
    return f"evolution_{line}"


def register_keys(instance: dg.DagsterInstance, line: str, keys: Iterable[str]) -> list[str]:
    """Add the partition keys of `line` that are not there yet; gives those it added. Another process may add
    the same one at the same moment. The line's pool has its one slot from then on: before it has keys, no
    backfill of the line can be launched."""
    limit_pool(instance, pool_of(line))
    name = str(cycles_of(line).name)
    there = set(instance.get_dynamic_partitions(name))
    missing = [key for key in keys if key not in there]
    for key in missing:
        try:
            instance.add_dynamic_partitions(name, [key])
        except Exception:  # the storage refuses a key twice, by an error of its own kind
            if key not in instance.get_dynamic_partitions(name):
                raise
    return missing


@dataclass(frozen=True)
class Line(Package):
    """One line: its name, what it evolves, who owns it, the kinds shown on all its assets.

    `population` types the tables that `incoming` consists of (name -> schema); a table that is not named
    there has free columns.
    """

    population: Mapping[str, TableSchema] = field(default_factory=dict[str, TableSchema], compare=False)
    artifact: Callable[[Mapping[str, Any]], dict[str, Any]] = field(default=dict, compare=False)
    """What a row of the line is as an artifact: artifact_id, kind, content_sha, title."""
    proposers: Mapping[str, tuple[Lazy[Role[Any, Any]], ...]] = field(
        default_factory=dict[str, tuple[Lazy["Role[Any, Any]"], ...]], compare=False
    )
    """Asset that asks agents for proposals -> the roles whose valid reply is one (`assets.proposals`)."""
    closing: str = "survivors"
    """The asset that seals the population of the next cycle."""
    rules: Path | None = None
    """Folder of the line's rule files, called as the line; None: its own among the settings' seeds."""

    @property
    def seeds_group(self) -> str:
        """The group of what is not partitioned by cycle."""
        return f"{self.name}_seeds"

    @property
    def pool(self) -> str:
        """The pool of one slot that keeps the line's cycles in order."""
        return pool_of(self.name)

    @property
    def cycles(self) -> dg.DynamicPartitionsDefinition:
        """The line's own set of cycles."""
        return cycles_of(self.name)

    @property
    def job_name(self) -> str:
        """The job that runs one cycle."""
        return f"{self.name}_cycle"

    @property
    def seeds_job_name(self) -> str:
        """The job that seals the population before cycle 0001."""
        return self.seeds_group

    @property
    def incoming(self) -> dg.AssetSpec:
        """The population that enters a cycle. External: no asset computes it; the cycle before seals it."""
        return dg.AssetSpec(
            self.key("incoming"),
            partitions_def=self.cycles,
            group_name=self.name,
            owners=list(self.owners),
            kinds=set(self.kinds),
            description=(
                "The population that enters a cycle, sealed by the cycle before it (by the seeds for "
                "cycle 0001)."
            ),
        )

    @property
    def story(self) -> dg.AssetSpec:
        """The page of each cycle (`assets.story`). External: the closing asset writes it."""
        return dg.AssetSpec(
            self.key(STORY),
            deps=[self.key(self.closing)],
            partitions_def=self.cycles,
            group_name=self.name,
            owners=list(self.owners),
            kinds={"markdown"},
            description=(
                "What each cycle found: who leads and by how much, what was proposed, stopped and "
                "measured, what it cost, and what to do next. Partitions has the page of every cycle."
            ),
        )

    @property
    def rules_folder(self) -> Path:
        """The folder of the line's rule files."""
        return self.rules or settings_module.load().seeds / "rules" / self.name

    def rules_hash(self, gates: Collection[str] | None = None) -> str:
        """Return the hash of the line's rules that judge, as the files are now. gates: only the rules of
        these.

        Raises:
            InputError: a rule file is bad, or there is none.
        """
        from evolake.rule_files import files_hash

        return files_hash(self.rules_folder, gates)

    def rules_version(self, gates: Collection[str] | None) -> str:
        """Return "+" and 12 digits of the hash of the rules of `gates`, read once; "" if `gates` is empty or
        a file is bad, which a run reports."""
        from evolake.rule_files import hash_of_rules, judging

        rules = loaded_rules(self)[1] if gates is None or gates else []
        return f"+{hash_of_rules(judging(rules, gates))[:SUFFIX_DIGITS]}" if rules else ""

    def asset(self, **given: Unpack[Options]) -> Decorator:
        """Return a decorator that makes a function an asset of every cycle."""
        linked = {STORY: dg.MetadataValue.asset(self.key(STORY)), **given.get("metadata", {})}
        options: Options = {
            "automation_condition": WHEN_SOMETHING_NEW_ENTERS,
            **given,
            "partitions_def": self.cycles,
            "metadata": linked,
        }
        return self.decorate(self.name, **options)

    def seed_asset(self, **given: Unpack[Options]) -> Decorator:
        """Return a decorator that makes a function an asset without cycles, in the group `<line>_seeds`.
        Never part of a cycle's job."""
        return self.decorate(self.seeds_group, **given)


@functools.cache
def loaded_rules(line: Line) -> tuple[Path, list[Rule]]:
    """Return the folder of a line's rules and the rules in it, read once in a process; none where a file is
    bad, which a run reports."""
    from evolake.rule_files import read_rules

    folder = line.rules_folder
    with contextlib.suppress(InputError):
        return folder, read_rules(folder, folder.name)
    return folder, []
