"""Direct native runs: what goes in and comes out, exact accounts, many at once, and escapes that need a
compiler."""

import os
import platform
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from c_attacks import C_ATTACKS, compiled

from evolake.errors import InputError, JailUnavailable
from evolake.jail import JAIL_MODES, Limits
from evolake.jail.direct import DirectRun, run_direct
from evolake.jail.launching import launcher

SMALL = Limits(cpu_s=2, wall_s=30, memory_mb=256, file_mb=1, output_bytes=10_000)


def shell(script, *arguments, **files):
    return DirectRun(["/bin/sh", "-c", script, "sh", *arguments], **files)


@pytest.mark.parametrize("mode", JAIL_MODES)
def test_files_are_read_and_written_in_place(mode, tmp_path):
    (tmp_path / "in").write_text("one\n")
    (tmp_path / "out").write_text("old and longer\n")
    (tmp_path / "data").write_text("two\n")
    run = shell(
        'read a < "$1"; read b < "$2/b"; echo $a-$b-$NAME > out; echo said; echo bad >&2; exit 20',
        "{work}/a",
        "{work}",
        inputs={"a": tmp_path / "in", "b": tmp_path / "data"},
        writable={"out": tmp_path / "out"},
        environment={"NAME": "three"},
    )
    outcome = run_direct(run, SMALL, mode=mode)
    assert (
        outcome.status,
        outcome.exit_code,
        outcome.signal,
        outcome.outputs,
        outcome.stdout,
        outcome.stderr,
        outcome.reason,
        outcome.jail,
    ) == ("ok", 20, None, {}, b"said\n", b"bad\n", "", mode)
    assert (tmp_path / "out").read_text() == "one-two-three\n"
    assert (tmp_path / "in").read_text() == "one\n"


@pytest.mark.parametrize("mode", JAIL_MODES)
def test_time_and_memory_are_the_programs_own(mode):
    """Neither the supervisor's memory, which is large here, nor its time is in the account."""
    ballast = bytearray(200 << 20)
    idle = run_direct(shell("exit 0"), SMALL, mode=mode)
    busy = run_direct(shell("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"), SMALL, mode=mode)
    large = run_direct(
        shell("x=xxxxxxxx; i=0; while [ $i -lt 22 ]; do x=$x$x; i=$((i+1)); done"), SMALL, mode=mode
    )
    assert len(ballast) > 0
    assert 0 < idle.cpu_s < busy.cpu_s
    assert idle.peak_mb < 20 < 32 < large.peak_mb < 256


@pytest.mark.parametrize("mode", JAIL_MODES)
def test_a_stopped_run_is_accounted_too(mode):
    outcome = run_direct(shell("while :; do :; done"), replace(SMALL, cpu_s=0.4), mode=mode)
    assert (outcome.status, outcome.reason) == ("cpu", "used more than 0.4 s of processor time")
    assert 0.4 <= outcome.cpu_s < 1.4


@pytest.mark.parametrize("mode", JAIL_MODES)
def test_a_run_is_pinned(mode):
    last = max(os.sched_getaffinity(0))
    outcome = run_direct(DirectRun(["/usr/bin/nproc"]), SMALL, core=last, mode=mode)
    assert outcome.stdout == b"1\n"


def test_runs_of_many_threads_do_not_mix(tmp_path):
    def write_number(number):
        path = tmp_path / str(number)
        path.touch()
        return run_direct(
            shell(f"echo {number}; echo {number} > out; exit {number}", writable={"out": path}),
            SMALL,
            mode="bubblewrap",
        )

    with ThreadPoolExecutor(4) as executor:
        outcomes = list(executor.map(write_number, range(40)))
    assert [(outcome.status, outcome.exit_code, outcome.stdout) for outcome in outcomes] == [
        ("ok", n, b"%d\n" % n) for n in range(40)
    ]
    assert [(tmp_path / str(number)).read_text() for number in range(40)] == [
        f"{number}\n" for number in range(40)
    ]


def test_a_launcher_ends_with_its_thread():
    seen = []

    def work():
        run_direct(shell("exit 0"), SMALL, mode="bubblewrap")
        seen.append(launcher()._process)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen[0].wait(timeout=10) != 0


def test_a_dead_launcher_is_replaced():
    run_direct(shell("exit 0"), SMALL, mode="bubblewrap")
    process = launcher()._process
    process.kill()
    process.wait()
    assert run_direct(shell("exit 3"), SMALL, mode="bubblewrap").exit_code == 3


def test_a_launcher_left_in_the_middle_of_a_run_is_not_used_again(monkeypatch):
    from evolake.jail import direct

    with monkeypatch.context() as patch:
        patch.setattr(
            direct.selectors.DefaultSelector,
            "select",
            lambda *arguments: (_ for _ in ()).throw(KeyboardInterrupt),
        )
        with pytest.raises(KeyboardInterrupt):
            run_direct(shell("exit 4"), SMALL, mode="bubblewrap")
    assert run_direct(shell("exit 5"), SMALL, mode="bubblewrap").exit_code == 5


def test_a_jail_that_cannot_be_built_is_not_a_candidates_failure(tmp_path, monkeypatch):
    from evolake.jail import bubblewrap

    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no permissions to make namespaces >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "find", lambda: broken)
    with pytest.raises(JailUnavailable, match="no permissions to make namespaces"):
        run_direct(shell("exit 0"), SMALL, mode="bubblewrap")


@pytest.mark.parametrize(
    ("arguments", "limits", "part"),
    [
        ({"argv": []}, SMALL, "needs a command line"),
        ({"argv": ["x"], "inputs": {"../a": "/etc/hostname"}}, SMALL, "cannot be used in the jail"),
        ({"argv": ["x"], "writable": {"a": "/nonexistent"}}, SMALL, "cannot be given"),
        ({"argv": ["x"], "programs": "/nonexistent"}, SMALL, "no folder"),
        ({"argv": ["x"]}, replace(SMALL, processes=1), "no further processes"),
    ],
)
def test_wrong_uses_are_wrong_inputs(arguments, limits, part):
    from pathlib import Path

    def paths(value):
        if isinstance(value, dict):
            return {name: Path(path) for name, path in value.items()}
        if isinstance(value, str):
            return Path(value)
        return value

    with pytest.raises(InputError, match=part):
        run_direct(DirectRun(**{name: paths(value) for name, value in arguments.items()}), limits)


ATTACKS = C_ATTACKS | {
    "fork": ("#include <unistd.h>\nint attempt(void) { return fork(); }", "ok", 1),
    "raw vfork": (
        "#include <unistd.h>\n#include <sys/syscall.h>\nint attempt(void) { return syscall(SYS_vfork); }",
        "ok",
        1,
    ),
    "thread": (
        "#include <pthread.h>\nvoid *f(void *x) { return x; }\n"
        "int attempt(void) { pthread_t t; return pthread_create(&t, 0, f, 0) ? -1 : 0; }",
        "ok",
        1,
    ),
    "socket": (
        "#include <sys/socket.h>\nint attempt(void) { return socket(AF_UNIX, SOCK_STREAM, 0); }",
        "ok",
        1,
    ),
    "trace": (
        "#include <sys/ptrace.h>\nint attempt(void) { return ptrace(PTRACE_ATTACH, 1, 0, 0); }",
        "ok",
        1,
    ),
    "signal process 1": ("#include <signal.h>\nint attempt(void) { return kill(1, 0); }", "ok", 1),
    "signal all": ("#include <signal.h>\nint attempt(void) { return kill(-1, 0); }", "ok", 1),
    "mount": (
        '#include <sys/mount.h>\nint attempt(void) { return mount("none", "/tmp", "tmpfs", 0, 0); }',
        "ok",
        1,
    ),
    "inherited descriptor": (
        "#include <fcntl.h>\nint attempt(void) { for (int d = 3; d < 200; d++) if (fcntl(d, F_GETFD) != "
        "-1) return 0; return -1; }",
        "ok",
        1,
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("mode", JAIL_MODES)
def test_compiled_attack_is_contained(name, mode, requires, tmp_path):
    body, status, exit_code = ATTACKS["fork" if "vfork" in name and platform.machine() != "x86_64" else name]
    compiled(requires("cc"), body, tmp_path)
    outcome = run_direct(DirectRun(["{solver}/attack"], programs=tmp_path), SMALL, mode=mode)
    assert (outcome.status, outcome.exit_code) == (status, exit_code)
