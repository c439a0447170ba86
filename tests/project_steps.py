"""Steps of end-to-end tests of every line in a project: commands run there, assets materialized, rules
edited, a run killed, seals compared."""

import asyncio
import importlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from click.testing import CliRunner
from designs_fixtures import LONG_S, ROOT, Project
from loopback_model import KEY

from evolake.cli.ending import end

T = TypeVar("T")
USD_A_MILLION_TOKENS = {"input": 1.0, "output": 2.0}
"""What the model `played` costs, of what the loopback server says each reply used."""
POLL_S = 0.02


def by_a_model(base_url: str, **more: str) -> dict[str, str]:
    """Settings of the backend `model` with the one model `played` at that endpoint."""
    return {
        "EVOLAKE_BACKEND": "model",
        "EVOLAKE_MODEL_BASE_URL": base_url,
        "EVOLAKE_MODEL_API_KEY": KEY,
        "EVOLAKE_MODELS": '{"default": "played"}',
        "EVOLAKE_PRICES": json.dumps({"played": USD_A_MILLION_TOKENS}),
        "EVOLAKE_BUDGET__USD_PER_RUN": "5",
    } | more


@contextmanager
def within_forecast(line: str) -> Iterator[None]:
    """What is run inside, in a project's environment, calls no role more often in the line's next cycle, its
    seeds included, than the forecast says before. If a model is forecast, one is called."""
    from evolake.agents.forecast import forecasts
    from evolake.lake import Catalogue, Lake
    from evolake.settings import load

    settings = load()
    lake = settings.require_lake()
    [planned] = forecasts(settings, lake, [line])
    yield
    with Catalogue(Lake(lake), shared_only=True) as catalogue:
        rows = catalogue.frame(
            "SELECT role, count(*) FROM calls WHERE line = $line AND cycle IN ($cycle, $seeds) AND backend = "
            "'model' GROUP BY role",
            {"line": line, "cycle": planned.cycle, "seeds": "0000" if planned.cycle == "0001" else ""},
        ).rows()
    most = {row.role: row.calls_most for row in planned.rows}
    assert {role: count for role, count in rows if count > most.get(role, 0)} == {}, most
    assert bool(rows) == bool(most), (rows, most)


def usd_of(input_tokens: int, output_tokens: int) -> float:
    """What a reply of `played` costs, rounded as the statements of the tests do."""
    return round(
        (input_tokens * USD_A_MILLION_TOKENS["input"] + output_tokens * USD_A_MILLION_TOKENS["output"]) / 1e6,
        9,
    )


def assert_no_key(project: Project) -> None:
    """The endpoint's key is in no file below the project."""
    for path in project.folder.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path


def share_tape(project: Project, other: Project) -> Project:
    """Gives another project the replies that `project` paid for; gives that one."""
    other.lake.mkdir(exist_ok=True)
    (other.lake / "tape").symlink_to(project.lake / "tape")
    return other


def assert_replays(project: Project, other: Project, line: str, timed: str, **settings: str) -> None:
    """Cycle 0001 of the line from the tape alone, with the server gone: the same content but for the table
    `timed`, nothing paid."""
    run_here(share_tape(project, other), line, cycles=1, check=True, EVOLAKE_REPLAY_ONLY="true", **settings)
    hashes = f"""SELECT asset, content_sha FROM parts WHERE line = '{line}' AND cycle = '0001'
      AND state = 'current'
        AND asset NOT LIKE '%agent_calls' AND asset NOT LIKE '%__checks' AND asset <> '{timed}'
      ORDER BY asset"""
    assert other.sql(hashes) == project.sql(hashes)
    assert {row[0] for row in other.sql("SELECT DISTINCT usd FROM agent_calls")} == {0.0}


@contextmanager
def inside(project: Project) -> Iterator[None]:
    """This process has the environment of the project, and loads the definitions anew, as "Reload
    definitions" does: then they read the rules."""
    from dagster._core.definitions.reconstruct import ReconstructableJob

    def loaded() -> list[str]:
        return [
            name for name in sys.modules if name.partition(".")[0] in ("pipelines", "assets", "resources")
        ]

    with pytest.MonkeyPatch.context() as monkeypatch:
        for name in os.environ.keys() - project.environment.keys():
            monkeypatch.delenv(name)
        for name, value in project.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(ROOT)
        for name in loaded():
            monkeypatch.delitem(sys.modules, name)
        for kept in (ReconstructableJob.get_definition, ReconstructableJob.get_repository_definition):
            kept.cache_clear()
        try:
            yield
        finally:
            for name in loaded():
                del sys.modules[name]


def materialize(project: Project, line: str, cycle: str | Sequence[str] | None, *assets: str) -> None:
    """Assets of one cycle, or the seeds (None), in one run, by the command of Dagster in this process. Of
    several cycles, one run after another, with what runs of one process leave to each other: definitions,
    jails."""
    from dagster._cli import cli

    chosen = " or ".join(f'key:"{line}/{asset}"' for asset in assets)
    with inside(project), importlib.import_module("resources.warm").between_runs():
        for each in [cycle] if cycle is None or isinstance(cycle, str) else cycle:
            partition = ["--partition", each] if each else []
            command = ["asset", "materialize", "--select", chosen, *partition, "-m", "pipelines.definitions"]
            done = CliRunner().invoke(cli, command, catch_exceptions=False)
            assert done.exit_code == 0, done.output[-4000:]


def run_here(
    project: Project, line: str, cycles: int = 1, check: bool = True, **more: str
) -> subprocess.CompletedProcess[str]:
    """What `evolake run --lines LINE --cycles N` does, in this process, and what it prints: a process of its
    own takes some 5 cpu seconds to import what is imported here already. That the command starts one, and
    that it may be killed, is tried in the lines' own tests. Its calls are compared with its forecast."""
    printed, said = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in range(2)
    )
    words = ["--lines", line, "--cycles", str(cycles)]
    with (
        inside(replace(project, environment=project.environment | more)),
        redirect_stdout(printed),
        redirect_stderr(said),
        within_forecast(line) if cycles and check else nullcontext(),
    ):
        code = importlib.import_module("pipelines.evolve").entry(words)
    texts = [stream.buffer.getvalue().decode("utf-8") for stream in (printed, said)]  # type: ignore[attr-defined]
    assert code == 0 or not check, (
        f"the run of {line} ended with {code}\n{texts[0][-4000:]}\n{texts[1][-4000:]}"
    )
    return subprocess.CompletedProcess(words, code, *texts)


def with_seeds(project: Project, line: str, **more: str) -> Project:
    """Publish the seeds of a line in a project whose lake has none yet, and return another project whose lake
    is a copy of that one. more: its other variables."""
    run_here(project, line, 0)
    folder = project.folder / "copy"
    shutil.copytree(project.lake, folder / "lake")
    importlib.import_module("pipelines.home").ensure_home(folder / "home")
    own = {"EVOLAKE_LAKE": str(folder / "lake"), "DAGSTER_HOME": str(folder / "home")}
    return Project(folder, project.environment | own | more)


@cache
def _graphql() -> Any:
    """Dagster's schema, which takes as long to make as many of its answers."""
    from dagster_graphql.schema import create_schema

    return create_schema()


def stale(project: Project, line: str, assets: Sequence[str], cycles: Sequence[str]) -> set[tuple[str, str]]:
    """(asset, cycle) of every partition that the UI shows as stale, after the rules have been observed.
    Dagster's own GraphQL, in this process."""
    import dagster as dg
    from dagster._core.definitions.observe import observe
    from dagster._core.test_utils import in_process_test_workspace
    from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

    status = '... on AssetNode {{ staleStatus(partition: "{cycle}") }}'
    node = '{asset}__{cycle}: assetNodeOrError(assetKey: {{path: ["{line}", "{asset}"]}}) {{' + status + "}}"
    nodes = [node.format(line=line, asset=asset, cycle=cycle) for asset in assets for cycle in cycles]
    with inside(project), dg.DagsterInstance.get() as instance:
        rules = importlib.import_module(f"assets.{line}.line").rules
        assert observe([rules], instance=instance).success
        with in_process_test_workspace(
            instance, LoadableTargetOrigin(module_name="pipelines.definitions")
        ) as context:
            answer = asyncio.run(
                _graphql().execute_async("{" + "\n".join(nodes) + "}", context_value=context)
            )
    assert not answer.errors, answer.errors
    asset_and_cycle = (
        name.rsplit("__", 1) for name, node in answer.data.items() if node["staleStatus"] == "STALE"
    )
    return {(asset, cycle) for asset, cycle in asset_and_cycle}


def edit_rule(project: Project, line: str, rule: str, old: str, new: str) -> None:
    """Replaces a text in a rule of the project's own seeds."""
    path = project.folder / "seeds" / "rules" / line / f"{rule}.md"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def rules_here(project: Project, module: str, *words: str | Path) -> str:
    """What a module of `pipelines` prints that a command of `evolake rules` starts, run in this process, as
    `run_here` does it."""
    printed = io.StringIO()
    with inside(project), redirect_stdout(printed):
        main = importlib.import_module(f"pipelines.{module}").main
        code = end(main, [str(word) for word in words])
    assert code == 0, f"{module} ended with {code}\n{printed.getvalue()[-4000:]}"
    return printed.getvalue()


def previewed(project: Project, line: str) -> dict:
    """What `evolake rules preview --json` says of a line."""
    said = rules_here(project, "rules_preview", "--rules", project.folder / "seeds" / "rules", "--json", line)
    return json.loads(said)["lines"][line]


def flips_told(preview: dict, rule_id: str, cycle: str) -> set[str]:
    """Artifacts of one cycle of whom a preview says that the rule's verdict flips."""
    return {item["artifact_id"] for item in preview["rules"][rule_id]["artifacts"] if item["cycle"] == cycle}


def flips(project: Project, rule_id: str, before: int, after: int) -> list[list]:
    """Verdicts that differ between two versions of a rule, as the cookbook tells."""
    return project.cookbook("verdict_flips", rule_id=rule_id, before=str(before), after=str(after))


def contents(project: Project, line: str) -> dict[tuple[str, str], str]:
    """(asset, cycle) -> content hash of every part in force, but for those that say what checks judged."""
    rows = project.sql(
        f"SELECT asset, cycle, content_sha FROM parts WHERE line = '{line}' AND state = 'current' AND "
        "cycle IS NOT NULL AND asset NOT LIKE '%__checks'"
    )
    return {(asset, cycle): sha for asset, cycle, sha in rows}


def parts_of(project: Project, line: str, asset: str) -> list[str]:
    """Cycles for which the asset is there, ascending."""
    rows = project.sql(
        f"SELECT cycle FROM parts WHERE line = '{line}' AND asset = '{asset}' AND state = 'current' ORDER "
        "BY cycle"
    )
    return [row[0] for row in rows]


def undescribed(lake: Path, line: str) -> list[str]:
    """Every column that a line has published and of which `evolake sql --schema` cannot say what it means."""
    from evolake.cli.sql import columns_of
    from evolake.lake import Catalogue, Lake

    with Catalogue(Lake(lake)) as catalogue:
        tables = [name for name, _ in catalogue.views() if name.startswith(f"{line}.")]
        assert len(tables) >= 5, tables
        return [
            f"{table}.{row[0]}" for table in tables for row in columns_of(catalogue, table).rows if not row[3]
        ]


def kill_when(project: Project, seen: Callable[[], T | None], *command: str, timeout: float = LONG_S) -> T:
    """Runs an `evolake` command and kills it and all that it started (SIGKILL) as soon as `seen` gives
    something; gives that."""
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("evolake")), *command],
        env=project.environment,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    until = time.monotonic() + timeout
    try:
        while process.poll() is None and time.monotonic() < until:
            if seen() is not None:
                os.killpg(process.pid, signal.SIGKILL)
                result = seen()
                assert result is not None
                return result
            time.sleep(POLL_S)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    raise AssertionError(f"{command} ended with {process.returncode} before there was anything to see")
