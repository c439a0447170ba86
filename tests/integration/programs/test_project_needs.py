"""What a project needs beyond the system: programs and folders of the host, and packages of its
requirements.txt."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from programs_fixtures import OWN, calls, imports, made

from evolake.errors import InputError
from evolake.jail.toolbox import host_programs
from evolake.programs.commands.group import check
from evolake.programs.model.project import Project
from evolake.programs.sandbox import environment as packages
from evolake.programs.sandbox.environment import needs_of
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator

NODE = """let text = "";
process.stdin.on("data", (part) => { text += part; });
process.stdin.on("end", () => { console.log(String(Number(text) * 1.5)); });
"""
SUM = """
def cases(seed):
    return ["1", "2"]


def score(cases, results):
    assert all(one["status"] == "ok" for one in results), results
    return {"combined_score": sum(float(one["output"]) for one in results)}
"""


def once(project: Project) -> Evaluation:
    with Evaluator(project, OWN) as evaluator:
        return evaluator.evaluate(project.evolving, 1)


def separate(program: str, text: str, run: str, jail: str) -> Project:
    toml = (
        f'[program]\nfiles = ["{program}"]\nrun = "{run}"\n[evaluator]\nmode = "separate"\nmemory_mb = '
        f"2048\n{jail}"
    )
    return made({program: text, "evaluator.py": SUM, "project.toml": toml})


def test_a_program_of_node_runs_in_its_jail(requires):
    requires("node")
    result = once(separate("program.js", NODE, "node program.js", '[jail]\nprograms = ["node"]\n'))
    assert (result.status, result.reason, dict(result.metrics)) == ("ok", "", {"combined_score": 4.5})


def test_node_is_not_there_unless_it_is_named(requires):
    requires("node")
    result = once(separate("program.js", NODE, "node program.js", ""))
    assert (result.status, "node" in result.reason) == ("error", True)


def test_node_can_start_a_process_and_reach_no_network(requires):
    requires("node")
    attack = """
const net = require("net"), child = require("child_process");
const said = child.execFileSync("/bin/echo", ["1.5"]).toString();
try { require("fs").writeFileSync("/usr/evolake-left", "x"); console.log("wrote"); } catch (error) { }
const socket = net.connect(80, "127.0.0.1");
socket.on("error", (error) => { console.log(error.code === "EPERM" || error.code === "EACCES" ? said : error.code); process.exit(0); });
socket.on("connect", () => { console.log("connected"); process.exit(0); });
"""  # noqa: E501
    result = once(separate("program.js", attack, "node program.js", '[jail]\nprograms = ["node"]\n'))
    assert (result.status, dict(result.metrics)) == ("ok", {"combined_score": 3.0}), result


def test_a_program_that_lies_elsewhere_is_found_with_its_folder(tmp_path, monkeypatch):
    folder = tmp_path / "somewhere" / "bin"
    folder.mkdir(parents=True)
    (folder / "half").write_text("#!/bin/sh\nread x; [ $x = 1 ] && echo 0.5 || echo 1.0\n")
    (folder / "half").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    project = separate("main.sh", "exec half\n", "sh main.sh", '[jail]\nprograms = ["half"]\n')
    assert (once(project).metrics, needs_of(project, OWN).path) == ({"combined_score": 1.5}, (str(folder),))
    assert once(separate("main.sh", "exec half\n", "sh main.sh", "")).status == "error"
    (folder / "half").write_text("#!/usr/bin/env nosuch\n")
    with pytest.raises(InputError, match="the program 'half' cannot be run in a jail"):
        once(project)


def test_an_evaluator_that_imports_sees_the_programs_too(tmp_path, monkeypatch):
    (tmp_path / "seven").write_text("#!/bin/sh\necho 7\n")
    (tmp_path / "seven").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    evaluator = (
        "import subprocess\ndef evaluate(path):\n    return {'combined_score': "
        "float(subprocess.check_output(['seven']))}\n"
    )
    toml = '[evaluator]\nmode = "imports"\n'
    assert once(imports(evaluator, project__toml=toml + '[jail]\nprograms = ["seven"]\n')).metrics == {
        "combined_score": 7.0
    }
    assert once(imports(evaluator, project__toml=toml)).status == "raised"


@pytest.mark.parametrize("mode", ["imports", "calls"])
def test_a_child_by_sys_executable_has_the_same_libraries(mode):
    evaluator = (
        "import subprocess, sys\nimport numpy, scipy\ndef evaluate(path):\n"
        "    child = 'import numpy, scipy; print(numpy.__file__, scipy.__file__)'\n"
        "    said = subprocess.check_output([sys.executable, '-c', child], text=True).split()\n"
        "    return {'combined_score': float(said == [numpy.__file__, scipy.__file__])}\n"
    )
    result = once(imports(evaluator, project__toml=f'[evaluator]\nmode = "{mode}"\n'))
    assert (result.status, dict(result.metrics)) == ("ok", {"combined_score": 1.0}), result


def test_shared_memory_may_be_large_and_what_is_too_large_is_named():
    evaluator = (
        "from multiprocessing import shared_memory\ndef evaluate(path):\n"
        "    shared = shared_memory.SharedMemory(create=True, size={size} << 20)\n"
        "    shared.buf[-3:] = b'abc'\n    shared.close()\n    shared.unlink()\n"
        "    return {{'combined_score': 1.0}}\n"
    )
    toml = '[evaluator]\nmode = "imports"\nmemory_mb = 1024\n'
    held = once(imports(evaluator.format(size=400), project__toml=toml))
    assert (held.status, dict(held.metrics)) == ("ok", {"combined_score": 1.0}), held
    refused = once(imports(evaluator.format(size=700), project__toml=toml))
    assert refused.status == "raised"
    assert refused.reason.endswith("may have half of memory_mb of [evaluator], and at least 64 MiB)")


def test_an_unknown_program_is_named_with_what_to_install():
    with pytest.raises(InputError, match="project toy: the program 'nosuch' is not installed") as caught:
        once(separate("program.js", NODE, "node program.js", '[jail]\nprograms = ["nosuch"]\n'))
    assert "apt-get install nosuch" in str(caught.value)
    with pytest.raises(InputError, match="the program 'go' cannot be run in a jail"):
        host_programs(["go"], "x")
    with pytest.raises(InputError, match=r"jail.programs.0 cannot be used"):
        separate("program.js", NODE, "node program.js", '[jail]\nprograms = ["../x"]\n')


def test_a_folder_is_shown_only_where_the_user_allows_it(tmp_path):
    data = tmp_path / "allowed" / "data"
    data.mkdir(parents=True)
    (data / "value").write_text("3.5")
    evaluator = f"def evaluate(path):\n    return {{'combined_score': float(open('{data}/value').read())}}\n"
    project = imports(
        evaluator, project__toml=f'[evaluator]\nmode = "imports"\n[jail]\nfolders = ["{data}"]\n'
    )
    with pytest.raises(InputError, match="may not be shown in a jail") as caught:
        once(project)
    assert f"EVOLAKE_PROGRAMS__JAIL_FOLDERS=/usr/share,{data}" in str(caught.value)
    own = OWN.model_copy(update={"jail_folders": str(tmp_path / "allowed")})
    with Evaluator(project, own) as opened:
        assert opened.evaluate(project.evolving, 1).metrics == {"combined_score": 3.5}
    (tmp_path / "allowed" / "link").symlink_to("/etc")
    leading = imports(
        evaluator,
        project__toml=f'[evaluator]\nmode = "imports"\n[jail]\nfolders = ["{tmp_path}/allowed/link"]\n',
    )
    with pytest.raises(InputError, match="may not be shown"):
        needs_of(leading, own)
    assert needs_of(imports(evaluator), OWN).shown == {}


LOAD = """
import importlib.util
def load(path):
    spec = importlib.util.spec_from_file_location("prog", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
"""
VALUE = (
    "# EVOLVE-BLOCK-START\nimport evolake_tiny\n\ndef f():\n    return evolake_tiny.VALUE\n# "
    "EVOLVE-BLOCK-END\n"
)
USES = (
    "import evolake_tiny"
    + LOAD
    + "def evaluate(path):\n    return {'combined_score': load(path).f() + evolake_tiny.VALUE}\n"
)


@pytest.fixture
def wheels(tmp_path, monkeypatch) -> Path:
    """A folder with one wheel, which pip's settings name, and a cache of the test's own."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    info = "evolake_tiny-1.0.dist-info"
    with zipfile.ZipFile(folder / "evolake_tiny-1.0-py3-none-any.whl", "w") as file:
        file.writestr("evolake_tiny.py", "VALUE = 2.0\n")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: evolake-tiny\nVersion: 1.0\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(
            f"{info}/RECORD", f"evolake_tiny.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n"
        )
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_packages_are_named_when_missing_and_installed_once(wheels, tmp_path, monkeypatch):
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, text in {
        "initial_program.py": VALUE,
        "evaluator.py": USES,
        "requirements.txt": "# one\nevolake-tiny>=1  # small\nnumpy\n",
    }.items():
        (folder / name).write_text(text)
    said = CliRunner().invoke(check, [str(folder), "--runs", "2"], standalone_mode=False)
    assert said.return_value == 1 and "ModuleNotFoundError: No module named 'evolake_tiny'" in said.output
    assert (
        f"  packages  not installed: evolake-tiny>=1; to install them: evolake programs check {folder} "
        "--install" in said.output
    )
    said = CliRunner().invoke(check, [str(folder), "--runs", "2", "--install"], standalone_mode=False)
    assert said.return_value == 0, said.output
    assert said.output.startswith(
        f"mine: the packages of requirements.txt are in {tmp_path / 'cache' / 'evolake' / 'environments'}"
    )
    assert (
        "score     combined_score 4 over 2 evaluations" in said.output and "not installed" not in said.output
    )
    (wheels / "evolake_tiny-1.0-py3-none-any.whl").unlink()
    said = CliRunner().invoke(
        check, [str(folder), "--runs", "2", "--install", "--json"], standalone_mode=False
    )
    assert json.loads(said.output)["not_installed"] == [] and said.return_value == 0


@pytest.mark.usefixtures("wheels")
def test_only_plain_requirements_and_wheels_are_installed():
    for line in (
        "--index-url https://example.org",
        "-e .",
        "./package",
        "tiny @ https://example.org/tiny.whl",
    ):
        with pytest.raises(InputError, match=r"requirements.txt of project toy, line 2, cannot be used"):
            packages.install(calls(requirements__txt=f"numpy\n{line}\n"))
    with pytest.raises(InputError, match="the packages of project toy cannot be installed"):
        packages.install(calls(requirements__txt="evolake-absent==3\n"))
    assert (
        packages.install(calls(requirements__txt="numpy\nevolake-absent==3; python_version < '3'\n")) is None
    )
    assert packages.environment_of(calls()) is None
    first, other = (
        packages.environment_of(calls(requirements__txt=text))
        for text in ("evolake-tiny==1\n", "evolake-tiny==2\n")
    )
    assert first != other
