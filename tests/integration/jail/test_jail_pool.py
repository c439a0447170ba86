"""The warm pool: values in and out, limits as typed statuses, deaths and restarts."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from evolake.errors import InputError, JailUnavailable
from evolake.jail import GENERIC_DRIVER, Call, Limits, check_jail, open_pool

ADD = "def add(a, b):\n    return a + b\n"


def call(pool, source, *args, function="f", limits=Limits()):
    return pool.call(GENERIC_DRIVER, source, {"function": function, "args": list(args)}, limits)


@pytest.fixture(scope="module")
def pool():
    with open_pool(workers=2, preload=("numpy",), mode="bubblewrap") as opened:
        yield opened


def children_of(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_value_comes_back_with_its_accounting(pool):
    outcome = call(pool, ADD, 40, 2, function="add")
    assert (outcome.status, outcome.value, outcome.reason, outcome.stdout, outcome.stderr, outcome.jail) == (
        "ok",
        42,
        "",
        "",
        "",
        "bubblewrap",
    )
    assert outcome.peak_mb > 1


def test_numpy_values_become_json(pool):
    source = (
        "import numpy\ndef f(): return {'a': numpy.arange(3), 'b': numpy.float32(0.5), 'c': float('inf')}"
    )
    assert call(pool, source).value == {"a": [0, 1, 2], "b": 0.5, "c": float("inf")}


def test_the_folder_of_temporary_files_can_be_asked_for_where_none_can_be_written(pool):
    assert (
        call(pool, "import tempfile\nFOLDER = tempfile.gettempdir()\ndef f(): return FOLDER").value == "/tmp"
    )


def test_prints_never_mix_with_the_reply(pool):
    outcome = call(
        pool, "import sys\ndef f():\n    print('out')\n    print('err', file=sys.stderr)\n    return 1"
    )
    assert (outcome.value, outcome.stdout, outcome.stderr) == (1, "out\n", "err\n")


@pytest.mark.parametrize(
    ("source", "status", "reason"),
    [
        ("def f():\n    x = 1\n    return x / 0", "error", "ZeroDivisionError: division by zero at line 3"),
        ("def f(:", "error", "SyntaxError: invalid syntax at line 1"),
        ("x = [][1]\ndef f(): pass", "error", "IndexError: list index out of range at line 1"),
        ("def g(): pass", "error", "NameError: the source defines no function named 'f'"),
        ("def f(): return {1, 2}", "error", "TypeError: a value of type set cannot be sent as JSON"),
        ("import sys\ndef f(): sys.exit(3)", "error", "SystemExit: 3 at line 2"),
        ("def f(): raise ValueError('a\\nb')", "error", "ValueError: a b at line 1"),
        (
            "def f(): open('/new', 'w')",
            "error",
            "OSError: [Errno 30] Read-only file system: '/new' at line 1",
        ),
        (
            "import os\ndef f(): os.fork()",
            "forbidden",
            "PermissionError: [Errno 1] Operation not permitted at line 2",
        ),
    ],
)
def test_what_the_candidate_does_wrong_is_a_status_and_one_line(pool, source, status, reason):
    outcome = call(pool, source)
    assert (outcome.status, outcome.value, outcome.reason) == (status, None, reason)


def test_the_memory_limit_counts_above_what_is_preloaded(pool):
    source = "def f(mb): return len(bytearray(mb << 20)) >> 20"
    limits = Limits(memory_mb=64)
    assert [call(pool, source, size, limits=limits).status for size in (40, 80)] == ["ok", "memory"]


def test_unseeded_numbers_are_the_same_in_every_call(pool):
    source = "import random, numpy\ndef f(): return [random.random(), numpy.random.rand(), hash('text')]"
    assert len({str(call(pool, source).value) for _ in range(4)}) == 1


TELL = """
import threading
def number():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(threading.get_native_id()))
    thread.start()
    thread.join()
    return seen[0]
def tell(message):
    for _ in range(message): number()
def hear(): return number()
"""


def test_a_message_left_in_the_process_counter_does_not_reach_the_next_candidate(pool):
    heard = []
    for message in (0, 1, 130, 777):
        assert call(pool, TELL, message, function="tell").status == "ok"
        heard += [
            outcome.value for outcome in pool.map([Call(GENERIC_DRIVER, TELL, {"function": "hear"})] * 4)
        ]
    assert heard == [3] * len(heard)


def test_a_candidate_that_asks_for_the_memory_of_the_machine_gets_its_own_limit(pool):
    names = "('SC_PHYS_PAGES', 'SC_AVPHYS_PAGES')"
    source = (
        "import os\ndef f(): return [os.sysconf(name) * os.sysconf('SC_PAGE_SIZE') >> 20 for name in "
        f"{names}]"
    )
    assert call(pool, source, limits=Limits(memory_mb=300)).value == [300, 300]


def test_known_not_to_hold_candidates_share_a_clock(pool):
    """Named in docs/trust.md: who can wait can say a number by when it ends."""
    source = "import time\ndef f(): return time.monotonic()"
    first, second = call(pool, source).value, call(pool, source).value
    assert first < second


def test_map_keeps_the_order(pool):
    calls = [Call(GENERIC_DRIVER, ADD, {"function": "add", "args": [i, i]}) for i in range(20)]
    assert [outcome.value for outcome in pool.map(calls)] == [2 * i for i in range(20)]


def test_calls_from_many_threads_get_their_own_answers(pool):
    answers = {}

    def ask(i):
        answers[i] = call(pool, ADD, i, 100, function="add").value

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {i: i + 100 for i in range(12)}


def test_a_killed_jail_is_replaced_between_calls_and_under_a_call():
    with open_pool(workers=1, preload=(), mode="bubblewrap") as pool:
        first = pool._all[0].jail.server
        assert first
        os.kill(first, signal.SIGKILL)
        assert call(pool, ADD, 1, 2, function="add").value == 3
        second = pool._all[0].jail.server
        assert second and second != first
        outcomes = []
        asking = threading.Thread(
            target=lambda: outcomes.append(
                call(pool, "import time\ndef f():\n    time.sleep(1)\n    return 7")
            )
        )
        asking.start()
        while (
            len(children_of(second)) < 2
        ):  # beside what keeps process numbers, the candidate of the second jail is there
            pass
        os.kill(second, signal.SIGKILL)
        asking.join()
        assert [outcome.value for outcome in outcomes] == [7]


def test_closing_ends_every_process():
    pool = open_pool(workers=2, preload=(), mode="bubblewrap")
    pids = [worker.jail.pid for worker in pool._all]
    inner = [child for pid in pids for child in children_of(pid)]
    assert len(inner) == 2
    pool.close()
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
    with pytest.raises(JailUnavailable, match="closed"):
        call(pool, ADD, 1, 2)


def test_a_host_that_is_killed_takes_its_jails_along():
    script = (
        "import sys\nfrom evolake.jail import open_pool\npool = open_pool(workers=1, preload=(), "
        "mode='bubblewrap')\n"
        "print(pool._all[0].jail.pid, flush=True)\nsys.stdin.read()"
    )
    host = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    jail = int(host.stdout.readline())
    watched = os.pidfd_open(children_of(jail)[0])
    host.kill()
    host.communicate()
    import select

    assert select.select([watched], [], [], 30)[0] == [watched]
    os.close(watched)


def test_what_the_caller_does_wrong_is_an_exception(pool):
    with pytest.raises(InputError, match="not JSON"):
        pool.call(GENERIC_DRIVER, ADD, {"function": "add", "args": [object()]})
    with pytest.raises(InputError, match="driver"):
        pool.call("no-colon", ADD)
    with pytest.raises(InputError, match="at least one worker"):
        open_pool(workers=0)


def test_a_driver_that_cannot_be_imported_is_our_failure_and_the_pool_survives():
    with open_pool(workers=1, preload=(), mode="bubblewrap") as pool:
        with pytest.raises(JailUnavailable, match="nonexistent_module"):
            pool.call("nonexistent_module:f", ADD)
        assert call(pool, ADD, 1, 2, function="add").value == 3


def test_doctor_rows_name_every_attempt_of_the_canary():
    rows = check_jail("bubblewrap")
    assert [ok for _, ok, _ in rows] == [True] * len(rows)
    assert sum(name.startswith("canary: ") for name, _, _ in rows) == 18
    assert rows[-1][0] == "native program: fork"
