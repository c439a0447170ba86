"""Attacks by a program that has a private /dev/shm and pairs of sockets, as the evaluator of a project has:
written in Python."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from evolake.jail import groups
from evolake.jail.identity import interpreter
from evolake.jail.native import NativeRun, run_native
from evolake.jail.protocol import JailMode, Limits, NativeOutcome, Status
from jail_kit import ATTACK_LIMITS, Witness

LIMITS = replace(ATTACK_LIMITS, cpu_s=10, processes=8, file_mb=64, memory_mb=512, total_mb=64, open_files=256)
LEFT = "evolake-left"
REFUSED = """
import mmap, os, socket, struct, sys
def refused(call, *arguments):
    try:
        call(*arguments)
    except OSError:
        return
    sys.exit(f"{call} {arguments} was allowed")
"""


def _failed(outcome: NativeOutcome) -> str | None:
    return (
        None if outcome.exit_code == 0 else outcome.stderr.decode()[-300:] or f"exit code {outcome.exit_code}"
    )


def _ended_by_the_kernel(outcome: NativeOutcome) -> str | None:
    """A buffer of the kernel's is in no process's memory: the watch does not see it, a control group does."""
    seen = outcome.status == "memory" or groups.obstacle() is not None
    return None if seen else "it held 100 MiB in pairs of sockets beyond its limit"


@dataclass(frozen=True)
class SharedAttack:
    """source is a program of Python; sys.argv has the name of an abstract socket of the host. bad: as of a
    NativeAttack."""

    name: str
    guarantee: str
    source: str
    statuses: tuple[Status, ...] = ("ok",)
    bad: Callable[[NativeOutcome], str | None] = _failed
    limits: Limits = LIMITS

    def violations(self, mode: JailMode, host: Witness) -> list[str]:
        """Run it, then look for what it left; what was not contained, empty when all was."""
        outcome = run_shared(self.source, mode, host, self.limits)
        result = (
            []
            if outcome.status in self.statuses
            else [f"status {outcome.status} ({outcome.reason}), wanted {' or '.join(self.statuses)}"]
        )
        result += [complaint] if (complaint := self.bad(outcome)) else []
        after = run_shared("import os\nprint(os.listdir('/dev/shm'))", mode, host, self.limits)
        result += (
            []
            if after.stdout == b"[]\n"
            else [f"the next program found {after.stdout[:200]!r} in /dev/shm ({after.stderr[-200:]!r})"]
        )
        result += [f"the host has {path}" for path in Path("/dev/shm").glob(f"*{LEFT}*")]
        return result + host.traces()


def run_shared(source: str, mode: JailMode, host: Witness, limits: Limits = LIMITS) -> NativeOutcome:
    """Run a program of Python with shared memory."""
    argv = [interpreter()[0], "-S", "-s", "-P", "-B", "-c", source, host.abstract]
    return run_native(NativeRun(argv, python=True, shared_memory=True), limits, mode=mode)


SHARED_ATTACKS = (
    SharedAttack(
        "send one of a pair elsewhere",
        "network",
        REFUSED
        + """
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    for address in ("\\0" + sys.argv[1], "/tmp/work/evolake-left"):
        for call in (ours.connect, ours.bind):
            refused(call, address)
        if kind == socket.SOCK_STREAM:
            refused(ours.sendto, b"hello", address)
        else:
            ours.sendto(b"hello", address)
            assert theirs.recv(9) == b"hello"  # the address is not looked at
    refused(ours.listen)
    refused(ours.accept)
""",
    ),
    SharedAttack(
        "make another socket than a connected pair",
        "network",
        REFUSED
        + """
for family in (socket.AF_INET, socket.AF_UNIX, socket.AF_NETLINK):
    refused(socket.socket, family)
for family, kind in ((socket.AF_UNIX, socket.SOCK_DGRAM), (socket.AF_UNIX, socket.SOCK_RAW), (socket.AF_INET, socket.SOCK_STREAM)):
    refused(socket.socketpair, family, kind)
""",  # noqa: E501
    ),
    SharedAttack(
        "read the numbers that count sockets and processes",
        "counters",
        REFUSED
        + """
ours, theirs = socket.socketpair()
for number in (57, 71, 77):
    refused(ours.getsockopt, socket.SOL_SOCKET, number, 8)
refused(ours.setsockopt, socket.SOL_SOCKET, 76, 1)
assert ours.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) == socket.SOCK_STREAM
ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
""",
    ),
    SharedAttack(
        "leave shared memory and a semaphore for the next",
        "leftovers",
        """
import _multiprocessing, os
open("/dev/shm/evolake-left", "w").write("x")
_multiprocessing.SemLock(0, 1, 1, "/evolake-left", False)
assert sorted(os.listdir("/dev/shm")) == ["evolake-left", "sem.evolake-left"]
""",
    ),
    SharedAttack(
        "share pages of a file of the host",
        "leftovers",
        REFUSED
        + """
for path in (os.__file__, sys.executable, "/dev/null"):
    descriptor = os.open(path, os.O_RDONLY)
    refused(lambda: mmap.mmap(descriptor, 4096, mmap.MAP_SHARED, mmap.PROT_READ))
    refused(lambda: mmap.mmap(descriptor, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE))
refused(lambda: mmap.mmap(-1, 4096, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE))
refused(os.open, "/dev/zero", os.O_RDWR)
""",
    ),
    SharedAttack(
        "hide memory in /dev/shm",
        "memory",
        """
import mmap, os, time
held = []
for number in range(3):
    descriptor = os.open("/dev/shm/x", os.O_RDWR | os.O_CREAT)
    os.ftruncate(descriptor, 30 << 20)
    held.append(mmap.mmap(descriptor, 30 << 20))
    os.unlink("/dev/shm/x")
    os.close(descriptor)
    for place in range(0, 30 << 20, 4096):
        held[-1][place] = 1
time.sleep(2)
""",
        ("memory", "killed"),
        lambda outcome: None,
    ),
    SharedAttack(
        "hide memory half in /dev/shm and half in processes",
        "memory",
        """
import mmap, os, time
descriptor = os.open("/dev/shm/x", os.O_RDWR | os.O_CREAT)
os.write(descriptor, bytes(30 << 20))
held = [bytearray(b"x") * (20 << 20) for _ in range(2)]
time.sleep(2)
""",
        ("memory",),
        lambda outcome: None,
    ),
    SharedAttack(
        "write more to /dev/shm than fits",
        "file-size",
        REFUSED
        + """
def fill():
    for number in range(100):
        open(f"/dev/shm/{number}", "wb").write(bytes(1 << 20))
refused(fill)
""",
        bad=_failed,
        limits=replace(LIMITS, total_mb=128),
    ),
    SharedAttack(
        "hide memory in pairs of sockets",
        "memory",
        """
import os, socket, time
held = []
for _ in range(3):
    if os.fork() == 0:
        break
for _ in range(110):
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    held += [ours, theirs]
    try:
        while True:
            ours.send(bytes(1 << 16))
    except BlockingIOError:
        pass
time.sleep(1)
""",
        ("ok", "memory"),
        _ended_by_the_kernel,
    ),
)
