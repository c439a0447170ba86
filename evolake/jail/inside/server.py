"""Fork one fresh process a call: the first process of a jail, trusted, warm. It never reads what a candidate
writes.

Inside bubblewrap it is process 1 in its own process namespace: its end ends everything in the jail, and no
signal from inside reaches it. It is not dumpable, so a candidate (same user) can open neither its memory nor
its descriptors through /proc: without that, a candidate could write the *next* candidate's answer. Preloaded
modules run no threads when it forks. A candidate sees no /proc, and is process 2 in its own process namespace
(see `numbering`): numbers that one candidate advances and the next one reads would carry a message.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Sequence
from typing import Any

from evolake.jail import wire
from evolake.jail.inside import executed, kernel, namespaces, program, seccomp, watch
from evolake.jail.inside.numbering import Numbering

SHARED_MEMORY = "/dev/shm"
TICK_MS, TICK_AMONG_PROCESSES_MS = 20, 5


def main() -> None:
    """Serve calls until the supervisor goes away. argv: the control socket's descriptor, and what it serves:
    "candidates" or "programs" in its own namespaces, or anything on the "host"."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    own_namespaces = sys.argv[2] != "host"
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.drop_capabilities(kernel.CAP_SYS_CHROOT, kernel.CAP_SYS_ADMIN)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    gc.disable()
    kernel.sort_once()
    namespaces.note_identities()
    numbering = Numbering() if sys.argv[2] == "candidates" else None
    while True:
        message, descriptors = wire.receive(control)
        if message is None:
            return
        if message["op"] == "import":
            wire.send(control, import_modules(message["modules"], message["wanted"]))
            continue
        if message["op"] == "kill":  # the call it meant had just ended
            continue
        if message["op"] == "execute":
            report = serve_program(control, message, descriptors, own_namespaces)
        elif message["op"] == "fork":
            report = serve_fork(control, message, descriptors, numbering)
        else:
            report = serve_call(control, message, descriptors, numbering)
        for descriptor in descriptors:
            os.close(descriptor)
        wire.send(control, report)


def import_modules(names: list[str], wanted: list[str]) -> dict[str, Any]:
    """Preload trusted modules, and keep the server fit to fork: one thread, no memory that candidates would
    share, old objects out of the collector's way.

    wanted: further modules, of which those are left out that cannot be imported. A module's `before_forks` is
    called, if it has one.

    Generators are seeded here, so that the same candidate on the same payload draws the same numbers, also
    where it forgets to seed. Some modules (dill, which torch imports where it is installed) ask at import for
    the folder of temporary files, and none in here can be written.
    """
    import tempfile  # not needed, and not paid for, where only native programs run

    tempfile.tempdir = "/tmp"
    try:
        for name in names:
            getattr(importlib.import_module(name), "before_forks", bool)()
        for name in wanted:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    except Exception as error:  # told to the supervisor, which raises
        return {"failed": f"{name}: {type(error).__name__}: {error}"[:2000]}
    if "numpy" in sys.modules:
        importlib.import_module("numpy.random").seed(
            0
        )  # numpy imports it at first use, which would be in every candidate again
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
        torch.default_generator.manual_seed(0)
        torch.backends.cpu.get_cpu_capability()  # it reads /proc, which candidates do not see, and chooses kernels by it  # noqa: E501
    gc.collect()
    kernel.give_back_memory()
    gc.freeze()
    kernel.note_address_space()
    return {
        "threads": kernel.threads(),
        "shared": kernel.shared_memory() if names else [],
        "pid": os.getpid(),
    }


def serve_call(
    control: socket.socket, message: dict[str, Any], descriptors: list[int], numbering: Numbering | None
) -> dict[str, Any]:
    """Run one Python candidate: descriptors are request, those of its channel, reply, standard output,
    standard error. numbering: None on the host."""
    from evolake.jail.inside import candidate  # not needed, and not paid for, where only native programs run

    policy = seccomp.PYTHON_IN_NAMESPACES if numbering else seccomp.PYTHON_ON_THE_HOST
    seccomp.template(policy)
    ready_read, ready_write = os.pipe()
    if numbering:
        numbering.begin_anew()
    pid = os.fork()
    if pid == 0:
        request, *channel, reply, stdout, stderr = descriptors
        ends = candidate.Ends(request, channel, reply, stdout, stderr, ready_write)
        candidate.run(ends, message["limits"], policy, message["root"])
    os.close(ready_write)
    for descriptor in descriptors:
        os.close(descriptor)
    descriptors.clear()
    ready = os.read(ready_read, 4096)
    os.close(ready_read)
    report = follow(control, pid, message["limits"], processes=None)
    return (
        report
        if ready == candidate.READY
        else report | {"broken": ready.decode(errors="replace") or "the process ended before its confinement"}
    )


def serve_fork(
    control: socket.socket, message: dict[str, Any], descriptors: list[int], numbering: Numbering | None
) -> dict[str, Any]:
    """Run one Python program of ours, forked instead of started, with its own folder that goes when it ends:
    descriptors are request, those of its channel, those of its control group if it has one, output, error.
    The server never reads the request: its memory is copied into the next one."""
    from evolake.jail.inside import forked

    request, *others, output, error = descriptors
    channel, group = others[: message["channel"]], others[message["channel"] :]
    enter, events = group or (None, None)
    if numbering is None:
        return {"broken": "without namespaces no program can be forked"}
    limits, root = message["limits"], message["root"]
    policy = seccomp.FORKED_WITH_PROCESSES if limits["processes"] else seccomp.FORKED
    seccomp.template(policy)
    try:
        with forked.scratch(root, message["scratch_mb"], message["shown"]) as folder:
            ready_read, ready_write = os.pipe()
            numbering.begin_anew()
            pid = os.fork()
            if pid == 0:
                forked.run(forked.Ends(request, channel, output, error, ready_write, enter), message, policy)
            for descriptor in (ready_write, request, *channel, *group[:1], output, error):
                os.close(descriptor)
            descriptors[:] = group[1:]
            ready = os.read(ready_read, 4096)
            os.close(ready_read)
            report = follow(control, pid, limits, processes=None, folders=[folder], events=events)
    except OSError as error:
        return {"broken": str(error)}
    # without a word it was ended by a limit while its files were written
    return report if ready in (forked.READY, b"") else report | {"broken": ready.decode(errors="replace")}


def serve_program(
    control: socket.socket, message: dict[str, Any], descriptors: list[int], own_namespaces: bool
) -> dict[str, Any]:
    """Run one native program: descriptors are request, standard input, those of its channel, those of its
    control group where it has one (see `groups`), output, error, result. The result is framed by this trusted
    process."""
    request, stdin, *others, stdout, stderr, result = descriptors
    channel, group = others[: message["channel"]], others[message["channel"] :]
    enter, events = group or (None, None)
    head, limits = json.loads(os.pread(request, message["head_size"], 0)), message["limits"]
    paths = [
        head["root"] + head["folder"],
        *([head["root"] + SHARED_MEMORY] if head["shared_memory"] else []),
    ]
    program.write_inputs(paths[0], head["files"], _read_all(request, message["head_size"]))
    folders = [os.open(path, os.O_RDONLY | os.O_DIRECTORY) for path in paths]
    # on the host nothing could hold or end further processes
    processes = limits["processes"] if own_namespaces else 0
    failure_read, failure_write = os.pipe()
    ours, theirs = socket.socketpair() if head["record"] else (None, None)
    ends = program.Ends(stdin, stdout, stderr, failure_write, channel, enter, theirs)
    try:
        pid = _fork_program(head, limits, processes, ends)
        for descriptor in (failure_write, stdin, *channel, *group[:1], stdout, stderr):
            os.close(descriptor)
        descriptors[:] = [request, *group[1:], result]
        try:
            record = _listened(head["argv"], ours, theirs)
        except OSError as error:
            os.waitpid(pid, 0)
            return {"broken": str(error)}
        report = follow(
            control, pid, limits, processes=processes or None, folders=folders, record=record, events=events
        )
        _write_results(result, head["outputs"], limits, folders[0], failure_read, record)
        return report
    finally:
        for descriptor in (*folders, failure_read):
            os.close(descriptor)


def _fork_program(head: dict[str, Any], limits: dict[str, Any], processes: int, ends: program.Ends) -> int:
    """Start the program; return its process."""
    many, shared = processes > 0, head["shared_memory"]
    policy = seccomp.Policy(programs=True, processes=many, signals=many, changes=True, shared_memory=shared)
    pid = os.fork()
    if pid == 0:
        try:
            program.execute(
                head["argv"], head["environment"], head["folder"], head["root"], ends, limits, policy
            )
        finally:
            os._exit(program.CANNOT_EXECUTE)
    return pid


def _listened(
    argv: list[str], ours: socket.socket | None, theirs: socket.socket | None
) -> executed.Executed | None:
    """Return the record of what the run executes; None if it is not asked for. Both sockets are closed."""
    if ours is None or theirs is None:
        return None
    theirs.close()
    with ours:
        return executed.Executed(ours, [argv[0], *argv])


def _write_results(
    result: int,
    outputs: list[str],
    limits: dict[str, Any],
    folder: int,
    failure: int,
    record: executed.Executed | None,
) -> None:
    """Write what the program left: a line with the length of the listing, the listing, the contents."""
    most = int(limits["file_mb"] * kernel.MEBIBYTE)
    files, contents, refused = program.collect(folder, outputs, most)
    listing = json.dumps(
        {
            "files": files,
            "refused": refused,
            "failure": os.read(failure, 4096).decode(errors="replace"),
            "programs": record.programs if record else [],
        }
    ).encode()
    for data in (b"%d\n" % len(listing) + listing, contents):
        _write_all(result, data)


def follow(
    control: socket.socket,
    pid: int,
    limits: dict[str, Any],
    *,
    processes: int | None,
    folders: Sequence[int] = (),
    record: executed.Executed | None = None,
    events: int | None = None,
) -> dict[str, Any]:
    """Wait for process `pid`, stop it on request, when it has too much of something, or when the kernel has
    ended a part of it (`events`, see `watch.out_of_memory`); then clear away what it left, and report."""
    usage = watch.Usage()
    excess: str | None = None
    tick = TICK_MS if processes is None else TICK_AMONG_PROCESSES_MS
    total_mb = (limits["total_mb"] or limits["memory_mb"]) if limits["processes"] else None
    look = 0.0
    ended = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(ended, select.POLLIN)
    if record:
        poll.register(record.descriptor, select.POLLIN)
    while True:
        ready = [descriptor for descriptor, _ in poll.poll(tick)]
        if ended in ready:
            if (
                processes is not None
            ):  # of a fork bomb the kernel may refuse the first process its next one between two looks
                watch.reap(usage)
                excess = watch.excess(pid, processes, folders, usage, total_mb)
            break
        if control.fileno() in ready:
            message, _ = wire.receive(control)
            if message is None:
                watch.stop_all(usage)
                os._exit(0)
            stop(ended)
            continue
        if record and record.descriptor in ready:
            record.answer()
            if record.too_many:
                excess = (
                    f"executed more than {executed.MOST_PROGRAMS} programs, or with more than "
                    f"{executed.MOST_BYTES} bytes of arguments"
                )
                stop(ended)
                break
            if time.monotonic() < look:
                continue
        look = time.monotonic() + tick / 1000
        if processes is not None:
            watch.reap(usage)
        killed = events is not None and watch.out_of_memory(events)
        if killed or (excess := watch.excess(pid, processes, folders, usage, total_mb)):
            stop(ended)
            break
    os.close(ended)
    if record:
        record.close()  # whoever still asks is told that there is no such call
    if processes is None:
        usage.add(*os.wait4(pid, 0))
    else:
        watch.stop_all(usage)
    wait_status = usage.ended[pid]
    return {
        "exit_code": os.waitstatus_to_exitcode(wait_status) if os.WIFEXITED(wait_status) else None,
        "signal": os.WTERMSIG(wait_status) if os.WIFSIGNALED(wait_status) else None,
        "cpu_s": usage.cpu_s,
        "peak_mb": usage.peak_mb,
        "excess": excess,
        "out_of_memory": events is not None and watch.out_of_memory(events),
    }


def stop(process: int) -> None:
    """SIGKILL to the process behind the descriptor, which may just have ended."""
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(process, signal.SIGKILL)


def _read_all(descriptor: int, start: int) -> bytes:
    parts, end = [], os.fstat(descriptor).st_size
    while start < end:
        parts.append(os.pread(descriptor, end - start, start))
        start += len(parts[-1])
    return b"".join(parts)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    main()
