"""A worker proves itself before it takes work: the same code and versions, the same lake, and a jail whose
canary was refused everywhere.

What it has proved is shown to the scheduler as Dask resources, and every task asks for one. So a worker that
has not proved itself gets nothing, a worker without a jail gets nothing that may run generated code, and a
worker that comes later, or is started again after a death, proves itself first. The names of the resources
hold what was asked (`Demand.token`): a worker that a run of another version has admitted is not admitted to
this one.

A lake's mark is a random word in a file, made once and read by each host that says that it sees the lake. Two
timed runs on the two threads of one core slow each other down, so timed work counts physical cores.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import platform
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from distributed import Status, Worker, WorkerPlugin

from evolake import __version__
from evolake.compute.needs import CORE, JAIL
from evolake.errors import EvolakeError
from evolake.lake import disk
from evolake.lines import lines


def identity() -> dict[str, str]:
    """Return versions and a hash of the code, by name."""
    return {
        "evolake": __version__,
        "code": code_sha(),
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
    }


def differences(wanted: Mapping[str, str], got: Mapping[str, str]) -> list[str]:
    """Return what is not the same, in words."""
    return [
        f"{name} {_short(got.get(name, 'unknown'))} instead of {_short(value)}"
        for name, value in wanted.items()
        if got.get(name) != value
    ]


@cache
def code_sha() -> str:
    """Return 64 hex digits over the Python files of evolake and of the packages of all lines that are
    installed. Read once per process."""
    digest = hashlib.sha256()
    parts = [part for spec in lines().values() for part in (spec.settings, spec.artifacts) if part]
    for package in sorted({"evolake", *(part.module.partition(".")[0] for part in parts)}):
        for name, path in sorted(_files(package)):
            digest.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def _files(package: str) -> Iterator[tuple[str, Path]]:
    spec = find_spec(package)
    for root in (spec.submodule_search_locations or []) if spec else []:
        for path in Path(root).rglob("*.py"):
            name = path.relative_to(root).as_posix()
            if not name.startswith("_project/"):  # what a wheel brings along is not imported by workers
                yield f"{package}/{name}", path


def _short(value: str) -> str:
    return value[:12] if len(value) == 64 else value


PLACE = Path("work", "compute", "lake")


def mark_lake(root: Path) -> str:
    """Return the lake's mark; made if there is none. Of two that make it at the same time, one wins."""
    path = root / PLACE
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".lake-{os.getpid()}-{secrets.token_hex(4)}")
        beside.write_text(secrets.token_hex(16))
        try:
            os.link(beside, path)
        except FileExistsError:
            pass
        finally:
            disk.discard(beside)
    return path.read_text()


def lake_problem(root: Path, mark: str) -> str | None:
    """Return why this host cannot work on the lake at `root` that has `mark`; None where it can."""
    try:
        result = (root / PLACE).read_text()
        with tempfile.TemporaryFile(dir=root / PLACE.parent) as probe:
            probe.write(b"seen")
    except OSError as error:
        return f"{root}: {error.strerror}"
    return None if result == mark else f"{root} is another lake here"


TOPOLOGY = Path("/sys/devices/system/cpu")


def physical_cores(usable: Iterable[int] | None = None, topology: Path = TOPOLOGY) -> list[int]:
    """Return one logical core of each physical core among `usable` (default: those that this process may run
    on), the lowest. All, if the kernel does not say which belong together."""
    first: dict[str, int] = {}
    for core in sorted(os.sched_getaffinity(0) if usable is None else usable):
        try:
            siblings = (topology / f"cpu{core}" / "topology" / "thread_siblings_list").read_text().strip()
        except OSError:
            siblings = str(core)
        first.setdefault(siblings, core)
    return sorted(first.values())


PLENTY = 1e9
"""Of a resource that is there or is not, and that no task uses up."""


@dataclass(frozen=True)
class Demand:
    """What a run asks of its workers. wanted: see `identity`. lake: its folder, the same path on every host;
    mark: of the lake. environment: the variables of the run that its tasks read."""

    wanted: Mapping[str, str]
    lake: str
    mark: str
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def token(self) -> str:
        """12 hex digits that stand for all of it."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]

    def resource(self, name: str = "admitted") -> str:
        """Return what the scheduler knows as the worker's admission, or as its jail. A core is a core for
        every task."""
        return CORE if name == CORE else f"evolake-{name}-{self.token}"


@dataclass(frozen=True)
class Proof:
    """What a worker showed. problems: why it takes no work at all. no_jail: why it takes nothing that may run
    generated code; "" where it does."""

    host: str
    pid: int
    threads: int
    cores: int
    identity: Mapping[str, str]
    problems: tuple[str, ...] = ()
    no_jail: str = ""
    attempts: tuple[str, ...] = field(default=(), repr=False)

    @property
    def resources(self) -> dict[str, float]:
        """Of the names in `needs`, and "admitted"."""
        if self.problems:
            return {}
        return {"admitted": PLENTY, CORE: self.cores} | ({} if self.no_jail else {JAIL: PLENTY})


def prove(demand: Demand, threads: int) -> Proof:
    """Try everything here and now. Raises nothing for what is missing: that is in the proof."""
    cores = min(threads, len(physical_cores()))
    try:
        result = identity()
    except EvolakeError as error:
        return Proof(platform.node(), os.getpid(), threads, cores, {}, (str(error),))
    problems = differences(demand.wanted, result)
    if unseen := lake_problem(Path(demand.lake), demand.mark):
        problems.append(f"the lake is not seen: {unseen}")
    attempts, no_jail = ((), "not tried") if problems else _canary(demand.environment["EVOLAKE_JAIL"])
    return Proof(platform.node(), os.getpid(), threads, cores, result, tuple(problems), no_jail, attempts)


def _canary(mode: str) -> tuple[tuple[str, ...], str]:
    """Return what the canary tried and was refused, and why there is no jail ("" if there is one)."""
    from evolake.jail import canary
    from evolake.jail.backends import backend
    from evolake.jail.pool import Pool

    try:
        chosen = backend(mode)
        with Pool(chosen, workers=1, preload=()) as pool:
            return tuple(attempt for attempt, _, _ in canary.prove(chosen, pool.run)), ""
    except EvolakeError as error:
        return (), error.what + (f" ({error.got})" if error.got else "")


class Admission(WorkerPlugin):
    """Makes every worker prove itself, now and whenever one comes, and reports to the scheduler what it may
    be given."""

    def __init__(self, demand: Demand):
        self.demand = demand
        self.proof: Proof | None = None

    async def setup(self, worker: Worker) -> None:
        """Run in the worker. The canary blocks, hence a thread."""
        self.proof = await asyncio.to_thread(prove, self.demand, worker.state.nthreads)
        given = {self.demand.resource(name): amount for name, amount in self.proof.resources.items()}
        if given:
            await worker.set_resources(**given)
        if (
            given and worker.status == Status.running
        ):  # tasks that waited for such a worker are looked at when one begins to run, and only then
            worker.status = Status.paused
            worker.status = Status.running


def shown(name: str, dask_worker: Any = None) -> Proof | None:
    """Run in a worker; return the proof that it gave to the run of that name; None while it is at it."""
    plugin = dask_worker.plugins.get(name)
    return plugin.proof if isinstance(plugin, Admission) else None
