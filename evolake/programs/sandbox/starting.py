"""How the process of an evaluation starts: forked from a warm jail where that is possible, else in its own
jail.

A warm jail has imported the libraries that the project's files import, and nothing of the project: the
evaluator is loaded in each process again, so that time, chance, threads and open files of its import are as
in a process that was started. A forked process has no /proc, can make no process and execute no program. One
that tries is ended, and the same evaluation starts in its own jail, where it may.
"""

from __future__ import annotations

import ast
import importlib.util
import marshal
import re
import signal
import threading
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from evolake.errors import JailUnavailable
from evolake.jail.backends import backend
from evolake.jail.native import ForkedRun
from evolake.jail.pool import Pool, open_pool
from evolake.jail.protocol import Limits, NativeOutcome, one_line
from evolake.jail.waiting import Waiting
from evolake.programs.model.program_text import Unreadable, parse
from evolake.programs.model.project import Project

DRIVER = "evolake.programs.sandbox.harness:serve_forked"
STARTED_FIRST = 2
"""So many requests are started in separate jails, before warm jails cost less than they save."""
OWN_JAIL = re.compile(r"\b(psutil|multiprocessing|ProcessPoolExecutor|joblib)\b|/proc\b|/dev/(?:shm|fd|std)")
"""Names in a text that speak of what a forked process has not, and that it would not be ended for."""
UNCHECKED = 1
"""Flag of a compiled file (PEP 552) that is taken without a look at its source."""
WORDS = "forked from a warm jail", "in a new jail each time, since {}"


class NeedsOwnJail(Exception):
    """A forked evaluation that calls its program wanted what only its own jail has; both processes have to be
    started again."""


class Starts:
    """Starts evaluations of one project. May be asked by several threads. Close it.

    obstacle: why each evaluation has its own jail; "" while they are forked. forked: how many were. pool: the
    warm jails, once there are any.
    """

    def __init__(
        self, project: Project, limits: Limits, *, workers: int, mode: str | None, obstacle: str = ""
    ):
        self.project, self.limits, self.workers, self.mode = project, limits, workers, mode
        self.obstacle = obstacle or _obstacle(project, mode)
        self.pool: Pool | None = None
        self._compiled = {
            name: data
            for path, text in project.evaluator_files.items()
            if path.endswith(".py")
            for name, data in _compiled(path, text)
        }
        self._asked = 0
        self.forked = 0
        self._lock = threading.Lock()

    @property
    def words(self) -> str:
        """How evaluations start, for people."""
        return WORDS[1].format(self.obstacle) if self.obstacle else WORDS[0]

    def close(self) -> None:
        """End the warm jails, if there are any."""
        if self.pool:
            self.pool.close()

    def fork(
        self,
        files: Mapping[str, bytes],
        request: Mapping[str, Any],
        limits: Limits,
        channel: tuple[int, ...],
        waiting: Waiting | None,
    ) -> NativeOutcome | None:
        """Return what came of a request to the evaluator; None if it has to be started in its own jail.

        Raises:
            NeedsOwnJail: instead of None, if a part of its calls has gone through `channel`.
        """
        self._asked += 1
        if (
            self.obstacle
            or self._asked <= STARTED_FIRST
            or any(_own_jail(name, data) for name, data in files.items())
        ):
            return None
        try:
            outcome = self._jails().fork(
                ForkedRun(DRIVER, request, {**files, **self._compiled}, limits, channel, waiting)
            )
        except JailUnavailable as error:
            self.obstacle = one_line(f"no process can be forked: {error}")
            return None
        if outcome.signal != signal.SIGSYS:
            self.forked += 1
            return outcome
        if not self.forked:
            self.obstacle = "its evaluations make processes or pipes, or execute programs"
        if channel:
            raise NeedsOwnJail
        return None

    def _jails(self) -> Pool:
        with self._lock:
            if self.pool is None:
                libraries = tuple(_libraries(self.project))
                try:
                    self.pool = open_pool(self.workers, (), self.mode, libraries)
                except JailUnavailable:
                    # a library may run threads, or share memory between processes
                    self.pool = open_pool(
                        self.workers, (), self.mode, tuple(name for name in libraries if name == "numpy")
                    )
            return self.pool


def _obstacle(project: Project, mode: str | None) -> str:
    if backend(mode).mode != "bubblewrap":
        return "the weaker jail has no namespaces"
    named = next(
        (found for name, data in project.evaluator_files.items() if (found := _own_jail(name, data))), ""
    )
    return f"its evaluator names {named}" if named else ""


def _own_jail(name: str, data: bytes) -> str:
    """Return the name in a text that needs its own jail; "" if there is none."""
    found = OWN_JAIL.search(data.decode("utf-8", "replace")) if name.endswith(".py") else None
    return found.group() if found else ""


def _libraries(project: Project) -> Iterator[str]:
    """Modules that the project's files import and this installation has, packages before their parts."""
    own = {PurePosixPath(name).parts[0].removesuffix(".py") for name in project.files}
    texts = [data.decode("utf-8", "replace") for name, data in project.files.items() if name.endswith(".py")]
    for name in dict.fromkeys(name for text in texts for name in _imported(text)):
        top = name.partition(".")[0]
        if top not in own and _installed(top):
            yield name


def _imported(text: str) -> Iterator[str]:
    try:
        tree = parse(text)
    except Unreadable:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def _compiled(path: str, source: bytes) -> Iterator[tuple[str, bytes]]:
    """(path, contents) of the file in which Python looks for a compiled module before it compiles it; nothing
    for one that it cannot compile."""
    try:
        code = compile(source, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    head = importlib.util.MAGIC_NUMBER + UNCHECKED.to_bytes(4, "little") + importlib.util.source_hash(source)
    yield importlib.util.cache_from_source(path), head + marshal.dumps(code)


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False
