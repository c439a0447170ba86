"""deploy/: who runs the jail gets more than the default profiles and nobody else; compose, Kubernetes and
systemd start the same processes."""

import json
import re
import shutil
import subprocess

import pytest
import yaml
from compose_spec import PyCompose
from designs_fixtures import ROOT
from lightkube import codecs

from pipelines.data_docs import PORT

DEPLOY = ROOT / "deploy"
JAIL = {"code", "worker"}
COMPOSE = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text())["services"]
OURS = {name: service for name, service in COMPOSE.items() if "build" in service}
KUBERNETES = list(yaml.safe_load_all((DEPLOY / "kubernetes" / "evolake.yaml").read_text()))
PODS = {
    item["metadata"]["name"]: item["spec"]["template"]["spec"]
    for item in KUBERNETES
    if item["kind"] == "Deployment"
}


def known(manifest: dict) -> dict:
    """What the types of the Kubernetes API hold of a manifest: a field that they do not have is left out."""
    return codecs.from_dict(manifest).to_dict()


def test_the_kubernetes_api_knows_every_field_of_the_manifests():
    assert [known(item) for item in KUBERNETES] == KUBERNETES


def test_the_check_of_manifests_sees_a_wrong_name_a_wrong_type_and_a_missing_field():
    code = next(item for item in KUBERNETES if item["kind"] == "Deployment")
    pod = code["spec"]["template"]["spec"]
    misspelt = {**code, "spec": {**code["spec"], "template": {"spec": {**pod, "hostUser": False}}}}
    assert known(misspelt) != misspelt
    with pytest.raises(ValueError, match=r"\$\.spec\.replicas"):
        known({**code, "spec": {**code["spec"], "replicas": "1"}})
    with pytest.raises(ValueError, match="selector"):
        known({**code, "spec": {"template": code["spec"]["template"]}})


@pytest.mark.parametrize(
    ("old", "new", "refused"),
    [
        ("", "", None),
        ("init: true", "initial: true", "`initial`"),
        ("condition: service_healthy", "condition: healthy", "`healthy`"),
        ("image: evolake", "image: [evolake]", "image"),
    ],
)
def test_the_compose_specification_knows_every_field_of_the_compose_file(old, new, refused):
    text = (DEPLOY / "compose" / "compose.yaml").read_text()
    assert old in text
    plain = yaml.safe_dump(yaml.safe_load(text.replace(old, new)))  # its anchors and merges are resolved
    if refused:
        with pytest.raises(ValueError, match=refused):
            PyCompose.from_yaml(plain)
    else:
        assert PyCompose.from_yaml(plain).to_dict()["services"].keys() == COMPOSE.keys()


def test_only_what_runs_the_jail_leaves_the_default_profiles_of_compose():
    assert {name for name, service in COMPOSE.items() if "security_opt" in service} == JAIL


def test_only_what_runs_the_jail_leaves_the_default_profiles_of_kubernetes():
    profiles = {
        name: pod["containers"][0]["securityContext"]["seccompProfile"]["type"] for name, pod in PODS.items()
    }
    assert profiles == {name: "Unconfined" if name in JAIL else "RuntimeDefault" for name in OURS}
    assert {name for name, pod in PODS.items() if pod.get("hostUsers") is False} == JAIL


def test_the_devcontainer_has_what_its_steps_and_the_jail_need():
    given = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert {tuple(COMPOSE[name]["security_opt"]) for name in JAIL} == {tuple(given["securityOpt"])}
    [install] = re.findall(
        r"^ +(make install)\b", (ROOT / "README.md").read_text().split("## Common")[0], re.M
    )
    assert given["postCreateCommand"] == install
    image = (DEPLOY / "compose" / "Dockerfile").read_text()
    [compiler] = re.findall(r"--no-install-recommends (.+?) &&", image)
    assert {*compiler.split(), "git", "python3-venv"} <= set(given["onCreateCommand"].split())
    assert "remoteUser" not in given, "the first command needs root"
    lake = given["containerEnv"]["EVOLAKE_LAKE"]
    assert [dict(part.split("=") for part in mount.split(","))["target"] for mount in given["mounts"]] == [
        "${containerWorkspaceFolder}/.venv",
        lake,
    ]
    assert lake == COMPOSE["code"]["environment"]["EVOLAKE_LAKE"]
    assert given["forwardPorts"] == [3000, PORT], "make dev serves the UI and Data Docs"


def test_kubernetes_starts_what_compose_starts():
    assert {name: pod["containers"][0]["command"] for name, pod in PODS.items()} == {
        name: service["command"] for name, service in OURS.items()
    }
    [variables] = [item["data"] for item in KUBERNETES if item["kind"] == "ConfigMap"]
    assert all(service["environment"] == variables for service in OURS.values())
    ports = {
        item["metadata"]["name"]: item["spec"]["ports"][0]["port"]
        for item in KUBERNETES
        if item["kind"] == "Service"
    }
    assert ports == {"code": 4000, "webserver": 3000, "scheduler": 8786}


def test_a_unit_starts_each_process_or_says_which_there_are(tmp_path):
    for folder in (".venv/bin", "deploy/systemd"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(DEPLOY / "systemd" / "start.sh", tmp_path / "deploy" / "systemd")
    for name in ("dagster", "dagster-daemon", "dagster-webserver"):
        (tmp_path / ".venv" / "bin" / name).write_text('#!/bin/sh\necho "$(basename "$0") $*"\n')
        (tmp_path / ".venv" / "bin" / name).chmod(0o755)
    unit = (DEPLOY / "systemd" / "evolake@.service").read_text()
    command = re.search(r"^ExecStart=/bin/sh (.+) %i$", unit, re.MULTILINE)
    assert command

    def started(name: str) -> subprocess.CompletedProcess[str]:
        variables = {"PATH": "/usr/bin:/bin", "EVOLAKE_CODE_HOST": "127.0.0.1", "EVOLAKE_CODE_PORT": "4000"}
        return subprocess.run(
            ["/bin/sh", command[1], name],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )

    code = [*COMPOSE["code"]["command"]]
    code[code.index("0.0.0.0")] = "127.0.0.1"
    assert started("code").stdout.split() == code
    assert started("daemon").stdout.split() == COMPOSE["daemon"]["command"]
    assert started("webserver").stdout.split()[0] == "dagster-webserver"
    wrong = started("ui")
    assert (wrong.returncode, wrong.stdout) == (2, "") and "wanted: code, daemon or webserver" in wrong.stderr


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_the_unit_is_one_that_systemd_accepts(tmp_path):
    text = (DEPLOY / "systemd" / "evolake@.service").read_text().replace("User=evolake\n", "")
    (tmp_path / "evolake@code.service").write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / "evolake@code.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert [line for line in done.stderr.splitlines() if "evolake@code" in line] == []
