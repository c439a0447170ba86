"""Attacks by Python candidates on the warm pool."""

from dataclasses import replace

from evolake.jail.inside import syscalls
from evolake.jail.protocol import Outcome, Status
from jail_kit import ATTACK_LIMITS, CounterAttack, PythonAttack

REFUSED: tuple[Status, ...] = ("error", "forbidden")

SYSCALL = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def must(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
"""

PARENT = """
import os
def parent():
    if os.getppid() == 0: raise PermissionError("the parent has no number here, and 0 is the own process")
    return os.getppid()
"""

FORGE = """
import os, sys
def forge(body):
    frame = sys._getframe()
    while "call" not in frame.f_locals:
        frame = frame.f_back
    os.write(3, b"evolake-reply-1 %s %d\\n" % (frame.f_locals["call"]["nonce"].encode(), len(body)) + body)
    os._exit(0)
"""


def _sees_the_host(outcome: Outcome) -> str | None:
    return (
        None if outcome.status != "ok" or len(outcome.value) <= 2 else f"it saw the processes {outcome.value}"
    )


def _opened_something(outcome: Outcome) -> str | None:
    return (
        None
        if outcome.status != "ok" or outcome.value == 0
        else f"it opened {outcome.value} descriptors of its parent"
    )


DEVICES = ("/dev/null", "/dev/urandom")
DEVICE_CHANGES = {
    "its mode": "os.chmod(DEVICE, status.st_mode & 0o7777)",
    "its owner": "os.chown(DEVICE, -1, -1)",
    "its times": "os.utime(DEVICE, ns=(status.st_atime_ns, status.st_mtime_ns))",
    "an attribute": "os.setxattr(DEVICE, 'user.evolake-left', b'x')",
    "its descriptor": "os.fchmod(0, status.st_mode & 0o7777)",
}
"""Each leaves a device that it reaches as it was."""
CHANNELS = {
    "a lock": "fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)",
    "a record lock": "fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)",
    "a look at locks": "fcntl.fcntl(descriptor, fcntl.F_GETLK, bytes(32))",
    "a lease": "fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)",
    "a notice": "fcntl.fcntl(os.open('/', os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)",
    "a hint": "fcntl.fcntl(descriptor, 1036, bytes(8))",
    "page advice": "os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)",
    "reading without waiting": "os.preadv(descriptor, [bytearray(1)], 0, 8)",
    "shared pages": "mmap.mmap(descriptor, 1, mmap.MAP_SHARED, mmap.PROT_READ)",
    "pages put out": "mmap.mmap(descriptor, 1, mmap.MAP_PRIVATE, mmap.PROT_READ).madvise(21)",
    **{
        name.replace("_", " "): f"call({syscalls.number(name)}, {arguments})"
        for name, arguments in {
            "readahead": "descriptor, 0, 4096",
            "mincore": "0, 0, room",
            "cachestat": "descriptor, room, room, 0",
            "io_setup": "1, room",
            "timer_create": "0, 0, room",
            "inotify_init1": "0",
            "sync_file_range": "descriptor, 0, 0, 0",
            "mq_open": "ctypes.create_string_buffer(b'evolake-left'), os.O_CREAT | os.O_RDWR, 0o666, 0",
            "msgget": "0x4243, 0o1666",
            "semget": "0x4244, 1, 0o1666",
            "shmget": "0x4242, 4096, 0o1666",
            "add_key": "ctypes.create_string_buffer(b'user'), ctypes.create_string_buffer(b'x'), room, 1, -4",
            "keyctl": "0, -4, 1",
            "adjtimex": "room",
            "io_uring_setup": "4, room",
            "pidfd_open": "os.getpid(), 0",
            "process_vm_readv": "os.getpid(), room, 0, room, 0, 0",
        }.items()
        if syscalls.number(name) is not None
    },
}
"""What two candidates could know of each other by: state of files, memory and quotas that they have in
common."""

PYTHON_ATTACKS = (
    PythonAttack("read a secret", "secrets", REFUSED, "def attack(host): return open(host['secret']).read()"),
    PythonAttack(
        "read a secret through a symbolic link",
        "secrets",
        REFUSED,
        """
import os
def attack(host):
    os.symlink(host["secret"], "/tmp/evolake-left-link")
    return open("/tmp/evolake-left-link").read()
""",
    ),
    PythonAttack(
        "leak the environment",
        "environment",
        ("ok",),
        """
import glob, os
def attack(host):
    seen = repr(dict(os.environ))
    for path in glob.glob("/proc/*/environ"):
        try:
            seen += open(path).read()
        except OSError as error:
            seen += str(error)
    return seen
""",
    ),
    PythonAttack(
        "connect to loopback",
        "network",
        REFUSED,
        """
import socket
def attack(host): socket.create_connection(("127.0.0.1", host["port"])).send(b"hello")
""",
    ),
    PythonAttack(
        "ask for a ring to get sockets by",
        "network",
        REFUSED,
        SYSCALL
        + """
def attack(host): return must(libc.syscall(425, 8, ctypes.create_string_buffer(256)))
""",
    ),
    PythonAttack(
        "write outside",
        "writes",
        REFUSED,
        "def attack(host): open(host['folder'] + '/written', 'w').write('x')",
    ),
    PythonAttack(
        "delete outside", "writes", REFUSED, "import os\ndef attack(host): os.unlink(host['secret'])"
    ),
    PythonAttack(
        "leave files for the next",
        "leftovers",
        ("ok",),
        """
import os
def attack(host):
    left = []
    for place in ("/tmp", "/var/tmp", "/dev/shm", "/dev", "/", "."):
        try:
            open(place + "/evolake-left", "w").write("x")
            left.append(place)
        except OSError:
            pass
    return left
""",
        bad=lambda outcome: f"it left files in {outcome.value}" if outcome.value else None,
    ),
    PythonAttack(
        "leave shared memory for the next",
        "leftovers",
        REFUSED,
        SYSCALL + "def attack(host): return must(libc.shmget(77, 4096, 0o1666))",
    ),
    PythonAttack(
        "hide memory in an anonymous file",
        "memory",
        REFUSED,
        "import os\ndef attack(host): return os.memfd_create('x')",
    ),
    PythonAttack(
        "fork bomb",
        "processes",
        ("forbidden",),
        """
import os, time
def attack(host):
    for _ in range(300):
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
""",
    ),
    PythonAttack(
        "thread bomb",
        "processes",
        ("forbidden", "error", "memory"),
        """
import threading, time
def attack(host):
    threading.stack_size(65536)
    for _ in range(2000): threading.Thread(target=time.sleep, args=(3,)).start()
    time.sleep(3)
""",
    ),
    PythonAttack(
        "outlive the parent",
        "processes",
        ("forbidden",),
        "import os\ndef attack(host):\n    os.setsid()\n    os.fork()",
    ),
    PythonAttack(
        "execute another program",
        "programs",
        ("forbidden",),
        "import os\ndef attack(host): os.execv('/bin/sleep', ['sleep', '86399.5'])",
    ),
    PythonAttack(
        "kill the parent", "parent", ("forbidden",), "import os\ndef attack(host): os.kill(os.getppid(), 15)"
    ),
    PythonAttack(
        "signal everything", "parent", ("forbidden",), "import os\ndef attack(host): os.kill(-1, 0)"
    ),
    PythonAttack(
        "trace the parent",
        "parent",
        ("forbidden",),
        SYSCALL + "def attack(host): return must(libc.ptrace(16, os.getppid(), 0, 0))",
    ),
    PythonAttack(
        "read the parent's memory",
        "parent",
        REFUSED,
        "import os\ndef attack(host): return open(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
    ),
    PythonAttack(
        "send the parent a signal by a pipe",
        "parent",
        ("forbidden",),
        """
import fcntl, os
def attack(host):
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, os.getppid())
""",
    ),
    PythonAttack(
        "starve the parent of limits",
        "parent",
        ("forbidden",),
        """
import os, resource
def attack(host): resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (3, 3))
""",
    ),
    PythonAttack(
        "slow the parent down",
        "parent",
        ("forbidden",),
        PARENT + "def attack(host): os.setpriority(os.PRIO_PROCESS, parent(), 19)",
    ),
    PythonAttack(
        "forge the next answer through the parent's pipes",
        "parent",
        ("ok", "error", "forbidden"),
        """
import os
def attack(host):
    opened, folder = 0, f"/proc/{os.getppid()}/fd"
    for name in os.listdir(folder):
        try:
            descriptor = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            continue
        opened += 1
        os.write(descriptor, b'{"exit_code": 0}')
    return opened
""",
        bad=_opened_something,
    ),
    PythonAttack(
        "forge an answer on every descriptor",
        "parent",
        ("protocol", "ok"),
        """
import os
def attack(host):
    for descriptor in range(3, 1024):
        try:
            os.write(descriptor, b"evolake-reply-1 0 2\\n{}")
        except OSError:
            pass
""",
    ),
    PythonAttack(
        "see the host's processes",
        "host-processes",
        ("ok", "error"),
        """
import os
def attack(host): return [name for name in os.listdir("/proc") if name.isdigit()]
""",
        bad=_sees_the_host,
    ),
    PythonAttack(
        "open devices",
        "devices",
        ("ok",),
        """
import os
DEVICES = {"mem", "kmem", "port", "kvm", "fuse", "sda", "vda", "nvme0", "loop0", "mapper", "net"}
def attack(host): return sorted(set(os.listdir("/dev")) & DEVICES)
""",
        bad=lambda outcome: f"devices are there: {outcome.value}" if outcome.value else None,
    ),
    PythonAttack(
        "make a device",
        "writes",
        ("forbidden",),
        "import os\ndef attack(host): os.mknod('/tmp/evolake-left', 0o60666, os.makedev(254, 0))",
    ),
    *(
        PythonAttack(
            f"change {device} by {name}",
            "writes",
            REFUSED,
            SYSCALL
            + f"""
DEVICE = {device!r}
def attack(host):
    status = os.stat(DEVICE)
    return {call}
""",
        )
        for name, call in DEVICE_CHANGES.items()
        for device in DEVICES
        if name != "its descriptor" or device == "/dev/null"
    ),
    PythonAttack(
        "speak through a terminal",
        "leftovers",
        REFUSED,
        """
import os
def attack(host):
    for place in ("/dev/pts/ptmx", "/dev/ptmx", "/dev/tty", "/dev/console"):
        try:
            return os.open(place, os.O_RDWR | os.O_NOCTTY)
        except OSError:
            pass
    raise PermissionError("there is none")
""",
    ),
    *(
        PythonAttack(
            f"tell the next candidate by {name}",
            "leftovers",
            REFUSED,
            SYSCALL
            + f"""
import fcntl, mmap
FILE = os.__file__
def attack(host):
    descriptor = os.open(FILE, os.O_RDONLY)
    room = ctypes.create_string_buffer(1 << 16)
    def call(number, *arguments): return must(libc.syscall(number, *(a if isinstance(a, ctypes.Array) else ctypes.c_long(a) for a in arguments)))
    {call}
    return 1
""",  # noqa: E501
        )
        for name, call in CHANNELS.items()
    ),
    PythonAttack(
        "queue a signal against the quota of its user",
        "counters",
        REFUSED,
        SYSCALL
        + """
import signal
def attack(host):
    signal.pthread_sigmask(signal.SIG_BLOCK, [40])
    return must(libc.sigqueue(os.getpid(), 40, ctypes.c_void_p(0)))
""",
    ),
    PythonAttack(
        "ask for the machine's load and number of processes",
        "counters",
        REFUSED,
        SYSCALL
        + """
def attack(host): return must(libc.sysinfo(ctypes.create_string_buffer(256)))
""",
    ),
    PythonAttack(
        "ask for the machine's entropy",
        "counters",
        REFUSED,
        """
import fcntl
def attack(host): return fcntl.ioctl(open("/dev/random", "rb"), 0x80045200, bytes(4))
""",
    ),
    PythonAttack(
        "mount",
        "writes",
        ("forbidden",),
        SYSCALL
        + """
def attack(host): return must(libc.mount(b"none", host["folder"].encode(), b"tmpfs", 0, None))
""",
    ),
    PythonAttack(
        "make a user namespace",
        "writes",
        ("forbidden",),
        SYSCALL + "def attack(host): return must(libc.unshare(0x10000000))",
    ),
    PythonAttack(
        "set the clock",
        "clock",
        ("forbidden",),
        "import time\ndef attack(host): time.clock_settime(time.CLOCK_REALTIME, time.time())",
    ),
    PythonAttack("allocate 8 GB", "memory", ("memory",), "def attack(host): return len(bytearray(8 << 30))"),
    PythonAttack(
        "allocate bit by bit",
        "memory",
        ("memory", "killed"),
        "def attack(host): return [bytearray(1 << 20) for _ in range(4096)] and 1",
    ),
    PythonAttack(
        "raise the own limit",
        "memory",
        REFUSED,
        """
import resource
def attack(host): resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
""",
    ),
    PythonAttack(
        "loop and ignore signals",
        "cpu",
        ("cpu",),
        """
import signal
def attack(host):
    for number in (signal.SIGTERM, signal.SIGXCPU, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
    while True: pass
""",
    ),
    PythonAttack(
        "sleep past the clock",
        "wall",
        ("timeout",),
        "import time\ndef attack(host): time.sleep(3600)",
        replace(ATTACK_LIMITS, wall_s=0.5),
    ),
    PythonAttack(
        "endless output", "output", ("output",), "def attack(host):\n    while True: print('x' * 1000)"
    ),
    PythonAttack(
        "endless complaints",
        "output",
        ("output",),
        "import sys\ndef attack(host):\n    while True: sys.stderr.write('x' * 1000)",
    ),
    PythonAttack("huge reply", "output", ("output",), "def attack(host): return 'x' * 10_000_000"),
    PythonAttack(
        "huge file",
        "file-size",
        REFUSED,
        "def attack(host):\n    with open('/tmp/evolake-left', 'wb') as file: file.write(bytes(1 << 27))",
    ),
    PythonAttack(
        "garbled reply",
        "reply",
        ("protocol",),
        "import os\ndef attack(host):\n    os.write(3, bytes(range(256)))\n    os._exit(0)",
    ),
    PythonAttack("no reply", "reply", ("protocol",), "import os\ndef attack(host): os._exit(0)"),
    PythonAttack(
        "two replies",
        "reply",
        ("protocol",),
        "import os\ndef attack(host):\n    os.write(3, b'evolake-reply-1 x 2\\n{}')\n    return 1",
    ),
    PythonAttack(
        "pickle bomb",
        "reply",
        ("protocol",),
        """
import os, pickle
class Bomb:
    def __reduce__(self): return os.system, ("sleep 86399.5 &",)
"""
        + FORGE
        + "def attack(host): forge(pickle.dumps(Bomb()))",
    ),
    PythonAttack("nesting bomb", "reply", ("protocol",), FORGE + "def attack(host): forge(b'[' * 100_000)"),
    PythonAttack(
        "nesting bomb in shape",
        "reply",
        ("protocol",),
        FORGE
        + """
def attack(host): forge(b'{"status": "ok", "value": ' + b"[" * 400 + b"]" * 400 + b"}")
""",
    ),
    PythonAttack(
        "number bomb",
        "reply",
        ("protocol",),
        FORGE
        + """
def attack(host): forge(b'{"status": "ok", "value": ' + b"9" * 100_000 + b"}")
""",
    ),
    PythonAttack("half a character", "reply", ("protocol",), "def attack(host): return chr(0xD800)"),
    PythonAttack(
        "claim a status of ours",
        "reply",
        ("protocol",),
        FORGE + """def attack(host): forge(b'{"status": "broken", "value": 1}')""",
    ),
    PythonAttack(
        "patch the library for the next",
        "reply",
        ("ok", "error", "protocol"),
        """
import json, math, os, random
def attack(host):
    math.fsum = json.dumps = os.listdir = os._exit = lambda *a, **k: "patched"
    return 1
""",
    ),
    PythonAttack(
        "crash the interpreter", "reply", ("killed",), "import ctypes\ndef attack(host): ctypes.string_at(1)"
    ),
    PythonAttack(
        "kill oneself", "reply", ("killed",), "import os\ndef attack(host): os.kill(os.getpid(), 9)"
    ),
    PythonAttack(
        "exhaust the stack",
        "reply",
        ("killed", "memory", "error", "cpu"),
        """
import sys
def attack(host):
    sys.setrecursionlimit(10**9)
    return attack(host)
""",
    ),
    PythonAttack(
        "error that lies about itself",
        "reply",
        ("error",),
        """
class Liar(Exception):
    def __str__(self): raise self
def attack(host): raise Liar
""",
    ),
)

MANY_THREADS = """
import os, threading
def advance(count):
    for _ in range(count):
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
"""
COUNTERS = {
    "its process number": (MANY_THREADS, "return os.getpid()"),
    "the numbers of its group, its session and its parent": (
        MANY_THREADS,
        "return [os.getpgrp(), os.getsid(0), os.getppid()]",
    ),
    "the number of a new thread": (
        MANY_THREADS,
        """
    seen = []
    thread = threading.Thread(target=lambda: seen.append(threading.get_native_id()))
    thread.start()
    thread.join()
    return seen""",
    ),
    "the descriptor of a new thread": (
        SYSCALL + MANY_THREADS,
        """
    stack, descriptor = ctypes.create_string_buffer(1 << 16), ctypes.c_int()
    top = ctypes.c_void_p((ctypes.addressof(stack) + (1 << 16)) & ~15)
    must(libc.clone(ctypes.cast(libc.pause, ctypes.c_void_p), top, 0x51F00, None, ctypes.byref(descriptor)))
    return os.fstat(descriptor.value).st_ino""",
    ),
    "the inode number of a new pipe": (
        """
import os
def advance(count):
    for _ in range(count):
        for end in os.pipe(): os.close(end)
""",
        "return os.fstat(os.pipe()[0]).st_ino",
    ),
    "the inode number of a new event": (
        """
import os
def advance(count):
    for _ in range(count): os.close(os.eventfd(0))
""",
        "return os.fstat(os.eventfd(0)).st_ino",
    ),
    "the time that children of process 1 took": (
        """
def advance(count):
    for number in range(count * 20_000): pass
""",
        "return open('/proc/1/stat').read().rpartition(')')[2].split()[13:15]",
    ),
    **{
        path: (MANY_THREADS, f"return open({path!r}).read()")
        for path in (
            "/proc/loadavg",
            "/proc/stat",
            "/proc/vmstat",
            "/proc/self/stat",
            "/proc/sys/kernel/ns_last_pid",
            "/proc/sys/fs/inode-nr",
            "/proc/sys/fs/file-nr",
            "/proc/key-users",
            "/proc/pressure/cpu",
            "/proc/interrupts",
        )
    },
}
"""What a candidate advances, and how the next one reads it."""

COUNTER_ATTACKS = tuple(
    CounterAttack(name, advance + f"def read(): {read}\n") for name, (advance, read) in COUNTERS.items()
)
