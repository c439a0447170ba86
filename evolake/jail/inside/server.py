"""The server: first process of a jail, trusted. It has one fresh process forked a call, follows and accounts
for it, and never reads what a candidate writes.

Inside bubblewrap it is process 1 in its own process namespace: its end ends everything in the jail, and no
signal from inside reaches it. It is not dumpable, so a candidate (same user) can open neither its memory nor
its descriptors through /proc: without that, a candidate could write the *next* candidate's answer. Python
candidates are forked from another process (see `pristine`), which has the modules and which nothing of a
candidate reaches: what the server knows of one is in no memory of the next. A candidate sees no /proc, and
is process 2 in its own process namespace (see `numbering`): numbers that one candidate advances and the next
one reads would carry a message.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evolake.jail import wire
from evolake.jail.inside import executed, kernel, namespaces, program, seccomp, watch
from evolake.jail.inside.numbering import Numbering

if TYPE_CHECKING:
    from evolake.jail.inside.pristine import Pristine

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
    numbering: Numbering | None = None
    source: Pristine | None = None
    if sys.argv[2] == "candidates":
        numbering = Numbering()
        with contextlib.suppress(OSError):  # then a run's folder cannot be mounted, which is told
            kernel.new_mount_namespace()
    while True:
        message, descriptors = wire.receive(control)
        if message is None:
            return
        if message["op"] == "import":
            answer: dict[str, Any] = {"threads": 1, "shared": []}
            if message["modules"]:
                from evolake.jail.inside import pristine  # not paid for where only native programs run

                try:
                    source = source or pristine.Pristine(control, numbering)
                    answer = source.import_modules(message)
                except FileNotFoundError:
                    answer = {"failed": pristine.NEEDED}
            wire.send(control, answer)
            continue
        if message["op"] == "kill":  # the call it meant had just ended
            continue
        if message["op"] == "execute":
            report = serve_program(control, message, descriptors, own_namespaces)
        elif source is None or (message["op"] == "fork" and numbering is None):
            report = {"broken": "without modules and namespaces no process can be forked"}
        else:
            report = serve_forked(control, message, descriptors, source)
        for descriptor in descriptors:
            os.close(descriptor)
        wire.send(control, report)


def serve_forked(
    control: socket.socket, message: dict[str, Any], descriptors: list[int], source: Pristine
) -> dict[str, Any]:
    """Run one Python candidate, or one program of ours that is forked instead of started, with its own folder
    that goes when it ends. Descriptors are request, those of its channel, those of its control group if it
    has one, reply (of a candidate), output, error. The server never reads the request."""
    from evolake.jail.inside import forked, pristine

    limits, kind, events, folders = message["limits"], pristine.CALL, [], []
    with contextlib.ExitStack() as stack:
        try:
            if message["op"] == "fork":
                kind = pristine.RUN_WITH_PROCESSES if limits["processes"] else pristine.RUN
                events = descriptors[2 + message["channel"] : -2]
                del descriptors[2 + message["channel"] : -2]
                folders.append(
                    stack.enter_context(
                        forked.scratch(message["root"], message["scratch_mb"], message["shown"])
                    )
                )
            ready_read, ready_write = os.pipe()
            stack.callback(os.close, ready_read)
            descriptors.append(ready_write)
            pid = source.fork(kind, message, descriptors)
        except OSError as error:
            return {"broken": str(error)}
        for descriptor in descriptors:
            os.close(descriptor)
        descriptors[:] = events
        ready = os.read(ready_read, 4096)
        report = follow(
            control, pid, limits, processes=None, folders=folders, events=next(iter(events), None)
        )
    if ready == forked.READY or (folders and not ready):
        return report  # without a word it was ended by a limit while its files were written
    return report | {"broken": ready.decode(errors="replace") or "the process ended before its confinement"}


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
