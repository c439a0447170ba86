"""`evolake agents tape`: what lies on a tape that a real server filled, chosen by what it is, and taken
off."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from loopback_model import KEY, LoopbackModel, say

from evolake.agents import open_agents
from evolake.cli.agents import known_roles, tape
from evolake.errors import InputError
from evolake.families.roles.reviewers import CURATOR_ROLE, CurateRequest
from evolake.settings import BudgetSettings, Settings


def fill(folder: Path, base_url: str, line: str, cycle: str, texts: list[str]) -> None:
    settings = Settings(
        backend="model",
        model_base_url=base_url,
        model_api_key=KEY,
        models={"default": f"model-{line}"},
        model_repairs=0,  # type: ignore[arg-type]
        budget=BudgetSettings(tokens_per_run=10**6),
    )
    with open_agents(settings, folder, cycle, f"run-{cycle}", line=line) as agents:
        for text in texts:
            agents.call(CURATOR_ROLE, CurateRequest(existing=[], candidates=[text], limit=3), seed=0)


@pytest.fixture
def lake(tmp_path, monkeypatch) -> Path:
    """Two valid replies of cycle 0001, one that is none of cycle 0002, and a damaged entry."""
    reply = {"items": ["Ask for a number."]}
    with LoopbackModel([say(reply), say(reply), say("nonsense"), say(reply)]) as server:
        fill(tmp_path, server.base_url, "families", "0001", ["a", "b"])
        fill(tmp_path, server.base_url, "families", "0002", ["c"])
        fill(tmp_path, server.base_url, "designs", "0001", ["d"])
    path = next(path for path in (tmp_path / "tape").glob("??/*.json") if '"designs"' in path.read_text())
    path.write_text("{}")
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path))
    return tmp_path


def ran(*arguments: str, keys: str = "") -> Any:
    return CliRunner().invoke(tape, arguments, input=keys, catch_exceptions=False)


def states(*arguments: str) -> list[str]:
    return sorted(load["state"] for load in json.loads(ran("list", "--json", *arguments).output)["entries"])


def test_entries_are_listed_by_line_role_cycle_model_and_validity(lake):
    assert states() == ["damaged", "invalid", "valid", "valid"]
    assert states("--line", "families") == ["invalid", "valid", "valid"]
    assert states("--cycle", "0001") == ["valid", "valid"]
    assert states("--model", "model-families", "--invalid") == ["invalid"]
    assert states("--role", "families_experience_curator", "--valid") == ["valid", "valid"]
    assert states("--role", "another") == []
    out = ran("list", "--invalid").output
    assert (
        "families 0002 families_experience_curator (model-families at http://127.0.0.1:" in out
        and ": invalid: not JSON" in out
    )
    assert ran("list").output.splitlines()[-1] == "4 entries: 2 valid, 1 invalid, 1 damaged"


def test_drop_asks_and_takes_only_what_is_chosen(lake):
    assert ran("drop", "--invalid", keys="n\n").output.endswith("nothing dropped\n")
    assert states() == ["damaged", "invalid", "valid", "valid"]
    assert ran("drop", "--invalid", keys="y\n").output.endswith("1 dropped\n")
    assert states() == ["damaged", "valid", "valid"]
    summary = json.loads(ran("drop", "--damaged", "--yes", "--json").output)
    assert (summary["verdict"], summary["count"]) == ("dropped", 1)
    accounts = sorted(path.name for path in (lake / "tape" / "accounts").iterdir())
    assert ran("drop", "--all", "--yes").output == "2 dropped\n"
    assert (states(), sorted(path.name for path in (lake / "tape" / "accounts").iterdir())) == ([], accounts)
    assert ran("drop", "--all", "--yes").output == "0 dropped\n"


@pytest.mark.parametrize("arguments", [["--yes"], ["--all", "--invalid"], ["--invalid", "--json"]], ids=str)
def test_drop_wants_to_know_what_is_meant(lake, arguments):
    with pytest.raises(InputError):
        ran("drop", *arguments)
    assert len(states()) == 4


def test_every_role_of_the_installed_lines_is_known():
    assert {name.partition("_")[0] for name in known_roles()} >= {
        "designs",
        "families",
        "programs",
        "prompts",
        "solvers",
    }
