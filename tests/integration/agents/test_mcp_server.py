"""`evolake mcp`, asked by the package's own client over standard input and output."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from evolake.agents.calls import AgentCall
from evolake.cli.mcp import RUN, TOOLS, AgentTool
from evolake.errors import InputError
from evolake.lake import Lake
from evolake.lake.schemas import AGENT_CALLS, side_table
from evolake.prompts.tables import PROMPTS

COMMAND = ["-c", "from evolake.cli import main; main()", "mcp"]
PACKING = Path(__file__).parents[3] / "examples" / "programs" / "circle_packing"
READ_ONLY = set(TOOLS) - {RUN}


def place(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a project of its own."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("EVOLAKE_", "DAGSTER_"))}
    return clean | {"EVOLAKE_LAKE": str(folder / "lake"), "DAGSTER_HOME": str(folder / "home")} | more


def asked(
    environment: dict[str, str], calls: Sequence[tuple[str, dict[str, Any]]], *options: str
) -> tuple[dict[str, Any], list[Any]]:
    """The tools that a server offers, and what it gives to some calls."""

    async def talk() -> tuple[dict[str, Any], list[Any]]:
        server = StdioServerParameters(command=sys.executable, args=[*COMMAND, *options], env=environment)
        async with Client(server) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            return tools, [await client.call_tool(name, given) for name, given in calls]

    return asyncio.run(talk())


@pytest.fixture
def lake(tmp_path) -> Path:
    """A lake with three calls of a model."""
    rows = [
        asdict(AgentCall(f"c{n}", None, "0001", "critic", "model", "m", "p", "r", 9, 0, 1, 0.0, 1.0, 0, "ok"))
        for n in range(3)
    ]
    store, table = Lake(tmp_path / "lake"), side_table("iterations", AGENT_CALLS)
    store.publish("prompts", "iterations", PROMPTS.frame([]), cycle="0001", run_id="r", schema=PROMPTS)
    store.publish("prompts", table, AGENT_CALLS.frame(rows), cycle="0001", run_id="r", schema=AGENT_CALLS)
    return tmp_path


def test_an_agent_asks_a_lake_and_changes_nothing(lake):
    before = {path: path.stat().st_mtime_ns for path in (lake / "lake").rglob("*.parquet")}
    tools, answers = asked(
        place(lake),
        [
            ("status", {}),
            (
                "sql",
                {"statement": "SELECT count(*) AS n FROM calls WHERE role = $r", "params": {"r": "critic"}},
            ),
            ("sql", {"statement": "DROP TABLE calls"}),
            ("describe_table", {"table": "calls"}),
            ("show", {"id": "--help"}),
            ("champions", {"line": "nosuch"}),
            ("run", {"lines": "prompts"}),
            ("sql", {"query": "SELECT 1"}),
        ],
    )
    assert set(tools) == READ_ONLY and all(tool.annotations.read_only_hint for tool in tools.values())
    assert tools["sql"].input_schema["required"] == ["statement"]
    status, count, drop, table, show, champion, run, other = answers
    assert not status.is_error and status.structured_content["exit_code"] == 0
    assert json.loads(status.content[0].text) == status.structured_content
    assert count.structured_content["result"]["rows"] == [[3]]
    assert drop.is_error and drop.structured_content["exit_code"] == 2
    assert "cached_tokens" in json.dumps(table.structured_content["result"])
    assert show.is_error and "--help" in show.structured_content["errors"]
    assert champion.is_error and "no line 'nosuch'" in champion.structured_content["errors"]
    assert run.is_error and "there is no tool 'run'" in run.structured_content["errors"]
    assert other.is_error and "there is no argument 'query'" in other.structured_content["errors"]
    assert before == {path: path.stat().st_mtime_ns for path in (lake / "lake").rglob("*.parquet")}


def test_an_agent_checks_a_project_and_a_bundle(tmp_path):
    (tmp_path / "no.bundle").write_text("no bundle")
    _, (check, verify) = asked(
        place(tmp_path),
        [("check", {"path": str(PACKING)}), ("verify", {"file": str(tmp_path / "no.bundle")})],
    )
    assert check.structured_content["exit_code"] == 0, check.structured_content
    assert "1.91006279" in json.dumps(check.structured_content["result"])
    assert verify.structured_content["exit_code"] == 1 and not verify.is_error  # it is judged bad


def test_cycles_are_run_within_a_budget_and_a_number_of_them(tmp_path):
    refused = subprocess.run(
        [sys.executable, *COMMAND, "--allow-run", "3"],
        env=place(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert refused.returncode == 2 and "only within a budget" in refused.stderr
    tools, (none, four, wrong, two) = asked(
        place(tmp_path, EVOLAKE_BUDGET__TOKENS_PER_RUN="1000"),
        [
            ("run", {"lines": None, "profile": "demo"}),
            ("run", {"lines": "programs,prompts", "cycles": 2}),
            ("run", {"lines": "prompts", "cycles": 2, "profile": "nosuch"}),
            ("run", {"lines": "prompts", "cycles": 2}),
        ],
        "--allow-run",
        "3",
    )
    assert set(tools) == set(TOOLS) and not tools["run"].annotations.read_only_hint
    assert none.structured_content["exit_code"] == 2 and "'lines' is no string" in str(
        none.structured_content
    )
    assert "at most 3" in four.structured_content["errors"] and "4" in four.structured_content["errors"]
    assert wrong.structured_content["exit_code"] == 2 and "nosuch" in wrong.structured_content["errors"]
    assert "at most 1" in two.structured_content["errors"]


def test_without_the_package_it_says_what_to_install(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'mcp' else find(name, *rest)\n"
    )
    done = subprocess.run(
        [sys.executable, *COMMAND],
        env=place(tmp_path, PYTHONPATH=str(tmp_path)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "pip install 'evolake[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_argument_is_one_word_of_the_command_and_no_option():
    tool = AgentTool(("x",), "", {"a": ("string", "", ""), "n": ("integer", "", "--n")}, ("a",))
    assert tool.words({"a": "--out=/", "n": 3}) == ["x", "--json", "--n=3", "--", "--out=/"]
    for given in ({}, {"a": 1}, {"a": "b", "n": True}, {"a": "b", "n": "--x"}):
        with pytest.raises(InputError):
            tool.words(given)
