"""A site: the toy lines under a real webserver and a real daemon, driven over HTTP by the GraphQL that the
Dagster UI sends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import dagster as dg
import yaml

from evolake.lake import Lake

ROOT = Path(__file__).resolve().parents[2]
LOCATION = "toys"
DONE = ("SUCCESS", "FAILURE", "CANCELED")
T = TypeVar("T")

LAUNCH_BACKFILL = """mutation ($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
    __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } ... on PartitionKeysNotFoundError { message } } }"""  # noqa: E501
BACKFILL = (
    "query ($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status "
    "} } }"
)
RUNS = """query ($filter: RunsFilter!) { runsOrError(filter: $filter, limit: 5000) { ... on Runs { results {
    runId status creationTime startTime endTime jobName tags { key value } } } } }"""
LOGS = """query ($id: ID!) { logsForRun(runId: $id) { ... on EventConnection { events { __typename
    ... on MessageEvent { message stepKey } ... on ExecutionStepFailureEvent { error { message } } } } } }"""
LAUNCH_RUN = """mutation ($params: ExecutionParams!) { launchRun(executionParams: $params) {
    __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
STALE = (
    "query ($key: AssetKeyInput!, $cycle: String!) { assetNodeOrError(assetKey: $key) { ... on AssetNode "
    "{ staleStatus(partition: $cycle) } } }"
)
START_SCHEDULE = """mutation ($selector: ScheduleSelector!) { startSchedule(scheduleSelector: $selector) {
    __typename ... on PythonError { message } } }"""
STOP_SCHEDULE = """mutation ($id: String) { stopRunningSchedule(id: $id) { __typename ... on PythonError { message } } }"""  # noqa: E501
SCHEDULE_ID = (
    "query ($selector: ScheduleSelector!) { scheduleOrError(scheduleSelector: $selector) { ... on "
    "Schedule { scheduleState { id } } } }"
)
TICKS = """query ($selector: ScheduleSelector!) { scheduleOrError(scheduleSelector: $selector) { ... on Schedule {
    scheduleState { ticks { status runIds skipReason } } } } }"""  # noqa: E501


@dataclass(frozen=True)
class Run:
    """One run as the UI knows it. Times are seconds since the epoch."""

    run_id: str
    cycle: str
    status: str
    created: float
    started: float
    ended: float


@dataclass
class Site:
    """Folders and processes of one site. `environment` goes to every process; the code location is `module`
    in the folder `above`."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    module: str = "toy_location.definitions"
    above: Path = ROOT / "tests"
    port: int = 0
    code_port: int = 0
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def lake(self) -> Lake:
        return Lake(self.folder / "lake")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def prepare(self, deployment: str = "sqlite") -> None:
        """Make the folders, Dagster's home after deploy/`deployment`, and the workspace."""
        for name in ("home", "plants", "logs"):
            (self.folder / name).mkdir(parents=True)
        config = yaml.safe_load((ROOT / "deploy" / deployment / "dagster.yaml").read_text())
        (self.home / "dagster.yaml").write_text(
            yaml.safe_dump(config | {"run_queue": {"dequeue_interval_seconds": 1}})
        )
        self.port, self.code_port = free_port(), free_port()
        server = {"host": "127.0.0.1", "port": self.code_port, "location_name": LOCATION}
        (self.folder / "workspace.yaml").write_text(yaml.safe_dump({"load_from": [{"grpc_server": server}]}))
        path = os.pathsep.join([str(ROOT / "tests"), *filter(None, [self.environment.get("PYTHONPATH")])])
        self.environment = {
            **os.environ,
            **self.environment,
            "DAGSTER_HOME": str(self.home),
            "EVOLAKE_LAKE": str(self.folder / "lake"),
            "EVOLAKE_TOY_PLANTS": str(self.folder / "plants"),
            "PYTHONPATH": path,
            "DAGSTER_DISABLE_TELEMETRY": "1",
        }

    def evolve(self, lines: str, cycles: int, *more: str) -> dict[str, Any]:
        """Run cycles in a process of their own, past the queue, as `evolake run` does."""
        options = [
            "--definitions",
            "toy_location.definitions",
            "--lines",
            lines,
            "--cycles",
            str(cycles),
            "--json",
            *more,
        ]
        command = [sys.executable, "-m", "pipelines.evolve", *options]
        done = subprocess.run(
            command, env=self.environment, cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    def start(self) -> None:
        """Start the code server, the webserver and the daemon, and wait until the lines are loaded."""
        where = [
            "-h",
            "127.0.0.1",
            "-p",
            str(self.code_port),
            "-d",
            str(self.above),
            "--location-name",
            LOCATION,
        ]
        self._spawn(
            "code", [sys.executable, str(Path(__file__).parent / "forking_server.py"), self.module, *where]
        )
        workspace = ["-w", str(self.folder / "workspace.yaml")]
        self._spawn(
            "webserver",
            [sys.executable, "-m", "dagster_webserver", "-h", "127.0.0.1", "-p", str(self.port), *workspace],
        )
        self.wait(
            "the code location to load", self._loaded, 300
        )  # two processes that make the tables of one empty home can collide
        self._spawn(
            "daemon", [sys.executable, str(Path(__file__).parent / "fast_daemon.py"), "run", *workspace]
        )

    def _spawn(self, name: str, command: Sequence[str]) -> None:
        with (self.folder / "logs" / f"{name}.log").open("ab") as log:
            self.processes.append(
                subprocess.Popen(
                    command, env=self.environment, cwd=ROOT, stdout=log, stderr=log, start_new_session=True
                )
            )

    def _loaded(self) -> bool:
        for process in self.processes:
            assert process.poll() is None, (
                f"{process.args} ended with {process.returncode}; see {self.folder / 'logs'}"
            )
        return self.answers()

    def answers(self) -> bool:
        """Whether the webserver is there and has loaded the toy lines."""
        try:
            result = self.ask(
                "{ repositoriesOrError { ... on RepositoryConnection { nodes { location { name } } } } }"
            )
        except (urllib.error.URLError, ConnectionError):
            return False
        return [node["location"]["name"] for node in result["repositoriesOrError"].get("nodes", [])] == [
            LOCATION
        ]

    def stop(self) -> None:
        """End the processes that `start` made, and only those."""
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.processes.clear()

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """One GraphQL request."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"{self.url}/graphql", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = json.load(response)
        assert not answer.get("errors"), answer["errors"]
        return answer["data"]

    def wait(self, what: str, ready: Callable[[], T], seconds: float) -> T:
        """What `ready` gives as soon as it is true; an AssertionError that says what was waited for when
        `seconds` have passed."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if result := ready():
                return result
            time.sleep(0.2)
        raise AssertionError(f"waited {seconds} s in vain for {what}")

    def backfill(
        self, line: str, cycles: Sequence[str], names: Sequence[str] = ("candidates", "survivors")
    ) -> str:
        """Launch a backfill of the line's group, the assets `names`, over `cycles`, in the order given; gives
        its id."""
        assets = [{"path": [line, asset]} for asset in names]
        answer = self.ask(
            LAUNCH_BACKFILL,
            params={
                "assetSelection": assets,
                "partitionNames": list(cycles),
                "tags": [],
                "fromFailure": False,
            },
        )
        assert answer["launchPartitionBackfill"]["__typename"] == "LaunchBackfillSuccess", answer
        return answer["launchPartitionBackfill"]["backfillId"]

    def finished(self, backfill: str, seconds: float = 600) -> list[Run]:
        """The runs of a backfill, by creation, once it has ended."""

        def over() -> bool:
            return self.ask(BACKFILL, id=backfill)["partitionBackfillOrError"]["status"] in (
                "COMPLETED_SUCCESS",
                "COMPLETED_FAILED",
                "FAILED",
            )

        self.wait(f"backfill {backfill}", over, seconds)
        return self.runs({"key": "dagster/backfill", "value": backfill})

    def runs(self, *tags: dict[str, str]) -> list[Run]:
        """Runs with these tags, by creation."""
        result = self.ask(RUNS, filter={"tags": list(tags)})["runsOrError"]["results"]
        runs = [
            Run(
                run["runId"],
                next((tag["value"] for tag in run["tags"] if tag["key"] == "dagster/partition"), ""),
                run["status"],
                run["creationTime"],
                run["startTime"] or 0.0,
                run["endTime"] or 0.0,
            )
            for run in result
        ]
        return sorted(runs, key=lambda run: run.created)

    def logs(self, run_id: str) -> list[dict[str, Any]]:
        """Events of a run."""
        return self.ask(LOGS, id=run_id)["logsForRun"]["events"]

    def failure(self, run_id: str) -> str:
        """What the first failed step of a run said."""
        return next(
            event["error"]["message"]
            for event in self.logs(run_id)
            if event["__typename"] == "ExecutionStepFailureEvent"
        )

    def stale(self, line: str, asset: str, cycle: str) -> str:
        """FRESH, STALE or MISSING, as the UI shows it."""
        return self.ask(STALE, key={"path": [line, asset]}, cycle=cycle)["assetNodeOrError"]["staleStatus"]

    def launch_job(self, job: str, config: dict[str, Any]) -> Run:
        """Run a job to its end."""
        selector = {
            "repositoryLocationName": LOCATION,
            "repositoryName": "__repository__",
            "pipelineName": job,
        }
        answer = self.ask(
            LAUNCH_RUN, params={"selector": selector, "runConfigData": config, "mode": "default"}
        )["launchRun"]
        assert answer["__typename"] == "LaunchRunSuccess", answer
        run_id = answer["run"]["runId"]

        def over() -> Run | None:
            [run] = [
                self._run(item)
                for item in self.ask(RUNS, filter={"runIds": [run_id]})["runsOrError"]["results"]
            ]
            return run if run.status in DONE else None

        result = self.wait(f"job {job}", over, 90)
        assert result is not None
        return result

    @staticmethod
    def _run(run: dict[str, Any]) -> Run:
        return Run(
            run["runId"],
            "",
            run["status"],
            run["creationTime"],
            run["startTime"] or 0.0,
            run["endTime"] or 0.0,
        )

    def start_schedule(self, name: str) -> None:
        """Switch a schedule on, as the toggle in the UI does."""
        answer = self.ask(START_SCHEDULE, selector=self._schedule(name))["startSchedule"]
        assert answer["__typename"] == "ScheduleStateResult", answer

    def stop_schedule(self, name: str) -> None:
        """Switch a schedule off."""
        result = self.ask(SCHEDULE_ID, selector=self._schedule(name))["scheduleOrError"]["scheduleState"][
            "id"
        ]
        answer = self.ask(STOP_SCHEDULE, id=result)["stopRunningSchedule"]
        assert answer["__typename"] == "ScheduleStateResult", answer

    def ticks(self, name: str) -> list[dict[str, Any]]:
        """The schedule's ticks so far."""
        return self.ask(TICKS, selector=self._schedule(name))["scheduleOrError"]["scheduleState"]["ticks"]

    @staticmethod
    def _schedule(name: str) -> dict[str, str]:
        return {"repositoryLocationName": LOCATION, "repositoryName": "__repository__", "scheduleName": name}

    def plant(self, what: str, text: str = "") -> Callable[[], None]:
        """Plant something in a toy line; call what is given back to take it away."""
        path = self.folder / "plants" / what
        path.write_text(text)
        return path.unlink

    def members(self, line: str, cycle: str) -> list[str]:
        """The population that enters `cycle`."""
        return self.lake.read(line, "incoming_members", cycle)["member"].to_list()

    def content(self, line: str, asset: str, cycle: str) -> str:
        """Content hash of a part."""
        record = self.lake.record(line, asset, cycle)
        assert record is not None
        return record.content_sha


@dataclass
class RealSite(Site):
    """A site with the real definitions in the place of the toy lines."""

    module: str = "pipelines.definitions"
    above: Path = ROOT

    def prepare(self, deployment: str = "sqlite") -> None:
        super().prepare(deployment)
        with dg.DagsterInstance.from_config(str(self.home)):
            pass  # makes the databases: two processes that both find none can leave a home that neither can open (Dagster 1.13)  # noqa: E501


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def running_site(folder: Path, deployment: str = "sqlite", **environment: str) -> Iterator[Site]:
    """A site that is prepared and, on leaving, stopped. Start it when it is to run."""
    site = Site(folder, dict(environment))
    site.prepare(deployment)
    try:
        yield site
    finally:
        site.stop()
