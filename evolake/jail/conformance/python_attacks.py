"""Attacks by Python candidates on the warm pool."""

from __future__ import annotations

from dataclasses import replace

from evolake.jail.conformance import ATTACK_LIMITS, PythonAttack
from evolake.jail.protocol import Outcome, Status

REFUSED: tuple[Status, ...] = ("error", "forbidden")

SYSCALL = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def must(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
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
    return None if outcome.status != "ok" or len(outcome.value) <= 2 else f"it saw the processes {outcome.value}"


def _opened_something(outcome: Outcome) -> str | None:
    return None if outcome.status != "ok" or outcome.value == 0 else f"it opened {outcome.value} descriptors of its parent"


PYTHON_ATTACKS = (
    PythonAttack("read a secret", "secrets", REFUSED, "def attack(host): return open(host['secret']).read()"),
    PythonAttack("read a secret through a symbolic link", "secrets", REFUSED, """
import os
def attack(host):
    os.symlink(host["secret"], "/tmp/evolake-left-link")
    return open("/tmp/evolake-left-link").read()
"""),
    PythonAttack("leak the environment", "environment", ("ok",), """
import glob, os
def attack(host):
    seen = repr(dict(os.environ))
    for path in glob.glob("/proc/*/environ"):
        try:
            seen += open(path).read()
        except OSError as error:
            seen += str(error)
    return seen
"""),
    PythonAttack("connect to loopback", "network", REFUSED, """
import socket
def attack(host): socket.create_connection(("127.0.0.1", host["port"])).send(b"hello")
"""),
    PythonAttack("ask for a ring to get sockets by", "network", REFUSED, SYSCALL + """
def attack(host): return must(libc.syscall(425, 8, ctypes.create_string_buffer(256)))
"""),
    PythonAttack("write outside", "writes", REFUSED, "def attack(host): open(host['folder'] + '/written', 'w').write('x')"),
    PythonAttack("delete outside", "writes", REFUSED, "import os\ndef attack(host): os.unlink(host['secret'])"),
    PythonAttack("leave files for the next", "leftovers", ("ok",), """
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
""", bad=lambda outcome: f"it left files in {outcome.value}" if outcome.value else None),
    PythonAttack("leave shared memory for the next", "leftovers", REFUSED, SYSCALL + "def attack(host): return must(libc.shmget(77, 4096, 0o1666))"),
    PythonAttack("hide memory in an anonymous file", "memory", REFUSED, "import os\ndef attack(host): return os.memfd_create('x')"),
    PythonAttack("fork bomb", "processes", ("forbidden",), """
import os, time
def attack(host):
    for _ in range(300):
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
"""),
    PythonAttack("thread bomb", "processes", ("forbidden", "error", "memory"), """
import threading, time
def attack(host):
    threading.stack_size(65536)
    for _ in range(2000): threading.Thread(target=time.sleep, args=(3,)).start()
    time.sleep(3)
"""),
    PythonAttack("outlive the parent", "processes", ("forbidden",), "import os\ndef attack(host):\n    os.setsid()\n    os.fork()"),
    PythonAttack("execute another program", "processes", ("forbidden",),
                 "import os\ndef attack(host): os.execv('/bin/sleep', ['sleep', '86399.5'])"),
    PythonAttack("kill the parent", "parent", ("forbidden",), "import os\ndef attack(host): os.kill(os.getppid(), 15)"),
    PythonAttack("signal everything", "parent", ("forbidden",), "import os\ndef attack(host): os.kill(-1, 0)"),
    PythonAttack("trace the parent", "parent", ("forbidden",), SYSCALL + "def attack(host): return must(libc.ptrace(16, os.getppid(), 0, 0))"),
    PythonAttack("read the parent's memory", "parent", REFUSED,
                 "import os\ndef attack(host): return open(f'/proc/{os.getppid()}/mem', 'rb').read(1)"),
    PythonAttack("send the parent a signal by a pipe", "parent", ("forbidden",), """
import fcntl, os
def attack(host):
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, os.getppid())
"""),
    PythonAttack("starve the parent of limits", "parent", ("forbidden",), """
import os, resource
def attack(host): resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (3, 3))
"""),
    PythonAttack("slow the parent down", "parent", ("forbidden",),
                 "import os\ndef attack(host): os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)"),
    PythonAttack("forge the next answer through the parent's pipes", "parent", ("ok", "forbidden"), """
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
""", bad=_opened_something),
    PythonAttack("forge an answer on every descriptor", "parent", ("protocol", "ok"), """
import os
def attack(host):
    for descriptor in range(3, 1024):
        try:
            os.write(descriptor, b"evolake-reply-1 0 2\\n{}")
        except OSError:
            pass
"""),
    PythonAttack("see the host's processes", "host-processes", ("ok",), """
import os
def attack(host): return [name for name in os.listdir("/proc") if name.isdigit()]
""", bad=_sees_the_host),
    PythonAttack("open devices", "devices", ("ok",), """
import os
DEVICES = {"mem", "kmem", "port", "kvm", "fuse", "sda", "vda", "nvme0", "loop0", "mapper", "net"}
def attack(host): return sorted(set(os.listdir("/dev")) & DEVICES)
""", bad=lambda outcome: f"devices are there: {outcome.value}" if outcome.value else None),
    PythonAttack("make a device", "writes", ("forbidden",),
                 "import os\ndef attack(host): os.mknod('/tmp/evolake-left', 0o60666, os.makedev(254, 0))"),
    PythonAttack("mount", "writes", ("forbidden",), SYSCALL + """
def attack(host): return must(libc.mount(b"none", host["folder"].encode(), b"tmpfs", 0, None))
"""),
    PythonAttack("make a user namespace", "writes", ("forbidden",), SYSCALL + "def attack(host): return must(libc.unshare(0x10000000))"),
    PythonAttack("set the clock", "clock", ("forbidden",), "import time\ndef attack(host): time.clock_settime(time.CLOCK_REALTIME, time.time())"),
    PythonAttack("allocate 8 GB", "memory", ("memory",), "def attack(host): return len(bytearray(8 << 30))"),
    PythonAttack("allocate bit by bit", "memory", ("memory", "killed"), "def attack(host): return [bytearray(1 << 20) for _ in range(4096)] and 1"),
    PythonAttack("raise the own limit", "memory", REFUSED, """
import resource
def attack(host): resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
"""),
    PythonAttack("loop and ignore signals", "cpu", ("cpu",), """
import signal
def attack(host):
    for number in (signal.SIGTERM, signal.SIGXCPU, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
    while True: pass
"""),
    PythonAttack("sleep past the clock", "wall", ("timeout",),
                 "import time\ndef attack(host): time.sleep(3600)", replace(ATTACK_LIMITS, wall_s=0.5)),
    PythonAttack("endless output", "output", ("output",), "def attack(host):\n    while True: print('x' * 1000)"),
    PythonAttack("endless complaints", "output", ("output",), "import sys\ndef attack(host):\n    while True: sys.stderr.write('x' * 1000)"),
    PythonAttack("huge reply", "output", ("output",), "def attack(host): return 'x' * 10_000_000"),
    PythonAttack("huge file", "file-size", REFUSED,
                 "def attack(host):\n    with open('/tmp/evolake-left', 'wb') as file: file.write(bytes(1 << 27))"),
    PythonAttack("garbled reply", "reply", ("protocol",), "import os\ndef attack(host):\n    os.write(3, bytes(range(256)))\n    os._exit(0)"),
    PythonAttack("no reply", "reply", ("protocol",), "import os\ndef attack(host): os._exit(0)"),
    PythonAttack("two replies", "reply", ("protocol",), "import os\ndef attack(host):\n    os.write(3, b'evolake-reply-1 x 2\\n{}')\n    return 1"),
    PythonAttack("pickle bomb", "reply", ("protocol",), """
import os, pickle
class Bomb:
    def __reduce__(self): return os.system, ("sleep 86399.5 &",)
""" + FORGE + "def attack(host): forge(pickle.dumps(Bomb()))"),
    PythonAttack("nesting bomb", "reply", ("protocol",), FORGE + "def attack(host): forge(b'[' * 100_000)"),
    PythonAttack("nesting bomb in shape", "reply", ("protocol",), FORGE + """
def attack(host): forge(b'{"status": "ok", "value": ' + b"[" * 400 + b"]" * 400 + b"}")
"""),
    PythonAttack("number bomb", "reply", ("protocol",), FORGE + """
def attack(host): forge(b'{"status": "ok", "value": ' + b"9" * 100_000 + b"}")
"""),
    PythonAttack("half a character", "reply", ("protocol",), "def attack(host): return chr(0xD800)"),
    PythonAttack("claim a status of ours", "reply", ("protocol",), FORGE + """def attack(host): forge(b'{"status": "broken", "value": 1}')"""),
    PythonAttack("patch the library for the next", "reply", ("ok", "error", "protocol"), """
import json, math, os, random
def attack(host):
    math.fsum = json.dumps = os.listdir = os._exit = lambda *a, **k: "patched"
    return 1
"""),
    PythonAttack("crash the interpreter", "reply", ("killed",), "import ctypes\ndef attack(host): ctypes.string_at(1)"),
    PythonAttack("kill oneself", "reply", ("killed",), "import os\ndef attack(host): os.kill(os.getpid(), 9)"),
    PythonAttack("exhaust the stack", "reply", ("killed", "memory", "error", "cpu"), """
import sys
def attack(host):
    sys.setrecursionlimit(10**9)
    return attack(host)
"""),
    PythonAttack("error that lies about itself", "reply", ("error",), """
class Liar(Exception):
    def __str__(self): raise self
def attack(host): raise Liar
"""),
)
