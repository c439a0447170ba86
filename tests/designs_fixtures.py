"""A small designs line that tests run for real: its own lake, its own DAGSTER_HOME, the demo profile made
smaller."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import commands
from click.testing import CliRunner

from evolake.cli import cli
from evolake.lake import Catalogue, Lake
from evolake.lake.secret import SECRET_BYTES, SECRET_FILE, SECRET_FOLDER

ROOT = Path(__file__).parents[1]
OWN_PROCESS = ("rules", "run")
LONG_S = 1500
"""How long a command may take on a machine that others load too."""
SMALL = {
    "EVOLAKE_PROFILE": "demo",
    "EVOLAKE_DESIGNS__BATCH": "8",
    "EVOLAKE_DESIGNS__DESIGNS_PER_CYCLE": "4",
    "EVOLAKE_DESIGNS__DIRECTIONS_PER_CYCLE": "2",
    "EVOLAKE_DESIGNS__LOW": '{"max_n": 28, "max_steps": 400, "core_s": 30}',
    "EVOLAKE_DESIGNS__MEDIUM": '{"max_n": 40, "max_steps": 800, "core_s": 30}',
    "EVOLAKE_DESIGNS__HIGH": '{"max_n": 57, "max_steps": 1600, "core_s": 30}',
    "EVOLAKE_DESIGNS__TUNING_TRIALS": "2",
    "EVOLAKE_WORKERS": "1",
}


@dataclass(frozen=True)
class Project:
    """One lake and one DAGSTER_HOME, and the environment that points at them."""

    folder: Path
    environment: dict[str, str]

    @property
    def lake(self) -> Path:
        return self.folder / "lake"

    @property
    def settings(self) -> dict[str, str]:
        """All that its commands are run with but where its lake lies."""
        return {
            name: value
            for name, value in self.environment.items()
            if name.startswith("EVOLAKE_") and name != "EVOLAKE_LAKE"
        }

    def run(
        self, *command: str, check: bool = True, timeout: float = LONG_S, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """An `evolake` command in this project: a process of its own where it loads Dagster's definitions,
        else in this one."""
        if command[0] in OWN_PROCESS:
            program = str(Path(sys.executable).with_name("evolake"))
            done = subprocess.run(
                [program, *command],
                env=self.environment | more,
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
                cwd=ROOT,
            )
        else:
            done = commands.evolake(*command, environment=self.environment | more, cwd=ROOT)
        if check and done.returncode != 0:
            raise AssertionError(
                f"evolake {' '.join(command)} ended with {done.returncode}\n{done.stdout[-4000:]}\n"
                f"{done.stderr[-4000:]}"
            )
        return done

    def sql(self, statement: str) -> list[list]:
        """Rows of one statement, answered in this process, for there are many."""
        with Catalogue(Lake(self.lake)) as catalogue:
            return [list(row) for row in catalogue.query(statement).rows]

    def cookbook(self, question: str, **parameters: str) -> list[list]:
        """Rows of the answer to a question of the cookbook, by the command in this process. What the question
        does not ask for is not given."""
        path = ROOT / "sql" / "cookbook" / f"{question}.sql"
        given = [
            argument
            for name, value in parameters.items()
            if f"${name}" in path.read_text()
            for argument in ("-p", f"{name}={value}")
        ]
        done = CliRunner().invoke(
            cli,
            ["sql", "--file", str(path), *given, "--format", "json"],
            env=self.environment,
            catch_exceptions=False,
        )
        assert done.exit_code == 0, done.output
        answer = json.loads(done.stdout)
        assert answer["verdict"] == "ok", question
        return answer["rows"]


def pin_secret(lake: Path) -> None:
    """Give a lake that has no secret one that is the same in every run."""
    path = lake / SECRET_FOLDER / SECRET_FILE
    if not path.exists():
        path.parent.mkdir(parents=True, mode=0o700)
        path.write_bytes(bytes(range(SECRET_BYTES)))
        path.chmod(0o600)


def open_project(folder: Path, **settings: str) -> Project:
    """A project under `folder` with the small sizes, whose lake has the secret of all test projects, so that
    the same candidates meet the same formulas in each; `settings` are further environment variables."""
    pin_secret(folder / "lake")
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("EVOLAKE_", "DAGSTER_"))
    }
    kept = {name: os.environ[name] for name in ("EVOLAKE_REQUIRE_ALL",) if name in os.environ}
    own = {
        "EVOLAKE_LAKE": str(folder / "lake"),
        "DAGSTER_HOME": str(folder / "home"),
        "DAGSTER_DISABLE_TELEMETRY": "1",
    }
    return Project(folder, clean | kept | SMALL | own | settings)
