"""Attacks by native programs, written for /bin/sh and the commands that every system has, so that no compiler
is needed."""

from dataclasses import replace

from evolake.jail import groups
from evolake.jail.protocol import NativeOutcome
from jail_kit import ATTACK_LIMITS, LASTING_PROCESS, NativeAttack

WITH_PROCESSES = replace(ATTACK_LIMITS, processes=8)
IN_A_BURST = replace(ATTACK_LIMITS, processes=16, total_mb=128, cpu_s=10)


def _brought_something(outcome: NativeOutcome) -> str | None:
    return f"it brought out {sorted(outcome.outputs)}" if outcome.outputs else None


def _succeeded(outcome: NativeOutcome) -> str | None:
    return "the command succeeded" if outcome.exit_code == 0 else None


def _sees_the_host(outcome: NativeOutcome) -> str | None:
    return None if len(outcome.stdout.split()) <= 2 else f"it saw {outcome.stdout[:200]!r}"


def _past_its_group(outcome: NativeOutcome) -> str | None:
    """Where the kernel counts it has not a page more; the watch alone sees it up to a tick late."""
    late = outcome.peak_mb > 1.01 * IN_A_BURST.most_mb or not outcome.reason.endswith("the kernel ended it")
    return (
        f"it held {outcome.peak_mb:g} MiB ({outcome.reason}) in its control group"
        if late and groups.obstacle() is None
        else None
    )


def _sees_groups(outcome: NativeOutcome) -> str | None:
    return f"it found {outcome.stdout[:200]!r}" if outcome.stdout != b"searched\n" else None


INTERPRETERS = """
    for name in perl python3 python awk mawk gawk ruby lua tclsh node php busybox tar gzip xz base64 openssl; do
        command -v $name && exit 0
        for place in /usr/bin /bin /usr/local/bin; do [ -x $place/$name ] && exit 0; done
    done
    exit 1
"""  # noqa: E501
"""Ends well where one is found."""

NATIVE_ATTACKS = (
    NativeAttack("read a secret", "secrets", ("ok",), 'exec cat "$1"', bad=_succeeded),
    NativeAttack(
        "leak the environment", "environment", ("ok",), "exec cat /proc/self/environ /proc/1/environ"
    ),
    NativeAttack("write outside", "writes", ("ok",), 'echo x > "$2/written"', bad=_succeeded),
    NativeAttack("change the system", "writes", ("ok",), "echo x > /usr/evolake-written", bad=_succeeded),
    NativeAttack("change a device's mode", "devices", ("ok",), "exec chmod 0666 /dev/null", bad=_succeeded),
    NativeAttack(
        "change a device's mode among processes",
        "devices",
        ("ok",),
        "chmod 0666 /dev/null",
        WITH_PROCESSES,
        bad=_succeeded,
    ),
    NativeAttack(
        "change a device's times among processes",
        "devices",
        ("ok",),
        "touch /dev/null; exit 0",
        WITH_PROCESSES,
    ),
    NativeAttack("execute an interpreter of the system", "programs", ("ok",), INTERPRETERS, bad=_succeeded),
    NativeAttack(
        "execute an interpreter of the system among processes",
        "programs",
        ("ok",),
        INTERPRETERS,
        WITH_PROCESSES,
        bad=_succeeded,
    ),
    NativeAttack(
        "bring out a secret by a symbolic link",
        "reply",
        ("ok",),
        'exec ln -s "$1" out',
        outputs=("out",),
        bad=_brought_something,
    ),
    NativeAttack(
        "bring out a secret by a linked folder",
        "reply",
        ("ok",),
        'exec ln -s "$2" d',
        outputs=("d/secret",),
        bad=_brought_something,
    ),
    NativeAttack(
        "block the collector by a pipe",
        "reply",
        ("ok",),
        "exec mkfifo out",
        outputs=("out",),
        bad=_brought_something,
    ),
    NativeAttack(
        "bring out a device",
        "reply",
        ("ok",),
        "exec ln -s /dev/zero out",
        outputs=("out",),
        bad=_brought_something,
    ),
    NativeAttack(
        "swap the folder",
        "reply",
        ("ok",),
        """
        here=$(pwd -P) && mv "$here" "$here.moved" && ln -s "$2" "$here"
    """,
        WITH_PROCESSES,
        outputs=("secret",),
        bad=_brought_something,
    ),
    NativeAttack("fork though it may not", "processes", ("ok",), "sleep 86399.5 & exit 0", bad=_succeeded),
    NativeAttack(
        "fork bomb",
        "processes",
        ("forbidden",),
        """
        f() { if [ $1 -gt 0 ]; then f $(($1 - 1)) & f $(($1 - 1)) & fi; sleep 5; }
        f 9; sleep 60
    """,
        WITH_PROCESSES,
    ),
    NativeAttack(
        "outlive the parent",
        "processes",
        ("ok",),
        f"setsid sleep {LASTING_PROCESS} >/dev/null 2>&1 & exit 0",
        WITH_PROCESSES,
    ),
    NativeAttack("kill the server", "parent", ("ok",), "kill -9 $PPID; kill -0 1", bad=_succeeded),
    NativeAttack(
        "kill the server among processes", "parent", ("ok", "killed"), "kill -9 $PPID; exit 0", WITH_PROCESSES
    ),
    NativeAttack(
        "see the host's processes", "host-processes", ("ok",), "echo /proc/[0-9]*", bad=_sees_the_host
    ),
    NativeAttack("loop and ignore signals", "cpu", ("cpu",), "trap '' TERM XCPU INT; while :; do :; done"),
    NativeAttack(
        "sleep past the clock",
        "wall",
        ("timeout",),
        f"exec sleep {LASTING_PROCESS}",
        replace(ATTACK_LIMITS, wall_s=0.5),
    ),
    NativeAttack("endless output", "output", ("output",), "exec yes"),
    NativeAttack("endless complaints", "output", ("output",), "exec yes >&2"),
    NativeAttack(
        "huge file",
        "file-size",
        ("output", "ok"),
        "exec dd if=/dev/zero of=out bs=1048576 count=512",
        outputs=("out",),
        bad=lambda outcome: "it is all there" if len(outcome.outputs.get("out", b"")) > 1 << 20 else None,
    ),
    NativeAttack(
        "many large files",
        "file-size",
        ("output", "ok", "cpu"),
        """
        i=0; while [ $i -lt 64 ]; do i=$((i+1)); dd if=/dev/zero of=f$i bs=1048576 count=1 2>/dev/null || exit 1; done
    """,  # noqa: E501
        WITH_PROCESSES,
        bad=_succeeded,
    ),
    NativeAttack(
        "many files",
        "file-size",
        ("output", "cpu"),
        "i=0; while [ $i -lt 90000 ]; do i=$((i+1)); : > f$i; done; while :; do :; done",
    ),
    NativeAttack(
        "allocate 8 GB",
        "memory",
        ("ok", "killed"),
        "x=xxxxxxxx; i=0; while [ $i -lt 30 ]; do x=$x$x; i=$((i+1)); done; exit 0",
        bad=_succeeded,
    ),
    NativeAttack(
        "allocate little by little in many processes",
        "memory",
        ("memory",),
        """
        f() { x=xxxxxxxx; i=0; while [ $i -lt 22 ]; do x=$x$x; i=$((i+1)); done; while :; do :; done; }
        f & f & f & f & f & f & f & f & wait; exit 0
    """,
        replace(WITH_PROCESSES, cpu_s=10),
    ),
    NativeAttack(
        "allocate by files and processes",
        "memory",
        ("memory",),
        """
        i=0; while [ $i -lt 60 ]; do i=$((i+1)); dd if=/dev/zero of=f$i bs=1048576 count=1 2>/dev/null; done
        x=xxxxxxxx; i=0; while [ $i -lt 22 ]; do x=$x$x; i=$((i+1)); done; sleep 5; exit 0
    """,
        replace(WITH_PROCESSES, file_mb=16, total_mb=64),
    ),
    NativeAttack(
        "allocate in a burst of 16 processes",
        "memory",
        ("memory",),
        """
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do dd if=/dev/zero of=/dev/null bs=60M count=1 2>/dev/null & done; wait; exit 0
    """,  # noqa: E501
        IN_A_BURST,
        bad=_past_its_group,
    ),
    NativeAttack(
        "leave its control group",
        "memory",
        ("ok",),
        """
        grep -h ' - cgroup' /proc/[0-9]*/mountinfo 2>/dev/null; ls -d /sys/fs/cgroup 2>/dev/null
        for name in /proc/self/fd/* /proc/$$/fd/*; do readlink $name; done 2>/dev/null | grep 'cgroup[.]procs|memory[.]' -E
        (echo 0 > /proc/self/cgroup) 2>/dev/null && echo written
        echo searched; exit 0
    """,  # noqa: E501
        WITH_PROCESSES,
        bad=_sees_groups,
    ),
    NativeAttack("set the clock", "clock", ("ok",), "exec date -s now", bad=_succeeded),
)
