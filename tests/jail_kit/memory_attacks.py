"""Attacks by a candidate on its own memory: it hands out all of it, and nothing of the candidate before may
be in it. Also the whole of it at once: whatever was before, it is the same to the word."""

from __future__ import annotations

import array
import base64
import json
import secrets
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

from evolake.jail.pool import Pool
from evolake.jail.protocol import GENERIC_DRIVER, Limits, Outcome
from jail_kit import ATTACK_LIMITS, Witness, next_candidate

LOOK_LIMITS = Limits(cpu_s=60, wall_s=300, memory_mb=1024, output_bytes=64 << 20)
LEAVE_LIMITS = replace(ATTACK_LIMITS, memory_mb=512, cpu_s=10, wall_s=60, open_files=64)
LOOK = """
import array, base64, ctypes, gc, os, sys, zlib
def look(ranges):
    libc, probe, one = ctypes.CDLL(None), os.open("/dev/urandom", os.O_WRONLY), ctypes.c_size_t(1)
    held, pages = ctypes.create_string_buffer(96 << 20), array.array("Q", bytes(8 * 24576))
    own, count = range(ctypes.addressof(held) >> 12, (ctypes.addressof(held) + len(held) >> 12) + 1), 0
    def copy(page):
        if page in own or count == len(pages) or libc.write(probe, ctypes.c_void_p(page << 12), one) != 1: return False
        ctypes.memmove(ctypes.addressof(held) + (count << 12), page << 12, 4096)
        pages[count] = page
        return True
    for first, most in ranges:
        for page in range(first, first + most):
            count += copy(page)
    if not ranges:
        libc.sbrk.restype = ctypes.c_void_p
        places = [id(item) for item in gc.get_objects()]
        places += [id(gc), ctypes.addressof(ctypes.c_int()), libc.sbrk(0) - 1, ctypes.cast(libc.write, ctypes.c_void_p).value]
        todo, seen = {place >> 12 for place in places}, set()
        while todo:
            page = todo.pop()
            seen.add(page)
            if copy(page):
                words = set(array.array("Q", ctypes.string_at(ctypes.addressof(held) + (count << 12), 4096)))
                todo |= ({word >> 12 for word in words if 1 << 20 < word < 1 << 47} | {page - 1, page + 1}) - seen
                count += 1
    parts = pages[:count].tobytes(), memoryview(held)[:count << 12]
    sys.stderr.write(" ".join(base64.b64encode(zlib.compress(part, 1)).decode() for part in parts))
"""  # noqa: E501
"""Every page that pointers lead to, from the objects, the heap, the stack and the C library, with its
neighbours: whether it can be read is what /dev/urandom says to a write from it. With ranges of pages: these,
before anything else is done that would write over what was there."""


@dataclass(frozen=True)
class Image:
    """The memory of one candidate. pages: numbers, in the order of `data`."""

    pages: array.array[int]
    data: bytes

    def ranges(self) -> list[list[int]]:
        """Return the pages as [first, how many]."""
        result: list[list[int]] = []
        for page in sorted(self.pages):
            if result and sum(result[-1]) == page:
                result[-1][1] += 1
            else:
                result.append([page, 1])
        return result

    def words(self) -> dict[int, int]:
        """Return address -> word of eight bytes."""
        values = array.array("Q", self.data)
        return {
            (page << 12) + 8 * place: values[512 * number + place]
            for number, page in enumerate(self.pages)
            for place in range(512)
        }


def look(pool: Pool, known: Image | None = None) -> Image:
    """Return the memory of a new candidate; of `known` only its pages, as they are at the beginning."""
    ranges = known.ranges() if known else []
    outcome = pool.call(GENERIC_DRIVER, LOOK, {"function": "look", "args": [ranges]}, LOOK_LIMITS)
    assert outcome.status == "ok", outcome.reason
    pages, data = (zlib.decompress(base64.b64decode(part)) for part in outcome.stderr.split())
    return Image(array.array("Q", pages), data)


Traces = Callable[[Outcome, str], list[bytes]]
"""(what came of the candidate, the mark that it was given) -> what would tell of it."""


def _mark(outcome: Outcome, mark: str) -> list[bytes]:
    return [mark.encode(), mark.encode("utf-16-le")]


def _number(name: str) -> Traces:
    def traces(outcome: Outcome, mark: str) -> list[bytes]:
        value = getattr(outcome, name)
        return [struct.pack("<d", value), json.dumps(value).encode()]

    return traces


def _says(*texts: str) -> Traces:
    return lambda outcome, mark: [text.encode() for text in texts]


@dataclass(frozen=True)
class MemoryAttack:
    """source defines `leave(mark)`, which is told 16 characters of chance. traces: what the next candidate
    would find."""

    name: str
    source: str
    traces: Traces = _mark
    guarantee: str = "memory of others"

    def violations(self, pool: Pool, host: Witness, before: Image) -> list[str]:
        """Let one candidate leave it and the next look; what was found that was not in `before`."""
        mark = secrets.token_hex(8)
        outcome = pool.call(GENERIC_DRIVER, self.source, {"function": "leave", "args": [mark]}, LEAVE_LIMITS)
        traces = self.traces(outcome, mark)
        assert traces and all(len(trace) >= 3 for trace in traces)
        after = look(pool, before)
        found = [trace for trace in traces if trace in after.data and trace not in before.data]
        return (
            [f"the next candidate found {trace!r}" for trace in found] + host.traces() + next_candidate(pool)
        )


ALLOCATES = "\ndef allocate(mark, least):\n    held = bytearray((least << 20) + (int(mark[:4], 16) % 200 << 18))\n    for place in range(0, len(held), 4096): held[place] = 1\n"  # noqa: E501

MEMORY_ATTACKS = (
    MemoryAttack(
        "its peak of memory", ALLOCATES + "def leave(mark): allocate(mark, 100)", _number("peak_mb")
    ),
    MemoryAttack(
        "its peak as the kernel counts it",
        ALLOCATES + "def leave(mark): allocate(mark, 100)",
        lambda outcome, mark: [struct.pack("<q", round(outcome.peak_mb * 1024))],
    ),
    MemoryAttack(
        "its peak where it was ended",
        ALLOCATES + "import os\ndef leave(mark):\n    allocate(mark, 100)\n    os._exit(7)",
        _number("peak_mb"),
    ),
    MemoryAttack(
        "its processor time",
        "def leave(mark):\n    for number in range(int(mark[:5], 16)): pass",
        _number("cpu_s"),
    ),
    MemoryAttack("its exit code", "import os\ndef leave(mark): os._exit(77)", _says('"exit_code": 77')),
    MemoryAttack("its signal", "import os\ndef leave(mark): os.kill(os.getpid(), 12)", _says('"signal": 12')),
    MemoryAttack(
        "why it was ended",
        "import threading, time\ndef leave(mark):\n    threading.stack_size(65536)\n"
        "    for _ in range(300): threading.Thread(target=time.sleep, args=(3,)).start()\n    time.sleep(3)",
        _says("made more than 256 threads"),
    ),
    MemoryAttack(
        "that it used up its time",
        "import resource\ndef leave(mark):\n    resource.setrlimit(resource.RLIMIT_CPU, (1, 2))\n    "
        "    while True: pass",
        lambda outcome, mark: [struct.pack("<d", outcome.cpu_s), b'"signal": 24'],
    ),
    MemoryAttack("its reply", "def leave(mark): return mark * 1000"),
    MemoryAttack(
        "the nonce of its reply",
        "import sys\ndef leave(mark):\n    frame = sys._getframe()\n"
        "    while 'call' not in frame.f_locals: frame = frame.f_back\n"
        "    return frame.f_locals['call']['nonce']",
        lambda outcome, mark: [outcome.value.encode()],
    ),
    MemoryAttack(
        "a garbled reply", "import os\ndef leave(mark):\n    os.write(3, mark.encode() * 50)\n    os._exit(0)"
    ),
    MemoryAttack(
        "its reply, half of it",
        "import os\ndef leave(mark):\n    os.write(3, b'evolake-reply-1 ' + mark.encode())\n"
        "    os.kill(os.getpid(), 9)",
    ),
    MemoryAttack("what it printed", "def leave(mark): print(mark * 1000, flush=True)"),
    MemoryAttack(
        "what it printed as an error", "import sys\ndef leave(mark): print(mark * 1000, file=sys.stderr)"
    ),
    MemoryAttack("what it raised", "def leave(mark): raise ValueError(mark * 50)"),
    MemoryAttack(
        "where it raised",
        "def leave(mark):\n    exec(compile('def f' + mark + '(): raise OSError\\nf' + mark + '()', 'file' + mark, 'exec'), {})",  # noqa: E501
    ),
    MemoryAttack(
        "its source",
        "TEXT = 'a text of the source'\ndef leave(mark): return len(TEXT)",
        _says("a text of the source"),
    ),
    MemoryAttack("its payload", "def leave(mark): return 1"),
    MemoryAttack("an attribute of a module", "import json\ndef leave(mark): json.left = mark * 9"),
    MemoryAttack(
        "a module", "import sys, types\ndef leave(mark): sys.modules[mark] = types.ModuleType(mark)"
    ),
    MemoryAttack(
        "an interned text", "import sys\nKEPT = []\ndef leave(mark): KEPT.append(sys.intern(mark + mark))"
    ),
    MemoryAttack(
        "its environment",
        "import ctypes, os\ndef leave(mark):\n    os.environ['LEFT'] = mark\n"
        "    ctypes.CDLL(None).setenv(b'LEFT2', mark.encode(), 1)",
    ),
    MemoryAttack(
        "freed memory of the C library",
        "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.malloc.restype = ctypes.c_void_p\ndef leave(mark):\n"
        "    for size in (24, 100, 1000, 10_000, 1 << 20):\n        place = libc.malloc(size)\n"
        "        ctypes.memmove(place, mark.encode(), 16)\n        libc.free(ctypes.c_void_p(place))",
    ),
    MemoryAttack(
        "its stack",
        "def leave(mark, depth=0):\n    here = mark + str(depth)\n    return depth and leave(mark, depth - 1) if depth else max(map(lambda n: leave(mark, 0) if n else len(here), [0]))",  # noqa: E501
    ),
    MemoryAttack(
        "mapped memory",
        "import mmap\nHELD = []\ndef leave(mark):\n    held = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"  # noqa: E501
        "    held.write(mark.encode() * 1000)\n    HELD.append(held)",
    ),
    MemoryAttack(
        "its generator of chance",
        "import random\ndef leave(mark):\n    random.seed(mark)\n    return [str(n) for n in random.getstate()[1][:4]]",  # noqa: E501
        lambda outcome, mark: [struct.pack("<4I", *map(int, outcome.value))],
    ),
    MemoryAttack(
        "a thread's name",
        "import threading\ndef leave(mark):\n    thread = threading.Thread(target=int, name=mark)\n"
        "    thread.start()\n    thread.join()",
    ),
    MemoryAttack("a function at exit", "import atexit\ndef leave(mark): atexit.register(print, mark)"),
)

HISTORIES = (
    """
import os, threading
def leave(mark):
    held = bytearray(90 << 20)
    for place in range(0, len(held), 4096): held[place] = 1
    for _ in range(60):
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
    print(mark * 100)
    return mark * 5000
""",
    "import os\ndef leave(mark): os._exit(3)",
)
"""Two candidates that differ in all that can be known of them: memory, threads (each takes a process number
of the jail's, too), time, output, reply and end."""


def told_apart(pool: Pool) -> list[str]:
    """Return which words of a candidate's memory tell which of the two HISTORIES came before it: those that
    are the same after the same one, in each of three times. A word that chance changes (what was allocated
    first) looks so once in 32 rounds, so that suspects must look the same in three."""
    known = look(pool)
    suspects = _told_apart(pool, known)
    for _ in range(2):
        suspects = suspects and suspects & _told_apart(pool, known)
    return sorted(suspects)


def _told_apart(pool: Pool, known: Image) -> set[str]:
    after: list[list[dict[int, int]]] = [[], []]
    for turn, which in enumerate((0, 1, 1, 0, 1, 0)):
        for _ in range(1 + turn % 3 if which else 1):
            pool.call(GENERIC_DRIVER, HISTORIES[which], {"function": "leave", "args": ["mark"]}, LEAVE_LIMITS)
        after[which].append(look(pool, known).words())
    first, second = after
    same = set(first[0]).intersection(*first[1:], *second)
    return {
        f"{place:x}: {first[0][place]:x} or {second[0][place]:x}"
        for place in same
        if first[0][place] != second[0][place]
        and len({words[place] for words in first}) == len({words[place] for words in second}) == 1
    }
