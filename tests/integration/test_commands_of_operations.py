"""Every command of docs/operations.md and docs/team-lake.md runs as it is written there, on a small lake;
those that need what a test has not got are named, and nothing else is left out."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from commands import evolake

from assets.line import register_keys
from evolake.lake import Lake

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("operations.md", "team-lake.md")
PROGRAMS = ("evolake", "docker", "dagster", "ssh", "cp", "pip", "export")
ELSEWHERE = {
    "cp": "the two lines that start containers",
    "docker": "no Docker here; the services run as processes in tests/e2e/test_postgres_deployment.py",
    "ssh": "a second host",
    "pip": "tests/e2e/test_installed_package.py",
    "export": "an account of a store",
    "dagster api grpc": "tests/e2e/test_postgres_deployment.py",
    "dagster instance migrate": "Dagster's own",
    "evolake run": "every end-to-end test",
    "evolake report --open": "opens a browser",
    "evolake sql": "needs a question: tests/unit/docs",
}


def commands(page: str) -> list[str]:
    """The commands of a page in order: lines of its blocks, and what stands in backticks."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / "docs" / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    found = [
        (item.start(), item[1] or item[2].replace("\n", " "))
        for item in re.finditer(r"^ {4}(\S.*)$|`([^`]+)`", text, re.MULTILINE)
    ]
    lines = [re.sub(r"\s+#.*| > .*", "", command).strip() for _, command in sorted(found)]
    return [line for line in lines if line.split()[0] in PROGRAMS and len(line.split()) > 1]


def left_out(command: str) -> bool:
    return any(command == known or (" " not in known and command.split()[0] == known) for known in ELSEWHERE)


@pytest.fixture
def environment(tmp_path) -> Mapping[str, str]:
    lake = Lake(tmp_path / "lake")
    for cycle in ("0001", "0002"):
        lake.publish(
            "solvers",
            "plan",
            pl.DataFrame({"plan_id": [f"{cycle}-1", f"{cycle}-2"]}),
            cycle=cycle,
            run_id=f"run-{cycle}",
        )
    (tmp_path / "home").mkdir()
    return os.environ | {
        "EVOLAKE_LAKE": str(tmp_path / "lake"),
        "DAGSTER_HOME": str(tmp_path / "home"),
        "EVOLAKE_PROFILE": "demo",
    }


def test_all_that_runs_here_ends_well_in_the_order_of_the_pages(environment, tmp_path):
    with dg.DagsterInstance.from_config(environment["DAGSTER_HOME"]) as instance:
        register_keys(instance, "families", ["0030"])
    mirror = {
        "URL": f"file://{tmp_path}/mirror",
        "s3://bucket/our-lake": f"file://{tmp_path}/mirror",
        "s3://our-lakes/solvers": f"file://{tmp_path}/mirror",
    }
    ran: dict[str, tuple[int, str]] = {}
    for command in (command for page in PAGES for command in commands(page) if not left_out(command)):
        if command in ran:
            continue
        words = [
            mirror.get(word, word).replace("NEW_FOLDER", str(tmp_path / "new"))
            for word in shlex.split(command)
        ]
        done = evolake(*words[1:], environment=environment, cwd=tmp_path)
        ran[command] = done.returncode, done.stdout + done.stderr
    # a host that lacks an optional tool is told so by `doctor` with exit code 1
    bad = {
        command: ended
        for command, ended in ran.items()
        if ended[0] not in ((0, 1) if command == "evolake doctor" else (0,))
    }
    assert bad == {}
    assert {
        "evolake cycles forget 0030 --line families",
        "evolake lake push URL",
        "evolake lake compact",
        "evolake lake gc",
    } <= ran.keys()
    assert (tmp_path / "their-lake" / "_format.json").exists() and (tmp_path / "lake.duckdb").exists()


def test_whatever_is_left_out_is_still_on_the_pages():
    found = {command for page in PAGES for command in commands(page)}
    assert {
        known
        for known in ELSEWHERE
        if not any(command == known or command.split()[0] == known for command in found)
    } == set()
