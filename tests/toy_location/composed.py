"""The services of deploy/compose as processes of this machine: each is started by the command and the
environment that compose.yaml gives it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from toy_location.served import ServedSite
from toy_location.site import LOCATION, ROOT, free_port

COMPOSE = ROOT / "deploy" / "compose"
PROGRAMS = {
    "dagster": [sys.executable, "-m", "dagster"],
    "dagster-webserver": [sys.executable, "-m", "dagster_webserver"],
    "dagster-daemon": [sys.executable, str(Path(__file__).parent / "fast_daemon.py")],
    "dask": [str(Path(sys.executable).parent / "dask")],
}


@dataclass
class ComposedSite(ServedSite):
    """`postgres`: port of the server that stands for the service of that name, with a database `dagster` of
    the user `postgres`."""

    postgres: int = 0
    scheduler_port: int = field(default_factory=free_port)

    @cached_property
    def services(self) -> dict[str, Any]:
        """The services of compose.yaml that run evolake's image."""
        return {
            name: service
            for name, service in yaml.safe_load((COMPOSE / "compose.yaml").read_text())["services"].items()
            if "build" in service
        }

    def prepare(self, deployment: str = "postgres") -> None:
        super().prepare(deployment)
        workspace = yaml.safe_load((COMPOSE / "workspace.yaml").read_text())
        workspace["load_from"][0]["grpc_server"]["location_name"] = LOCATION
        (self.folder / "workspace.yaml").write_text(yaml.safe_dump(workspace))
        here = {
            "DAGSTER_HOME": str(self.home),
            "EVOLAKE_LAKE": str(self.lake.root),
            "EVOLAKE_COMPUTE": f"dask:tcp://127.0.0.1:{self.scheduler_port}",
            "EVOLAKE_CODE_HOST": "127.0.0.1",
            "EVOLAKE_CODE_PORT": str(self.code_port),
            "EVOLAKE_PG_HOST": "127.0.0.1",
            "EVOLAKE_PG_PORT": str(self.postgres),
            "EVOLAKE_PG_USER": "postgres",
            "EVOLAKE_PG_DATABASE": "dagster",
            "DAGSTER_GRPC_TIMEOUT_SECONDS": "300",
        }
        assert all(service["environment"].keys() == here.keys() for service in self.services.values())
        self.environment |= here | {"EVOLAKE_PG_PASSWORD": "not asked for"}

    def commands(self) -> dict[str, Sequence[str]]:
        here = {
            "0.0.0.0": "127.0.0.1",
            "4000": str(self.code_port),
            "3000": str(self.port),
            "8786": str(self.scheduler_port),
            "tcp://scheduler:8786": f"tcp://127.0.0.1:{self.scheduler_port}",
            "pipelines.definitions": "toy_location.nights",
            "evolake": LOCATION,
            "deploy/compose/workspace.yaml": str(self.folder / "workspace.yaml"),
        }
        given = {name: service["command"] for name, service in self.services.items()}
        return {
            name: [*PROGRAMS[program], *(here.get(part, part) for part in rest)]
            for name, (program, *rest) in given.items()
        }

    def start(self) -> None:
        for name in ("scheduler", "worker"):
            self.serve(name)
        super().start()
        assert self.served.keys() == self.services.keys(), "every service of the file has been started"
