"""A jail that is built inside a user namespace of an ordinary user, as rootless containers are: its root may
not give up its groups, and may be refused further namespaces."""

import subprocess
import sys

import pytest

from evolake.jail.bubblewrap import KINDS

SCRIPT = """
from evolake.jail import GENERIC_DRIVER, Limits, open_pool
from evolake.jail.direct import DirectRun, run_direct
print(open("/proc/self/setgroups").read().strip())
call = {"function": "f", "args": [21]}
with open_pool(1) as pool:
    print(pool.call(GENERIC_DRIVER, "def f(x):\\n    return 2 * x\\n", call, Limits()).value)
print(run_direct(DirectRun(["/bin/echo", "hello"])).stdout.decode().strip())
"""


@pytest.fixture
def mapped():
    """Runs a command as the root of a new user namespace that knows one user; settings: lines of sh before
    it."""
    if subprocess.run(["unshare", "-Ur", "true"], capture_output=True).returncode:
        pytest.skip("this host makes no user namespace")

    def run(*command: str, settings: str = "true") -> subprocess.CompletedProcess[str]:
        script = ["sh", "-c", f'{settings} && exec "$0" "$@"', *command]
        return subprocess.run(["unshare", "-Ur", *script], capture_output=True, text=True, timeout=120)

    return run


@pytest.mark.parametrize("mode", ["bubblewrap", "rlimits"])
def test_root_that_may_not_give_up_its_groups_builds_a_jail(mapped, mode, monkeypatch):
    monkeypatch.setenv("EVOLAKE_JAIL", mode)
    done = mapped(sys.executable, "-c", SCRIPT)
    assert (done.stdout.split(), done.stderr) == (["deny", "42", "hello"], "")


@pytest.mark.parametrize("kind", KINDS)
def test_a_namespace_that_the_kernel_refuses_is_named_with_what_allows_it(mapped, kind):
    setting = f"max_{kind}_namespaces"
    done = mapped(sys.executable, "-c", SCRIPT, settings=f"echo 0 > /proc/sys/user/{setting}")
    assert f"user.{setting} is 0; allow with `sysctl -w user.{setting}=15000`" in done.stderr.splitlines()[-1]
