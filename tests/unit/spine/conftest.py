"""A project of its own for each test: a lake, a Dagster instance, plants, and the toy lines run in this
process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from assets.line import Line, register_keys
from evolake.lake import Lake
from pipelines.lines import BuiltLine


@dataclass(frozen=True)
class Project:
    """The toy lines with a lake and an instance of their own."""

    instance: dg.DagsterInstance
    lake: Lake
    plants: Path
    defs: dg.Definitions
    lines: dict[str, BuiltLine]

    def line(self, name: str) -> Line:
        return self.lines[name].line

    def seed(self, name: str, **tags: str) -> dg.ExecuteInProcessResult:
        job = self.defs.resolve_job_def(self.line(name).seeds_job_name)
        return job.execute_in_process(instance=self.instance, raise_on_error=False, tags=tags)

    def cycle(
        self, name: str, cycle: str, only: list[str] | None = None, run_id: str | None = None
    ) -> dg.ExecuteInProcessResult:
        register_keys(self.instance, name, [cycle])
        return self.defs.resolve_job_def(self.line(name).job_name).execute_in_process(
            instance=self.instance,
            partition_key=cycle,
            raise_on_error=False,
            run_id=run_id,
            asset_selection=[self.line(name).key(asset) for asset in only] if only else None,
        )

    def grow(self, name: str, cycles: int) -> None:
        assert self.seed(name).success
        for number in range(1, cycles + 1):
            assert self.cycle(name, f"{number:04d}").success

    def members(self, name: str, cycle: str) -> list[str]:
        """The population that enters `cycle`, as it lies in the lake."""
        return self.lake.read(name, "incoming_members", cycle)["member"].to_list()

    def plant(self, what: str, text: str = "") -> Callable[[], None]:
        path = self.plants / what
        path.write_text(text)
        return path.unlink


@pytest.fixture
def project(tmp_path, monkeypatch) -> Iterator[Project]:
    """A project whose instance lives in memory."""
    with dg.DagsterInstance.ephemeral() as instance:
        yield build_project(tmp_path, monkeypatch, instance)


@pytest.fixture
def durable_project(tmp_path, monkeypatch) -> Iterator[Project]:
    """A project whose instance lives on disk, for what Dagster evaluates through a reference to it."""
    (tmp_path / "home").mkdir()
    overrides = {"concurrency": {"pools": {"granularity": "run", "default_limit": 1}}}
    with dg.DagsterInstance.local_temp(str(tmp_path / "home"), overrides=overrides) as instance:
        yield build_project(tmp_path, monkeypatch, instance)


def build_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, instance: dg.DagsterInstance) -> Project:
    plants = tmp_path / "plants"
    plants.mkdir()
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    monkeypatch.setenv("EVOLAKE_TOY_PLANTS", str(plants))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    import toy_location.definitions as toy

    return Project(
        instance, Lake(tmp_path / "lake"), plants, toy.defs, {built.line.name: built for built in toy.lines}
    )
