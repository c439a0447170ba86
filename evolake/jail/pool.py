"""Warm workers for Python candidates: jails that stay up with their modules imported, one fresh forked
process a candidate."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, TypeVar

from evolake.errors import InputError, JailUnavailable
from evolake.jail import canary, groups, native, supervise, wire
from evolake.jail.backends import Backend, backend
from evolake.jail.bubblewrap import View
from evolake.jail.native import ForkedRun, observe
from evolake.jail.process import JailDied, JailProcess, request_descriptor
from evolake.jail.protocol import GENERIC_DRIVER, Call, JailMode, Limits, NativeOutcome, Outcome, one_line

T = TypeVar("T")


class Pool:
    """Up to `workers` jails. Calls may come from any thread; each takes an idle worker or waits for one.
    Close it, or use it as a context manager.

    all_at_once: whether all are started now. Else one is, and each further one when a call has waited for as
    long as the first took to start: where candidates take less than that, the imports of another jail would
    cost more than it brings.
    """

    def __init__(
        self,
        backend: Backend,
        workers: int,
        preload: tuple[str, ...],
        wanted: tuple[str, ...] = (),
        view: View = View(),
        *,
        all_at_once: bool = True,
    ):
        self.workers = workers
        self._wanted = wanted
        self._view = view
        self._backend = backend
        self._modules = list(
            dict.fromkeys([*preload, GENERIC_DRIVER.partition(":")[0], canary.DRIVER.partition(":")[0]])
        )
        self._lock = threading.Lock()
        self._starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="jail-starter")
        self._idle: queue.LifoQueue[_Worker] = queue.LifoQueue()
        self._all: list[_Worker] = []
        self._begun = 0
        self._closed = False
        began = time.monotonic()
        try:
            for _ in range(workers if all_at_once else 1):
                self._all.append(_Worker(self._spawn()))
            for worker in self._all:
                self._prove(worker.jail)
                self._idle.put(worker)
        except BaseException:
            self.close()
            raise
        self._begun = len(self._all)
        self._start_s = time.monotonic() - began

    @property
    def jail(self) -> JailMode:
        """The mode in force."""
        return self._backend.mode

    @property
    def idle(self) -> bool:
        """Open, with no call under way."""
        with self._lock:
            return not self._closed and self._idle.qsize() == self._begun

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill every jail. A call under way in another thread fails with JailUnavailable."""
        with self._lock:
            self._closed = True
            workers = tuple(self._all)
            self._all.clear()
        for worker in workers:
            worker.close()
        self._starter.shutdown()

    def call(self, driver: str, source: str, payload: Any = None, limits: Limits = Limits()) -> Outcome:
        """Run one candidate in a fresh process; see `Call`. What the candidate does wrong is in the outcome.

        Raises:
            JailUnavailable: the jail itself failed twice, or is closed; nothing was judged.
            InputError: the payload is not JSON. Also when the driver cannot be imported.
        """
        return self.run(Call(driver, source, payload, limits))

    def map(self, calls: Iterable[Call]) -> list[Outcome]:
        """Run many, keeping every worker busy; outcomes in the order of `calls`."""
        with ThreadPoolExecutor(max_workers=self.workers, thread_name_prefix="jail-call") as threads:
            return list(threads.map(self.run, calls))

    def run(self, call: Call) -> Outcome:
        """Return the outcome of one call, given as a value; see `call`."""
        return self._by_a_worker(
            call.driver, lambda worker: execute(worker.jail, call), again=not call.channel
        )

    def fork(self, run: ForkedRun) -> NativeOutcome:
        """Run one program of ours in a process with its own folder; see `ForkedRun`. Raises as `call`
        does."""
        return self._by_a_worker(run.driver, lambda worker: worker.fork(run), again=not run.channel)

    def _by_a_worker(self, driver: str, work: Callable[[_Worker], T], *, again: bool) -> T:
        """Do `work` by an idle worker. again: once more with a new jail if the first dies under it."""
        worker = self._take()
        try:
            for attempt in (1, 2):
                try:
                    self._ensure_driver(worker, driver)
                    return work(worker)
                except JailDied as death:
                    if self._closed:
                        raise JailUnavailable("the pool was closed during a call") from None
                    worker.replace(self._spawn())
                    self._prove(worker.jail)
                    if attempt == 2 or not again:
                        raise JailUnavailable(
                            "the jail died under a call, so nothing was judged",
                            got=str(death),
                            do="run `evolake doctor`; is memory short?",
                        ) from None
            raise AssertionError("unreachable")
        finally:
            self._idle.put(worker)

    def _take(self) -> _Worker:
        if self._closed:
            raise JailUnavailable(
                "the pool is closed", do="open it with `with open_pool(...)` around the calls"
            )
        if self._begun < self.workers:
            with contextlib.suppress(queue.Empty):
                return self._idle.get(timeout=self._start_s)
            if (worker := self._another()) is not None:
                return worker
        return self._idle.get()

    def _another(self) -> _Worker | None:
        """One more worker, proved; None where all have been started."""
        with self._lock:
            if self._closed or self._begun == self.workers:
                return None
            self._begun += 1
        try:
            jail = self._spawn()
            self._prove(jail)
        except BaseException:
            with self._lock:
                self._begun -= 1
            raise
        worker = _Worker(jail)
        with self._lock:
            closed = self._closed
            if not closed:
                self._all.append(worker)
        if closed:
            worker.close()
            raise JailUnavailable("the pool was closed during a call")
        return worker

    def _spawn(self) -> JailProcess:
        """Return a new jail, importing; started by the pool's own thread, since a jail dies with the thread
        that started it."""
        jail = self._starter.submit(JailProcess, self._backend, view=self._view).result()
        with contextlib.suppress(JailDied):  # `_prove` meets the same death, and tells it
            jail.begin_import(self._modules, self._wanted)
        return jail

    def _prove(self, jail: JailProcess) -> None:
        """Wait for the imports, then try the lock: see `canary`."""
        try:
            jail.end_import()
            canary.prove(self._backend, lambda call: execute(jail, call))
        except JailDied:
            raise jail.failure_to_start() from None
        except BaseException:
            jail.kill()
            raise

    def _ensure_driver(self, worker: _Worker, driver: str) -> None:
        """Import the driver's module in the server once, so that a driver that cannot be imported is never
        the candidate's failure."""
        module, colon, function = driver.partition(":")
        if not colon or not function.isidentifier():
            raise InputError(f"driver {driver!r} cannot be used", wanted='"package.module:function"')
        if module not in worker.imported:
            worker.jail.begin_import([module])
            worker.jail.end_import()
            worker.imported.add(module)


class _Worker:
    """One place in the pool: a jail now, another after a death."""

    def __init__(self, jail: JailProcess):
        self.jail = jail
        self.imported: set[str] = set()
        self._group: contextlib.ExitStack | None = None
        self._memory: groups.Group | None = None

    def close(self) -> None:
        self.jail.kill()
        self._leave_group()

    def fork(self, run: ForkedRun) -> NativeOutcome:
        """One run, in this worker's control group if its limits ask for one: a group is used again until the
        kernel has ended a run in it."""
        if run.limits.processes and self._group is None:
            self._group = contextlib.ExitStack()
            self._memory = self._group.enter_context(groups.group(run.limits.most_mb))
        seen = observe(self.jail, run, self._memory)
        if seen.report.get("out_of_memory") and self._memory:
            seen = native.out_of_memory(seen, self._memory.peak_mb(), run.limits)
            self._leave_group()
        return native.forked_outcome(self.jail.backend, seen, run.limits)

    def _leave_group(self) -> None:
        if self._group is not None:
            self._group.close()
        self._group = self._memory = None

    def replace(self, jail: JailProcess) -> None:
        self.jail.kill()
        self.jail = jail
        self.imported = set()


def _encode(call: Call, nonce: str) -> bytes:
    try:
        return json.dumps(
            {"driver": call.driver, "source": call.source, "payload": call.payload, "nonce": nonce}
        ).encode()
    except (TypeError, ValueError) as error:
        raise InputError("the payload of a jail call is not JSON", got=str(error)) from None


def execute(jail: JailProcess, call: Call) -> Outcome:
    """Make one call in one jail. Raises JailDied, InputError, or JailUnavailable when the confinement
    failed."""
    limits = call.limits
    nonce = secrets.token_hex(16)
    request = _encode(call, nonce)
    streams = {"reply": supervise.Stream(wire.longest_frame(nonce, limits.output_bytes))}
    streams |= {name: supervise.Stream(limits.output_bytes) for name in ("stdout", "stderr")}
    descriptor = request_descriptor(request)
    try:
        message = {"op": "call", "limits": limits.to_json(), "root": jail.root, "channel": len(call.channel)}
        seen = supervise.observe(
            jail, message, (descriptor, *call.channel), streams, limits, call.until, call.waiting
        )
    finally:
        os.close(descriptor)
    value = None
    judged = supervise.judge(seen, limits)
    if judged is None:
        try:
            reply = wire.parse_reply(nonce, seen.streams["reply"])
            judged, value = (reply["status"], reply["reason"]), reply["value"]
        except wire.BadReply as bad:
            judged = "protocol", f"{bad} (exit code {seen.report['exit_code']})"
    status, reason = judged
    ok = status == "ok"
    return Outcome(
        status=status,
        value=value if ok else None,
        reason="" if ok else one_line(reason) or status,
        stdout=seen.streams["stdout"].decode(errors="replace"),
        stderr=seen.streams["stderr"].decode(errors="replace"),
        cpu_s=seen.report["cpu_s"],
        wall_s=seen.wall_s,
        peak_mb=seen.report["peak_mb"],
        jail=jail.backend.mode,
        starved=seen.starved,
    )


def open_pool(
    workers: int = 2,
    preload: tuple[str, ...] = ("torch", "numpy"),
    mode: str | None = None,
    wanted: tuple[str, ...] = (),
    view: View = View(),
    *,
    all_at_once: bool = True,
) -> Pool:
    """Start `workers` jails that have imported `preload`, and of `wanted` what can be imported.

    mode: "bubblewrap" or "rlimits"; None follows the setting EVOLAKE_JAIL. view: what candidates see beyond
    the system. all_at_once: see `Pool`.

    Raises JailUnavailable, saying what to install or allow, where this machine cannot build the jail; there
    is no silent fall-back.
    """
    if workers < 1:
        raise InputError("a jail pool needs at least one worker", got=repr(workers))
    return Pool(backend(mode), workers, tuple(preload), tuple(wanted), view, all_at_once=all_at_once)
