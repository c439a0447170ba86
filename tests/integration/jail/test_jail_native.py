"""Native programs: files in and out, exit codes and limits as typed statuses, and escapes that need a
compiler."""

from dataclasses import replace

import pytest
from c_attacks import C_ATTACKS, compiled

from evolake.errors import InputError
from evolake.jail import JAIL_MODES, Limits, NativeRun, run_native

SMALL = Limits(cpu_s=1, wall_s=30, memory_mb=128, file_mb=1, output_bytes=10_000)


@pytest.mark.parametrize("mode", JAIL_MODES)
def test_files_go_in_and_come_out(mode, tmp_path):
    (tmp_path / "host.txt").write_bytes(b"from the host\n")
    script = (
        "read line; echo $line; IFS= read -r a < in/a; read -r b < b; echo $a-$b > out; echo bad >&2; exit 20"
    )
    run = NativeRun(
        ["/bin/sh", "-c", script],
        {"in/a": b"one\n", "b": tmp_path / "host.txt"},
        ["out", "absent"],
        stdin=b"spoken\n",
    )
    outcome = run_native(run, SMALL, mode=mode)
    assert (
        outcome.status,
        outcome.exit_code,
        outcome.signal,
        outcome.outputs,
        outcome.stdout,
        outcome.stderr,
        outcome.reason,
        outcome.jail,
    ) == ("ok", 20, None, {"out": b"one-from the host\n"}, b"spoken\n", b"bad\n", "", mode)


def test_a_program_among_the_files_is_run():
    run = NativeRun(["./tool", "x"], {"tool": b"#!/bin/sh\necho ran $1 in $(pwd)\n"})
    outcome = run_native(run, limits=replace(SMALL, processes=2), mode="bubblewrap")
    assert (outcome.status, outcome.stdout) == ("ok", b"ran x in /tmp/work\n")


def test_every_run_starts_in_an_empty_folder():
    for _ in range(2):
        outcome = run_native(
            NativeRun(["/bin/sh", "-c", "echo *; echo left > left"]), limits=SMALL, mode="bubblewrap"
        )
        assert outcome.stdout == b"*\n"


@pytest.mark.parametrize(
    ("argv", "part"),
    [
        (["./absent"], "absent cannot be executed"),
        (["no-such-program"], "No such file"),
        (["./text"], "cannot be executed"),
    ],
)
def test_a_program_that_cannot_be_executed_is_an_error_with_a_reason(argv, part):
    outcome = run_native(NativeRun(argv, {"text": b"\x00\x01\x02"}), limits=SMALL, mode="bubblewrap")
    assert (outcome.status, outcome.exit_code) == ("error", 127)
    assert part in outcome.reason


def test_processes_are_counted_and_their_time_is_too():
    script = "for i in 1 2 3; do (i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done) & done; wait"
    outcome = run_native(
        NativeRun(["/bin/sh", "-c", script]), limits=replace(SMALL, cpu_s=5, processes=3), mode="bubblewrap"
    )
    assert (outcome.status, outcome.exit_code) == ("ok", 0)
    assert outcome.cpu_s > 0


def test_too_many_processes_are_found_too_where_the_first_one_ends_at_once():
    """Between two looks of the watch: what it leaves running is looked at before it is cleared away."""
    script = "for i in 1 2 3 4 5 6 7 8; do sleep 20 & done; exit 0"
    for _ in range(8):
        outcome = run_native(
            NativeRun(["/bin/sh", "-c", script]), limits=replace(SMALL, processes=4), mode="bubblewrap"
        )
        assert (outcome.status, outcome.reason) == ("forbidden", "made more than 4 further processes")


@pytest.mark.parametrize(
    ("files", "outputs", "argv"),
    [({"../up": b""}, [], ["x"]), ({"/etc/x": b""}, [], ["x"]), ({}, ["a/../b"], ["x"]), ({}, [], [])],
)
def test_wrong_names_are_wrong_inputs(files, outputs, argv):
    with pytest.raises(InputError):
        run_native(NativeRun(argv, files, outputs), SMALL)


def test_an_unreadable_input_is_a_wrong_input(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        run_native(NativeRun(["x"], {"a": tmp_path / "absent"}))


ATTACKS = C_ATTACKS | {
    "socket": (
        "#include <sys/socket.h>\nint attempt(void) { return socket(AF_INET, SOCK_STREAM, 0); }",
        "ok",
        1,
    ),
    "raw socket call": (
        "#include <unistd.h>\n#include <sys/syscall.h>\nint attempt(void) { return syscall(SYS_socket, 2, "
        "1, 0); }",
        "ok",
        1,
    ),
    "trace": (
        "#include <sys/ptrace.h>\n#include <unistd.h>\nint attempt(void) { return ptrace(PTRACE_ATTACH, "
        "getppid(), 0, 0); }",
        "ok",
        1,
    ),
    "mount control groups": (
        "#include <sys/mount.h>\n#include <sys/stat.h>\n"
        'int attempt(void) { mkdir("g", 0700); return mount("g", "g", "cgroup", 0, "memory") & mount("g", '
        '"g", "cgroup2", 0, 0); }',
        "ok",
        1,
    ),
    "shared memory": (
        "#include <sys/shm.h>\nint attempt(void) { return shmget(5, 4096, IPC_CREAT | 0666); }",
        "ok",
        1,
    ),
    "limit the server": (
        "#define _GNU_SOURCE\n#include <sys/resource.h>\n#include <unistd.h>\n"
        "int attempt(void) { struct rlimit r = {3, 3}; return prlimit(getppid(), RLIMIT_NOFILE, &r, 0); }",
        "ok",
        1,
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("mode", JAIL_MODES)
def test_compiled_attack_is_contained(name, mode, requires, tmp_path):
    body, status, exit_code = ATTACKS[name]
    outcome = run_native(
        NativeRun(["./attack"], {"attack": compiled(requires("cc"), body, tmp_path)}), limits=SMALL, mode=mode
    )
    assert (outcome.status, outcome.exit_code) == (status, exit_code)
