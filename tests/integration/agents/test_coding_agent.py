"""A coding agent's command in the place of a session: what it is shown, what is taken of what it leaves, and
how it fails. The agents are scripts."""

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from session_project import FILES, Ask, Finished, Project

from evolake.agents import AgentFailure
from evolake.agents.calls import count_outcomes
from evolake.agents.preflight import check_endpoint
from evolake.errors import InputError
from evolake.jail import open_pool
from evolake.settings import AgentsSettings, Settings

HEAD = "import json, os, sys, time\nfrom pathlib import Path\nmain = Path('src/main.cc')\n"
CHANGE = "main.write_text(main.read_text().replace('return 1', 'return 0'))\n"
END = "Path('FINISH.json').write_text(json.dumps({'title': 'zero'}))\n"


@pytest.fixture(scope="module")
def pool():
    with open_pool(workers=1, preload=()) as pool:
        yield pool


def held(folder: Path, pool: Any, script: str, *, timeout_s: float = 60, must_change: bool = True) -> Any:
    """(what a session came to, its workspace, rows of its calls)."""
    (folder / "agent.py").write_text(HEAD + script)
    command = shlex.join([sys.executable, str(folder / "agent.py")])
    project = Project(folder, pool)
    own = AgentsSettings(command=command, command_timeout_s=timeout_s)
    with project.agents(None, agents=own, models={}, model_api_key=None) as agents:
        context = replace(project.context(), must_change=must_change)
        result = agents.session(project.role, Ask(goal="Return 0."), context, seed=0).value
        return result, context.workspace, agents.rows()


def test_its_change_is_taken_and_its_calls_cost_what_nobody_knows(tmp_path, pool, monkeypatch):
    monkeypatch.setenv("EVOLAKE_MODEL_API_KEY", "a secret of the host")
    keep = f"Path({str(tmp_path / 'seen')!r}).write_text(json.dumps([Path('TASK.md').read_text(), *sorted(os.environ)]))\n"  # noqa: E501
    other = "Path('README.md').write_text('other'); Path('src/new.cc').write_text('int n;\\n'); Path('src/util.h').unlink()\n"  # noqa: E501
    result, workspace, [row] = held(tmp_path, pool, keep + other + CHANGE + END)
    assert result == Finished(title="zero")
    assert workspace.changed == {
        "src/main.cc": FILES["src/main.cc"].replace("return 1", "return 0"),
        "src/new.cc": "int n;\n",
        "src/util.h": None,
    }
    task, *names = json.loads((tmp_path / "seen").read_text())
    assert "Return 0." in task and '"title"' in task and "`withdraw`" not in task
    assert [name for name in names if name.startswith("EVOLAKE_")] == ["EVOLAKE_TASK"]
    assert (row["backend"], row["status"], row["usd"]) == ("command", "ok+no_usage", None)
    assert row["input_tokens"] is None and row["latency_s"] > 0
    (tmp_path / "seen").unlink()
    again, workspace_again, [row] = held(tmp_path, pool, keep + other + CHANGE + END)
    assert (again, workspace_again.sha) == (result, workspace.sha) and not (tmp_path / "seen").exists()
    assert row["status"] == "replayed+no_usage"


@pytest.mark.parametrize(
    ("script", "status", "says"),
    [
        (CHANGE + "sys.exit(3)\n", "unusable", "exit code 3"),
        (CHANGE + END + "time.sleep(60)\n", "unusable", "did not end within 2 s"),
        (CHANGE, "invalid", "FINISH.json"),
        (CHANGE + "Path('FINISH.json').write_text('{}')\n", "invalid", "FINISH.json: Field required"),
        (END, "withdrawn", "no gain found"),
        ("main.unlink(); main.symlink_to('/etc/passwd')\n" + END, "unusable", "is a link, no ordinary file"),
        (
            "os.makedirs('d/' * 300); [(os.chdir('d/' * 300), os.makedirs('d/' * 300)) for _ in range(4)]\n",
            "withdrawn",
            "no gain found",
        ),
        ("os.symlink('/etc', 'src/etc')\n" + END, "withdrawn", "no gain found"),
        ("Path('README.md').write_text('x')\n" + END, "withdrawn", "no gain found"),
    ],
)
def test_what_cannot_be_used_is_a_reason(tmp_path, pool, script, status, says):
    result, workspace, rows = held(tmp_path, pool, script, timeout_s=2 if "sleep" in script else 60)
    assert isinstance(result, AgentFailure) and result.status == status and says in result.reason
    assert rows[0]["status"] == f"{status}+no_usage" and rows[0]["reason"] == result.reason
    outcomes = count_outcomes(rows, ("mender",))
    assert outcomes.withdrawn == (status == "withdrawn") and outcomes.failed is (status != "withdrawn")
    assert "root:" not in "".join(workspace.files.values())


def test_it_is_said_loudly_that_it_runs_outside_of_the_jail(tmp_path, capsys):
    check_endpoint(Settings(backend="model", agents=AgentsSettings(command=f"{sys.executable} -c pass")))
    said = capsys.readouterr().err
    assert "EVOLAKE_AGENTS__COMMAND" in said and "OUTSIDE of the jail, as you" in said
    for command, wanted in (("no-such-agent --x", "names no program"), ("'open", "cannot be used")):
        with pytest.raises(InputError, match=wanted):
            check_endpoint(Settings(backend="model", agents=AgentsSettings(command=command)))


def test_a_role_that_is_no_session_is_refused_without_an_endpoint(tmp_path, pool):
    project = Project(tmp_path, pool)
    own = AgentsSettings(command=f"{sys.executable} -c pass")
    with (
        project.agents(None, agents=own, models={}, model_api_key=None) as agents,
        pytest.raises(InputError, match="no model serves the role 'mender'"),
    ):
        agents.call(replace(project.role, tools=()), Ask(goal="Return 0."), seed=0)
